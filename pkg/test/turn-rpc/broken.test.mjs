// Connections that break while turns run: nothing is lost, repeated, or started twice.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, eventually, failure, textOf } from "../support/collect.mjs";
import { answer, kept, QUICK, refuse, say, saying, serveRpc, serveSession, SILENCE, turn, user } from "../support/turn-rpc.mjs";

/** The server's record of the turn whose start had these parameters. */
const keeping = (of, ...events) => ({
  ...of,
  workspace_id: "ws_1",
  events: events.map(([type, fields], at) => kept(at + 1, type, { workspaceId: "ws_1", threadId: of.thread_id, turnId: of.turn_id, ...fields })),
  last_sequence: events.length,
});
const started = (params, status) => ({ thread_id: params.thread_id, workspace_id: "ws_1", turn: turn(params.turn_id, status) });

/** A server that starts the turn, says this, and drops the connection. */
const droppingAfter = (list, drop = (peer) => peer.drop()) => ({ params, peer, id }) => {
  peer.reply(id, { turn: turn(params.turn_id) });
  peer.tell(...list(say(params)));
  setTimeout(drop, 10, peer);
  return SILENCE;
};
const HALF = ({ begin, start, delta }) => [begin(), start(answer("m1", "")), delta("m1", "Hel")];
const WAYS = { "a reset": (peer) => peer.drop(), "a clean end": (peer) => peer.socket.close(1000), "an end for a reason": (peer) => peer.socket.close(1012, "restart") };

for (const [name, drop] of Object.entries(WAYS)) {
  test(`${name}: the turn is read, and continues on another connection`, async (t) => {
    const { server, session } = await serveSession(t, {
      "turn/start": droppingAfter(HALF, drop),
      "turn/items": ({ params }) => keeping(params, ["itemCompleted", { item: user(params, "Hello") }], ["itemStarted", { item: answer("m1", "") }]),
    });
    const played = session.createTurn({ input: "Hello" });
    const told = [];
    for (const topic of ["reconnecting", "resumed", "gap"]) played.on(topic, (value) => told.push([topic, value.attempt]));
    const reading = collect(played.stream());
    const { peer, params } = await server.until("turn/timeline");
    const { delta, complete, end } = say({ thread_id: "s1", turn_id: params.turnId });
    peer.tell(delta("m1", " wor"), complete(answer("m1", "Hello world")), end());
    const { events, error } = await reading;
    assert.equal(error, undefined);
    assert.equal(textOf(played), "Hello world");
    assert.deepEqual(told, [["reconnecting", 1], ["resumed", undefined]]);
    assert.equal(server.count("turn/start"), 1);
    assert.deepEqual(server.asked.slice(-4), ["thread/start", "turn/get", "turn/items", "turn/timeline"]);
    const numbers = events.map(({ sequence_number }) => sequence_number);
    assert.deepEqual(numbers, numbers.map((_, at) => at + 1), "each event once, in order");
    assert.equal(events.filter(({ type }) => type === "turn.created").length, 1);
    assert.equal(events.filter(({ type }) => type === "turn.done").length, 1);
    assert.equal(server.open.length, 1);
  });
}

test("a turn that ended meanwhile is read to its end", async (t) => {
  const { server, session } = await serveSession(t, {
    "turn/start": droppingAfter(HALF),
    "turn/get": ({ params }) => started(params, "Completed"),
    "turn/items": ({ params }) => keeping(params, ["itemCompleted", { item: answer("m1", "Hello world") }]),
  });
  const played = session.createTurn({ input: "Hello" });
  const { error } = await collect(played.stream());
  assert.equal(error, undefined);
  assert.equal(textOf(played), "Hello world");
  assert.equal(played.status, "done");
  assert.equal(server.count("turn/start"), 1);
});

