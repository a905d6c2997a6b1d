// A page that is open for days: turns come and go, and the core's memory stays what it was.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

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
const { connect, init } = await import("../dist/index.js");
await init();
WebAssembly.Instance = Instance;

const { answer, created, done, finished, frame, frames, message, record, text } = await import("./support/wire.mjs");

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");

/** Lets finalizers run: they are tasks of their own after a collection. */
async function collectGarbage() {
  for (let round = 0; round < 3; round += 1) {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A client whose server answers every start of a turn with `bytes`, cut into chunks of 16 KiB. */
async function clientOf(bytes) {
  const fetch = async (url) => {
    if (!url.endsWith("/turns")) return Response.json({ data: { id: "s1" } });
    let at = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.slice(at, (at += 16_384)));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const client = await connect({ baseUrl: "http://localhost/acme", reconnect: false, fetch });
  return client.agents.getSession("s1");
}

/** Streams a turn to its end, and reads snapshots as a page does. */
async function streamOne(session) {
  const turn = session.createTurn({ input: "Hello", previousTurnId: "none" });
  let count = 0;
  for await (const _ of turn.stream()) if ((count += 1) % 100 === 0) turn.snapshot();
  return turn.snapshot().threads[0].messages[0].content.length;
}

test("200 turns in a row leave the core's memory as large as a few do", async () => {
  const pieces = Array.from({ length: 1000 }, (_, at) => `piece ${at} of a long answer `);
  const bytes = new TextEncoder().encode(frames(answer(...pieces)));
  const session = await clientOf(bytes);
  const [memory] = memories;
  const size = () => memory.buffer.byteLength;
  const run = async (turns) => {
    for (let turn = 0; turn < turns; turn += 1) {
      assert.equal(await streamOne(session), pieces.join("").length);
      if (turn % 5 === 4) await collectGarbage();
    }
  };
  await run(20);
  const early = size();
  await run(180);
  assert.ok(size() <= early + 256 * 1024, `the memory grew from ${early} to ${size()} bytes`);
  assert.ok(early < 16 * 1024 * 1024, `${early} bytes after 20 turns`);
});

test("turns that are abandoned, broken off or never started leave nothing either", async () => {
  const bytes = new TextEncoder().encode(frames(answer(..."abcdefghij".repeat(50)).slice(0, -1)));
  const session = await clientOf(bytes);
  const [memory] = memories;
  const run = async (turns) => {
    for (let at = 0; at < turns; at += 1) {
      const turn = session.createTurn({ input: "Hello".repeat(1000), previousTurnId: "none" });
      if (at % 3 === 0) for await (const event of turn.stream()) if (event.sequence_number > 9) break;
      if (at % 3 === 1) await turn.waitForCompletion().catch(() => {});
      if (at % 20 === 19) await collectGarbage();
    }
  };
  await run(60);
  const early = memory.buffer.byteLength;
  await run(300);
  // The session keeps the ids of its turns. Their inputs would be 1.5 MB.
  assert.ok(memory.buffer.byteLength <= early + 256 * 1024, `from ${early} to ${memory.buffer.byteLength} bytes`);
});

test("a long answer costs memory once, not for every snapshot of it", async () => {
  const pieces = Array.from({ length: 20_000 }, (_, at) => `${at} `);
  const bytes = new TextEncoder().encode(frames(answer(...pieces)));
  const session = await clientOf(bytes);
  await collectGarbage();
  const before = memories[0].buffer.byteLength;
  await streamOne(session);
  const grown = memories[0].buffer.byteLength - before;
  assert.ok(grown < 4 * 1024 * 1024, `${grown} bytes for ${pieces.join("").length} characters`);
});

test("turns that follow one another do not keep one another alive", async () => {
  let count = 0;
  const fetch = async (url) => {
    if (!url.endsWith("/turns")) return Response.json({ data: { id: "s1" } });
    count += 1;
    const own = created({ turn_id: `t${count}`, previous_turn_id: count > 1 ? `t${count - 1}` : null });
    return new Response(frames([own, ...answer("Hi").slice(1)]), { headers: { "content-type": "text/event-stream" } });
  };
  const client = await connect({ baseUrl: "http://localhost/acme", fetch });
  const session = await client.agents.getSession("s1");
  const one = async () => {
    const turn = session.createTurn({ input: "Hello" });
    for await (const _ of turn.stream()) turn.snapshot();
    assert.equal(turn.previousTurnId, count > 1 ? `t${count - 1}` : null);
    return new WeakRef(turn);
  };
  const turns = [];
  for (let at = 0; at < 30; at += 1) turns.push(await one());
  await collectGarbage();
  const alive = turns.filter((turn) => turn.deref() !== undefined).length;
  assert.ok(alive <= 3, `${alive} of 30 turns are alive`);
});

/** A session of this many finished turns, each with 4,000 characters. Lists are pages of 25 turns and 100 events. */
async function finishedSession(count) {
  const said = "piece of an answer. ".repeat(200);
  const done = { status: "done", output: null, required_actions: [] };
  const turns = Array.from({ length: count }, (_, at) => record(done, { id: `t${at}`, previous_turn_id: at > 0 ? `t${at - 1}` : null })).reverse();
  const events = turns.flatMap(({ id: turn_id }) => [{ turn_id, event: message(`m-${turn_id}`, { content: said, finish_reason: "stop" }) }]);
  const fetch = async (url) => {
    const { pathname, searchParams } = new URL(url);
    const [list, size] = pathname.endsWith("/turns") ? [turns, 25] : [events, 100];
    if (!/\/(?:turns|events)$/.test(pathname)) return Response.json({ data: { id: "s1" } });
    const at = Number(searchParams.get("page_token") ?? 0);
    const next = at + size < list.length ? String(at + size) : undefined;
    return Response.json({ data: list.slice(at, at + size), pagination: { limit: size, next_page_token: next } });
  };
  const client = await connect({ baseUrl: "http://localhost/acme", fetch });
  return client.agents.getSession("s1");
}

test("1,000 settled turns keep no memory of the core, and the history can be read again", async () => {
  const [memory] = memories;
  // Pages of the lists pass through the core, so it has room for them.
  const few = await finishedSession(200);
  for (let round = 0; round < 3; round += 1) await few.history({ turns: 200 });
  await collectGarbage();
  const before = memory.buffer.byteLength;
  const session = await finishedSession(1000);
  const turns = await session.history({ turns: 1000 });
  assert.equal(turns.length, 1000);
  assert.equal(memory.buffer.byteLength, before, "one page of 1,000 turns");
  for (let round = 0; round < 5; round += 1) await session.history({ turns: 1000 });
  assert.equal(memory.buffer.byteLength, before, "five times the same");
  assert.ok(turns.every((turn) => turn.view.get().threads[0].messages[0].content.length === 4000));
});

test("1,000 settled turns cost little besides their text", async () => {
  const session = await finishedSession(1000);
  await collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const turns = await session.history({ turns: 1000 });
  await collectGarbage();
  const grown = process.memoryUsage().heapUsed - before;
  const text = turns.reduce((sum, turn) => sum + turn.snapshot().threads[0].messages[0].content.length, 0);
  assert.ok(grown - text < 4 * 1024 * 1024, `${grown} bytes for ${text} characters`);
});

const WORDS = "The lamp turns once in ten seconds, and ships know the place by that \"alone\".\n".split(/(?<= )/);
const MILLION = Array.from({ length: 1_000_000 }, (_, at) => WORDS[at % WORDS.length]);

/** A turn of a million deltas, made while it is read. Its end repeats the whole text, as servers do. */
function* millionDeltas() {
  let number = 0;
  const framed = (event) => frame(event, (number += 1));
  yield framed(created()) + framed(message());
  for (let at = 0; at < MILLION.length; at += 1000) {
    yield MILLION.slice(at, at + 1000).map((piece) => framed(text(piece))).join("");
  }
  const output = message("m1", { content: MILLION.join(""), finish_reason: "stop" });
  yield framed(finished()) + framed(done({ output }));
}

const WATCHED = {
  "somebody iterates": async (turn) => {
    for await (const event of turn.stream()) if (event.type === "turn.done") return event.state;
  },
  "somebody subscribes": (turn) => {
    turn.subscribe(() => turn.snapshot());
    return turn.waitForCompletion();
  },
  "nobody looks until the end": (turn) => {
    turn.on("turn.done", () => {});
    return turn.waitForCompletion();
  },
  "a stream is begun and not read": (turn) => {
    turn.stream();
    return turn.waitForCompletion();
  },
};

for (const [how, watch] of Object.entries(WATCHED)) {
  test(`after 1,000,000 deltas the core's memory is within three times their text: ${how}`, async () => {
    const chunks = millionDeltas();
    const encoder = new TextEncoder();
    const body = () =>
      new ReadableStream({
        pull(controller) {
          const { done: isOver, value } = chunks.next();
          if (isOver) return controller.close();
          const bytes = encoder.encode(value);
          for (let at = 0; at < bytes.length; at += 65_536) controller.enqueue(bytes.slice(at, at + 65_536));
        },
      });
    const fetch = async (url) =>
      url.endsWith("/turns")
        ? new Response(body(), { headers: { "content-type": "text/event-stream" } })
        : Response.json({ data: { id: "s1" } });
    const client = await connect({ baseUrl: "http://localhost/acme", reconnect: false, fetch });
    const session = await client.agents.getSession("s1");
    const turn = session.createTurn({ input: "Hello", previousTurnId: "none" });
    const whole = MILLION.join("");
    const state = await watch(turn);
    assert.equal(state.output.content === whole, true, "the output is the whole text");
    assert.equal(turn.snapshot().threads[0].messages[0].content === whole, true, "so is the snapshot's");
    const size = memories[0].buffer.byteLength;
    assert.ok(size <= 3 * Buffer.byteLength(whole), `${size} bytes for ${Buffer.byteLength(whole)} of text`);
  });
}
