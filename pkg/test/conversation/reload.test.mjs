// A conversation after a reload: what the server has, and what the tab has kept, each in one place and sent once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeServer } from "../../dist/testing.js";
import { linesOf, memoryStore, pageOf, quiet, settle, until } from "./support.mjs";

const echo = ({ text }) => [`You said `, `${text}.`];
const slow = async function* ({ text }) {
  yield `You said ${text}`;
  yield { wait: 500 };
  yield ".";
};
/** Asks for three approvals. */
const three = async function* ({ text }) {
  if (text !== "go") return yield `You said ${text}.`;
  const answers = yield ["one", "two", "three"].map((tool) => ({ tool, arguments: {}, result: `${tool} ran`, approval: true }));
  yield answers.map(({ allowed }) => allowed).join(", ");
};
const sent = ({ requests }) => requests.filter(({ method }) => method === "POST");
const starts = ({ requests }) => requests.filter(({ body }) => body?.input);

for (const protocol of ["truefoundry", "trueforge", "tirea", "awaken"]) {
  test(`${protocol}: with two of three approvals answered, and a draft, the third answer sends one request`, async () => {
    const store = memoryStore();
    const { server, chats } = await pageOf(three, { protocol, store });
    const chat = chats.create();
    chat.send("go");
    await until(chat, ({ pending }) => pending.get().length === 3);
    const [one, two] = chat.pending.get();
    chat.answer(one.key, { kind: "allow" });
    chat.answer(two.key, { kind: "deny", reason: "no" });
    chat.setDraft({ text: "and th", parts: [] });
    const { sessionId } = chat.info.get();
    await settle();
    chats.close();
    server.requests.length = 0;

    const later = await pageOf(three, { protocol, server, store });
    const again = later.chats.open(sessionId);
    again.attach();
    await until(again, ({ pending }) => pending.get().length === 3);
    assert.equal(again.draft.get().text, "and th");
    assert.equal(sent(server).length, 0, "nothing goes out before a person says so");
    const given = again.pending.get().map(({ action, answer }) => [action.name, answer?.answer.kind ?? null]);
    assert.deepEqual(given, [["one", "allow"], ["two", "deny"], ["three", null]]);
    const before = sent(server).length;
    again.answer(again.pending.get()[2].key, { kind: "allow" });
    await until(again, () => linesOf(again).includes("assistant: true, false, true"));
    await quiet(again);
    // awaken takes one decision a request.
    assert.equal(sent(server).length - before, protocol === "awaken" ? 3 : 1);
    assert.equal(again.draft.get().text, "and th");
    later.chats.close();
  });
}

for (const protocol of ["truefoundry", "tirea", "turn-rpc"]) {
  test(`${protocol}: a queue of three and a draft, while a turn runs: all return, held, and are sent in order when released`, async () => {
    const store = memoryStore();
    const { server, chats } = await pageOf(slow, { protocol, store });
    const chat = chats.create();
    chat.send("zero");
    await until(chat, () => linesOf(chat).includes("assistant: You said zero"));
    for (const text of ["one", "two", "three"]) chat.send(text);
    chat.setDraft({ text: "four", parts: [] });
    const { sessionId } = chat.info.get();
    chats.close();

    const later = await pageOf(slow, { protocol, server, store });
    const again = later.chats.open(sessionId);
    again.attach();
    await again.loaded;
    await until(again, () => linesOf(again).includes("assistant: You said zero."));
    await quiet(again);
    assert.deepEqual(again.queue.get().map(({ input, state }) => [input[0].content, state]), [["one", "held"], ["two", "held"], ["three", "held"]]);
    assert.equal(again.draft.get().text, "four");
    assert.equal(again.status.get().heldQueue, true);
    again.queue.hold(false);
    await until(again, ({ queue }) => queue.get().length === 0);
    await quiet(again);
    assert.deepEqual(linesOf(again).filter((line) => line.startsWith("user")), ["user: zero", "user: one", "user: two", "user: three"]);
    later.chats.close();
  });
}

