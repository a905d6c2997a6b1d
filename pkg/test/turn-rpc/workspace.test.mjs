// A session stays in its workspace, over all connections and in later pages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect } from "../support/collect.mjs";
import { answer, say, saying, serveRpc, SILENCE, thread, turn } from "../support/turn-rpc.mjs";

const there = { "thread/start": ({ params }) => ({ thread: { ...thread(params.thread_id), workspace_id: params.workspace_id }, sandbox: { mode: "FullAccess" } }) };
const workspaces = (server) => server.requests.filter(({ method }) => method === "thread/start").map(({ params }) => params.workspace_id);

test("a new connection names the session's workspace", async (t) => {
  const dropping = ({ params, peer, id }) => {
    peer.reply(id, { turn: turn(params.turn_id) });
    setTimeout(() => peer.drop(), 10);
    return SILENCE;
  };
  const { server, client } = await serveRpc(t, { ...there, "turn/start": [dropping, saying(({ begin, end }) => [begin(), end()])] });
  const session = await client.agents.createSession("Chat", { sessionOptions: { workspaceId: "mine" } });
  const reading = collect(session.createTurn({ input: "Hello" }).stream());
  const { peer, params } = await server.until("turn/timeline");
  const { complete, end } = say({ thread_id: session.id, turn_id: params.turnId });
  peer.tell(complete(answer("m1", "Hello")), end());
  assert.equal((await reading).error, undefined);
  assert.deepEqual(workspaces(server), ["mine", "mine"]);
});

test("a session that is read again is in the server's workspace", async (t) => {
  const { server, client } = await serveRpc(t, {
    "thread/get": ({ params }) => ({ thread: { ...thread(params.thread_id), workspace_id: "theirs" } }),
    "turn/start": saying(({ begin, end }) => [begin(), end()]),
  });
  const session = await client.agents.getSession("s1");
  assert.equal((await collect(session.createTurn({ input: "Hello" }).stream())).error, undefined);
  assert.deepEqual(workspaces(server), ["theirs"]);
});
