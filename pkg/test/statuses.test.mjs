// Every answer other than a stream: its effect on a running turn, and on a start.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, IncompleteError, ProtocolError } from "../dist/index.js";
import { collect, failure, textOf } from "./support/collect.mjs";
import { logged, numbers, range, RECONNECT, serveResumed, topics } from "./support/connection.mjs";
import {
  body, events, GET_TURN, json, LIST_TURNS, page, refusal, reset, START, stream, SUBSCRIBE, TURN_EVENTS,
} from "./support/server.mjs";
import { answer, DONE, frames, message, recent, record } from "./support/wire.mjs";

const WHOLE = answer("Hel", "lo, ", "world");
const BEGUN = events(...WHOLE.slice(0, 3));
const HTML = "<!doctype html><title>Sign in</title>";

async function checkWhole(turn) {
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual(numbers(got), range(1, WHOLE.length));
  assert.deepEqual([turn.status, textOf(turn)], ["done", "Hello, world"]);
}

/** What each status means for `subscribe`, and for a start: see the tests of each meaning below. */
const STATUSES = [
  [400, "final", "refused"],
  [401, "final", "refused"],
  [403, "final", "refused"],
  [404, "final", "refused"],
  [405, "final", "refused"],
  [408, "retried", "doubtful"],
  [409, "retried", "refused"],
  [410, "final", "refused"],
  [412, "gone", "refused"],
  [413, "final", "refused"],
  [418, "final", "refused"],
  [422, "final", "refused"],
  [425, "retried", "sent again"],
  [429, "retried", "sent again"],
  [500, "retried", "doubtful"],
  [502, "retried", "doubtful"],
  [503, "retried", "looked for and sent again"],
  [504, "retried", "doubtful"],
  [520, "retried", "doubtful"],
];

const OF_A_STREAM = {
  "final": async (t, status) => {
    const { turn, server, told } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: [refusal(status), logged(WHOLE)] });
    const { events: got, error } = await collect(turn.stream());
    assert.deepEqual(numbers(got), [1, 2, 3]);
    checkApiError(error, status);
    assert.deepEqual(server.asked, [START, SUBSCRIBE]);
    assert.deepEqual(topics(told), ["reconnecting", "error"]);
    assert.deepEqual([turn.snapshot().error, textOf(turn)], [error, "Hel"]);
    // Received events are kept; a caller that can fix the cause continues.
    assert.deepEqual(numbers((await collect(turn.stream())).events), [4, 5, 6, 7]);
    assert.equal(textOf(turn), "Hello, world");
    assert.equal(server.count(START), 1);
  },
  "retried": async (t, status) => {
    const { turn, server, told } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: [refusal(status), logged(WHOLE)] });
    await checkWhole(turn);
    assert.deepEqual([server.count(START), server.count(SUBSCRIBE)], [1, 2]);
    assert.deepEqual(server.asked.filter((name) => ![START, SUBSCRIBE, GET_TURN].includes(name)), []);
    assert.deepEqual(topics(told), ["reconnecting", "reconnecting", "resumed"]);
    checkApiError(told[1][1].cause, status);
  },
  "gone": async (t, status) => {
    const runs = await serveResumed(t, BEGUN, { [SUBSCRIBE]: [refusal(status), logged(WHOLE)] });
    await checkWhole(runs.turn);
    assert.deepEqual(runs.server.asked, [START, SUBSCRIBE, GET_TURN, SUBSCRIBE]);
    const listed = page([message("m1", { content: "Hello, world", finish_reason: "stop" })]);
    const ended = await serveResumed(t, BEGUN, {
      [SUBSCRIBE]: refusal(status), [GET_TURN]: json({ data: record(DONE) }), [TURN_EVENTS]: listed,
    });
    const { events: got, error } = await collect(ended.turn.stream());
    assert.equal(error, undefined);
    assert.deepEqual(numbers(got), [1, 2, 3, 0, 0]);
    assert.deepEqual([ended.turn.status, textOf(ended.turn)], ["done", "Hello, world"]);
    assert.deepEqual(ended.server.asked, [START, SUBSCRIBE, GET_TURN, TURN_EVENTS]);
  },
};

/** Starts a turn, with a stream or without one. */
async function begin(turn, how) {
  if (how === "state()") return turn.state();
  const { error } = await collect(turn.stream());
  if (error) throw error;
}

/** No events of a turn that was done at once are listed. */
const LISTED = { [TURN_EVENTS]: page([]) };

/** Starts the turn of a request. */
function started(exchange) {
  (exchange.request.body.stream ? events(...WHOLE) : json({ data: recent(DONE) }))(exchange);
}

