// Where texts are kept across reloads: a tab's storage that is full, and a store that answers late.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeServer } from "../../dist/testing.js";
import { linesOf, memoryStore, pageOf, quiet, settle, slow, until } from "./support.mjs";

const echo = ({ text }) => [`You said ${text}.`];
const asking = async function* () {
  const answers = yield ["one", "two"].map((tool) => ({ tool, arguments: {}, result: `${tool} ran`, approval: true }));
  yield answers.map(({ allowed }) => allowed).join(", ");
};

/** A tab's storage with room for texts of this length. */
function storageOf(room) {
  const texts = new Map();
  return {
    texts,
    getItem: (key) => texts.get(key) ?? null,
    setItem(key, text) {
      if (text.length > room) throw new DOMException("the quota has been exceeded", "QuotaExceededError");
      texts.set(key, text);
    },
    removeItem: (key) => void texts.delete(key),
  };
}

/** Plays in a tab with this storage. Resolves to what was reported as uncaught. */
async function inTab(storage, play) {
  const uncaught = [];
  const { reportError } = globalThis;
  globalThis.sessionStorage = storage;
  globalThis.reportError = (error) => uncaught.push(error);
  try {
    await play();
  } finally {
    delete globalThis.sessionStorage;
    globalThis.reportError = reportError;
  }
  return uncaught;
}

test("a queue that does not fit in the tab's storage is not found there as it was before", async (context) => {
  const storage = storageOf(1_000);
  await inTab(storage, async () => {
    const { script, end } = slow();
    context.after(end);
    const { server, chats } = await pageOf(script, { store: undefined });
    const chat = chats.create();
    const errors = [];
    chat.on("error", ({ code, message }) => errors.push([code, message]));
    chat.send("zero");
    await until(chat, () => linesOf(chat).includes("assistant: You said zero"));
    chat.send("A");
    const { sessionId } = chat.info.get();
    assert.ok(storage.texts.get(`turnwire:${sessionId}`).includes('"A'));
    chat.send({ type: "user.message", content: [{ type: "file", name: "b", data: `data:text/plain;base64,${"AAAA".repeat(500)}` }] });
    assert.equal(storage.texts.size, 0);
    end();
    await until(chat, () => linesOf(chat).includes("assistant: You said A."));
    await quiet(chat);
    assert.deepEqual(errors.map(([code]) => code), ["invalid_option"], "told once");
    assert.match(errors[0][1], /quota/);
    chats.close();

    const later = await pageOf(script, { server, store: undefined });
    const again = later.chats.open(sessionId);
    again.attach();
    await again.loaded;
    await quiet(again);
    assert.deepEqual(again.queue.get(), [], "what was sent does not wait once more");
    assert.equal(linesOf(again).filter((line) => line === "user: A").length, 1);
    later.chats.close();
  });
});

test("a draft that fits again is kept again, and its next failure is reported again", async () => {
  const storage = storageOf(100);
  await inTab(storage, async () => {
    const { chats } = await pageOf(echo, { store: undefined });
    const chat = chats.create();
    let told = 0;
    chat.on("error", () => (told += 1));
    for (const text of ["short", "long".repeat(50), "long".repeat(51), "short", "long".repeat(50)]) {
      chat.setDraft(text);
      assert.equal(chat.draft.get().text, text);
      assert.equal(storage.texts.size, text === "short" ? 1 : 0, text);
    }
    assert.equal(told, 2);
    chats.close();
  });
});

test("ag-ui: a conversation that no longer fits in the tab's storage is not continued from an older one", async () => {
  const storage = storageOf(1_000);
  const uncaught = await inTab(storage, async () => {
    const { requests, connection } = fakeServer(({ text }) => [text], { protocol: "ag-ui" });
    const server = { requests, connection: { ...connection, store: undefined } };
    const { chats, client } = await pageOf(undefined, { protocol: "ag-ui", server, store: undefined });
    const chat = chats.create();
    const errors = [];
    chat.on("error", (error) => errors.push(error));
    chat.send("one");
    await quiet(chat);
    const { sessionId } = chat.info.get();
    assert.ok(storage.texts.has(`turnwire:messages:${sessionId}`));
    chat.send("two".repeat(500));
    await quiet(chat);
    assert.ok(!storage.texts.has(`turnwire:messages:${sessionId}`));
    await assert.rejects(client.agents.getSession(sessionId), { code: "invalid_input", message: /no conversation/ });
    assert.ok(errors.some(({ code, cause }) => code === "invalid_option" && cause.name === "QuotaExceededError"), String(errors));
    assert.ok(errors.length <= 2, "once for each of the two stores");
    chats.close();
  });
  assert.deepEqual(uncaught, []);
});