test("connections that keep breaking before anything is read are tried again with backoff, and no longer than configured", async (t) => {
  const { server, session } = await serveSession(t, {
    "turn/start": droppingAfter(HALF),
    "turn/get": ({ peer }) => void peer.drop() ?? SILENCE,
  }, { reconnect: { maxAttempts: 4, baseDelay: 1, maxDelay: 5 } });
  const played = session.createTurn({ input: "Hello" });
  const tries = [];
  played.on("reconnecting", ({ attempt }) => tries.push(attempt));
  const { error } = await collect(played.stream());
  assert.equal(error.name, "IncompleteError");
  assert.deepEqual(tries, [1, 2, 3, 4]);
  assert.equal(played.status, "incomplete");
  assert.equal(textOf(played), "Hel", "what came is kept");
  assert.equal(server.count("turn/start"), 1);
});

test("a start whose response was lost with the connection is found by its own id, and not sent again", async (t) => {
  const { server, session } = await serveSession(t, { "turn/start": ({ peer }) => void peer.drop() ?? SILENCE });
  const played = session.createTurn({ input: "Hello" });
  const reading = collect(played.stream());
  const { peer } = await server.until("turn/timeline");
  const [{ params }] = server.requests.filter(({ method }) => method === "turn/start");
  peer.tell(...say(params).all("Hello"));
  const { error } = await reading;
  assert.equal(error, undefined);
  assert.equal(textOf(played), "Hello");
  assert.equal(played.id, params.turn_id);
  assert.equal(server.count("turn/start"), 1);
  assert.ok(server.requests.filter(({ method }) => method === "turn/get").every(({ params: asked }) => asked.turn_id === params.turn_id));
});

test("a start whose response was lost while the connection stays: the same", async (t) => {
  const { server, session } = await serveSession(t, { "turn/start": ({ params, peer }) => void peer.tell(say(params).begin()) ?? SILENCE }, { connectTimeout: 150 });
  const played = session.createTurn({ input: "Hello" });
  const reading = collect(played.stream());
  const { peer } = await server.until("turn/timeline");
  const [{ params }] = server.requests.filter(({ method }) => method === "turn/start");
  peer.tell(...say(params).all("Hello"));
  assert.equal((await reading).error, undefined);
  assert.equal(textOf(played), "Hello");
  assert.equal(server.count("turn/start"), 1);
  assert.equal(server.peers.length, 1, "the server was heard of");
});

test("a start that never arrived is looked for, not found, and fails", async (t) => {
  const { server, session } = await serveSession(t, {
    "turn/start": ({ peer }) => void peer.drop() ?? SILENCE,
    "turn/get": refuse(-32600, "turn was not found"),
  });
  const played = session.createTurn({ input: "Hello" });
  const { error } = await collect(played.stream());
  assert.equal(error.code, "network");
  assert.equal(played.status, "unstarted");
  assert.equal(server.count("turn/start"), 1, "never by itself twice");
});

test("messages on a resumed connection before the turn was read are not repeated", async (t) => {
  const held = [];
  const { server, session } = await serveSession(t, {
    "turn/start": droppingAfter(({ begin, message }) => [begin(), ...message("m1", "One. ")]),
    "turn/items": (request) => void held.push(request) ?? SILENCE,
  });
  const played = session.createTurn({ input: "Hello" });
  const reading = collect(played.stream());
  const { peer, params } = await server.until("turn/timeline");
  const of = { thread_id: "s1", turn_id: params.turnId };
  peer.tell(...say(of).message("m2", "Two."), say(of).end());
  const [{ id }] = held;
  peer.reply(id, keeping(of, ["itemCompleted", { item: answer("m1", "One. ") }], ["itemCompleted", { item: answer("m2", "Two.") }]));
  const { events, error } = await reading;
  assert.equal(error, undefined);
  assert.equal(textOf(played), "One. Two.");
  const said = events.filter(({ type }) => type.startsWith("model.message")).map(({ content }) => content ?? "").join("");
  assert.equal(said, "One. Two.");
  assert.deepEqual(played.snapshot().threads[0].messages.map(({ id: message }) => message), ["m1", "m2"]);
});

