// A conversation as a page uses it: sent, answered, queued, stopped, retried, branched, read again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeServer } from "../../dist/testing.js";
import { linesOf, memoryStore, pageOf, PROTOCOLS, quiet, until } from "./support.mjs";

/** Repeats what the user said. */
const echo = ({ text }) => [`You said `, `${text}.`];

for (const protocol of PROTOCOLS) {
  test(`${protocol}: a message is shown at once, and its answer as it comes`, async () => {
    const { chats } = await pageOf(echo, { protocol });
    const chat = chats.create();
    chat.attach();
    await chat.loaded;
    const key = chat.send("one");
    assert.deepEqual(linesOf(chat), ["user: one"]);
    assert.equal(chat.status.get().phase, "sending");
    const [row] = chat.rows.get();
    assert.equal(row.turn, key);
    await quiet(chat);
    assert.deepEqual(linesOf(chat), ["user: one", "assistant: You said one."]);
    assert.equal(chat.rows.get()[0], row, "the row stays the same object");
    assert.equal(chat.message(row.key).get().delivery, "sent");

    chat.send("two");
    await quiet(chat);
    assert.deepEqual(linesOf(chat), ["user: one", "assistant: You said one.", "user: two", "assistant: You said two."]);
    chats.close();
  });

  test(`${protocol}: the same conversation after a reload`, async (t) => {
    const { server, chats } = await pageOf(echo, { protocol });
    const chat = chats.create();
    chat.send("one");
    await until(chat, ({ rows }) => rows.get().length === 2);
    await quiet(chat);
    const { sessionId } = chat.info.get();
    chats.close();

    const later = await pageOf(echo, { protocol, server });
    const again = later.chats.open(sessionId);
    again.attach();
    await until(again, ({ rows }) => rows.get().length > 0);
    await quiet(again);
    assert.deepEqual(linesOf(again), ["user: one", "assistant: You said one."]);
    again.send("two");
    await quiet(again);
    assert.deepEqual(linesOf(again).slice(2), ["user: two", "assistant: You said two."]);
    later.chats.close();
  });
}

test("messages that are sent while a turn runs wait, in order", async () => {
  const { chats, server } = await pageOf(async function* ({ text }) {
    yield `You said ${text}`;
    yield { wait: 300 };
    yield ".";
  });
  const chat = chats.create();
  chat.send("one");
  await until(chat, ({ rows }) => rows.get().length === 2);
  chat.send("two");
  chat.send("three");
  assert.deepEqual(chat.queue.get().map(({ input, state }) => [input[0].content, state]), [["two", "waits"], ["three", "waits"]]);
  const [, third] = chat.queue.get();
  chat.queue.edit(third.key, "drei");
  chat.queue.move(third.key, 0);
  await until(chat, ({ queue }) => queue.get().length === 0);
  await quiet(chat);
  assert.deepEqual(linesOf(chat).filter((line) => line.startsWith("user")), ["user: one", "user: drei", "user: two"]);
  assert.equal(server.requests.filter(({ body }) => body?.input).length, 3, "each was sent once");
  chats.close();
});

test("stop cancels on the server, and holds the queue", async () => {
  const { chats } = await pageOf(async function* () {
    for (let at = 0; at < 200; at += 1) {
      yield `${at} `;
      yield { wait: 5 };
    }
  });
  const chat = chats.create();
  chat.send("count");
  await until(chat, ({ rows, message }) => rows.get().length === 2 && message(rows.get()[1].key).get().text.length > 4);
  chat.send("later");
  const stopped = chat.stop();
  assert.equal(chat.status.get().phase, "stopping");
  await stopped;
  await quiet(chat);
  assert.equal(linesOf(chat).at(-1), "end: cancelled");
  assert.deepEqual(chat.queue.get().map(({ state }) => state), ["held"]);
  assert.equal(chat.status.get().heldQueue, true);
  const input = chat.queue.remove(chat.queue.get()[0].key);
  assert.deepEqual(input, [{ type: "user.message", content: "later" }]);
  chats.close();
});

const approving = async function* ({ text }) {
  const [one, two] = yield [
    { tool: "restart", arguments: { service: text }, result: "running", approval: true },
    { tool: "notify", arguments: { who: "all" }, result: "told", approval: true },
  ];
  yield `${one.allowed ? one.content : `no: ${one.reason}`}, ${two.allowed ? two.content : `no: ${two.reason}`}`;
};

