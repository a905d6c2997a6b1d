// Input for a turn that is just ending, or has ended.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, StateError } from "../../dist/index.js";
import { collect, eventually, failure } from "../support/collect.mjs";
import { refuse, serveRpc, SILENCE } from "../support/turn-rpc.mjs";

const record = (status) => ({ id: "u1", status, items: [], error: null });
const QUESTION = { id: 7, method: "item/commandExecution/requestApproval", params: { threadId: "t", turnId: "u1", itemId: "c", command: "ls" } };
const OVER = { code: -32600, message: "no active turn to interrupt" };

/** Codex with a turn that runs until `finish`. */
async function running(t, handlers = {}) {
  const world = await serveRpc(
    t,
    {
      initialize: () => ({ userAgent: "test" }),
      "thread/start": () => ({ thread: { id: "t" } }),
      "thread/resume": () => ({ thread: { id: "t", status: { type: "active", activeFlags: [] } } }),
      "turn/start": ({ peer }) => {
        setTimeout(() => peer.tell(["turn/started", { threadId: "t", turn: record("inProgress") }]));
        return { turn: record("inProgress") };
      },
      ...handlers,
    },
    { protocol: "codex" },
  );
  const turn = (await world.client.agents.createSession("codex")).createTurn({ input: "Go" });
  const finish = () => world.server.open[0].tell(["turn/completed", { threadId: "t", turn: record("completed") }]);
  return { ...world, turn, finish };
}

test("a cancellation that is refused because the turn is just ending is no failure", async (t) => {
  const { turn, finish } = await running(t, {
    "turn/interrupt": ({ peer, id }) => {
      peer.fail(id, OVER);
      setTimeout(finish, 30);
      return SILENCE;
    },
  });
  const ended = collect(turn.stream());
  await eventually(() => turn.status === "running");
  assert.equal(await turn.cancel(), undefined);
  assert.equal(turn.status, "done");
  assert.equal((await ended).error, undefined);
});

test("if the turn has no reader, the server is asked whether it has ended", async (t) => {
  let reads = 0;
  const thread = () => ({ thread: { id: "t", turns: [record((reads += 1) === 1 ? "inProgress" : "completed")] } });
  const { turn } = await running(t, { "thread/read": thread, "turn/interrupt": refuse(OVER.code, OVER.message) });
  const stopped = new AbortController();
  const left = collect(turn.stream({ signal: stopped.signal }));
  await eventually(() => turn.status === "running");
  stopped.abort();
  await left;
  await turn.cancel();
  assert.equal(turn.status, "done");
});

test("a cancellation that is refused while the turn runs on fails", async (t) => {
  const { turn } = await running(t, { "thread/read": () => ({ thread: { id: "t", turns: [record("inProgress")] } }), "turn/interrupt": refuse(OVER.code, OVER.message) });
  const stopped = new AbortController();
  const left = collect(turn.stream({ signal: stopped.signal }));
  await eventually(() => turn.status === "running");
  stopped.abort();
  await left;
  assert.ok((await failure(turn.cancel())) instanceof ApiError);
});

test("an answer to a turn that is over is refused, and makes no unsendable turn", async (t) => {
  const { server, turn, finish } = await running(t);
  const ended = collect(turn.stream());
  await eventually(() => turn.status === "running");
  server.open[0].write(QUESTION);
  const [{ thread_id, tool_call_id }] = await eventually(() => turn.snapshot().required_actions.length && turn.snapshot().required_actions);
  finish();
  await ended;
  const error = await failure(turn.answer({ type: "user.tool_approval", thread_id, tool_call_id, approval: { status: "allow" } }));
  assert.ok(error instanceof StateError, String(error));
  assert.equal(error.code, "turn_not_running");
});
