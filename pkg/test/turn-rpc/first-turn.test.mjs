// Threads of Codex before their first turn: there is nothing to subscribe to yet, and nothing to list.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../dist/index.js";
import { collect, failure, textOf } from "../support/collect.mjs";
import { refuse, serveRpc } from "../support/turn-rpc.mjs";

const EARLY = refuse(-32601, "list_turns is not supported yet");

const serve = (t, handlers) =>
  serveRpc(t, { initialize: () => ({ userAgent: "test" }), "thread/read": [() => ({ thread: { id: "t", preview: "" } }), EARLY, () => ({ thread: { id: "t", preview: "" } })], ...handlers }, { protocol: "codex" });

test("the first turn on a connection that cannot subscribe to its thread yet is read all the same, and started once", async (t) => {
  const items = [{ type: "agentMessage", id: "m", text: "Hello" }];
  const { server, client } = await serve(t, {
    "thread/resume": [refuse(-32600, "no rollout found"), EARLY, () => ({ thread: { id: "t", status: { type: "idle" } } })],
    "thread/turns/list": () => ({ data: [{ id: "u", status: "completed", items }], nextCursor: null }),
    "turn/start": () => ({ turn: { id: "u", status: "inProgress", items: [] } }),
  });
  const session = await client.agents.getSession("t");
  const turn = session.createTurn({ input: "Hi" });
  const { error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual([turn.status, textOf(turn)], ["done", "Hello"]);
  assert.deepEqual(server.asked.filter((method) => method !== "initialize"), ["thread/read", "thread/resume", "turn/start", "thread/resume", "thread/resume", "thread/turns/list"]);
  assert.equal(server.count("turn/start"), 1);
});

test("a conversation without messages is empty", async (t) => {
  const { client } = await serve(t, {});
  const session = await client.agents.getSession("t");
  assert.deepEqual(await session.history(), []);
});

test("one that cannot be read is not", async (t) => {
  const { client } = await serve(t, { "thread/read": [() => ({ thread: { id: "t", preview: "Hi" } }), EARLY, () => ({ thread: { id: "t", preview: "Hi" } })] });
  const session = await client.agents.getSession("t");
  assert.ok((await failure(session.history())) instanceof ApiError);
});
