// Lists over a socket: what is requested again, and what is not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../dist/index.js";
import { collect } from "../support/collect.mjs";
import { refuse, serveSession, thread, turn } from "../support/turn-rpc.mjs";

const found = ({ params }) => ({ thread: thread(params.thread_id, [turn("t1", "Completed")]) });

/** The result of a list of turns whose first request is refused like this. */
async function list(t, refusal) {
  let isRead = false;
  // The session itself is read first.
  const get = (request) => (isRead ? refusal(request) : found(request));
  const world = await serveSession(t, { "thread/get": get });
  isRead = true;
  const { events: turns, error } = await collect(world.session.listTurns());
  return { ids: turns.map(({ id }) => id), error, asked: world.server.count("thread/get") - 1 };
}

for (const [name, code] of [["is busy", -32001], ["failed", -32603]]) {
  test(`a list is requested again when the server ${name}`, async (t) => {
    const refusals = [refuse(code, name), refuse(code, name)];
    const { ids, error, asked } = await list(t, (request) => (refusals.shift() ?? found)(request));
    assert.equal(error, undefined);
    assert.deepEqual([ids, asked], [["t1"], 3]);
  });
}

test("a list is requested no more often than the client reconnects", async (t) => {
  const { ids, error, asked } = await list(t, refuse(-32001, "busy"));
  assert.ok(error instanceof ApiError, String(error));
  // After that the session is read, to see whether it is new.
  assert.deepEqual([error.code, error.status, ids, asked], ["rpc", 503, [], 5]);
});

test("a list that the server refuses is requested once", async (t) => {
  const { error, asked } = await list(t, refuse(-32602, "no such parameter"));
  assert.ok(error instanceof ApiError, String(error));
  assert.ok(asked <= 2, `asked ${asked} times`);
});
