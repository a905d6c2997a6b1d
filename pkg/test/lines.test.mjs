// Long lines: the end of a turn that repeats a long answer, whole or broken, cut anywhere.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, textOf } from "./support/collect.mjs";
import { serveTurn, stream } from "./support/server.mjs";
import { created, delta, done, finished, frame, message, text } from "./support/wire.mjs";

const LONG = 'A "long" answer, with é and \u{1f600}.\n'.repeat(8000);
const HALVES = [LONG.slice(0, LONG.length / 2), LONG.slice(LONG.length / 2)];

/** The frames of a turn with the text LONG, which ends with this output. */
function turnWith(output, events = [message(), ...HALVES.map((half) => text(half)), finished()]) {
  return [created(), ...events, done({ output })].map((event, at) => frame(event, at + 1)).join("");
}

/** A stream's bytes in chunks of this size. */
function inChunks(whole, size) {
  const bytes = Buffer.from(whole);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

const OUTPUT = message("m1", { content: LONG, finish_reason: "stop" });

/** The end, as an iteration and the turn itself report it. */
async function ends(t, chunks, options = {}) {
  const { turn } = await serveTurn(t, stream(...chunks), { options: { reconnect: false, ...options } });
  const { events, error } = await collect(turn.stream());
  return { turn, error, event: events.at(-1), state: turn.snapshot().state };
}

for (const [name, ending] of [["LF", "\n"], ["CRLF", "\r\n"], ["CR", "\r"]]) {
  test(`a long output is whole wherever it was cut (lines end in ${name})`, async (t) => {
    const bytes = turnWith(OUTPUT).replaceAll("\n", ending);
    for (const size of [1009, 65_536, 100_003, bytes.length]) {
      const { turn, event, state } = await ends(t, inChunks(bytes, size));
      assert.equal(event.type, "turn.done");
      assert.equal(event.state.output.content === LONG, true);
      assert.equal(event.state.output.finish_reason, "stop");
      assert.equal(state.output.content === LONG, true);
      assert.equal(textOf(turn) === LONG, true);
    }
  });
}

test("an output that says something else than its message is not taken for it", async (t) => {
  const content = LONG.replace("A", "B");
  const { turn, event, state } = await ends(t, inChunks(turnWith({ ...OUTPUT, content }), 50_000));
  assert.equal(event.state.output.content === content, true);
  assert.equal(state.output.content === content, true);
  assert.equal(textOf(turn) === LONG, true);
});

test("an output without earlier deltas is shown", async (t) => {
  const { turn, state } = await ends(t, inChunks(turnWith(OUTPUT, []), 50_000));
  assert.equal(state.output.content === LONG, true);
  assert.equal(textOf(turn) === LONG, true);
});

test("an output whose message came without its beginning is shown once", async (t) => {
  const { turn, state } = await ends(t, inChunks(turnWith(OUTPUT, HALVES.map((half) => text(half))), 50_000));
  assert.equal(state.output.content === LONG, true);
  assert.equal(textOf(turn) === LONG, true);
});

test("a long output is decoded when it is read", async (t) => {
  const { event, state } = await ends(t, inChunks(turnWith(OUTPUT), 50_000));
  for (const { output } of [event.state, state]) {
    assert.equal(typeof Object.getOwnPropertyDescriptor(output, "content").get, "function");
    for (const copy of [{ ...output }, structuredClone(output), JSON.parse(JSON.stringify(output))]) assert.equal(copy.content === LONG, true);
  }
});

test("a long output of a sub-agent is whole, whether its message came before or not", async (t) => {
  const thread_id = "sub";
  const said = message("m2", { thread_id, content: LONG, finish_reason: "stop" });
  const begun = { type: "thread.created", id: "t1", thread_id, created_at: said.created_at, title: "Sub", parent: null, agent_info: null };
  const ended = { type: "thread.done", id: "t2", thread_id, created_at: said.created_at, title: "Sub", parent: null, state: { status: "done", output: said } };
  for (const told of [[], [{ ...said, content: "", finish_reason: null }, { ...text(LONG), id: "m2", thread_id }]]) {
    const bytes = turnWith(null, [begun, ...told, ended]);
    const { turn } = await serveTurn(t, stream(...inChunks(bytes, 50_000)), { options: { reconnect: false } });
    const { events } = await collect(turn.stream());
    const done = events.find(({ type }) => type === "thread.done");
    assert.equal(done.state.output.content === LONG, true);
    assert.equal(done.output.content === LONG, true);
    const messages = turn.snapshot().threads.find(({ id }) => id === thread_id).messages;
    assert.deepEqual(messages.map(({ content }) => content === LONG), [true]);
  }
});

test("an output with calls is completed as any other", async (t) => {
  const call = { id: "c1", type: "function", function: { name: "f", arguments: "{}" }, tool_info: { mcp_server_id: "x" } };
  const output = { ...OUTPUT, tool_calls: [call] };
  const { state } = await ends(t, inChunks(turnWith(output), 50_000));
  assert.equal(state.output.tool_calls[0].tool_info.server_id, "x");
  assert.equal(state.output.content === LONG, true);
});

test("a long line that is no JSON, and a long delta, are events like any other", async (t) => {
  const events = [message(), delta({ content: LONG }), finished()];
  const bytes = turnWith(null, events).replace("id: 2\n", `id: 2\n\ndata: {"broken": "${LONG.replaceAll(/["\n]/g, " ")}\n`);
  const { turn } = await serveTurn(t, stream(...inChunks(bytes, 50_000)), { options: { reconnect: false } });
  const { events: seen } = await collect(turn.stream());
  assert.equal(seen.filter(({ type }) => type === "unknown").length, 1);
  assert.equal(textOf(turn) === LONG, true);
});

test("a line that is larger than the limit is refused while it comes", async (t) => {
  const { turn, error } = await ends(t, inChunks(turnWith(OUTPUT), 50_000), { maxFrameBytes: 200_000 });
  assert.equal(error?.code, "frame_too_large");
  assert.equal(turn.snapshot().status, "incomplete");
});

/** Results of tools: longer than a chunk, with everything that JSON escapes, or just long enough to stay out of the core. */
const RESULTS = [LONG, "a".repeat(100_000), '"\\\u0000é'.repeat(3000), "b".repeat(4096), "c".repeat(9000), "d".repeat(4095), "short"];

/** A turn with one call for each result. */
function turnWithResults(results = RESULTS, more = {}) {
  const calls = results.map((_, index) => ({ index, id: `c${index}`, type: "function", function: { name: "read", arguments: "{}" }, tool_info: null }));
  const said = results.map((content, index) => ({
    type: "tool.response", id: `r${index}`, thread_id: "main", created_at: "2026-11-21T14:04:32.381Z", tool_call_id: `c${index}`, content, ...more,
  }));
  return [created(), message(), delta({ tool_calls: calls }), finished("tool_calls"), ...said, done()]
    .map((event, at) => frame(event, at + 1))
    .join("");
}

const contents = (turn) => turn.snapshot().threads[0].messages[0].tool_calls.map(({ response }) => response?.content);

for (const [name, ending] of [["LF", "\n"], ["CRLF", "\r\n"], ["CR", "\r"]]) {
  test(`long results are whole wherever they were cut (lines end in ${name})`, async (t) => {
    const bytes = turnWithResults().replaceAll("\n", ending);
    for (const size of [613, 8191, 16_384, 65_536, bytes.length]) {
      const { turn, error } = await ends(t, inChunks(bytes, size));
      assert.equal(error, undefined);
      assert.deepEqual(contents(turn), RESULTS);
    }
  });
}

test("long results are the same in events, for listeners and in native frames", async (t) => {
  for (const isNative of [false, true]) {
    const { turn } = await serveTurn(t, stream(...inChunks(turnWithResults(), 30_000)), { options: { reconnect: false } });
    const heard = [];
    const natives = [];
    turn.on("tool.response", ({ content }) => heard.push(content));
    if (isNative) turn.on("native", (frame) => frame.type === "tool.response" && natives.push(frame.content));
    const { events } = await collect(turn.stream());
    assert.deepEqual(events.filter(({ type }) => type === "tool.response").map(({ content }) => content), RESULTS);
    assert.deepEqual(heard, RESULTS);
    assert.deepEqual(natives, isNative ? RESULTS : []);
    assert.deepEqual(contents(turn), RESULTS);
  }
});

test("a long result is a property like any other, of an event and of a snapshot", async (t) => {
  const { turn } = await serveTurn(t, stream(...inChunks(turnWithResults([LONG]), 30_000)), { options: { reconnect: false } });
  const { events } = await collect(turn.stream());
  const event = events.find(({ type }) => type === "tool.response");
  assert.ok(Object.keys(event).includes("content"));
  for (const copy of [{ ...event }, structuredClone(event), JSON.parse(JSON.stringify(event))]) assert.equal(copy.content === LONG, true);
  event.content = "changed";
  assert.equal(event.content, "changed");
  const { response } = turn.snapshot().threads[0].messages[0].tool_calls[0];
  assert.ok(Object.isFrozen(response));
  assert.equal(structuredClone(response).content === LONG, true);
});

test("equal long results, and one that ends in backslashes", async (t) => {
  const results = [LONG, LONG, "\\".repeat(5000), '\\"'.repeat(5001), '",content:"'.repeat(1000)];
  const { turn } = await serveTurn(t, stream(...inChunks(turnWithResults(results), 30_000)), { options: { reconnect: false } });
  await collect(turn.stream());
  assert.deepEqual(contents(turn), results);
});

test("a long result with a wrong escape is shown as it came", async (t) => {
  const wrong = `${"\\q".repeat(5000)}\\u12`;
  const bytes = turnWithResults(["RESULT"]).replace("RESULT", () => wrong);
  const { turn } = await serveTurn(t, stream(...inChunks(bytes, 30_000)), { options: { reconnect: false } });
  await collect(turn.stream());
  assert.equal(contents(turn)[0] === wrong, true);
  assert.equal(turn.snapshot().status, "done");
});

test("a long result that is no event of its type is whole as an unknown one", async (t) => {
  const { turn } = await serveTurn(t, stream(...inChunks(turnWithResults([LONG], { tool_call_id: 7 }), 50_000)), { options: { reconnect: false } });
  const { events } = await collect(turn.stream());
  const unknown = events.find(({ type }) => type === "unknown");
  assert.equal(unknown.wire_type, "tool.response");
  assert.equal(unknown.raw.content === LONG, true);
});

test("a long line inside a chunk counts against the limit as any other", async (t) => {
  for (const size of [50_000, 1_000_000]) {
    const { turn, error } = await ends(t, inChunks(turnWithResults([LONG]), size), { maxFrameBytes: 200_000 });
    assert.equal(error?.code, "frame_too_large");
    assert.equal(turn.snapshot().status, "incomplete");
  }
});
