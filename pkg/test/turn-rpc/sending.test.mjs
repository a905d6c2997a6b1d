// Messages that cannot be sent, for now or at all: which caller gets the error, and what happens to the turn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError, InputError } from "../../dist/index.js";
import { collect, eventually, failure, textOf } from "../support/collect.mjs";
import { heldSockets, say, saying, serveRpc, serveSession, turn } from "../support/turn-rpc.mjs";

const MOST = 16 * 1024 * 1024;

test("messages that a server does not read are not buffered without limit", async (t) => {
  const { sockets, webSocket } = heldSockets();
  const { server, client } = await serveRpc(t, {}, { webSocket });
  await client.agents.getSession("s1");
  sockets[0].buffered = MOST;
  const error = await failure(client.agents.getSession("s2"));
  assert.ok(error instanceof ConnectionError);
  assert.match(error.message, /16777216 bytes wait/);
  sockets[0].buffered = MOST - 1000;
  assert.equal((await client.agents.getSession("s3")).id, "s3");
  assert.deepEqual(server.requests.filter(({ method }) => method === "thread/get").map(({ params }) => params.thread_id), ["s1", "s3"]);
});

test("a message to be sent counts with the buffered ones", async (t) => {
  const { sockets, webSocket } = heldSockets();
  const { server, session } = await serveSession(t, { "turn/start": saying("Hello") }, { webSocket, reconnect: false });
  sockets[0].buffered = MOST / 2;
  const played = session.createTurn({ input: "x".repeat(MOST / 2) });
  const { error } = await collect(played.stream());
  assert.ok(error instanceof ConnectionError || error.cause instanceof ConnectionError, String(error));
  assert.equal(server.count("turn/start"), 0);
  sockets[0].buffered = 0;
  const other = session.createTurn({ input: "x".repeat(MOST / 2) });
  assert.equal((await collect(other.stream())).error, undefined);
  assert.equal(textOf(other), "Hello");
});

test("a message that is too large by itself is refused for good, and affects nothing else", async (t) => {
  const { sockets, webSocket } = heldSockets();
  const { server, session } = await serveSession(t, { "turn/start": saying("Hello") }, { webSocket });
  const played = session.createTurn({ input: "x".repeat(MOST) });
  const tries = [];
  played.on("reconnecting", (value) => tries.push(value));
  const { error } = await collect(played.stream());
  assert.ok(error instanceof InputError, String(error));
  assert.equal(error.code, "invalid_input");
  assert.match(error.message, /too large.*16777216/);
  assert.deepEqual(tries, [], "it would never succeed");
  assert.equal(played.status, "unstarted");
  assert.ok(sockets[0].sent.every((text) => text.length < 1000));
  const next = session.createTurn({ input: "Hello" });
  assert.equal((await collect(next.stream())).error, undefined);
  assert.equal(server.peers.length, 1);
});

test("a request that a turn needs and cannot send fails its stream, and is read on another connection", async (t) => {
  const { sockets, webSocket } = heldSockets();
  const { server, session } = await serveSession(t, { "turn/start": ({ params }) => ({ turn: turn(params.turn_id) }) }, { webSocket });
  const played = session.createTurn({ input: "Hello" });
  const causes = [];
  played.on("reconnecting", ({ cause }) => causes.push(cause));
  const reading = collect(played.stream());
  const { params, peer } = await server.until("turn/start");
  await eventually(() => played.id);
  sockets[0].buffered = MOST;
  peer.tell(say(params).begin(), ["turn/timeline/changed", { workspaceId: "ws_1", threadId: params.thread_id, turnId: params.turn_id, reason: "task_event_changed" }]);
  const asked = await server.until("turn/timeline");
  assert.equal(asked.peer.number, 1);
  asked.peer.tell(...say(params).all("Hello"));
  assert.equal((await reading).error, undefined);
  assert.equal(textOf(played), "Hello");
  assert.equal(causes.length, 1);
  assert.match(causes[0].message, /bytes wait/);
});

test("a ping that cannot be sent is sent later", async (t) => {
  const { sockets, webSocket } = heldSockets();
  const { server, session } = await serveSession(t, { "turn/start": ({ params }) => ({ turn: turn(params.turn_id) }) }, { webSocket, idleTimeout: 400 });
  const played = session.createTurn({ input: "Hello" });
  const reading = collect(played.stream());
  const { params, peer } = await server.until("turn/start");
  await eventually(() => played.id);
  sockets[0].buffered = MOST;
  await new Promise((resolve) => setTimeout(resolve, 320));
  peer.tell(say(params).begin());
  sockets[0].buffered = 0;
  await server.until("workspace/default", 2);
  peer.tell(...say(params).all("Hello"));
  assert.equal((await reading).error, undefined);
  assert.equal(server.peers.length, 1);
});
