// Bad use of a conversation: a clear error, or nothing harmful. Nothing is sent twice, and nothing is lost.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../../dist/index.js";
import { Conversations } from "../../dist/conversation.js";
import { fakeServer } from "../../dist/testing.js";
import { failure } from "../support/collect.mjs";
import { linesOf, pageOf, PROTOCOLS, quiet, until } from "./support.mjs";

const echo = ({ text }) => [`You said `, `${text}.`];
const slow = async function* ({ text }) {
  yield `You said ${text}`;
  yield { wait: 500 };
  yield ".";
};
const approving = async function* ({ text }) {
  const [one, two] = yield [
    { tool: "restart", arguments: { service: text }, result: "running", approval: true },
    { tool: "notify", arguments: { who: "all" }, result: "told", approval: true },
  ];
  yield `${one.allowed}, ${two.allowed}`;
};
const inputs = ({ requests }) => requests.filter(({ method, body }) => method !== "GET" && /answer|input|approv|decision/.test(JSON.stringify(body ?? "")));

const WRONG_OPTIONS = {
  "nothing": [undefined, /object/],
  "no agent": [{ client: {} }, /agentName/],
  "a misspelt name": [{ client: {}, agentName: "a", tool: {} }, /`tool` is not an option/],
  "another word for whenBusy": [{ client: {}, agentName: "a", whenBusy: "wait" }, /whenBusy/],
  "another word for unseen": [{ client: {}, agentName: "a", unseen: "stop" }, /unseen/],
  "half a conversation": [{ client: {}, agentName: "a", kept: 0.5 }, /kept/],
  "a page without turns": [{ client: {}, agentName: "a", page: 0 }, /page/],
};
for (const [name, [options, message]] of Object.entries(WRONG_OPTIONS)) {
  test(`Conversations refuses ${name}`, () => {
    assert.throws(() => new Conversations(options), { name: "InputError", code: "invalid_option", message });
  });
}

const WRONG_INPUTS = { "an empty text": "", "no items": [], "an answer": { type: "user.tool_approval", thread_id: "main", tool_call_id: "c", approval: { status: "allow" } }, "null": [null], "a number": 5 };
test("an invalid message is refused, and not shown", async () => {
  const { chats, server } = await pageOf(echo);
  const chat = chats.create();
  for (const [name, input] of Object.entries(WRONG_INPUTS)) {
    assert.throws(() => chat.send(input), { name: "InputError", code: "invalid_input" }, name);
    assert.throws(() => chat.edit("n1", input), { name: "InputError" }, name);
  }
  assert.throws(() => chat.send("hello", { whenBusy: "later" }), { name: "InputError", message: /whenBusy/ });
  assert.deepEqual(linesOf(chat), []);
  assert.equal(server.requests.length, 0);
  chats.close();
});

test("a key that is gone, or never existed, is an error of each method that takes one", async () => {
  const { chats } = await pageOf(echo);
  const chat = chats.create();
  chat.send("one");
  await until(chat, ({ rows }) => rows.get().length === 2);
  await quiet(chat);
  const before = chat.snapshot();
  for (const key of ["none", "n99", "n1/none", ""]) {
    if (key !== "n1/none") {
      for (const act of [() => chat.retry(key), () => chat.regenerate(key), () => chat.edit(key, "x"), () => chat.show(key), () => chat.dismiss(key)]) assert.throws(act, { name: "InputError" });
    }
    for (const act of [() => chat.queue.edit(key, "x"), () => chat.queue.remove(key), () => chat.queue.move(key, 0), () => chat.queue.sendNow(key), () => chat.queue.steer(key)]) assert.throws(act, { name: "InputError" });
    assert.throws(() => chat.answer(key, { kind: "allow" }), { name: "StateError", code: "turn_not_running" });
    for (const part of [chat.message(key), chat.call(key), chat.thread(key), chat.turn(key)]) assert.equal(part.get(), undefined);
    assert.equal(chat.message(key), chat.message(key));
    assert.equal(chat.turnOf(key), undefined);
  }
  assert.deepEqual(chat.rows.get(), before.rows);
  chats.close();
});

