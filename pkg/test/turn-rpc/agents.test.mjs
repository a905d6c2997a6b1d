// Sub-agents of Codex: the questions in their threads belong to the turn that has started them, and to no other.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../../dist/index.js";
import { collect, eventually } from "../support/collect.mjs";
import { fakeSockets } from "../support/fake-socket.mjs";

const METHOD = "item/commandExecution/requestApproval";
const status = (...activeFlags) => ({ type: "active", activeFlags });

/** A server with a thread for each session, whose turns run until they are ended. Messages go to all connections. */
function codex() {
  const server = { sockets: [], asked: [], answers: [], agents: [], waiting: undefined };
  let threads = 0;
  const results = {
    initialize: () => ({ userAgent: "test" }),
    "thread/start": () => ({ thread: { id: `thread${(threads += 1)}`, status: { type: "idle" }, turns: [] } }),
    "turn/start": ({ threadId }) => ({ turn: { id: `turn-of-${threadId}`, status: "inProgress", items: [] } }),
    "thread/resume": ({ threadId }) => ({ thread: { id: threadId, status: status(...(server.waiting?.params.threadId === threadId ? ["waitingOnApproval"] : [])) } }),
    "thread/turns/list": ({ threadId }) => ({ data: [{ id: `turn-of-${threadId}`, status: "inProgress", items: server.agents.map(made) }], nextCursor: null }),
    "thread/list": ({ ancestorThreadId }) => ({ data: server.agents.map((id) => ({ id, parentThreadId: ancestorThreadId, status: status("waitingOnApproval") })), nextCursor: null }),
  };
  server.tell = (...messages) => messages.forEach((message) => server.sockets.at(-1).say(message));
  const take = (socket, { id, method, params, result, error }) => {
    if (method === undefined) return void server.answers.push([id, result ?? error]);
    if (id === undefined) return;
    server.asked.push([method, params]);
    socket.say({ id, result: results[method](params) });
    if (method === "thread/resume" && server.waiting?.params.threadId === params.threadId) socket.say(server.waiting);
  };
  server.webSocket = fakeSockets(server.sockets, take);
  return server;
}

const made = (agent) => ({ type: "collabAgentToolCall", id: "made", tool: "spawnAgent", status: "completed", receiverThreadIds: [agent], prompt: "Look", agentsStates: {} });
const item = (threadId, item) => ({ method: "item/completed", params: { threadId, turnId: `turn-of-${threadId}`, item } });
const begins = (threadId, rootTurnId) => ({ method: "turn/started", params: { threadId, turn: { id: `turn-of-${threadId}`, rootTurnId, status: "inProgress", items: [] } } });
const question = (threadId, id = 7) => ({ method: METHOD, id, params: { threadId, turnId: `turn-of-${threadId}`, itemId: "c", command: "ls" } });
const resolved = (threadId, requestId = 7) => ({ method: "serverRequest/resolved", params: { threadId, requestId } });
const ends = (threadId) => ({ method: "turn/completed", params: { threadId, turn: { id: `turn-of-${threadId}`, status: "completed", items: [] } } });

/** Turns of this many sessions on one connection. */
async function running(t, server, count) {
  const client = await connect({ baseUrl: "http://codex.test", protocol: "codex", webSocket: server.webSocket, reconnect: { baseDelay: 1, maxDelay: 5 } });
  t.after(() => client.close());
  const turns = [];
  for (let at = 0; at < count; at += 1) {
    const turn = (await client.agents.createSession("codex")).createTurn({ input: "Go" });
    const natives = [];
    turn.on("native", (message) => natives.push(message));
    turns.push({ turn, natives, session: turn.session.id, collected: collect(turn.stream()), waits: () => turn.snapshot().required_actions });
    await eventually(() => turn.status === "running");
  }
  return turns;
}

const allow = ([{ thread_id, tool_call_id }]) => ({ type: "user.tool_approval", thread_id, tool_call_id, approval: { status: "allow" } });