for (const protocol of ["truefoundry", "trueforge", "tirea", "awaken", "codex"]) {
  test(`${protocol}: each call is answered by its key`, async () => {
    const { chats, server } = await pageOf(approving, { protocol });
    const chat = chats.create();
    chat.send("billing");
    const names = [];
    const decide = () => {
      for (const { key, action, answer } of chat.pending.get()) {
        if (answer) continue;
        assert.equal(chat.call(key).get().pending, action);
        // Codex knows commands, and no names of tools.
        const isRestart = `${action.name} ${action.arguments}`.includes("restart");
        names.push(isRestart ? "restart" : "notify");
        chat.answer(key, isRestart ? { kind: "allow" } : { kind: "deny", reason: "not now" });
      }
    };
    await until(chat, ({ pending }) => pending.get().length > 0);
    // Codex has no field for a reason.
    const isOver = () => linesOf(chat).includes(`assistant: running, no: ${protocol === "codex" ? null : "not now"}`);
    while (!isOver()) {
      decide();
      await until(chat, ({ pending }) => pending.get().some(({ answer }) => !answer) || isOver());
    }
    await quiet(chat);
    assert.deepEqual(names.sort(), ["notify", "restart"]);
    const calls = chat.messages.get().flatMap(({ parts }) => parts).filter(({ type }) => type === "call");
    const { call } = calls.find((part) => `${part.call.name} ${part.call.argumentsText}`.includes("restart"));
    assert.deepEqual(call.answer, { answer: { kind: "allow" }, sent: true });
    assert.ok(server.requests.length > 0);
    chats.close();
  });
}

test("a message while calls wait is refused, and not shown", async () => {
  const { chats } = await pageOf(approving);
  const chat = chats.create();
  chat.send("billing");
  await until(chat, ({ pending }) => pending.get().length === 2);
  const before = chat.rows.get();
  assert.throws(() => chat.send("hello?"), { name: "StateError" });
  assert.equal(chat.rows.get(), before);
  const [one] = chat.pending.get();
  chat.answer(one.key, { kind: "allow" });
  assert.deepEqual(chat.pending.get()[0].answer, { answer: { kind: "allow" }, sent: false });
  chat.answer(one.key, null);
  assert.equal(chat.pending.get()[0].answer, null);
  assert.throws(() => chat.answer("no such key", { kind: "allow" }), { name: "StateError" });
  chats.close();
});

test("a turn that failed is retried in its place; a message that never arrived keeps its key", async () => {
  const server = fakeServer(echo);
  const { chats } = await pageOf(echo, { server });
  const chat = chats.create();
  chat.send("zero");
  await until(chat, ({ rows }) => rows.get().length === 2);
  await quiet(chat);
  server.fail("status:400");
  const key = chat.send("one");
  await quiet(chat);
  assert.equal(chat.status.get().phase, "failed");
  const row = chat.rows.get().find(({ turn }) => turn === key);
  assert.equal(chat.message(row.key).get().delivery, "failed");
  assert.equal(chat.message(row.key).get().error.status, 400);
  assert.equal(chat.retry(row.key), key);
  await until(chat, ({ rows }) => rows.get().length === 4);
  await quiet(chat);
  assert.deepEqual(linesOf(chat), ["user: zero", "assistant: You said zero.", "user: one", "assistant: You said one."]);
  assert.equal(chat.rows.get()[2], row);
  chats.close();
});

test("a failed message can be taken back", async () => {
  const { chats, server } = await pageOf(echo);
  const chat = chats.create();
  server.fail("status:400");
  const key = chat.send("one");
  await until(chat, ({ status }) => status.get().phase === "failed");
  assert.deepEqual(chat.dismiss(chat.rows.get()[0].key), [{ type: "user.message", content: "one" }]);
  assert.deepEqual(linesOf(chat), []);
  assert.equal(chat.turn(key).get(), undefined);
  chats.close();
});

test("questions are edited and answers made again as branches, and each can be shown", async () => {
  let count = 0;
  const { chats, server } = await pageOf(({ text }) => `${text} ${(count += 1)}`);
  const chat = chats.create();
  chat.send("one");
  await until(chat, ({ rows }) => rows.get().length === 2);
  await quiet(chat);
  const first = chat.rows.get()[0].turn;
  chat.edit(chat.rows.get()[0].key, "uno");
  await until(chat, ({ rows }) => linesOf(chat).includes("assistant: uno 2"));
  await quiet(chat);
  assert.deepEqual(linesOf(chat), ["user: uno", "assistant: uno 2"]);
  const { branch } = chat.message(chat.rows.get()[0].key).get();
  assert.equal(branch.of.length, 2);
  assert.equal(branch.of[branch.at], chat.rows.get()[0].turn);
  assert.equal(branch.of[0], first);
  chat.show(first);
  assert.deepEqual(linesOf(chat), ["user: one", "assistant: one 1"]);
  chat.regenerate(chat.rows.get()[1].key);
  await until(chat, () => linesOf(chat).includes("assistant: one 3"));
  await quiet(chat);
  assert.equal(chat.message(chat.rows.get()[0].key).get().branch.of.length, 3);
  assert.equal(server.requests.filter(({ body }) => body?.input).length, 3);
  chats.close();
});

