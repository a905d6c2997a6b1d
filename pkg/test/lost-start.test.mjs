// A start whose answer never came: the session's turns say whether it arrived, and no input is sent twice.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AbortError, connect, ConnectionError, StateError } from "../dist/index.js";
import { collect, eventually, failure, textOf } from "./support/collect.mjs";
import { brokenOff, logged, numbers, range, RECONNECT, serveResumed, topics } from "./support/connection.mjs";
import {
  body, CANCEL, deferred, events, GET_TURN, json, LIST_TURNS, page, refusal, reset, serve, SESSION, silence, START, stream, SUBSCRIBE, TURN_EVENTS,
} from "./support/server.mjs";
import { answer, created, done, DONE, finished, frames, message, recent, record, text } from "./support/wire.mjs";

const WHOLE = answer("Hel", "lo");
const OLD = { created_at: "2026-01-01T00:00:00.000Z" };
const SUBSCRIBE_2 = "POST agents/sessions/s1/turns/t2/subscribe";

/** The time this many seconds ago. */
const ago = (seconds) => ({ created_at: new Date(Date.now() - 1000 * seconds).toISOString() });

/** The events of a turn `id`. */
const eventsOf = (id, previous_turn_id = null) => [
  created({ turn_id: id, previous_turn_id }), message(`m-${id}`), text(`I am ${id}`, `m-${id}`), finished("stop", `m-${id}`), done(),
];

async function checkFound(turn, stream = turn.stream()) {
  const { events: got, error } = await collect(stream);
  assert.equal(error, undefined);
  assert.deepEqual(numbers(got), range(1, WHOLE.length));
  assert.deepEqual([turn.id, turn.status, textOf(turn)], ["t1", "done", "Hello"]);
}

const LOST = {
  "a reset": reset,
  "an empty stream": stream(),
  "a stream of comments that ends": stream(": hello\n\n"),
  "a stream that is cut inside its first event": brokenOff(frames(WHOLE).slice(0, 40)),
  "a captive portal": body("<!doctype html>", { type: "text/html" }),
  "a gateway's timeout": refusal(504),
  "an error of the server": refusal(500),
  "silence instead of an answer": silence,
  "silence instead of a first event": ({ response }) => response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders(),
};

for (const [name, reply] of Object.entries(LOST)) {
  // Long enough for every other answer, on a busy machine.
  const clocks = name.startsWith("silence") ? { connectTimeout: 400, idleTimeout: 400 } : {};

  test(`${name}: the turn began, is found, and is streamed from its beginning`, async (t) => {
    const { turn, server, told } = await serveResumed(t, reply, { [LIST_TURNS]: page([recent()]), [SUBSCRIBE]: logged(WHOLE) }, clocks);
    await checkFound(turn);
    assert.deepEqual(server.asked, [START, LIST_TURNS, SUBSCRIBE]);
    assert.deepEqual(server.requests[1].query, { limit: "25" });
    assert.deepEqual(server.requests[2].body, {});
    assert.equal(topics(told).filter((topic) => topic === "reconnecting").length, 1);
    assert.equal(turn.snapshot().error, null);
  });

  test(`${name}: the turn did not begin, the start fails as it did, and can be made again`, async (t) => {
    const { turn, server } = await serveResumed(t, [reply, events(...WHOLE)], { [LIST_TURNS]: page([]) }, clocks);
    const { events: got, error } = await collect(turn.stream());
    assert.deepEqual(got, []);
    assert.ok(error instanceof Error && error.code !== "turn_not_started", String(error));
    assert.equal(turn.snapshot().error, error);
    assert.deepEqual([turn.status, turn.id, server.count(START)], ["unstarted", null, 1]);
    await checkFound(turn);
    assert.equal(server.count(START), 2);
  });
}

test("what failed is the error of a start that did not begin", async (t) => {
  const { turn } = await serveResumed(t, reset, { [LIST_TURNS]: page([]) });
  const { error } = await collect(turn.stream());
  assert.ok(error instanceof ConnectionError, String(error));
  assert.equal(error.code, "network");
  assert.ok(error.cause instanceof Error);
});

test("a turn that appears only after a while is found: its start may still have been in flight", async (t) => {
  const { turn, server } = await serveResumed(t, reset, { [LIST_TURNS]: [page([]), page([]), page([recent()])], [SUBSCRIBE]: logged(WHOLE) });
  await checkFound(turn);
  assert.equal(server.count(START), 1);
});

/** Answers a start in the form that it requests. */
const begun = (exchange) => (exchange.request.body.stream ? events(...WHOLE) : json({ data: recent(DONE) }))(exchange);

