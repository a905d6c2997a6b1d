// A core that traps: its current turn gets one error, and nothing else is harmed. Later turns, also those of the same
// session, run in another core.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, textOf } from "./support/collect.mjs";
import { created, done, frames, message, text } from "./support/wire.mjs";

/** Whether the next call of a core traps, and whether that core traps in all calls from then on. */
let isDue = false;
let isBeyondRepair = false;
/** The cores that were started; the calls of each after it has failed. */
const started = [];
const { Instance } = WebAssembly;
WebAssembly.Instance = function (...given) {
  const instance = new Instance(...given);
  // This module is not a core: it unpacks a core's module.
  if ("unpack" in instance.exports) return instance;
  const core = { hasFailed: false, callsAfter: [] };
  started.push(core);
  const exports = {};
  for (const [name, value] of Object.entries(instance.exports)) {
    exports[name] = typeof value !== "function" ? value : (...parameters) => {
      if (core.hasFailed) core.callsAfter.push(name);
      if (!isDue && !(core.hasFailed && isBeyondRepair)) return value(...parameters);
      isDue = false;
      core.hasFailed = true;
      throw new WebAssembly.RuntimeError("unreachable");
    };
  }
  return { exports };
};

const { allow, connect } = await import("../dist/index.js");
const { fakeServer } = await import("../dist/testing.js");
const { linesOf, pageOf, PROTOCOLS, quiet, until } = await import("./conversation/support.mjs");

const HEAD = [created(), message(), text("Hel")];
const TAIL = [text("lo"), done()];

