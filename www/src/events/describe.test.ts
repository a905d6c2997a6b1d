import type { NativeEvent, StreamEvent } from "turnwire";
import { expect, it } from "vitest";
import { frameGist, frameType, gistOf } from "./describe";

const gist = (event: object) => gistOf({ sequence_number: 1, ...event } as StreamEvent);

it("says what is new in an event of an agent's run", () => {
  const calls = (suspension?: object) => [{ id: "c1", name: "act", suspension }];
  expect(gist({ type: "tool.approval_required", tool_calls: calls() })).toBe("act");
  expect(gist({ type: "tool.approval_required", tool_calls: calls({ message: "May I?" }) })).toBe("May I?");
  expect(gist({ type: "tool.resumed", result: { approved: true } })).toBe('"{\\"approved\\":true}"');
  expect(gist({ type: "tool.cancelled", reason: "retried" })).toBe("retried");
  expect(gist({ type: "message.reset", reason: "retried" })).toBe("retried");
  expect(gist({ type: "state.snapshot", snapshot: { visits: 2 } })).toBe('{"visits":2}');
  expect(gist({ type: "state.delta", delta: [{ op: "add", path: "/visits", value: 3 }] })).toBe("add /visits");
  expect(gist({ type: "messages.snapshot", messages: [{}, {}] })).toBe("2 messages");
  expect(gist({ type: "tool.output", stream: "stdout", delta: "one\n" })).toBe('stdout "one\\n"');
  expect(gist({ type: "notice", code: "item/recovery_opened", message: "" })).toBe("item/recovery_opened");
  expect(gist({ type: "notice", code: "warning", message: "low on disk" })).toBe("warning: low on disk");
  expect(gist({ type: "model.message", continues: "m1" })).toBe("goes on after m1");
});

it("says how far something is, and how a turn or a server failed", () => {
  const progress = { tool_name: "probe", progress: 0.25, message: "one of four" };
  expect(gist({ type: "activity.snapshot", activity_type: "progress", content: progress })).toBe(
    "probe · 25 % · one of four",
  );
  expect(gist({ type: "activity.snapshot", activity_type: "weather", content: {} })).toBe("weather");
  expect(gist({ type: "server.error", message: "502", code: "LLM_ERROR" })).toBe("LLM_ERROR: 502");
  expect(gist({ type: "turn.done", state: { status: "error", message: "502", code: "LLM_ERROR" } })).toBe(
    "error: LLM_ERROR",
  );
  expect(gist({ type: "turn.done", state: { status: "done", termination: { type: "suspended" } } })).toBe(
    "done: suspended",
  );
  const stopped = { type: "stopped", value: { code: "max_rounds_reached" } };
  expect(gist({ type: "turn.done", state: { status: "done", termination: stopped } })).toBe("done: max_rounds_reached");
  expect(gist({ type: "turn.done", state: { status: "done" } })).toBe("done");
});

it("shows a frame in the server's own words, by whichever name it has its type", () => {
  const frame = (fields: object) => fields as NativeEvent;
  expect(frameType(frame({ type: "text_delta", data: { delta: "a" } }))).toBe("text_delta");
  expect(frameType(frame({ event_type: "step_end" }))).toBe("step_end");
  expect(frameType(frame({}))).toBe("");
  expect(frameGist(frame({ type: "text_delta", data: { delta: "a" } }))).toBe('{"data":{"delta":"a"}}');
  const stop = frame({ event: "turn_stop", data: { stopReason: "end_turn" } });
  expect([frameType(stop), frameGist(stop)]).toEqual(["turn_stop", '{"stopReason":"end_turn"}']);
  const whole = frame({ stopReason: "end_turn", messages: [] });
  expect([frameType(whole), frameGist(whole)]).toEqual(["end_turn", '{"messages":[]}']);
  const news = frame({ jsonrpc: "2.0", method: "turn/started", params: { turn_id: "t" } });
  expect([frameType(news), frameGist(news)]).toEqual(["turn/started", '{"turn_id":"t"}']);
  const answer = frame({ response_to: "turn/start", jsonrpc: "2.0", id: "a", result: { turn: {} } });
  expect([frameType(answer), frameGist(answer)]).toEqual(["turn/start", '{"turn":{}}']);
  expect(frameGist(frame({ type: "long", text: "a".repeat(1000) })).length).toBeLessThan(210);
});