const OF_A_START = {
  "refused": async (t, status, how) => {
    const { turn, server } = await serveResumed(t, [refusal(status), started], LISTED);
    checkApiError(await failure(begin(turn, how)), status);
    assert.deepEqual([turn.status, turn.id, server.asked], ["unstarted", null, [START]]);
    await begin(turn, how);
    assert.deepEqual([turn.status, server.count(START)], ["done", 2]);
  },
  "sent again": async (t, status, how) => {
    const { turn, server, told } = await serveResumed(t, [refusal(status), refusal(status), started], LISTED);
    await begin(turn, how);
    assert.equal(turn.status, "done");
    assert.deepEqual(server.asked.slice(0, 3), [START, START, START]);
    assert.equal(server.count(LIST_TURNS), 0);
    assert.deepEqual(told.map(([topic, { attempt }]) => [topic, attempt]), [["reconnecting", 1], ["reconnecting", 2]]);
  },
  "doubtful": async (t, status, how) => {
    await checkFound(t, status, how);
    const { turn, server } = await serveResumed(t, [refusal(status), started], { [LIST_TURNS]: page([]), ...LISTED });
    checkApiError(await failure(begin(turn, how)), status);
    assert.deepEqual([turn.status, turn.id, server.count(START)], ["unstarted", null, 1]);
    assert.ok(server.count(LIST_TURNS) >= 1);
    await begin(turn, how);
    assert.deepEqual([turn.status, server.count(START)], ["done", 2]);
  },
  "looked for and sent again": async (t, status, how) => {
    await checkFound(t, status, how);
    const { turn, server } = await serveResumed(t, [refusal(status), started], { [LIST_TURNS]: page([]), ...LISTED });
    await begin(turn, how);
    assert.equal(turn.status, "done");
    assert.deepEqual(server.asked.slice(0, 5), [START, LIST_TURNS, LIST_TURNS, LIST_TURNS, START]);
    assert.equal(server.count(START), 2);
  },
};

/** A turn that began although its start was answered with this status is not started again. */
async function checkFound(t, status, how) {
  const { turn, server } = await serveResumed(t, refusal(status), {
    [LIST_TURNS]: page([recent()]), [SUBSCRIBE]: logged(WHOLE), [GET_TURN]: json({ data: recent(DONE) }), ...LISTED,
  });
  await begin(turn, how);
  assert.deepEqual([turn.status, turn.id], ["done", "t1"]);
  assert.deepEqual(server.asked, [START, LIST_TURNS, ...(how === "state()" ? [GET_TURN, TURN_EVENTS] : [SUBSCRIBE])]);
}

function checkApiError(error, status) {
  assert.ok(error instanceof ApiError, String(error));
  assert.deepEqual([error.code, error.status, error.body], ["http", status, { error: { message: "not now" } }]);
}

for (const [status, ofStream, ofStart] of STATUSES) {
  test(`${status} to subscribe is ${ofStream}`, (t) => OF_A_STREAM[ofStream](t, status));
  for (const how of ["stream()", "state()"]) {
    test(`${status} to a start by ${how} is ${ofStart}`, (t) => OF_A_START[ofStart](t, status, how));
  }
}

test("501 means the same as any refusal that will be repeated, though a start may have begun", async (t) => {
  const { turn, server } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: refusal(501) });
  checkApiError((await collect(turn.stream())).error, 501);
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
  await checkFound(t, 501, "stream()");
});

for (const status of [425, 429, 503]) {
  test(`a start that is answered with ${status} every time fails with it, and may be tried again`, async (t) => {
    let isReady = false;
    const { turn, server } = await serveResumed(t, (exchange) => (isReady ? started : refusal(status))(exchange), { [LIST_TURNS]: page([]) });
    checkApiError((await collect(turn.stream())).error, status);
    assert.deepEqual([turn.status, turn.id], ["unstarted", null]);
    assert.ok(server.count(START) <= 1 + RECONNECT.maxAttempts, String(server.asked));
    isReady = true;
    await checkWhole(turn);
  });
}

test("409 to the list of events of a turn that ended is requested again: it may need a moment", async (t) => {
  const { turn } = await serveResumed(t, BEGUN, {
    [SUBSCRIBE]: refusal(412), [GET_TURN]: json({ data: record(DONE) }),
    [TURN_EVENTS]: [refusal(409), page([message("m1", { content: "Hello, world", finish_reason: "stop" })])],
  });
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.equal(textOf(turn), "Hello, world");
});

for (const [name, replies] of [
  ["of the turn", { [SUBSCRIBE]: [refusal(412), logged(WHOLE)], [GET_TURN]: [reset, json({ data: record() })] }],
  ["of the session's turns", { [START]: reset, [LIST_TURNS]: [refusal(503), reset, page([recent()])], [SUBSCRIBE]: logged(WHOLE) }],
]) {
  test(`requests ${name} that fail temporarily are repeated`, async (t) => {
    const { turn, server } = await serveResumed(t, BEGUN, replies);
    await checkWhole(turn);
    assert.equal(server.count(START), 1);
  });
}

