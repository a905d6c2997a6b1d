// Who only waits for a turn over a socket.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, eventually, failure } from "../support/collect.mjs";
import { serveRpc } from "../support/turn-rpc.mjs";

const record = (id, status = "inProgress") => ({ id, status, items: [], error: null });
const end = (id) => ["turn/completed", { threadId: "t", turn: record(id, "completed") }];

/** A thread of Codex, whose turns run until the test ends them. */
async function serve(t) {
  const world = await serveRpc(
    t,
    {
      initialize: () => ({ userAgent: "test" }),
      "thread/start": () => ({ thread: { id: "t" } }),
      "thread/read": () => ({ thread: { id: "t", turns: [record("u1"), record("u2", "completed")] } }),
      "thread/resume": () => ({ thread: { id: "t", status: { type: "active", activeFlags: [] } } }),
      "turn/start": ({ count, peer }) => {
        const turn = record(`u${count + 1}`);
        setTimeout(() => peer.tell(["turn/started", { threadId: "t", turn }]));
        return { turn };
      },
    },
    { protocol: "codex" },
  );
  const session = await world.client.agents.createSession("codex");
  const finish = (id) => world.server.open.at(-1).tell(end(id));
  return { ...world, session, finish };
}

test("a turn that is cancelled while it waits for its place is never sent, whoever waits for it", async (t) => {
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
