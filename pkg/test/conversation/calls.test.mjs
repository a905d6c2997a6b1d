// Calls with the same id: in two sub-agents' threads, and in two turns. Each has its own question, and its own answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../../dist/index.js";
import { Conversations } from "../../dist/conversation.js";
import { fakeServer } from "../../dist/testing.js";
import { linesOf, pageOf, quiet, until } from "./support.mjs";

/** A fake server that sends the same id for all calls. */
function alike(script) {
  const server = fakeServer(script);
  const { fetch } = server.connection;
  const posted = [];
  let last = "";
  const same = async (url, init) => {
    if (init?.body?.includes?.("tool_approval")) posted.push(JSON.parse(init.body).input);
    const response = await fetch(url, init?.body ? { ...init, body: init.body.replaceAll("call_same", last) } : init);
    if (!response.body) return response;
    const decoder = new TextDecoder();
    const encoder = new TextEncoder();
    const transform = (chunk, controller) => controller.enqueue(encoder.encode(decoder.decode(chunk).replace(/call_\d+/g, (id) => ((last = id), "call_same"))));
    return new Response(response.body.pipeThrough(new TransformStream({ transform })), { status: response.status, headers: response.headers });
  };
  return { posted, connection: { ...server.connection, fetch: same } };
}

const ask = async function* () {
  const [answer] = yield [{ tool: "rm", arguments: {}, result: "gone", approval: true }];
  yield answer.allowed ? "done" : "left";
};

test("two sub-agents ask about calls of the same id: each is answered", async () => {
  const { posted, connection } = alike(async function* () {
    yield [{ agent: "one", script: ask }, { agent: "two", script: ask }];
    yield "both";
  });
  const chats = new Conversations({ client: connect(connection), agentName: "support", store: null });
  const chat = chats.create();
  chat.send("go");
  await until(chat, () => chat.pending.get().length === 2);
  const [one, two] = chat.pending.get();
  assert.notEqual(one.key, two.key);
  for (const { key, action } of [one, two]) assert.equal(chat.call(key).get().pending, action);
  chat.allow(one.key);
  assert.deepEqual(chat.pending.get().map(({ answer }) => answer?.answer.kind), ["allow", undefined]);
  assert.equal(chat.call(two.key).get().answer, null);
  chat.deny(two.key, "no");
  await until(chat, () => posted.length > 0);
  assert.deepEqual(posted[0].map(({ thread_id, approval }) => [thread_id, approval.status]), [[one.action.thread_id, "allow"], [two.action.thread_id, "deny"]]);
  assert.deepEqual([one, two].map(({ key }) => chat.call(key).get().answer.answer.kind), ["allow", "deny"]);
  chats.close();
});

test("a call of a later turn that has the id of an earlier one shows its own answer and result", async () => {
  const { connection } = alike(ask);
  const options = () => ({ client: connect(connection), agentName: "support", store: null });
  const chats = new Conversations(options());
  const chat = chats.create();
  const stands = (of = chat) =>
    of.messages.get().flatMap(({ parts }) => parts.flatMap(({ call }) => (call ? [[call.answer?.answer.kind ?? null, call.response?.content ?? null, call.pending !== null]] : [])));
  const asked = async (text) => {
    chat.send(text);
    await until(chat, () => chat.pending.get().length > 0);
    return chat.pending.get()[0].key;
  };
  const allowed = ["allow", "gone", false];
  chat.allow(await asked("one"));
  await until(chat, () => linesOf(chat).at(-1) === "assistant: done");
  await quiet(chat);
  assert.deepEqual(stands(), [allowed]);
  const key = await asked("two");
  assert.deepEqual(stands(), [allowed, [null, null, true]]);
  chat.deny(key);
  await until(chat, () => linesOf(chat).at(-1) === "assistant: left");
  await quiet(chat);
  const [first, second] = stands();
  assert.deepEqual([first, second[0], second[2]], [allowed, "deny", false]);
  const { sessionId } = chat.info.get();
  chats.close();
  const later = new Conversations(options());
  const again = later.open(sessionId);
  again.attach();
  await again.loaded;
  assert.deepEqual(stands(again), [first, second], "after a reload");
  later.close();
});

test("what accompanies a decision reaches the server, and is shown with the answer", async () => {
  const arrived = {
    "ag-ui": ({ requests }) => JSON.stringify(requests).includes('"editedArgs":{"path":"b"}'),
    // It stops the turn.
    codex: (_, chat) => linesOf(chat).at(-1) === "end: cancelled",
  };
  for (const [protocol, answer] of [
    ["ag-ui", { kind: "allow", result: { editedArgs: { path: "b" } } }],
    ["codex", { kind: "deny", cancel: true }],
  ]) {
    const { server, chats } = await pageOf(ask, { protocol });
    const chat = chats.create();
    chat.send("go");
    await until(chat, () => chat.pending.get().length > 0);
    const { key } = chat.pending.get()[0];
    chat.answer(key, answer);
    assert.deepEqual(chat.call(key).get().answer.answer, answer);
    await until(chat, () => arrived[protocol](server, chat));
    await quiet(chat);
    assert.deepEqual(chat.call(key).get().answer, { answer, sent: true });
    chats.close();
  }
});

test("a sub-agent's thread is there after a reload", async () => {
  const script = async function* () {
    yield [{ agent: "one", title: "One", script: ["I am the first"] }];
    yield "done";
  };
  const { server, chats } = await pageOf(script);
  const chat = chats.create();
  chat.send("go");
  await until(chat, () => linesOf(chat).at(-1) === "assistant: done");
  await quiet(chat);
  const { sessionId } = chat.info.get();
  const threads = (of) => of.messages.get().flatMap(({ parts }) => parts.flatMap(({ call }) => of.thread(call?.thread ?? "").get() ?? []));
  assert.deepEqual(threads(chat).map(({ title, rows }) => [title, rows.length]), [["One", 1]]);
  const dehydrated = JSON.parse(JSON.stringify(chat.dehydrate()));
  chats.close();
  const later = await pageOf(script, { server });
  const again = later.chats.open(sessionId, dehydrated);
  assert.deepEqual(threads(again).map(({ title, rows }) => [title, rows.length]), [["One", 1]], "before it was read");
  again.attach();
  await again.loaded;
  assert.deepEqual(threads(again).map(({ title, rows }) => [title, rows.length]), [["One", 1]]);
  later.chats.close();
});
