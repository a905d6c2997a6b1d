import type { StreamEvent, Turn } from "turnwire";
import { beforeEach, expect, it, vi } from "vitest";
import { EventLog, type EventRows } from "./EventLog";

const frames: ((time: number) => void)[] = [];
beforeEach(() => {
  frames.length = 0;
  vi.stubGlobal("requestAnimationFrame", (callback: (time: number) => void) => frames.push(callback));
});

const numberAt = (rows: EventRows, position: number) => {
  const entry = rows.at(position);
  return entry && "event" in entry ? entry.event.sequence_number : undefined;
};
const event = (type: string, sequence_number: number) => ({ type, sequence_number }) as StreamEvent;

it("keeps the newest events, at the places where they were", () => {
  const log = new EventLog();
  for (let number = 0; number < 12_000; number += 1) log.push(1, event("model.message.delta", number));
  const rows = log.rows("all");
  expect(rows.total).toBe(12_000);
  expect(rows.first).toBe(7_000);
  expect(rows.at(6_999)).toBeUndefined();
  expect(numberAt(rows, 7_000)).toBe(7_000);
  expect(numberAt(rows, 11_999)).toBe(11_999);
  expect(rows.at(12_000)).toBeUndefined();
});

it("keeps other events when deltas have pushed them out", () => {
  const log = new EventLog();
  log.push(1, event("turn.created", 1));
  for (let number = 2; number < 10_000; number += 1) log.push(1, event("model.message.delta", number));
  const rows = log.rows("rare");
  expect(rows.total).toBe(1);
  expect(rows.at(0)).toMatchObject({ turn: 1, event: { type: "turn.created" } });
});

it("shows between the events what happened to the connection, and does not count it as one", () => {
  const log = new EventLog();
  const resumed = { topic: "resumed", told: { after: 2 } } as const;
  log.push(1, event("turn.created", 1));
  log.push(1, event("model.message.delta", 2));
  log.mark(1, resumed);
  log.push(1, event("model.message.delta", 3));
  const all = log.rows("all");
  expect(all).toMatchObject({ total: 4, events: 3, keptEvents: 3 });
  expect(all.at(2)).toEqual({ turn: 1, mark: resumed });
  const rare = log.rows("rare");
  expect(rare).toMatchObject({ total: 2, events: 1 });
  expect(rare.at(1)).toEqual({ turn: 1, mark: resumed });

  for (let number = 4; number < 6_000; number += 1) log.push(1, event("model.message.delta", number));
  expect(log.rows("all")).toMatchObject({ events: 5_999, keptEvents: 5_000 });
});

it("tells its watchers once per frame", () => {
  const log = new EventLog();
  const listener = vi.fn();
  log.subscribe(listener);
  for (let number = 0; number < 100; number += 1) log.push(1, event("model.message.delta", number));
  expect(frames).toHaveLength(1);
  frames[0]?.(1_000);
  expect(listener).toHaveBeenCalledTimes(1);
});

it("tells less often in a flood, and always of the last event", () => {
  const log = new EventLog();
  const listener = vi.fn();
  log.subscribe(listener);
  let time = 0;
  for (let frame = 0; frame < 60; frame += 1) {
    for (let number = 0; number < 100; number += 1) log.push(1, event("model.message.delta", number));
    frames.shift()?.((time += 16));
  }
  expect(listener.mock.calls.length).toBeLessThan(12);
  const before = listener.mock.calls.length;
  for (let frame = 0; frame < 10; frame += 1) frames.shift()?.((time += 16));
  expect(listener).toHaveBeenCalledTimes(before + 1);
  expect(frames).toHaveLength(0);
});

it("keeps frames only while they are shown", () => {
  const log = new EventLog();
  const listeners = new Map<string, (told: unknown) => void>();
  const turn = {
    on: (topic: string, listener: (told: never) => void) => {
      listeners.set(topic, listener as never);
      return () => listeners.delete(topic);
    },
  } as unknown as Turn;
  const end = log.follow(() => 1, turn);
  expect(listeners.has("event")).toBe(true);
  expect(listeners.has("native")).toBe(false);
  log.wantFrames(true);
  const frame = { type: "text_delta", data: { delta: "a" } };
  listeners.get("native")?.(frame);
  listeners.get("event")?.(event("model.message.delta", 1));
  expect(log.rows("frames")).toMatchObject({ total: 1, events: 1 });
  expect(log.rows("frames").at(0)).toEqual({ turn: 1, frame });
  expect(log.rows("all").total).toBe(1);
  frames.shift()?.(1_000);
  expect(log.get()).toBe(2);
  log.wantFrames(false);
  expect(listeners.has("native")).toBe(false);
  log.wantFrames(true);
  end();
  expect(listeners.size).toBe(0);
});

it("marks once that something is waited for, however often it is looked at", () => {
  const log = new EventLog();
  const listeners = new Map<string, (told: never) => void>();
  const source = { on: (topic: string, listener: (told: never) => void) => void listeners.set(topic, listener) };
  log.follow(() => 1, source as unknown as Pick<Turn, "on">);
  const tell = (topic: string, told: object) => listeners.get(topic)?.(told as never);
  for (const delay of [500, 1000, 2000, 2000]) tell("waiting", { delay, for: "history" });
  tell("reconnecting", { attempt: 1, delay: 3, cause: new Error("cut") });
  tell("waiting", { delay: 2000, for: "history" });
  tell("waiting", { delay: 500, for: "events" });
  const rows = log.rows("all");
  const topics = [0, 1, 2, 3].map((position) => {
    const entry = rows.at(position);
    return entry && "mark" in entry && entry.mark.topic;
  });
  expect([rows.total, topics]).toEqual([4, ["waiting", "reconnecting", "waiting", "waiting"]]);
});