for (const [method, isStream, follow] of [["state", false, GET_TURN], ["waitForCompletion", true, SUBSCRIBE]]) {
  test(`a start by another method than stream() is found too: ${method}()`, async (t) => {
    const { session, server } = await serveResumed(t, reset, {
      [LIST_TURNS]: page([recent()]), [GET_TURN]: json({ data: recent(DONE) }), [SUBSCRIBE]: logged(WHOLE), [TURN_EVENTS]: page([]),
    });
    const turn = session.createTurn({ input: "Hello" });
    assert.deepEqual(await turn[method](), DONE);
    assert.deepEqual([turn.id, turn.status], ["t1", "done"]);
    assert.deepEqual(server.asked.slice(0, 3), [START, LIST_TURNS, follow]);
    assert.equal(server.requests[0].body.stream, isStream);
  });

  test(`a start by another method than stream() that did not arrive fails as it did: ${method}()`, async (t) => {
    const { session, server } = await serveResumed(t, [reset, begun], {
      [LIST_TURNS]: page([]), [GET_TURN]: json({ data: recent(DONE) }), [TURN_EVENTS]: page([]),
    });
    const turn = session.createTurn({ input: "Hello" });
    const error = await failure(turn[method]());
    assert.ok(error instanceof ConnectionError, String(error));
    assert.deepEqual([turn.status, server.count(START)], ["unstarted", 1]);
    assert.deepEqual(await turn[method](), DONE);
    assert.equal(server.count(START), 2);
  });
}

/** Has turn `t1` streamed, then loses the start of a second one; the session's turns are then `turns`. */
async function second(t, turns, { input = "Hello", previousTurnId, before = "Hello" } = {}) {
  const { session, server } = await serveResumed(t, [events(...eventsOf("t1")), reset, events(...eventsOf("t3", "t1"))], {
    [LIST_TURNS]: page(turns), [SUBSCRIBE]: logged(eventsOf("t1")), [SUBSCRIBE_2]: logged(eventsOf("t2", "t1")),
  });
  await collect(session.createTurn({ input: before }).stream());
  const turn = session.createTurn({ input, previousTurnId });
  const { error } = await collect(turn.stream());
  return { turn, server, error };
}

const T1 = (fields) => record(DONE, fields);
const T2 = (fields) => record({ status: "running" }, { id: "t2", previous_turn_id: "t1", ...fields });

for (const [name, turns, options] of [
  ["the turn before had the same input", [T2(ago(0)), T1(ago(5))]],
  ["the turn before was another one", [T2(ago(0)), T1({ ...ago(5), input: [{ type: "user.message", content: "Hi" }] })], { before: "Hi" }],
  ["the server's clock is months behind", [T2({ created_at: "2026-01-01T00:00:09.000Z" }), T1(OLD)]],
  ["the turns are listed oldest first", [T1(ago(5)), T2(ago(0))]],
  ["it was told to follow that turn", [T2(ago(0)), T1(ago(5))], { previousTurnId: "t1" }],
  ["the server adds fields to the input", [T2({ ...ago(0), input: [{ type: "user.message", content: "Hello", id: "i1" }] }), T1(ago(5))]],
  ["another tab's turn came after it", [
    record({ status: "running" }, { id: "t9", previous_turn_id: "t2", input: [{ type: "user.message", content: "Wait" }], ...ago(0) }), T2(ago(1)), T1(ago(5)),
  ]],
]) {
  test(`a second turn that began is found: ${name}`, async (t) => {
    const { turn, server, error } = await second(t, turns, options);
    assert.equal(error, undefined);
    assert.deepEqual([turn.id, turn.previousTurnId, textOf(turn)], ["t2", "t1", "I am t2"]);
    assert.equal(server.count(START), 2);
  });
}

const OTHER = [{ type: "user.message", content: "Something else" }];

for (const [name, turns, options] of [
  ["the turn before had the same input", [T1(ago(5))]],
  ["older turns of the last minute had it, too", [T1(ago(5)), record(DONE, { id: "t0", ...ago(10) }), record(DONE, { id: "t-1", ...ago(20) })]],
  ["another tab has begun a turn of another input", [record({ status: "running" }, { id: "t9", previous_turn_id: "t1", input: OTHER, ...ago(0) }), T1(ago(5))]],
  ["an older turn from the same place had the same input", [T1({ ...ago(5), previous_turn_id: "t0" }), record(DONE, { id: "t-1", previous_turn_id: "t-2", ...OLD }), record(DONE, { id: "t-2", ...OLD, input: OTHER })], { previousTurnId: "t-2" }],
  ["an older turn began afresh with the same input", [T1({ ...ago(5), previous_turn_id: "t0" }), record(DONE, { id: "t0", ...OLD })], { previousTurnId: "none" }],
]) {
  test(`a second turn that did not begin is not taken for another: ${name}`, async (t) => {
    const { turn, server, error } = await second(t, turns, options);
    assert.ok(error instanceof ConnectionError, String(error));
    assert.deepEqual([turn.id, turn.status], [null, "unstarted"]);
    assert.equal((await collect(turn.stream())).error, undefined);
    assert.deepEqual([turn.id, textOf(turn), server.count(START)], ["t3", "I am t3", 3]);
  });
}

