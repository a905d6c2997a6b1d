// The cost of long runs: the core's memory, and turns without references.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { answer, begin, complete, finish, frames, say, step } from "../support/agent-event.mjs";

// The package does not expose the core's memory, so the test intercepts its creation.
const memories = [];
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(...rest) {
    super(...rest);
    // A core's module is made by another module.
    if (!("unpack" in this.exports)) memories.push(this.exports.memory);
  }
};
const { connect } = await import("../../dist/index.js");
await connect({ baseUrl: "http://server", protocol: "tirea" });
WebAssembly.Instance = Instance;
const memory = memories.at(-1);

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");

/** Lets finalizers run: they are tasks of their own after a collection. */
async function collectGarbage() {
  for (let round = 0; round < 3; round += 1) {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A session whose server answers every start with these texts, in chunks of 64 KiB. */
async function sessionOf(protocol, texts) {
  const encoder = new TextEncoder();
  const fetch = async () => {
    const list = texts();
    const body = new ReadableStream({
      pull(controller) {
        const { done, value } = list.next();
        if (done) return controller.close();
        const bytes = encoder.encode(value);
        for (let at = 0; at < bytes.length; at += 65_536) controller.enqueue(bytes.slice(at, at + 65_536));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const client = await connect({ baseUrl: "http://server", protocol, fetch, reconnect: false });
  return client.agents.createSession("assistant");
}

const WORDS = "The lamp turns once in ten seconds, and ships know the place by that \"alone\".\n".split(/(?<= )/);
const COUNT = 100_000;
const PIECES = Array.from({ length: COUNT }, (_, at) => WORDS[at % WORDS.length]);
const WHOLE = PIECES.join("");

/** A run of many deltas, made while it is read; its end may repeat the whole text, as servers do. */
function* longRun(protocol, result) {
  yield frames(protocol, [begin(), step()]);
  for (let at = 0; at < COUNT; at += 1000) yield frames(protocol, PIECES.slice(at, at + 1000).map(say));
  yield frames(protocol, [complete(), ["step_end"], finish("natural_end", result && { result })]);
}

/** The growth of the core's memory by such a run. */
async function growth(protocol, result) {
  const session = await sessionOf(protocol, () => longRun(protocol, result));
  await collectGarbage();
  const before = memory.buffer.byteLength;
  const turn = session.createTurn({ input: "Hello" });
  let count = 0;
  for await (const event of turn.stream()) if (event.content && (count += 1) % 100 === 0) turn.snapshot();
  assert.ok(count >= COUNT, `${count} deltas`);
  assert.equal(turn.snapshot().threads[0].messages[0].content === WHOLE, true);
  assert.equal(turn.snapshot().state.result?.response, result?.response);
  return memory.buffer.byteLength - before;
}

// In this order: a core's memory does not become smaller again.
for (const protocol of ["tirea", "awaken"]) {
  test(`${protocol}: 100,000 deltas cost no more than a few times their text`, async () => {
    const grown = await growth(protocol);
    assert.ok(grown <= 4 * WHOLE.length, `${grown} bytes for ${WHOLE.length} of text`);
  });
}

for (const protocol of ["tirea", "awaken"]) {
  test(`${protocol}: an end that repeats the whole text costs no more than that`, async () => {
    const grown = await growth(protocol, { response: WHOLE });
    assert.ok(grown <= 4 * WHOLE.length, `${grown} bytes for ${WHOLE.length} of text`);
  });
}

test("tirea: 100,000 progress reports of a tool cost their numbers, and the last one its text", async () => {
  const report = (at) => ["activity_snapshot", { activity_type: "tool-call-progress", message_id: "tool_call:c1", replace: true, content: { call_id: "c1", progress: at / COUNT, updated_at_ms: at, message: `step ${at}` } }];
  const session = await sessionOf("tirea", function* () {
    yield frames("tirea", [begin(), step(), ["tool_call_start", { id: "c1", name: "x" }], ["tool_call_ready", { id: "c1", name: "x", arguments: {} }]]);
    for (let at = 0; at < COUNT; at += 1000) yield frames("tirea", Array.from({ length: 1000 }, (_, more) => report(at + more)));
    yield frames("tirea", [report(COUNT), complete(), finish()]);
  });
  await collectGarbage();
  const before = memory.buffer.byteLength;
  const turn = session.createTurn({ input: "Hello" });
  await turn.waitForCompletion();
  assert.equal(turn.snapshot().threads[0].messages[0].tool_calls[0].progress.progress, 1);
  assert.equal(turn.snapshot().activities.length, 1);
  const grown = memory.buffer.byteLength - before;
  assert.ok(grown <= 80 * COUNT, `it grew by ${grown} bytes`);
});

test("tirea: 200 runs in a row leave the core's memory as large as a few do", async () => {
  const text = frames("tirea", answer(...PIECES.slice(0, 1000)));
  const session = await sessionOf("tirea", function* () {
    yield text;
  });
  const run = async (turns) => {
    for (let at = 0; at < turns; at += 1) {
      const turn = session.createTurn({ input: "Hello" });
      let count = 0;
      for await (const _ of turn.stream()) if ((count += 1) % 100 === 0) turn.snapshot();
      assert.equal(turn.status, "done");
      if (at % 5 === 4) await collectGarbage();
    }
  };
  await run(20);
  const early = memory.buffer.byteLength;
  await run(180);
  assert.ok(memory.buffer.byteLength <= early + 256 * 1024, `from ${early} to ${memory.buffer.byteLength} bytes`);
});

test("tirea: turns that follow one another do not keep one another alive", async () => {
  const session = await sessionOf("tirea", function* () {
    yield frames("tirea", answer("Hi"));
  });
  const one = async () => {
    const turn = session.createTurn({ input: "Hello" });
    for await (const _ of turn.stream()) turn.snapshot();
    return new WeakRef(turn);
  };
  const turns = [];
  for (let at = 0; at < 30; at += 1) turns.push(await one());
  await collectGarbage();
  const alive = turns.filter((turn) => turn.deref() !== undefined).length;
  assert.ok(alive <= 3, `${alive} of 30 turns are alive`);
});

test("tirea: turns that are dropped while they stream leave nothing", async () => {
  const text = frames("tirea", answer(...PIECES.slice(0, 500)));
  const session = await sessionOf("tirea", function* () {
    yield text.slice(0, text.length / 2);
    yield text.slice(text.length / 2);
  });
  const run = async (turns) => {
    for (let at = 0; at < turns; at += 1) {
      const turn = session.createTurn({ input: "Hello".repeat(1000) });
      if (at % 3 === 0) for await (const event of turn.stream()) if (event.sequence_number > 9) break;
      if (at % 3 === 1) turn.stream();
      if (at % 20 === 19) await collectGarbage();
    }
  };
  await run(60);
  const early = memory.buffer.byteLength;
  await run(300);
  assert.ok(memory.buffer.byteLength <= early + 1024 * 1024, `from ${early} to ${memory.buffer.byteLength} bytes`);
});