for (const protocol of PROTOCOLS) {
  test(`${protocol}: a running turn is not edited, retried or regenerated; it goes on`, async () => {
    const { chats } = await pageOf(slow, { protocol });
    const chat = chats.create();
    chat.send("one");
    await until(chat, () => linesOf(chat).includes("assistant: You said one"));
    const [user, answer] = chat.rows.get();
    assert.throws(() => chat.edit(user.key, "uno"), { name: "StateError", code: "session_busy" });
    assert.throws(() => chat.regenerate(answer.key), { name: "StateError", code: "session_busy" });
    assert.throws(() => chat.retry(user.key), { name: "StateError", code: "session_busy" });
    assert.throws(() => chat.dismiss(user.key), { name: "StateError", code: "turn_already_started" });
    assert.throws(() => chat.send("two", { whenBusy: "reject" }), { name: "StateError", code: "session_busy" });
    await quiet(chat);
    assert.deepEqual(linesOf(chat), ["user: one", "assistant: You said one."]);
    chats.close();
  });

  test(`${protocol}: an edit is a branch, or unsupported`, async () => {
    const { chats } = await pageOf(echo, { protocol });
    const chat = chats.create();
    chat.send("one");
    await until(chat, () => linesOf(chat).includes("assistant: You said one."));
    await quiet(chat);
    const [user] = chat.rows.get();
    if (chat.info.get().capabilities.fork) {
      chat.edit(user.key, "uno");
      await until(chat, () => linesOf(chat).includes("assistant: You said uno."));
      await quiet(chat);
      assert.deepEqual(linesOf(chat), ["user: uno", "assistant: You said uno."]);
    } else {
      assert.throws(() => chat.edit(user.key, "uno"), { name: "StateError", code: "unsupported" });
      chat.regenerate(user.key);
      await until(chat, ({ rows }) => rows.get().length === 4);
      await quiet(chat);
      assert.deepEqual(linesOf(chat), ["user: one", "assistant: You said one.", "user: one", "assistant: You said one."]);
    }
    chats.close();
  });
}

for (const protocol of ["truefoundry", "trueforge", "tirea", "awaken", "codex"]) {
  test(`${protocol}: an answer given twice is sent once, and a message while calls wait is refused`, async () => {
    const { chats, server } = await pageOf(approving, { protocol });
    const chat = chats.create();
    chat.send("billing");
    await until(chat, ({ pending }) => pending.get().length > 0);
    if (chat.status.get().phase === "waiting" && !chat.info.get().capabilities.liveAnswers) {
      assert.throws(() => chat.send("hello?"), { name: "StateError", code: "session_busy" });
    }
    const before = inputs(server).length;
    let count = 0;
    while (!linesOf(chat).some((line) => line.startsWith("assistant: true"))) {
      const open = chat.pending.get().filter(({ answer }) => !answer);
      for (const { key } of open) {
        chat.answer(key, { kind: "allow" });
        count += 1;
        // Changed while it is kept; refused once it was sent.
        try {
          chat.answer(key, { kind: "allow" });
        } catch (error) {
          assert.equal(error.name, "StateError");
        }
      }
      await until(chat, ({ pending }) => pending.get().some(({ answer }) => !answer) || linesOf(chat).some((line) => line.startsWith("assistant: true")));
    }
    await quiet(chat);
    assert.equal(count, 2);
    const sent = inputs(server).length - before;
    assert.ok(sent <= 2, `${sent} requests answered two calls`);
    assert.deepEqual(chat.pending.get(), []);
    chats.close();
  });
}

test("two pages that answer at once: one answer is taken, and both show the same in the end", async () => {
  const server = fakeServer(approving);
  const first = await pageOf(approving, { server });
  const one = first.chats.create();
  one.send("billing");
  await until(one, ({ pending }) => pending.get().length === 2);
  const second = await pageOf(approving, { server });
  const two = second.chats.open(one.info.get().sessionId);
  two.attach();
  one.attach();
  await until(two, ({ pending }) => pending.get().length === 2);
  for (const chat of [one, two]) for (const { key } of chat.pending.get()) chat.answer(key, { kind: "allow" });
  await until(one, ({ status }) => !["waiting", "working"].includes(status.get().phase));
  await quiet(one);
  await quiet(two);
  for (const chat of [one, two]) {
    await chat.catchUp();
    await until(chat, () => linesOf(chat).includes("assistant: true, true"));
  }
  const starts = server.requests.filter(({ body }) => body?.input?.some(({ type }) => type === "user.tool_approval"));
  assert.ok(starts.length <= 2, `${starts.length} requests with answers`);
  assert.equal(linesOf(one).filter((line) => line === "assistant: true, true").length, 1);
  first.chats.close();
  second.chats.close();
});

test("codex: two pages that answer at once: the server takes one answer, and both show the same", async () => {
  const taken = [];
  const server = fakeServer(
    async function* () {
      const [answer] = yield [{ tool: "restart", result: "running", approval: true }];
      taken.push(answer.allowed);
      yield `${answer.allowed}`;
    },
    { protocol: "codex" },
  );
  const pages = [await pageOf(null, { server, protocol: "codex" }), await pageOf(null, { server, protocol: "codex" })];
  const one = pages[0].chats.create();
  one.attach();
  one.send("go");
  await until(one, ({ pending }) => pending.get().length === 1);
  const two = pages[1].chats.open(one.info.get().sessionId);
  two.attach();
  await until(two, ({ pending }) => pending.get().length === 1);
  two.deny(two.pending.get()[0].key);
  one.allow(one.pending.get()[0].key);
  for (const chat of [one, two]) await until(chat, ({ status }) => status.get().phase === "idle");
  assert.deepEqual(taken, [false]);
  for (const chat of [one, two]) assert.deepEqual([linesOf(chat).at(-1), chat.pending.get()], ["assistant: false", []]);
  for (const { chats } of pages) chats.close();
});