test("silence: a ping is sent, and its answer keeps the connection", async (t) => {
  const { server, session } = await serveSession(t, { "turn/start": ({ params }) => ({ turn: turn(params.turn_id) }) }, { idleTimeout: 120 });
  const played = session.createTurn({ input: "Hello" });
  const idle = [];
  played.on("idle", (value) => idle.push(value));
  const reading = collect(played.stream());
  const { params, peer } = await server.until("turn/start");
  await server.until("workspace/default", 5);
  assert.deepEqual(idle, []);
  peer.tell(...say(params).all("Hello"));
  assert.equal((await reading).error, undefined);
  assert.equal(server.peers.length, 1);
});

test("silence: no answer comes, the connection is given up and replaced, and the turn continues", async (t) => {
  let isDead = false;
  const { server, session } = await serveSession(t, {
    "turn/start": ({ params }) => {
      isDead = true;
      return { turn: turn(params.turn_id) };
    },
    "workspace/default": ({ peer }) => (isDead && peer.number === 0 ? SILENCE : { workspace: { id: "ws_1" } }),
  }, { idleTimeout: 120 });
  const played = session.createTurn({ input: "Hello" });
  const idle = [];
  played.on("idle", (value) => idle.push(value));
  const reading = collect(played.stream());
  const { peer } = await server.until("turn/timeline");
  assert.equal(peer.number, 1);
  assert.equal(idle.length, 1);
  assert.ok(idle[0].silence >= 100, String(idle[0].silence));
  await server.peers[0].closed;
  peer.tell(...say({ thread_id: "s1", turn_id: played.id }).all("Hello"));
  assert.equal((await reading).error, undefined);
  assert.equal(textOf(played), "Hello");
  assert.equal(server.requests.filter(({ method, peer: asked }) => method === "workspace/default" && asked.number === 0).length, 2, "one ping was sent, not many");
});

test("a stream's own clock decides when it asks for a sign of life", async (t) => {
  const { server, session } = await serveSession(t, { "turn/start": ({ params }) => ({ turn: turn(params.turn_id) }) });
  const played = session.createTurn({ input: "Hello" });
  const reading = collect(played.stream({ idleTimeout: 120 }));
  const { params, peer } = await server.until("turn/start");
  await server.until("workspace/default", 4);
  peer.tell(...say(params).all("Hello"));
  assert.equal((await reading).error, undefined);
  assert.equal(server.peers.length, 1);
});

test("two turns on one connection that breaks: both are recovered on one new connection", async (t) => {
  const { server, client } = await serveRpc(t, { "turn/start": ({ params }) => ({ turn: turn(params.turn_id) }) });
  const turns = [];
  for (const mode of ["Chat", "Agent"]) turns.push((await client.agents.createSession(mode)).createTurn({ input: "Hello" }));
  const read = turns.map((one) => collect(one.stream()));
  await server.until("turn/start", 2);
  await eventually(() => turns.every(({ id }) => id));
  await server.lose();
  await server.until("turn/timeline", 2);
  const { peer } = await server.until("turn/timeline");
  for (const one of turns) peer.tell(...say({ thread_id: one.session.id, turn_id: one.id }).all(one.session.id));
  for (const { error } of await Promise.all(read)) assert.equal(error, undefined);
  assert.deepEqual(turns.map(textOf), turns.map(({ session }) => session.id));
  assert.equal(server.peers.length, 2);
});

test("`close()` while a turn is read: it continues on another connection, unless it was abandoned before", async (t) => {
  const { server, session, client } = await serveSession(t, { "turn/start": ({ params }) => ({ turn: turn(params.turn_id) }) });
  const played = session.createTurn({ input: "Hello" });
  const controller = new AbortController();
  const reading = collect(played.stream({ signal: controller.signal }));
  await eventually(() => played.id);
  client.close();
  await server.until("turn/timeline");
  controller.abort();
  assert.equal((await reading).error.code, "aborted");
  client.close();
  await eventually(() => server.open.length === 0);
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.equal(server.peers.length, 2);
});