test("a message that was never sent is back after a reload, and is sent once when it is retried", async () => {
  const store = memoryStore();
  const server = fakeServer(echo);
  const { chats } = await pageOf(echo, { server, store });
  const chat = chats.create();
  chat.send("zero");
  await until(chat, () => linesOf(chat).includes("assistant: You said zero."));
  await quiet(chat);
  server.fail("status:400");
  chat.send("one");
  await until(chat, ({ status }) => status.get().phase === "failed");
  const { sessionId } = chat.info.get();
  chats.close();
  const later = await pageOf(echo, { server, store });
  const again = later.chats.open(sessionId);
  again.attach();
  await again.loaded;
  assert.deepEqual(linesOf(again), ["user: zero", "assistant: You said zero.", "user: one"]);
  const { key } = again.rows.get()[2];
  assert.equal(again.message(key).get().delivery, "failed");
  again.retry(key);
  await until(again, () => linesOf(again).includes("assistant: You said one."));
  await quiet(again);
  assert.equal(starts(server).filter(({ body }) => body.input[0].content === "one").length, 2, "refused once, and sent once");
  assert.equal([...store.texts].length, 0, "nothing is kept that the server has");
  later.chats.close();
});

test("the draft of a conversation without a session survives a reload, and moves to its session", async () => {
  const store = memoryStore();
  const first = await pageOf(echo, { store });
  first.chats.create().setDraft({ text: "hel", parts: [] });
  first.chats.close();
  const second = await pageOf(echo, { store, server: first.server });
  const chat = second.chats.create();
  assert.equal(chat.draft.get().text, "", "nothing is read before it is shown");
  chat.attach();
  await settle();
  assert.equal(chat.draft.get().text, "hel");
  chat.send("hello");
  await until(chat, () => linesOf(chat).includes("assistant: You said hello."));
  await quiet(chat);
  assert.deepEqual([...store.texts.keys()], [`turnwire:${chat.info.get().sessionId}/draft`]);
  // Another one has its own.
  const other = second.chats.create();
  other.attach();
  await settle();
  assert.equal(other.draft.get().text, "");
  chat.setDraft({ text: "", parts: [] });
  assert.equal(store.texts.size, 0);
  second.chats.close();
});

test("a store whose texts come later", async () => {
  const { texts, set, remove } = memoryStore();
  const store = { get: async (key) => (await settle(), texts.get(key) ?? null), set, remove };
  const first = await pageOf(echo, { store });
  const chat = first.chats.create();
  chat.send("one");
  await until(chat, () => linesOf(chat).includes("assistant: You said one."));
  chat.setDraft({ text: "later", parts: [] });
  const { sessionId } = chat.info.get();
  first.chats.close();
  const second = await pageOf(echo, { store, server: first.server });
  const again = second.chats.open(sessionId);
  again.attach();
  await until(again, ({ draft }) => draft.get().text === "later");
  await again.loaded;
  assert.deepEqual(linesOf(again), ["user: one", "assistant: You said one."]);
  second.chats.close();
});

test("earlier pages are read from the newest, and the rows that are shown stay the same", async () => {
  const { server, chats } = await pageOf(echo);
  const chat = chats.create();
  for (const text of ["one", "two", "three", "four", "five"]) {
    chat.send(text);
    await until(chat, () => linesOf(chat).includes(`assistant: You said ${text}.`));
    await quiet(chat);
  }
  const { sessionId } = chat.info.get();
  chats.close();
  const later = await pageOf(echo, { server, page: 2 });
  const again = later.chats.open(sessionId);
  again.attach();
  await again.loaded;
  assert.deepEqual(linesOf(again).filter((line) => line.startsWith("user")), ["user: four", "user: five"]);
  const rows = again.rows.get();
  assert.equal(again.info.get().hasEarlier, true);
  await again.loadEarlier();
  assert.deepEqual(linesOf(again).filter((line) => line.startsWith("user")), ["user: two", "user: three", "user: four", "user: five"]);
  assert.deepEqual(again.rows.get().slice(-4), rows);
  assert.ok(rows.every((row, at) => row === again.rows.get()[at + 4]), "the same objects");
  await again.loadEarlier();
  assert.equal(again.info.get().hasEarlier, false);
  assert.equal(again.rows.get().length, 10);
  const count = server.requests.length;
  await again.loadEarlier();
  assert.equal(server.requests.length, count, "there is nothing more to ask for");
  later.chats.close();
});

