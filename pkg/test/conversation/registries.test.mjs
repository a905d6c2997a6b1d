// Several registries of one page: what each has stored stays apart, and is in one place only.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeServer } from "../../dist/testing.js";
import { linesOf, memoryStore, pageOf, quiet, slow, until } from "./support.mjs";

const echo = ({ text }) => [`You said ${text}.`];
const textsOf = (chat) => chat.queue.get().map(({ text, state }) => `${text}: ${state}`);
const startsOf = ({ requests }) => requests.flatMap(({ body }) => body?.input?.[0].content ?? []);

test("new conversations of two agents have their own drafts and messages", async () => {
  const store = memoryStore();
  const server = fakeServer(echo);
  // A session cannot be created here.
  const refusing = { connection: { ...server.connection, fetch: async () => new Response("{}", { status: 400 }) } };
  const sales = await pageOf(echo, { server: refusing, store, agentName: "sales" });
  const first = sales.chats.create();
  first.send("for sales");
  await until(first, ({ status }) => status.get().phase === "failed");
  first.setDraft("more for sales");
  const legal = await pageOf(echo, { server, store, agentName: "legal" });
  const second = legal.chats.create();
  second.attach();
  assert.deepEqual([linesOf(second), second.draft.get().text], [[], ""]);
  second.setDraft("for legal");
  sales.chats.close();
  legal.chats.close();

  const later = await pageOf(echo, { server, store, agentName: "sales" });
  const again = later.chats.create();
  again.attach();
  assert.deepEqual([linesOf(again), again.draft.get().text], [["user: for sales"], "more for sales"]);
  later.chats.close();
});

test("new conversations of one agent in two registries have their own drafts, in the same order after a reload", async () => {
  const store = memoryStore();
  const server = fakeServer(echo);
  const open = async () => {
    const pages = [await pageOf(echo, { server, store }), await pageOf(echo, { server, store })];
    const chats = pages.map(({ chats }) => chats.create());
    for (const chat of chats) chat.attach();
    return { chats, close: () => pages.forEach(({ chats }) => chats.close()) };
  };
  const before = await open();
  before.chats.forEach((chat, at) => chat.setDraft(`draft ${at}`));
  before.close();
  const { chats, close } = await open();
  assert.deepEqual(chats.map(({ draft }) => draft.get().text), ["draft 0", "draft 1"]);
  close();
});

test("a component that is shown again with its own registry has the draft", async () => {
  const store = memoryStore();
  const { server, chats } = await pageOf(echo, { store });
  const chat = chats.create();
  const release = chat.attach();
  chat.setDraft("hello");
  release();
  const other = await pageOf(echo, { server, store });
  const again = other.chats.create();
  again.attach();
  assert.equal(again.draft.get().text, "hello");
  chats.close();
  other.chats.close();
});

test("a queue of a registry that shows it no longer is taken over: it is shown once, and sent once", async (context) => {
  const texts = new Map();
  globalThis.sessionStorage = { getItem: (key) => texts.get(key) ?? null, setItem: (key, text) => void texts.set(key, text), removeItem: (key) => void texts.delete(key) };
  context.after(() => delete globalThis.sessionStorage);
  const { script, end } = slow();
  context.after(end);
  const { server, chats } = await pageOf(script, { store: undefined });
  const before = chats.create();
  const release = before.attach();
  before.send("zero");
  await until(before, () => linesOf(before).includes("assistant: You said zero"));
  before.send("one");
  const { sessionId } = before.info.get();
  release();

  const later = await pageOf(script, { server, store: undefined });
  const again = later.chats.open(sessionId);
  again.attach();
  await again.loaded;
  assert.deepEqual(textsOf(again), ["one: held"]);
  await until(before, ({ queue }) => queue.get().length === 0);
  again.send("two");
  end();
  await quiet(before);
  await quiet(again);
  assert.deepEqual(startsOf(server), ["zero", "two"], "a person releases what is held");
  again.queue.hold(false);
  await until(again, () => linesOf(again).includes("assistant: You said one."));
  await quiet(again);
  assert.deepEqual(startsOf(server), ["zero", "two", "one"]);
  await before.catchUp();
  assert.deepEqual(linesOf(before), linesOf(again));
  assert.deepEqual([...texts.keys()].filter((key) => key.startsWith(`turnwire:${sessionId}`)), []);
  chats.close();
  later.chats.close();
});

test("a queue that another registry still shows, or whose conversation sends, stays there", async (context) => {
  const store = memoryStore();
  const { script, end } = slow();
  context.after(end);
  const { server, chats } = await pageOf(script, { store });
  const shown = chats.create();
  const release = shown.attach();
  shown.send("zero");
  await until(shown, () => linesOf(shown).includes("assistant: You said zero"));
  shown.send("one");
  const { sessionId } = shown.info.get();
  const other = await pageOf(script, { server, store });
  const second = other.chats.open(sessionId);
  second.attach();
  await second.loaded;
  assert.deepEqual([textsOf(shown), textsOf(second)], [["one: waits"], []]);
  end();
  await until(second, () => linesOf(second).includes("assistant: You said one."));
  await quiet(shown);
  assert.deepEqual(startsOf(server), ["zero", "one"]);

  const last = await pageOf(script, { server, store });
  const third = last.chats.open(sessionId);
  shown.send("two");
  shown.send("three");
  release();
  third.attach();
  assert.deepEqual([textsOf(shown), textsOf(third)], [["three: waits"], []], "`two` is on its way");
  await until(shown, () => linesOf(shown).includes("assistant: You said three."));
  assert.deepEqual(startsOf(server), ["zero", "one", "two", "three"]);
  chats.close();
  other.chats.close();
  last.chats.close();
});
