// How streams are read: the page runs in between, even if more chunks are available.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../dist/index.js";
import { collect, textOf } from "./support/collect.mjs";
import { created, done, finished, frame, message, text } from "./support/wire.mjs";

const encoder = new TextEncoder();

/** A session whose turns have this many words, each in a chunk that is available at once. */
async function sessionOf(words) {
  const events = [created(), message(), ...Array.from({ length: words }, (_, at) => text(`${at} `)), finished(), done()];
  const fetch = async (url) => {
    if (!url.endsWith("/turns")) return Response.json({ data: { id: "s1" } });
    let at = 0;
    const pull = (controller) => {
      if (at === events.length) return controller.close();
      controller.enqueue(encoder.encode(frame(events[at], (at += 1))));
    };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { headers: { "content-type": "text/event-stream" } });
  };
  const client = await connect({ baseUrl: "http://localhost/acme", reconnect: false, fetch });
  return client.agents.getSession("s1");
}

/** Counts the tasks of this process. */
function countTasks(t) {
  const tasks = { count: 0 };
  const next = () => {
    tasks.count += 1;
    handle = setImmediate(next);
  };
  let handle = setImmediate(next);
  t.after(() => clearImmediate(handle));
  return tasks;
}

for (const [name, words, took] of [["fast", 6000, 0.01], ["slow", 60, 3], ["slower and slower", 600, undefined]]) {
  test(`the page runs every 8 ms while ${name} chunks are read`, async (t) => {
    const tasks = countTasks(t);
    let time = 1_000_000;
    t.mock.method(Date, "now", () => Math.floor(time));
    const session = await sessionOf(words);
    const turn = session.createTurn("Hello");
    /** The time that each task took. */
    const spent = new Map();
    let chunks = 0;
    turn.on("event", () => {
      chunks += 1;
      const step = took ?? (chunks < 500 ? 0.01 : 0.5);
      time += step;
      spent.set(tasks.count, (spent.get(tasks.count) ?? 0) + step);
    });
    await turn.waitForCompletion();
    assert.equal(chunks, words + 4);
    // The clock shows whole milliseconds.
    const most = 8 + 2 + (took ?? 0.5);
    assert.ok(Math.max(...spent.values()) <= most, `${Math.max(...spent.values())} of ${most} ms`);
    assert.ok(spent.size >= Math.floor(time - 1_000_000) / most, `${spent.size} tasks`);
  });
}

test("several waiting calls of next() are answered in their order, and those after the end are done", async () => {
  const session = await sessionOf(3);
  const stream = session.createTurn("Hello").stream();
  const results = await Promise.all(Array.from({ length: 9 }, () => stream.next()));
  assert.deepEqual(results.map(({ value }) => value?.content ?? value?.type), [
    "turn.created", "model.message", "0 ", "1 ", "2 ", "model.message.delta", "turn.done", undefined, undefined,
  ]);
  assert.deepEqual(results.map(({ done }) => done), [...Array(7).fill(false), true, true]);
});

test("a loop that is slower than the stream gets every event, as does one that stops and continues", async () => {
  const session = await sessionOf(4000);
  const turn = session.createTurn("Hello");
  let words = 0;
  let last = 0;
  for await (const event of turn.stream()) {
    assert.equal(event.sequence_number, (last += 1));
    if (event.content) words += 1;
    if (last < 2500) continue;
    // Everything has come when the loop is left.
    await turn.waitForCompletion();
    break;
  }
  for await (const event of turn.stream()) {
    assert.ok(event.sequence_number > last);
    last = event.sequence_number;
    if (event.content) words += 1;
  }
  assert.equal(words, 4000);
  assert.equal(textOf(turn).split(" ").length, 4001);
});