test("after forget, readables keep their values, methods throw or do nothing, and the turn goes on", async () => {
  const { chats, server } = await pageOf(slow);
  const chat = chats.create();
  const leave = chat.attach();
  chat.send("one");
  await until(chat, () => linesOf(chat).includes("assistant: You said one"));
  const { sessionId } = chat.info.get();
  const [rows, status] = [chat.rows.get(), chat.status.get()];
  let told = 0;
  chat.subscribe(() => (told += 1));
  chats.forget(chat);
  chats.forget(chat);
  for (const act of [() => chat.send("two"), () => chat.retry(rows[0].key), () => chat.setDraft({ text: "x", parts: [] }), () => chat.queue.hold(true), () => chat.proceed()]) {
    assert.throws(act, { name: "StateError", message: /open/ });
  }
  assert.equal((await failure(chat.stop())).name, "StateError");
  // A component that renders, attaches and leaves after that.
  chat.attach()();
  leave();
  await chat.loaded;
  assert.equal(chat.rows.get(), rows);
  assert.equal(chat.status.get(), status);
  assert.equal(chat.message(rows[0].key).get().text, "one");
  await new Promise((resolve) => setTimeout(resolve, 250));
  assert.equal(told, 0, "it is no longer notified");
  assert.deepEqual(chats.running.get(), []);
  // When opened again it is another object, and nothing was cancelled.
  const again = chats.open(sessionId);
  assert.notEqual(again, chat);
  again.attach();
  await until(again, () => linesOf(again).includes("assistant: You said one."));
  assert.ok(!server.requests.some(({ url }) => url.includes("cancel")));
  chats.close();
});

test("a client that cannot be made is an error of the conversation, and nothing is lost", async () => {
  const chats = new Conversations({ client: connect({ baseUrl: "no url" }), agentName: "support", store: null });
  const chat = chats.create();
  const errors = [];
  chat.on("error", (error) => errors.push(error.code));
  const key = chat.send("one");
  await until(chat, ({ status }) => status.get().phase === "failed");
  assert.deepEqual(linesOf(chat), ["user: one"]);
  assert.equal(chat.message(chat.rows.get()[0].key).get().delivery, "failed");
  assert.equal(chat.status.get().error.code, "invalid_url");
  assert.deepEqual(errors, ["invalid_url"]);
  assert.deepEqual(chat.dismiss(key), [{ type: "user.message", content: "one" }]);
  const opened = chats.open("s1");
  opened.attach();
  await opened.loaded;
  assert.equal(opened.status.get().error.code, "invalid_url");
  chats.close();
});

test("a store that throws is reported, and stops nothing", async () => {
  const broken = (name) => () => {
    throw new Error(`no ${name}`);
  };
  for (const get of [broken("get"), () => Promise.reject(new Error("no get"))]) {
    const { chats } = await pageOf(echo, { store: { get, set: broken("set"), remove: broken("remove") } });
    const chat = chats.create();
    const errors = [];
    chat.on("error", ({ cause }) => errors.push(cause?.message));
    chat.setDraft({ text: "o", parts: [] });
    assert.equal(chat.draft.get().text, "o");
    chat.send("one");
    await until(chat, () => linesOf(chat).includes("assistant: You said one."));
    await quiet(chat);
    assert.ok(errors.includes("no get") && errors.includes("no set"), errors.join());
    assert.equal(chat.status.get().error, null);
    chats.close();
  }
});

test("a branch that cannot be read is requested once, and not again and again", async () => {
  const server = fakeServer(echo, { protocol: "trueforge" });
  const { chats } = await pageOf(echo, { server, protocol: "trueforge" });
  const chat = chats.create();
  chat.send("one");
  await until(chat, () => linesOf(chat).includes("assistant: You said one."));
  await quiet(chat);
  chat.edit(chat.rows.get()[0].key, "uno");
  await until(chat, () => linesOf(chat).includes("assistant: You said uno."));
  await quiet(chat);
  const { sessionId } = chat.info.get();
  chats.close();
  const { fetch } = server.connection;
  let isGone = false;
  let asked = 0;
  const connection = { ...server.connection, fetch: async (input, init) => {
    if (!isGone) return fetch(input, init);
    asked += 1;
    return new Response("{}", { status: 404 });
  } };
  const later = await pageOf(echo, { server: { ...server, connection }, protocol: "trueforge" });
  const again = later.chats.open(sessionId);
  again.attach();
  await again.loaded;
  const { branch } = again.message(again.rows.get()[0].key).get();
  isGone = true;
  again.show(branch.of[1 - branch.at]);
  assert.deepEqual(linesOf(again), ["user: one"], "its question is known");
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.ok(asked > 0 && asked < 5, `${asked} requests`);
  later.chats.close();
});