test("a store that stores nothing is reported once, also if it rejects", async () => {
  for (const fail of [() => { throw new Error("locked"); }, () => Promise.reject(new Error("locked"))]) {
    const { chats } = await pageOf(echo, { store: { get: () => null, set: fail, remove: () => {} } });
    const chat = chats.create();
    const errors = [];
    chat.on("error", ({ message }) => errors.push(message));
    for (const text of ["a", "", "b", ""]) chat.setDraft(text);
    chat.send("one");
    await until(chat, () => linesOf(chat).includes("assistant: You said one."));
    await settle();
    assert.deepEqual(errors, ["`store` failed: locked"]);
    chats.close();
  }
});

test("a text that does not fit is reported once while others fit", async () => {
  const memory = memoryStore();
  const set = (key, text) => (key.endsWith("/draft") ? memory.set(key, text) : assert.fail("no room"));
  const { script, end } = slow();
  const { chats } = await pageOf(script, { store: { ...memory, set } });
  const chat = chats.create();
  let told = 0;
  chat.on("error", () => (told += 1));
  for (const text of ["one", "two", "three"]) {
    chat.send(text);
    chat.setDraft(text);
  }
  assert.equal(told, 1);
  end();
  await quiet(chat);
  chats.close();
});

test("a store that never answers is abandoned, and the conversation goes on with what the page has", async (context) => {
  const memory = memoryStore();
  const { server, chats, client } = await pageOf(echo, { store: { ...memory, get: () => new Promise(() => {}) } });
  const { id } = await client.agents.createSession("support");
  const chat = chats.open(id);
  const errors = [];
  chat.on("error", ({ code, message }) => errors.push([code, message]));
  context.mock.timers.enable({ apis: ["setTimeout"] });
  chat.send("one");
  chat.setDraft("two");
  await Promise.resolve();
  context.mock.timers.tick(9_999);
  assert.deepEqual([errors.length, memory.texts.size], [0, 0]);
  context.mock.timers.tick(1);
  context.mock.timers.reset();
  await until(chat, () => linesOf(chat).includes("assistant: You said one."));
  assert.deepEqual(errors, [["invalid_option", "`store` failed: the call took longer than its `deadline`, 10000 ms"]]);
  assert.match(memory.texts.get(`turnwire:${id}/draft`), /two/);
  assert.ok(server.requests.length > 0);
  chats.close();
});

/** A store that answers on demand. */
function lateStore({ texts, set, remove } = memoryStore()) {
  let answer;
  const answered = new Promise((resolve) => (answer = resolve));
  return { texts, set, remove, answer, get: async (key) => (await answered, texts.get(key) ?? null) };
}

/** Opens a session again with what was stored; the store answers long after the server could. */
async function reopened(script, { server, store, sessionId }) {
  const late = lateStore(store);
  const { chats } = await pageOf(script, { server, store: late });
  const chat = chats.open(sessionId);
  chat.attach();
  await settle(200);
  late.answer();
  await chat.loaded;
  await quiet(chat);
  return { chats, chat };
}

test("a store that answers after the server: a kept answer is there", async () => {
  const store = memoryStore();
  const { server, chats } = await pageOf(asking, { store });
  const before = chats.create();
  before.send("go");
  await until(before, ({ pending }) => pending.get().length === 2);
  before.allow(before.pending.get()[0].key);
  const { sessionId } = before.info.get();
  chats.close();
  const { chats: later, chat } = await reopened(asking, { server, store, sessionId });
  assert.deepEqual(chat.pending.get().map(({ answer }) => answer?.answer.kind), ["allow", undefined]);
  chat.deny(chat.pending.get()[1].key);
  await until(chat, () => linesOf(chat).includes("assistant: true, false"));
  later.close();
});

test("a store that answers after the server: a message that was in flight is shown once", async () => {
  const store = memoryStore();
  const { server, chats } = await pageOf(echo, { store });
  const before = chats.create();
  before.send("one");
  await until(before, () => linesOf(before).includes("assistant: You said one."));
  await quiet(before);
  const { sessionId } = before.info.get();
  before.send("two");
  // It is in flight when the page closes.
  const kept = store.texts.get(`turnwire:${sessionId}`);
  assert.match(kept, /^\[\["t"/);
  await quiet(before);
  chats.close();
  store.texts.set(`turnwire:${sessionId}`, kept);
  const { chats: later, chat } = await reopened(echo, { server, store, sessionId });
  assert.deepEqual(linesOf(chat), ["user: one", "assistant: You said one.", "user: two", "assistant: You said two."]);
  assert.ok(chat.messages.get().every(({ canRetry }) => !canRetry));
  assert.equal(chat.status.get().phase, "idle");
  later.close();
});