test("in a session that was made here, any turn with the input is the one", async (t) => {
  const server = await serve(t, {
    "POST agents/sessions": json({ data: SESSION }, 201), [START]: reset, [LIST_TURNS]: page([record({ status: "running" }, OLD)]), [SUBSCRIBE]: logged(WHOLE),
  });
  const client = await connect({ baseUrl: server.baseUrl, reconnect: RECONNECT });
  const turn = (await client.agents.createSession("support-bot")).createTurn({ input: "Hello" });
  await checkFound(turn);
  assert.equal(server.count(START), 1);
});

test("a session whose history was read knows its newest turn", async (t) => {
  const { session, server } = await serveResumed(t, reset, { [LIST_TURNS]: page([record(DONE, OLD)]), "GET agents/sessions/s1/events": page([]) });
  await session.history();
  const turn = session.createTurn({ input: "Hello" });
  const { error } = await collect(turn.stream());
  assert.ok(error instanceof ConnectionError, String(error));
  assert.deepEqual([turn.status, server.count(START)], ["unstarted", 1]);
});

/** A turn whose start was aborted when it had arrived, on a server with these turns. */
async function aborted(t, turns, routes = {}) {
  const arrived = deferred();
  const controller = new AbortController();
  const world = await serveResumed(t, [arrived.resolve, events(...WHOLE)], { [LIST_TURNS]: turns, [SUBSCRIBE]: logged(WHOLE), ...routes });
  const reading = collect(world.turn.stream({ signal: controller.signal }));
  await arrived.promise;
  controller.abort();
  const { error } = await reading;
  assert.ok(error instanceof AbortError, String(error));
  assert.deepEqual([world.turn.status, world.turn.id, world.server.asked], ["incomplete", null, [START]]);
  return world;
}

test("a start that was aborted in flight is looked for by the next stream()", async (t) => {
  const { turn, server } = await aborted(t, page([recent()]));
  await checkFound(turn);
  assert.deepEqual(server.asked, [START, LIST_TURNS, SUBSCRIBE]);
});

test("a start that was aborted in flight, and did not arrive, is made by the next stream()", async (t) => {
  const { turn, server } = await aborted(t, page([]));
  await checkFound(turn);
  assert.equal(server.count(START), 2);
});

test("a start that was aborted in flight may arrive a moment later: it is not made again at once", async (t) => {
  const { turn, server } = await aborted(t, [page([]), page([recent()])]);
  await checkFound(turn);
  assert.equal(server.count(START), 1);
});

test("cancel() stops a turn whose start was aborted in flight, and starts none", async (t) => {
  const began = await aborted(t, page([recent()]), { [CANCEL]: json({}) });
  await began.turn.cancel();
  assert.deepEqual(began.server.asked, [START, LIST_TURNS, GET_TURN, CANCEL]);
  const other = await aborted(t, page([]));
  const error = await failure(other.turn.cancel());
  assert.ok(error instanceof StateError, String(error));
  assert.deepEqual([error.code, other.turn.status, other.server.count(START)], ["turn_not_started", "unstarted", 1]);
});

test("cancel() of a turn that is found and streamed stops it", async (t) => {
  const { turn, server } = await aborted(t, page([recent()]), { [CANCEL]: json({}), [SUBSCRIBE]: brokenOff(frames(WHOLE.slice(0, 3)), () => {}) });
  const iterator = turn.stream();
  await iterator.next();
  await turn.cancel();
  assert.deepEqual(server.asked, [START, LIST_TURNS, SUBSCRIBE, CANCEL]);
  await iterator.return();
});

for (const [when, routes] of [
  ["before the look", { [START]: [reset], [LIST_TURNS]: page([recent()]) }],
  ["during the look", { [START]: [reset], [LIST_TURNS]: [silence, page([recent()])] }],
]) {
  test(`an abort ${when} forgets nothing: the next stream() checks`, async (t) => {
    const { [START]: start, ...more } = routes;
    const { turn, server } = await serveResumed(t, start, { ...more, [SUBSCRIBE]: logged(WHOLE) });
    const controller = new AbortController();
    turn.on("reconnecting", () => when === "before the look" && controller.abort());
    const reading = collect(turn.stream({ signal: controller.signal }));
    await eventually(() => controller.signal.aborted || server.count(LIST_TURNS) > 0);
    controller.abort();
    assert.ok((await reading).error instanceof AbortError);
    assert.deepEqual([turn.status, turn.id], ["incomplete", null]);
    await checkFound(turn);
    assert.equal(server.count(START), 1);
  });
}

test("the turn is not started a second time while it is looked for", async (t) => {
  const gate = deferred();
  const { turn, server } = await serveResumed(t, reset, {
    [LIST_TURNS]: async (exchange) => {
      await gate.promise;
      page([recent()])(exchange);
    },
    [SUBSCRIBE]: logged(WHOLE),
  });
  const reading = checkFound(turn);
  const waiting = turn.waitForCompletion();
  assert.equal((await failure(() => turn.stream())).code, "turn_already_streamed");
  gate.resolve();
  await reading;
  assert.equal((await waiting).status, "done");
  assert.equal(server.count(START), 1);
});