test("after a reload, branches are there, and each can be shown", async () => {
  const { server, chats } = await pageOf(echo, { protocol: "trueforge" });
  const chat = chats.create();
  chat.send("one");
  await until(chat, () => linesOf(chat).includes("assistant: You said one."));
  await quiet(chat);
  chat.edit(chat.rows.get()[0].key, "uno");
  await until(chat, () => linesOf(chat).includes("assistant: You said uno."));
  await quiet(chat);
  chat.send("more");
  await until(chat, () => linesOf(chat).includes("assistant: You said more."));
  await quiet(chat);
  const { sessionId } = chat.info.get();
  chats.close();
  const later = await pageOf(echo, { server, protocol: "trueforge" });
  const again = later.chats.open(sessionId);
  again.attach();
  await again.loaded;
  assert.deepEqual(linesOf(again), ["user: uno", "assistant: You said uno.", "user: more", "assistant: You said more."]);
  const { branch } = again.message(again.rows.get()[0].key).get();
  assert.equal(branch.of.length, 2);
  assert.equal(branch.of[branch.at], again.rows.get()[0].turn);
  again.show(branch.of[1 - branch.at]);
  assert.deepEqual(linesOf(again)[0], "user: one");
  await until(again, () => linesOf(again).includes("assistant: You said one."));
  assert.deepEqual(again.message(again.rows.get()[0].key).get().branch.of, branch.of, "the same keys");
  again.show(branch.of[branch.at]);
  assert.equal(linesOf(again).length, 4);
  later.chats.close();
});

test("a client that comes late: the message is shown at once, and sent when it is there", async () => {
  const { client, server } = await pageOf(echo);
  let resolve;
  const { Conversations } = await import("../../dist/conversation.js");
  const chats = new Conversations({ client: new Promise((done) => (resolve = done)), agentName: "support", store: null });
  const chat = chats.create();
  const key = chat.send("one");
  assert.deepEqual(linesOf(chat), ["user: one"]);
  assert.equal(chat.info.get().capabilities, null);
  await settle();
  assert.equal(server.requests.length, 0);
  resolve(client);
  await until(chat, () => linesOf(chat).includes("assistant: You said one."));
  assert.equal(chat.rows.get()[0].turn, key);
  assert.notEqual(chat.info.get().capabilities, null);
  chats.close();
});

test("a message that is stopped before its session exists is given back, and never sent", async () => {
  const { client, server } = await pageOf(echo);
  let resolve;
  const { Conversations } = await import("../../dist/conversation.js");
  const chats = new Conversations({ client: new Promise((done) => (resolve = done)), agentName: "support", store: null });
  const chat = chats.create();
  chat.setDraft({ text: "two", parts: [] });
  chat.send("one");
  await chat.stop();
  assert.deepEqual(linesOf(chat), []);
  assert.equal(chat.draft.get().text, "one\ntwo");
  const opened = chats.open("session-of-another-page");
  opened.send("three");
  await opened.stop();
  resolve(client);
  await until(opened, (one) => linesOf(one).length === 0);
  await settle(20);
  assert.equal(starts(server).length, 0);
  assert.deepEqual(linesOf(opened), []);
  assert.equal(opened.draft.get().text, "three");
  chats.close();
});