/** A server with one turn. In the stream with this number the core traps at the second chunk. */
function serverOf(trapped) {
  let streams = 0;
  return async (url, { method }) => {
    if (method !== "POST" || !url.endsWith("/turns")) {
      return Response.json({ data: { id: "s1", type: "session", agent_name: "a" } });
    }
    const isTrapped = (streams += 1) === trapped;
    const chunks = [frames(HEAD), frames(TAIL, HEAD.length + 1)].map((chunk) => new TextEncoder().encode(chunk));
    const body = new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        isDue = isTrapped && chunks.length === 1;
        controller.enqueue(chunks.shift());
        if (chunks.length === 0) controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

const BASE = { baseUrl: "http://127.0.0.1:9/acme" };

test("a trap is one error of its turn; later turns and clients work", async () => {
  started.length = 0;
  const client = await connect({ ...BASE, fetch: serverOf(1) });
  assert.equal(started.length, 1);
  const session = await client.agents.createSession("a");
  const turn = session.createTurn("Hello");
  const heard = [];
  turn.on("error", (error) => heard.push(error));
  const { error } = await collect(turn.stream());
  assert.equal(error.code, "internal");
  assert.match(error.message, /core failed.*unreachable/);
  assert.deepEqual(heard, [error]);
  assert.deepEqual([turn.snapshot().error, textOf(turn)], [error, "Hel"], "what came before is kept");
  // It cannot continue.
  await assert.rejects(turn.waitForCompletion(), (again) => again === error);

  // The session, the client that met the trap, and other clients: all of them have the same new core.
  for (const next of [session, await client.agents.createSession("a")]) {
    const later = next.createTurn("Hello");
    await later.waitForCompletion();
    assert.deepEqual([later.status, textOf(later), later.snapshot().error], ["done", "Hello", null]);
  }
  const fresh = await connect({ ...BASE, fetch: serverOf() });
  const whole = (await fresh.agents.createSession("a")).createTurn("Hello");
  await whole.waitForCompletion();
  assert.equal(textOf(whole), "Hello");
  assert.equal(started.length, 2);
});

/** How many of the messages that ask for it are still to trap the core. */
let breaks = Infinity;

/** An agent that answers in pieces. The core traps at the second one if the message says so. */
async function* twice({ text }) {
  if (text === "ask me") yield { tool: "restart", approval: true, result: "restarted" };
  yield "Hel";
  yield { wait: 20 };
  isDue = breaks > 0 && text.startsWith("break");
  if (isDue) breaks -= 1;
  yield "l";
  if (text === "break slowly") yield { wait: 100 };
  yield "o";
}

for (const protocol of PROTOCOLS) {
  for (const isLasting of [false, true]) {
    test(`${protocol}: the session goes on in another core${isLasting ? ", and the broken one is left alone" : ""}`, async () => {
      isBeyondRepair = isLasting;
      started.length = 0;
      const server = fakeServer(twice, { protocol });
      const client = await connect(server.connection);
      const session = await client.agents.createSession(protocol === "turn-rpc" ? "Chat" : "agent");
      const first = session.createTurn("Hello");
      await first.waitForCompletion();
      assert.equal(textOf(first), "Hello");

      const broken = session.createTurn("break");
      const heard = [];
      broken.on("error", (error) => heard.push(error));
      const unsubscribe = broken.subscribe(() => {});
      const { error } = await collect(broken.stream());
      assert.equal(error?.code, "internal");
      assert.deepEqual(heard, [error]);
      assert.equal(broken.snapshot().error, error);
      unsubscribe();
      assert.equal(textOf(first), "Hello", "what was shown stays");

      // The server ends the turn without a reader.
      await new Promise((resolve) => setTimeout(resolve, 60));
      const later = session.createTurn("Hello");
      await later.waitForCompletion();
      assert.deepEqual([later.status, textOf(later), later.snapshot().error], ["done", "Hello", null]);
      assert.equal(started.filter(({ hasFailed }) => !hasFailed).length, 1);
      const texts = (await session.history()).map(textOf);
      assert.equal(texts.at(-1), "Hello");
      isBeyondRepair = false;
    });
  }
}

test("a call that is pending when another session breaks the core is answered in the next one", async () => {
  for (const protocol of ["truefoundry", "awaken", "aap", "ag-ui"]) {
    started.length = 0;
    isBeyondRepair = true;
    const server = fakeServer(twice, { protocol });
    const client = await connect(server.connection);
    const session = await client.agents.createSession("agent");
    const asking = session.createTurn("ask me");
    await asking.waitForCompletion();
    const [action] = asking.snapshot().required_actions;
    assert.equal(action.type, "tool.approval_required", protocol);

    const other = (await client.agents.createSession("agent")).createTurn("break");
    const { error } = await collect(other.stream());
    assert.equal(error?.code, "internal", protocol);

    // The core learns an AAP session's pending actions when the next turn begins.
    if (protocol !== "aap") assert.throws(() => session.createTurn("Never mind"), { code: "invalid_input" }, protocol);
    const answered = session.createTurn([allow(action)]);
    await answered.waitForCompletion();
    assert.deepEqual([answered.status, textOf(answered)], ["done", "Hello"], protocol);
    isBeyondRepair = false;
  }
});

for (const protocol of PROTOCOLS) {
  test(`${protocol}: a conversation shows a trap once, below its content, and neither it nor another one is stuck`, async () => {
    isBeyondRepair = true;
    const { chats } = await pageOf(twice, { protocol });
    const both = [chats.create(), chats.create()];
    for (const chat of both) {
      chat.send("Hello");
      await quiet(chat);
    }
    const [chat] = both;
    chat.send("break");
    await quiet(chat);
    const messages = chat.messages.get();
    assert.deepEqual(messages.map(({ role }) => role), ["user", "assistant", "user", "assistant", "end"]);
    const [kept, end] = messages.slice(-2);
    assert.deepEqual([kept.text, kept.streaming], ["Hel", false]);
    assert.deepEqual([end.error.code, end.text], ["internal", end.error.message]);
    for (const one of both) {
      one.send("Hello");
      await quiet(one);
      assert.deepEqual([one.status.get().phase, ...linesOf(one).slice(-2)], ["idle", "user: Hello", "assistant: Hello"]);
    }
    chats.close();
    isBeyondRepair = false;
  });
}

/** Servers that keep nothing of a turn without a reader. */
const FORGETFUL = ["tirea", "aap", "ag-ui"];

for (const protocol of PROTOCOLS) {
  for (const word of ["break", "break slowly"]) {
    const isKept = !FORGETFUL.includes(protocol);
    test(`${protocol}: \`retry\` ${isKept ? "reads a turn that met a trap in another core" : "leaves what was read, and the question can be asked again"} (${word})`, async () => {
      [isBeyondRepair, breaks] = [true, 1];
      const { chats } = await pageOf(twice, { protocol });
      const chat = chats.create();
      chat.attach();
      chat.send("Hello");
      await quiet(chat);
      chat.send(word);
      await quiet(chat);
      const before = linesOf(chat);
      assert.deepEqual(before.slice(2), [`user: ${word}`, "assistant: Hel", "end: running"]);
      // The server ends the turn without a reader, or still runs it.
      if (word === "break") await new Promise((resolve) => setTimeout(resolve, 60));
      const { key } = chat.messages.get().at(-1);
      chat.retry(key);
      if (isKept) {
        await until(chat, () => chat.status.get().phase === "idle", "read anew");
        assert.deepEqual(linesOf(chat), [...before.slice(0, 3), "assistant: Hello"]);
      } else {
        // Until a search for it has failed.
        await new Promise((resolve) => setTimeout(resolve, 100));
        await quiet(chat);
        assert.deepEqual(linesOf(chat), before);
        assert.equal(chat.messages.get().at(-1).error.code, "internal");
        chat.regenerate(key);
        await until(chat, () => chat.status.get().phase === "idle", "asked again");
        assert.deepEqual(linesOf(chat).at(-1), "assistant: Hello");
      }
      chat.send("Hello");
      await quiet(chat);
      assert.deepEqual([chat.status.get().phase, ...linesOf(chat).slice(-2)], ["idle", "user: Hello", "assistant: Hello"]);
      chats.close();
      [isBeyondRepair, breaks] = [false, Infinity];
    });
  }
}
