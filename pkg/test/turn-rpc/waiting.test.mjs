// A turn over a socket that is only waited for: it is read meanwhile.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, eventually, failure, textOf } from "../support/collect.mjs";
import { saying, serveRpc, serveSession } from "../support/turn-rpc.mjs";

const record = (id, status = "inProgress") => ({ id, status, items: [], error: null });
const end = (id) => ["turn/completed", { threadId: "t", turn: record(id, "completed") }];
const QUESTION = { id: 7, method: "item/commandExecution/requestApproval", params: { threadId: "t", turnId: "u1", itemId: "c", command: "ls" } };

/** A thread of Codex, whose turns run until the test ends them. */
async function serve(t, begun = () => {}) {
  const world = await serveRpc(
    t,
    {
      initialize: () => ({ userAgent: "test" }),
      "thread/start": () => ({ thread: { id: "t" } }),
      "thread/resume": () => ({ thread: { id: "t", status: { type: "active", activeFlags: [] } } }),
      "turn/start": ({ count, peer }) => {
        const turn = record(`u${count + 1}`);
        setTimeout(() => {
          peer.tell(["turn/started", { threadId: "t", turn }]);
          begun(peer);
        });
        return { turn };
      },
    },
    { protocol: "codex" },
  );
  const session = await world.client.agents.createSession("codex");
  const finish = (id) => world.server.open.at(-1).tell(end(id));
  return { ...world, session, finish };
}

test("the agent's question is shown, and can be answered", async (t) => {
  const { server, session, finish } = await serve(t, (peer) => peer.write(QUESTION));
  const turn = session.createTurn({ input: "Go" });
  const ended = turn.waitForCompletion();
  await eventually(() => turn.snapshot().required_actions.length === 1);
  const [{ thread_id, tool_call_id }] = turn.snapshot().required_actions;
  await turn.answer({ type: "user.tool_approval", thread_id, tool_call_id, approval: { status: "allow" } });
  await eventually(() => server.others.length > 0 && server.others.at(-1).id === 7);
  assert.deepEqual(server.others.at(-1).result, { decision: "accept" });
  finish("u1");
  assert.equal((await ended).status, "done");
});

test("the server gets no request for the turn's state", async (t) => {
  const { server, session } = await serveSession(t, { "turn/start": saying("Hello") });
  const turn = session.createTurn({ input: "Hi" });
  assert.equal((await turn.waitForCompletion()).status, "done");
  assert.equal(textOf(turn), "Hello");
  assert.equal(server.count("turn/get"), 0);
});

test("several calls wait for one reading, and giving up one does not end it", async (t) => {
  const { server, session, finish } = await serve(t);
  const turn = session.createTurn({ input: "Go" });
  const [first, second] = [failure(turn.waitForCompletion({ signal: AbortSignal.timeout(20) })), turn.waitForCompletion()];
  assert.equal((await first).code, "aborted");
  finish("u1");
  assert.equal((await second).status, "done");
  assert.equal(server.count("turn/start"), 1);
});

test("a turn that is cancelled while it waits for its place is never sent, even if calls wait for it", async (t) => {
  const { server, session, finish } = await serve(t);
  const [running, alone, read] = ["one", "two", "three"].map((input) => session.createTurn({ input }));
  const ended = collect(running.stream());
  const reading = collect(read.stream());
  const waits = [alone, alone, read].map((turn) => failure(turn.waitForCompletion()));
  await eventually(() => running.id);
  await Promise.all([alone.cancel(), alone.cancel(), read.cancel()]);
  assert.equal((await reading).error.code, "aborted");
  assert.deepEqual((await Promise.all(waits)).map(({ code }) => code), ["aborted", "aborted", "aborted"]);
  finish("u1");
  await ended;
  assert.deepEqual([alone.status, read.status], ["unstarted", "unstarted"]);
  assert.equal(server.count("turn/start"), 1);
  const again = alone.waitForCompletion();
  await eventually(() => alone.id);
  finish("u2");
  assert.equal((await again).status, "done");
});