test("a queue and a draft survive a reload, and wait until they are released", async () => {
  const store = memoryStore();
  const slow = async function* ({ text }) {
    yield `You said ${text}`;
    yield { wait: 300 };
    yield ".";
  };
  const { server, chats } = await pageOf(slow, { store });
  const chat = chats.create();
  chat.send("one");
  await until(chat, ({ rows }) => rows.get().length === 2);
  chat.send("two");
  chat.setDraft({ text: "thr", parts: [] });
  const { sessionId } = chat.info.get();
  chats.close();

  const later = await pageOf(slow, { server, store });
  const again = later.chats.open(sessionId);
  again.attach();
  await until(again, ({ rows }) => rows.get().length === 2);
  await quiet(again);
  assert.deepEqual(linesOf(again), ["user: one", "assistant: You said one."]);
  assert.deepEqual(again.queue.get().map(({ input, state }) => [input[0].content, state]), [["two", "held"]]);
  assert.equal(again.draft.get().text, "thr");
  again.queue.hold(false);
  await until(again, ({ rows }) => rows.get().length === 4);
  await quiet(again);
  assert.equal(linesOf(again).at(-1), "assistant: You said two.");
  later.chats.close();
});

test("twenty components attach one conversation: one history, one stream", async () => {
  const { server, chats } = await pageOf(echo);
  const chat = chats.create();
  chat.send("one");
  await until(chat, ({ rows }) => rows.get().length === 2);
  await quiet(chat);
  const { sessionId } = chat.info.get();
  chats.close();
  server.requests.length = 0;

  const later = await pageOf(echo, { server });
  const again = later.chats.open(sessionId);
  assert.equal(later.chats.open(sessionId), again);
  assert.equal(server.requests.length, 0, "nothing is asked before it is shown");
  const leave = Array.from({ length: 20 }, () => again.attach());
  for (const one of leave) one();
  const stay = Array.from({ length: 20 }, () => again.attach());
  await again.loaded;
  assert.deepEqual(linesOf(again), ["user: one", "assistant: You said one."]);
  const lists = server.requests.filter(({ method, url }) => method === "GET" && url.includes("/turns"));
  assert.ok(lists.length <= 2, lists.map(({ url }) => url).join("\n"));
  for (const one of stay) one();
  later.chats.close();
});

test("a dehydrated conversation is shown before anything is connected, and then goes on", async () => {
  const { server, chats } = await pageOf(echo);
  const chat = chats.create();
  chat.send("one");
  await until(chat, ({ rows }) => rows.get().length === 2);
  await quiet(chat);
  const { sessionId } = chat.info.get();
  const { load } = await import("../../dist/conversation.js");
  const later = await pageOf(echo, { server });
  const loaded = JSON.parse(JSON.stringify(await load(later.client, sessionId)));
  const again = later.chats.open(sessionId, loaded);
  assert.deepEqual(linesOf(again), ["user: one", "assistant: You said one."]);
  const rows = again.rows.get();
  again.attach();
  await again.loaded;
  assert.deepEqual(again.rows.get().map(({ key }) => key), rows.map(({ key }) => key));
  assert.deepEqual(linesOf(again), ["user: one", "assistant: You said one."]);
  chats.close();
  later.chats.close();
});

test("tools of the page run, and their results are sent automatically", async () => {
  const tools = { add: { description: "Adds", run: ({ a, b }) => String(a + b) } };
  const { chats } = await pageOf(async function* () {
    const [sum] = yield { tool: "add", arguments: { a: 1, b: 2 } };
    yield `It is ${sum.content}.`;
  }, { tools });
  const chat = chats.create();
  chat.send("add");
  await until(chat, () => linesOf(chat).includes("assistant: It is 3."));
  await quiet(chat);
  assert.deepEqual(chat.pending.get(), []);
  chats.close();
});

test("only the row that streams changes, once a frame", async () => {
  const { chats } = await pageOf(async function* ({ text }) {
    for (let at = 0; at < 300; at += 1) {
      yield `${text} `;
      if (at % 100 === 0) yield { wait: 5 };
    }
  });
  const chat = chats.create();
  chat.send("a");
  await until(chat, ({ rows }) => rows.get().length === 2);
  await quiet(chat);
  const settled = chat.rows.get().map(({ key }) => chat.message(key));
  let told = 0;
  const removes = [...settled.map((one) => one.subscribe(() => (told += 1)))];
  chat.send("b");
  await until(chat, ({ rows }) => rows.get().length === 4);
  const { key } = chat.rows.get()[3];
  let lists = 0;
  let changes = 0;
  removes.push(chat.rows.subscribe(() => (lists += 1)), chat.message(key).subscribe(() => (changes += 1)));
  await quiet(chat);
  assert.equal(chat.message(key).get().text.length, 600);
  assert.equal(told, 0, "settled messages are not notified");
  assert.equal(lists, 0, "the list stays the same");
  assert.ok(changes > 0 && changes < 30, `${changes} changes`);
  for (const remove of removes) remove();
  chats.close();
});
