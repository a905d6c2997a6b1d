// Messages of a socket as a turn processes them: each as soon as it arrives, or when the task ends, and one after the other.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../../dist/index.js";
import { fakeSockets } from "../support/fake-socket.mjs";

const TURN = { id: "u", status: "inProgress", items: [] };
const NAMES = { threadId: "t", turnId: "u" };
const delta = (text) => ({ method: "item/agentMessage/delta", params: { ...NAMES, itemId: "m", delta: text } });
const item = (method, text) => ({ method: `item/${method}`, params: { ...NAMES, item: { type: "agentMessage", id: "m", text } } });
const completed = { method: "turn/completed", params: { threadId: "t", turn: { ...TURN, status: "completed" } } };

/** A turn of Codex that has begun, and what brings messages to it at once, as some sockets do. */
async function begun(t) {
  const sockets = [];
  const results = { initialize: { userAgent: "test" }, "thread/start": { thread: { id: "t", status: { type: "idle" }, turns: [] } }, "turn/start": { turn: TURN } };
  const take = (socket, { id, method }) => id !== undefined && socket.say({ id, result: results[method] });
  const client = await connect({ baseUrl: "http://codex.test", protocol: "codex", webSocket: fakeSockets(sockets, take), reconnect: false });
  t.after(() => client.close());
  const turn = (await client.agents.createSession("codex")).createTurn({ input: "Go" });
  const tell = (...messages) => {
    for (const message of messages) sockets[0].dispatchEvent(Object.assign(new Event("message"), { data: JSON.stringify(message) }));
  };
  const heard = [];
  turn.on("event", ({ type, sequence_number, content }) => heard.push([sequence_number, content ?? type]));
  const ended = turn.waitForCompletion();
  while (turn.status !== "running") await new Promise((resolve) => setTimeout(resolve, 1));
  return { client, turn, tell, heard, ended, sockets };
}

test("a message is processed before the socket's event ends", async (t) => {
  const { turn, tell, heard, ended } = await begun(t);
  tell(item("started", ""), delta("Hel"));
  assert.equal(turn.snapshot().threads[0].messages[0].content, "Hel");
  assert.equal(heard.at(-1)[1], "Hel");
  tell(delta("lo"), item("completed", "Hello"), completed);
  await ended;
  assert.equal(turn.snapshot().threads[0].messages[0].content, "Hello");
});

test("pieces of one message that arrive in one task are processed when it ends, or before the next message", async (t) => {
  const { turn, tell, heard, ended } = await begun(t);
  const content = () => turn.snapshot().threads[0].messages[0].content;
  tell(item("started", ""), delta("a"), delta("b"), delta("c"));
  assert.equal(content(), "a");
  await null;
  assert.equal(content(), "abc");
  tell(delta("d"), delta("e"), delta("f"), item("completed", "abcdef"), delta("late"), completed);
  assert.equal(content(), "abcdef");
  await ended;
  const said = heard.map(([, said]) => said).filter((said) => said.length === 1);
  assert.deepEqual(said, ["a", "b", "c", "d", "e", "f"]);
});

test("messages that come while pieces are delivered are delivered after all earlier ones", async (t) => {
  const { turn, tell, heard, ended } = await begun(t);
  const nested = { b: "x", d: "y" };
  turn.on("model.message.delta", ({ content }) => {
    if (content in nested) tell(delta(nested[content]), delta(nested[content].toUpperCase()));
  });
  tell(item("started", ""), delta("a"), delta("b"), delta("c"), item("updated", ""), delta("d"));
  await null;
  tell(delta("e"), completed);
  await ended;
  assert.equal(turn.snapshot().threads[0].messages[0].content, "abcxXdyYe");
  const numbers = heard.map(([number]) => number);
  assert.deepEqual(numbers, [...numbers].sort((a, b) => a - b));
});

test("a listener to native messages that is added within a task gets those that were not processed yet", async (t) => {
  const { turn, tell, ended } = await begun(t);
  tell(item("started", ""), delta("a"), delta("b"));
  const natives = [];
  turn.on("native", (native) => natives.push(native.params?.delta));
  tell(delta("c"));
  await null;
  tell(completed);
  await ended;
  assert.deepEqual(natives, ["b", "c", undefined]);
  assert.equal(turn.snapshot().threads[0].messages[0].content, "abc");
});

test("a connection that closes ends the stream after the pieces before it", async (t) => {
  const { turn, tell, sockets, ended } = await begun(t);
  tell(item("started", ""), delta("a"), delta("b"), delta("c"));
  sockets[0].cut();
  await assert.rejects(ended);
  assert.equal(turn.snapshot().threads[0].messages[0].content, "abc");
});

test("a message that comes while another one is delivered is delivered after it", async (t) => {
  const { turn, tell, heard, ended } = await begun(t);
  let isTold = false;
  turn.on("model.message", () => {
    if (!isTold) tell(delta("a"), delta("b"));
    isTold = true;
  });
  tell(item("started", ""), delta("c"), item("completed", "abc"), completed);
  await ended;
  const numbers = heard.map(([number]) => number);
  assert.deepEqual(numbers, [...numbers].sort((a, b) => a - b));
  assert.deepEqual(heard.map(([, said]) => said).filter((said) => said.length === 1), ["a", "b", "c"]);
  assert.equal(turn.snapshot().threads[0].messages[0].content, "abc");
});

test("a listener that closes the client ends the stream, and nothing is processed after that", async (t) => {
  const { client, turn, tell, heard, ended } = await begun(t);
  turn.on("model.message", () => client.close());
  tell(item("started", ""));
  const count = heard.length;
  tell(delta("a"), completed);
  await assert.rejects(ended, { code: "incomplete" });
  assert.equal(heard.length, count);
  assert.equal(turn.status, "incomplete");
});

test("lone surrogates are replaced, and line ends stay inside their message", async (t) => {
  const { turn, tell, ended } = await begun(t);
  tell(item("started", ""), delta("a\ud800\n"));
  assert.equal(turn.snapshot().threads[0].messages[0].content, "a\ufffd\n");
  tell(completed);
  await ended;
});
