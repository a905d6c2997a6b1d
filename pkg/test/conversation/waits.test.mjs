// What a page shows while a conversation waits: turns without rows, results of the page's tools, and when a person must
// say that it goes on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeServer } from "../../dist/testing.js";
import { linesOf, pageOf, quiet, settle, until } from "./support.mjs";

/** The agent asks for a sum of the page and for an approval, in one message. */
const mixed = async function* () {
  yield { wait: 60 };
  const [sum, restart] = yield [
    { tool: "add", arguments: { a: 1, b: 2 } },
    { tool: "restart", result: "running", approval: true },
  ];
  yield { wait: 30 };
  yield `${sum.content}, ${restart.content}`;
};
const adding = (run) => ({ add: { description: "Adds", run } });
const calls = (chat) => chat.messages.get().flatMap(({ parts }) => parts).flatMap(({ call }) => call ?? []);

test("a list that was requested while a turn ran does not remove what the turn asks", async () => {
  const fake = fakeServer(mixed);
  const { fetch } = fake.connection;
  let release;
  const released = new Promise((resolve) => (release = resolve));
  // The server responds at once, but the response takes long to arrive.
  const late = async (url, init) => {
    const response = await fetch(url, init);
    if ((init?.method ?? "GET") === "GET" && /turns\?/.test(url)) await released;
    return response;
  };
  const server = { requests: fake.requests, connection: { ...fake.connection, fetch: late } };
  const { chats } = await pageOf(mixed, { server, tools: adding(({ a, b }) => a + b) });
  const chat = chats.create();
  chat.send("go");
  await until(chat, ({ turnOf, turns }) => turnOf(turns.get()[0])?.status === "running");
  const caughtUp = chat.catchUp();
  await until(chat, ({ status }) => status.get().phase === "waiting");
  release();
  await caughtUp;
  await settle(30);
  assert.deepEqual(chat.pending.get().map(({ action }) => action.name), ["restart"]);
  assert.equal(calls(chat).length, 2);
  chats.close();
});

test("the result of a page's tool is shown while the person's answer is missing, and then as sent", async () => {
  const { chats } = await pageOf(mixed, { tools: adding(({ a, b }) => a + b) });
  const chat = chats.create();
  chat.send("go");
  const sum = () => calls(chat).find(({ name }) => name === "add");
  await until(chat, () => sum()?.answer);
  assert.deepEqual([sum().answer, sum().pending], [{ answer: { kind: "text", content: "3" }, sent: false }, null]);
  assert.equal(chat.status.get().canProceed, false, "the person answers");
  chat.answer(chat.pending.get()[0].key, { kind: "allow" });
  const turns = chat.turns.get();
  assert.equal(turns.length, 2);
  assert.deepEqual(chat.rows.get().map(({ turn }) => turn), [turns[0], turns[0]], "the turn with the answers has no row yet");
  await until(chat, () => linesOf(chat).includes("assistant: 3, running"));
  assert.equal(sum().answer.sent, true);
  await quiet(chat);
  assert.equal(chat.turns.get(), turns, "the same array while no turn comes or goes");
  chats.close();
});

test("tools that were stopped wait for the person, who lets them run", async () => {
  let runs = 0;
  const run = () => new Promise((resolve) => (runs += 1) > 1 && resolve("3"));
  const script = async function* () {
    const [sum] = yield { tool: "add" };
    yield `It is ${sum.content}.`;
  };
  const { chats } = await pageOf(script, { tools: adding(run) });
  const chat = chats.create();
  chat.send("go");
  await until(chat, () => runs === 1);
  assert.deepEqual([chat.status.get().canProceed, chat.status.get().canStop], [false, true]);
  await chat.stop();
  assert.deepEqual([chat.status.get().phase, chat.status.get().canProceed], ["waiting", true]);
  chat.proceed();
  assert.equal(chat.status.get().canProceed, false);
  await until(chat, () => linesOf(chat).includes("assistant: It is 3."));
  chats.close();
});

test("after ten rounds of tools a person is asked", async () => {
  const script = async function* () {
    for (let at = 0; at < 12; at += 1) yield { tool: "add" };
    yield "Enough.";
  };
  const { chats } = await pageOf(script, { tools: adding(() => "1") });
  const chat = chats.create();
  chat.send("go");
  await until(chat, ({ status }) => status.get().canProceed);
  assert.equal(calls(chat).length, 11);
  chat.proceed();
  await until(chat, () => linesOf(chat).includes("assistant: Enough."));
  chats.close();
});