test("401: the token function is called once more, and the new token is sent", async (t) => {
  let count = 0;
  const token = () => `k${(count += 1)}`;
  const { turn, server } = await serveResumed(t, [refusal(401), BEGUN], { [SUBSCRIBE]: [refusal(401), logged(WHOLE)] }, { token });
  await checkWhole(turn);
  assert.deepEqual(server.asked, [START, START, SUBSCRIBE, SUBSCRIBE]);
  // The first ones were for the session, and the list of its turns.
  assert.deepEqual(server.requests.map(({ headers }) => headers.authorization), ["k3", "k4", "k5", "k6"].map((key) => `Bearer ${key}`));
});

test("401 twice is final, and no third token is requested", async (t) => {
  let count = 0;
  const token = () => `k${(count += 1)}`;
  const { turn, server } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: refusal(401) }, { token });
  checkApiError((await collect(turn.stream())).error, 401);
  assert.deepEqual([server.asked, count], [[START, SUBSCRIBE, SUBSCRIBE], 5]);
  const start = await serveResumed(t, refusal(401), {}, { token });
  checkApiError((await collect(start.turn.stream())).error, 401);
  assert.deepEqual([start.turn.status, start.server.asked], ["unstarted", [START, START]]);
});

test("a fixed token is not sent again", async (t) => {
  const { turn, server } = await serveResumed(t, refusal(401), {}, { token: "k" });
  checkApiError((await collect(turn.stream())).error, 401);
  assert.deepEqual(server.asked, [START]);
});

test("a token function that fails while the connection is lost is called again", async (t) => {
  let count = 0;
  const token = () => {
    count += 1;
    if (count === 4) throw new Error("signed out");
    return "k";
  };
  const { turn, server } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: logged(WHOLE) }, { token });
  await checkWhole(turn);
  assert.equal(server.count(START), 1);
});

const NO_STREAMS = {
  "a captive portal": body(HTML, { type: "text/html" }),
  "JSON": json({ data: record() }),
  "events of another type": body(frames(WHOLE), { type: "text/plain" }),
  "events without a type": body(frames(WHOLE)),
  "nothing": body("", { status: 204 }),
  "a redirect to a page": body("", { status: 302, headers: { location: "/portal" } }),
};
const PORTAL = { "GET /portal": body(HTML, { type: "text/html" }) };

for (const [name, reply] of Object.entries(NO_STREAMS)) {
  test(`${name} instead of a resumed stream: it is requested again`, async (t) => {
    const { turn, server } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: [reply, reply, logged(WHOLE)], ...PORTAL });
    await checkWhole(turn);
    assert.equal(server.count(START), 1);
  });

  test(`${name} instead of a started turn's stream: the turn is looked for`, async (t) => {
    const { turn, server } = await serveResumed(t, reply, { [LIST_TURNS]: page([recent()]), [SUBSCRIBE]: logged(WHOLE), ...PORTAL });
    await checkWhole(turn);
    assert.equal(server.count(START), 1);
  });

  test(`${name} instead of a start that did not arrive: the start fails with it`, async (t) => {
    const { turn, server } = await serveResumed(t, [reply, started], { [LIST_TURNS]: page([]), ...PORTAL });
    const { error } = await collect(turn.stream());
    assert.ok(error instanceof ProtocolError, String(error));
    assert.deepEqual([error.code, turn.status, server.count(START)], ["unexpected_response", "unstarted", 1]);
    await checkWhole(turn);
  });
}

test("a portal in front of everything: the start's fate is unknown until it is gone", async (t) => {
  let isPortal = true;
  const portal = (reply) => (exchange) => (isPortal ? body(HTML, { type: "text/html" }) : reply)(exchange);
  const { turn, server } = await serveResumed(t, portal(started), { [LIST_TURNS]: portal(page([])) });
  const { error } = await collect(turn.stream());
  assert.ok(error instanceof IncompleteError, String(error));
  assert.deepEqual([turn.status, turn.id, server.count(START)], ["incomplete", null, 1]);
  isPortal = false;
  await checkWhole(turn);
  assert.equal(server.count(START), 2);
});

test("a redirect to the right place is followed, with the body", async (t) => {
  const moved = (path) => body("", { status: 307, headers: { location: `/acme/v1/${path}` } });
  const { turn, server } = await serveResumed(t, moved("moved/start"), {
    "POST moved/start": BEGUN, [SUBSCRIBE]: moved("moved/subscribe"), "POST moved/subscribe": logged(WHOLE),
  });
  await checkWhole(turn);
  assert.deepEqual(server.asked, [START, "POST moved/start", SUBSCRIBE, "POST moved/subscribe"]);
  assert.equal(server.requests[1].body.stream, true);
});
