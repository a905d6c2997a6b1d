// Answers to Codex's questions while a turn runs, over a socket that does not confirm them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../../dist/index.js";
import { collect, eventually } from "../support/collect.mjs";
import { fakeSockets } from "../support/fake-socket.mjs";

const TURN = { id: "u", status: "inProgress", items: [] };
const QUESTION = { id: 7, method: "item/commandExecution/requestApproval", params: { threadId: "t", turnId: "u", itemId: "c", command: "ls" } };

/** A server with one turn, which asks for consent and ends once it has it. Its first connection can lose messages to it. */
function codex(questions = [QUESTION]) {
  const server = { sockets: [], answers: [], isDeaf: false };
  const waits = () => server.answers.length < questions.length;
  const thread = () => ({ id: "t", status: waits() ? { type: "active", activeFlags: ["waitingOnApproval"] } : { type: "idle" }, turns: [TURN] });
  const results = {
    initialize: () => ({ userAgent: "test" }),
    "thread/start": () => ({ thread: thread() }),
    "thread/resume": () => ({ thread: thread() }),
    "thread/turns/list": () => ({ data: [TURN], nextCursor: null }),
    "turn/start": () => ({ turn: TURN }),
  };
  const take = (socket, { id, method, result }) => {
    if (method === undefined) {
      if (server.isDeaf) return;
      server.answers.push([id, result]);
      socket.say({ method: "serverRequest/resolved", params: { threadId: "t", requestId: id } });
      if (waits()) socket.say(questions[server.answers.length]);
      else socket.say({ method: "turn/completed", params: { threadId: "t", turn: { ...TURN, status: "completed" } } });
    } else if (id !== undefined) {
      socket.say({ id, result: results[method]() });
      // A client that reconnects is asked again, under the same id.
      if (method === "turn/start" || method === "thread/resume") socket.say(questions[server.answers.length]);
    }
  };
  server.webSocket = fakeSockets(server.sockets, take);
  return server;
}

/** A turn that waits for consent. */
async function waiting(t, server) {
  const client = await connect({ baseUrl: "http://codex.test", protocol: "codex", webSocket: server.webSocket, reconnect: { baseDelay: 1, maxDelay: 5 } });
  t.after(() => client.close());
  const turn = (await client.agents.createSession("codex")).createTurn({ input: "Go" });
  const ended = collect(turn.stream());
  turn.on("resumed", () => (turn.wasResumed = true));
  await eventually(() => turn.snapshot().required_actions.length === 1);
  const allow = () => {
    const [{ thread_id, tool_call_id }] = turn.snapshot().required_actions;
    return turn.answer({ type: "user.tool_approval", thread_id, tool_call_id, approval: { status: "allow" } });
  };
  return { turn, ended, allow };
}

test("an answer is sent once, and takes effect in the running turn", async (t) => {
  const server = codex();
  const { turn, ended, allow } = await waiting(t, server);
  const [first, second] = await Promise.allSettled([allow(), allow()]);
  assert.equal(first.value, turn);
  assert.equal(second.reason?.name, "InputError");
  await ended;
  assert.equal(turn.status, "done");
  assert.deepEqual(server.answers, [[7, { decision: "accept" }]]);
});

test("a repeated question is answered again", async (t) => {
  const again = { ...QUESTION, id: 8, params: { ...QUESTION.params, reason: "Retry without a sandbox?" } };
  const server = codex([QUESTION, again]);
  const { turn, ended, allow } = await waiting(t, server);
  await allow();
  await eventually(() => turn.snapshot().required_actions[0]?.suspension?.id === "8");
  const [first, second] = await Promise.allSettled([allow(), allow()]);
  assert.equal(first.value, turn);
  assert.equal(second.reason?.name, "InputError");
  await ended;
  assert.equal(turn.status, "done");
  assert.deepEqual(server.answers.map(([id]) => id), [7, 8]);
});

test("a call whose answer was lost with its connection is still pending, and can be answered again", async (t) => {
  const server = codex();
  const { turn, ended, allow } = await waiting(t, server);
  server.isDeaf = true;
  await allow();
  server.isDeaf = false;
  server.sockets[0].cut();
  await eventually(() => turn.wasResumed);
  assert.equal(turn.snapshot().required_actions.length, 1);
  await allow();
  await ended;
  assert.equal(turn.status, "done");
  assert.deepEqual(server.answers, [[7, { decision: "accept" }]]);
});

test("a lost answer is requested again, by an event", async (t) => {
  const server = codex();
  server.isDeaf = true;
  const { turn, ended, allow } = await waiting(t, server);
  let told = 0;
  turn.on("tool.approval_required", () => {
    told += 1;
    void allow();
  });
  await allow();
  server.isDeaf = false;
  server.sockets.at(-1).cut();
  assert.equal((await ended).error, undefined);
  assert.equal(told, 1);
  assert.deepEqual(server.answers, [[7, { decision: "accept" }]]);
});