test("a page that was away does not trust its connection, and the turn goes on", async (t) => {
  const page = new EventTarget();
  const { addEventListener, removeEventListener } = globalThis;
  globalThis.addEventListener = (...all) => page.addEventListener(...all);
  globalThis.removeEventListener = (...all) => page.removeEventListener(...all);
  t.after(() => {
    for (const [name, own] of Object.entries({ addEventListener, removeEventListener })) own ? (globalThis[name] = own) : delete globalThis[name];
  });
  const { server, session } = await serveSession(t, { "turn/start": ({ params }) => ({ turn: turn(params.turn_id) }) });
  const played = session.createTurn({ input: "Hello" });
  const reading = collect(played.stream());
  await eventually(() => played.id);
  await server.until("turn/start");
  await new Promise((resolve) => setTimeout(resolve, 20));
  page.dispatchEvent(new Event("online"));
  const { peer } = await server.until("turn/timeline");
  assert.equal(peer.number, 1);
  await server.peers[0].closed;
  peer.tell(...say({ thread_id: "s1", turn_id: played.id }).all("Hello"));
  assert.equal((await reading).error, undefined);
  assert.equal(textOf(played), "Hello");
});

test("a turn is cancelled over the connection on which it is read", async (t) => {
  const { server, session } = await serveSession(t, {
    "turn/start": droppingAfter(HALF, () => {}),
    "turn/cancel": ({ params, peer }) => {
      peer.tell(say(params).end("Interrupted", { error: "turn cancelled by user" }));
      return started(params, "Interrupted");
    },
  });
  const played = session.createTurn({ input: "Hello" });
  const reading = collect(played.stream());
  await eventually(() => played.snapshot().threads[0]?.messages.length);
  await played.cancel();
  assert.equal((await reading).error, undefined);
  assert.equal(played.status, "cancelled");
  assert.equal(server.peers.length, 1);
});

test("a cancelled turn whose end arrived is cancelled, even if the response is lost or an error", async (t) => {
  const ending = (answer) => async ({ params, peer }) => {
    peer.tell(say(params).end("Interrupted", { error: "turn cancelled by user" }));
    await new Promise((resolve) => setTimeout(resolve, 30));
    return answer({});
  };
  const { server, session } = await serveSession(t, {
    "turn/start": droppingAfter(HALF, () => {}),
    "turn/cancel": [ending(() => SILENCE), ending(refuse(-32603, "there is none"))],
  }, { connectTimeout: 1000 });
  for (let round = 0; round < 2; round += 1) {
    const played = session.createTurn({ input: "Hello" });
    const reading = collect(played.stream());
    await eventually(() => played.snapshot().threads[0]?.messages.length);
    const began = performance.now();
    await played.cancel();
    assert.ok(performance.now() - began < 900, "it did not wait for the response");
    assert.equal((await reading).error, undefined);
    assert.equal(played.status, "cancelled");
  }
  assert.equal(server.peers.length, 1);
});

test("a cancellation that is refused while the turn runs fails", async (t) => {
  const { server, session } = await serveSession(t, { "turn/start": droppingAfter(HALF, () => {}), "turn/cancel": refuse(-32603, "not now") });
  const played = session.createTurn({ input: "Hello" });
  const reading = collect(played.stream());
  const { params, peer } = await server.until("turn/start");
  await eventually(() => played.snapshot().threads[0]?.messages.length);
  assert.equal((await failure(played.cancel())).code, "rpc");
  peer.tell(say(params).end());
  await reading;
  assert.equal(played.status, "done");
});

test("consecutive turns belong to one conversation", async (t) => {
  const { session } = await serveSession(t, { "turn/start": saying("Hello") }, { reconnect: QUICK });
  const first = session.createTurn({ input: "One" });
  await collect(first.stream());
  const second = session.createTurn({ input: "Two" });
  await collect(second.stream());
  assert.equal(second.previousTurnId, first.id);
});