test("a sub-agent's question waits in the turn that made it, and is answered on the same connection", async (t) => {
  const server = codex();
  const [own, other] = await running(t, server, 2);
  server.tell(item(own.session, made("kid")), begins("kid", own.turn.id), question("kid"));
  await eventually(() => own.waits().length === 1);
  assert.deepEqual(own.waits().map(({ type, thread_id, tool_call_id }) => [type, thread_id, tool_call_id]), [["tool.approval_required", "kid", "c"]]);
  assert.deepEqual(other.waits(), []);
  await own.turn.answer(allow(own.waits()));
  assert.deepEqual(server.answers, [[7, { decision: "accept" }]]);
  server.tell(resolved("kid"));
  await eventually(() => own.waits().length === 0);
  server.tell(ends(own.session), ends(other.session));
  for (const { collected, turn } of [own, other]) {
    const { events, error } = await collected;
    assert.equal(error, undefined);
    assert.equal(turn.status, "done");
    assert.equal(events.some(({ type }) => type === "unknown"), false);
  }
  assert.ok(own.natives.some(({ method }) => method === METHOD));
  assert.equal(other.natives.some((message) => JSON.stringify(message).includes("kid")), false);
  assert.deepEqual(other.turn.snapshot().threads.map(({ id }) => id), ["main"]);
  assert.equal(server.asked.some(([method]) => method === "thread/list"), false);
});

test("a sub-agent of a sub-agent belongs to the same turn", async (t) => {
  const server = codex();
  const [own] = await running(t, server, 1);
  server.tell(begins("grandkid", own.turn.id), question("grandkid"));
  await eventually(() => own.waits().length === 1);
  assert.equal(own.waits()[0].thread_id, "grandkid");
  server.tell(ends(own.session));
  await own.collected;
});

test("the questions of others are neither delivered nor answered", async (t) => {
  const server = codex();
  const [own] = await running(t, server, 1);
  server.tell(begins("foreign", "turn-of-foreign"), question("foreign"), { ...question("foreign", 8), method: "item/newer/request" }, resolved("foreign"), ends(own.session));
  const { events } = await own.collected;
  assert.deepEqual(events.map(({ type }) => type), ["turn.created", "turn.done"]);
  await new Promise((resolve) => setTimeout(resolve, 250));
  assert.deepEqual(server.answers, []);
});

test("an unknown request of a sub-agent is refused", async (t) => {
  const server = codex();
  const [own] = await running(t, server, 1);
  server.tell(begins("kid", own.turn.id), { ...question("kid", 8), method: "item/newer/request" });
  assert.deepEqual(await eventually(() => server.answers[0]), [8, { code: -32601, message: "the client does not know this method" }]);
  server.tell(ends(own.session));
  await own.collected;
});

test("after a connection broke, the sub-agent is subscribed to, and asks once", async (t) => {
  const server = codex();
  const [own] = await running(t, server, 1);
  server.agents = ["kid"];
  server.waiting = question("kid");
  server.tell(item(own.session, made("kid")), begins("kid", own.turn.id), server.waiting);
  await eventually(() => own.waits().length === 1);
  server.sockets[0].cut();
  await eventually(() => server.asked.some(([method, { threadId }]) => method === "thread/resume" && threadId === "kid"));
  assert.deepEqual(server.asked.filter(([method]) => method === "thread/list").map(([, params]) => params), [
    { ancestorThreadId: own.session, limit: 100, useStateDbOnly: true },
  ]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(own.waits().length, 1);
  await own.turn.answer(allow(own.waits()));
  assert.deepEqual(server.answers, [[7, { decision: "accept" }]]);
  server.tell(resolved("kid"), ends(own.session));
  const { events, error } = await own.collected;
  assert.equal(error, undefined);
  assert.equal(events.filter(({ type }) => type === "tool.approval_required").length, 1);
});
