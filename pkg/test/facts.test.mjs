// The facts of a turn are read from the core when something has changed, and not on each access.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../dist/index.js";
import { fakeSockets } from "./support/fake-socket.mjs";
import { LiveStream, serveTurn } from "./support/server.mjs";
import { created, done, message, text } from "./support/wire.mjs";

/** How often JSON is parsed meanwhile. */
function parsed(act) {
  const { parse } = JSON;
  let count = 0;
  JSON.parse = (...args) => {
    count += 1;
    return parse(...args);
  };
  try {
    act();
  } finally {
    JSON.parse = parse;
  }
  return count;
}

function read(turn) {
  for (let count = 0; count < 100; count += 1) [turn.id, turn.status, turn.lastSequenceNumber];
}

test("the facts of a turn are read once after each change, and are never stale", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  assert.equal(turn.status, "unstarted");
  assert.equal(parsed(() => read(turn)), 0);
  const iterator = turn.stream();
  assert.equal(turn.status, "starting");
  const facts = [];
  for (const event of [created(), message(), text("a"), text("b"), done()]) {
    await live.send(event);
    const { value } = await iterator.next();
    assert.ok(parsed(() => read(turn)) <= 1, value.type);
    facts.push([turn.status, turn.lastSequenceNumber === value.sequence_number, turn.snapshot().last_sequence_number === value.sequence_number]);
    assert.equal(parsed(() => read(turn)), 0);
  }
  assert.deepEqual(facts, [...Array(4).fill(["running", true, true]), ["done", true, true]]);
  assert.equal((await iterator.next()).done, true);
  assert.equal(turn.status, "done");
});

test("the same of a turn over a socket, whose messages are not its own", async (t) => {
  const sockets = [];
  let ids;
  const results = ({ params = {} }) => ({
    "workspace/default": { workspace: { id: "w", name: "Default" } },
    "thread/start": { thread: { id: params.thread_id, workspace_id: "w", status: "Idle", created_at: 1, turns: [] } },
    "turn/start": { turn: { id: params.turn_id, status: "InProgress" } },
  });
  const take = (socket, request) => {
    if (request.method === "turn/start") ids = { thread_id: request.params.thread_id, turn_id: request.params.turn_id };
    socket.say({ id: request.id, result: results(request)[request.method] });
  };
  const client = await connect({ baseUrl: "http://rpc.test", protocol: "turn-rpc", webSocket: fakeSockets(sockets, take) });
  t.after(() => client.close());
  const turn = (await client.agents.createSession("Chat")).createTurn({ input: "Go" });
  const ended = turn.waitForCompletion();
  while (turn.status !== "running") await new Promise((resolve) => setTimeout(resolve, 1));
  const tell = (method, params) => {
    const data = JSON.stringify({ jsonrpc: "2.0", method, params: { ...ids, ...params } });
    sockets[0].dispatchEvent(Object.assign(new Event("message"), { data }));
  };
  let last = turn.lastSequenceNumber;
  for (const delta of ["a", "b", "c"]) {
    tell("item/agent_message/delta", { item_id: "m", delta, stream: "agent_message" });
    // The second one is like the first.
    await null;
    assert.ok(turn.lastSequenceNumber > last);
    assert.equal(parsed(() => read(turn)), 0);
    last = turn.lastSequenceNumber;
  }
  tell("turn/completed", { turn: { id: ids.turn_id, status: "Completed" } });
  assert.equal(turn.status, "done");
  await ended;
});
