// Connections that break before `turn.done`: the stream goes on as if they had not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, ConnectionError, IncompleteError, ProtocolError } from "../dist/index.js";
import { collect, eventually, textOf, until } from "./support/collect.mjs";
import { brokenOff, ENDS, logged, numbers, range, RECONNECT, serveResumed, topics } from "./support/connection.mjs";
import {
  body, CANCEL, events, GET_TURN, json, LIST_TURNS, LiveStream, page, refusal, reset, serveTurn, START, stream, SUBSCRIBE, TURN_EVENTS,
} from "./support/server.mjs";
import { answer, created, done, DONE, finished, frames, message, recent, record, text } from "./support/wire.mjs";

const PIECES = ["Grüße, ", "世界 ", "🎉", " Ende"];
const TEXT = PIECES.join("");
const WHOLE = answer(...PIECES);
const ALL = range(1, WHOLE.length);
const BYTES = Buffer.from(frames(WHOLE));

/** Nothing was lost, repeated or invented. */
async function checkWhole(turn, stream = turn.stream()) {
  const { events: got, error } = await collect(stream);
  assert.equal(error, undefined);
  assert.deepEqual(numbers(got), ALL);
  assert.deepEqual(got.map(({ sequence_number, ...event }) => event.content ?? event.type), WHOLE.map((event) => event.content ?? event.type));
  assert.deepEqual([turn.status, turn.lastSequenceNumber, textOf(turn)], ["done", WHOLE.length, TEXT]);
  const { error: told, reconnecting, threads } = turn.snapshot();
  assert.deepEqual([told, reconnecting, threads[0].messages.length], [null, null, 1]);
}

const PLACES = {
  "between two frames": frames(WHOLE.slice(0, 4)).length,
  "inside a frame": BYTES.indexOf("Ende") + 2,
  "before the blank line of a frame": BYTES.indexOf("\n\n", BYTES.indexOf("世界")) + 1,
  "inside a character of two bytes": BYTES.indexOf("ü") + 1,
  "inside a character of three bytes": BYTES.indexOf("界") + 2,
  "inside a character of four bytes": BYTES.indexOf("🎉") + 3,
  "just before turn.done": BYTES.lastIndexOf("data:"),
  "inside turn.done": BYTES.lastIndexOf("data:") + 20,
};

for (const [how, end] of Object.entries(ENDS)) {
  for (const [where, at] of Object.entries(PLACES)) {
    test(`${how} ${where} cannot be distinguished from an uncut stream`, async (t) => {
      const { turn, server } = await serveResumed(t, brokenOff(BYTES.subarray(0, at), end), { [SUBSCRIBE]: logged(WHOLE) });
      await checkWhole(turn);
      assert.deepEqual(server.asked, [START, SUBSCRIBE]);
    });
  }
}

test("a stream may break off after any of its bytes", async (t) => {
  for (let at = 0; at < BYTES.length; at += 41) {
    const { turn, server } = await serveResumed(t, brokenOff(BYTES.subarray(0, at)), {
      [SUBSCRIBE]: logged(WHOLE), [LIST_TURNS]: page([recent()]),
    });
    await checkWhole(turn);
    assert.equal(server.count(START), 1, `after ${at} bytes`);
  }
});

test("the rest is requested after the last number, in the body and nowhere else", async (t) => {
  const { turn, server } = await serveResumed(t, events(...WHOLE.slice(0, 4)), { [SUBSCRIBE]: logged(WHOLE) });
  await checkWhole(turn);
  const [, { body, headers, query }] = server.requests;
  assert.deepEqual([body, query, headers["last-event-id"]], [{ after_sequence_number: 4 }, {}, undefined]);
});

test("a connection may be lost any number of times while each one brings something", async (t) => {
  const { turn, server, told } = await serveResumed(t, events(WHOLE[0]), { [SUBSCRIBE]: logged(WHOLE, 1) });
  await checkWhole(turn);
  const afters = server.requests.slice(1).map(({ body }) => body.after_sequence_number);
  assert.deepEqual(afters, range(1, WHOLE.length - 1));
  const attempts = told.filter(([topic]) => topic === "reconnecting").map(([, { attempt }]) => attempt);
  assert.deepEqual(attempts, afters.map(() => 1));
});

test("tries that bring nothing count; one that brings something resets the count", async (t) => {
  const replies = [reset, refusal(503), logged(WHOLE, 1), reset, refusal(500), logged(WHOLE)];
  const { turn, told } = await serveResumed(t, events(...WHOLE.slice(0, 3)), { [SUBSCRIBE]: replies });
  await checkWhole(turn);
  const attempts = told.filter(([topic]) => topic === "reconnecting").map(([, { attempt }]) => attempt);
  assert.deepEqual(attempts.slice(0, 3), [1, 2, 3]);
  assert.deepEqual(attempts.slice(3), [1, 2, 3]);
});

test("a stream that falls silent is closed and resumed", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveResumed(t, live.reply, { [SUBSCRIBE]: logged(WHOLE) }, { idleTimeout: 250 });
  const reading = checkWhole(turn);
  await live.send(...WHOLE.slice(0, 3));
  assert.equal(await live.closed, true);
  await reading;
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
});

test("a silence in the middle of a frame is a silence", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveResumed(t, live.reply, { [SUBSCRIBE]: logged(WHOLE) }, { idleTimeout: 250 });
  const reading = checkWhole(turn);
  await live.write(BYTES.subarray(0, PLACES["inside a character of three bytes"]));
  await reading;
});

test("a slow consumer misses nothing", async (t) => {
  const { turn } = await serveResumed(t, brokenOff(BYTES.subarray(0, 700), ENDS["a reset"]), { [SUBSCRIBE]: logged(WHOLE, 2) });
  const got = [];
  for await (const { sequence_number } of turn.stream()) {
    got.push(sequence_number);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.deepEqual(got, ALL);
});

test("listeners, the loop and a waiting caller all see one uncut turn", async (t) => {
  const { turn } = await serveResumed(t, events(...WHOLE.slice(0, 3)), { [SUBSCRIBE]: [logged(WHOLE, 2), reset, logged(WHOLE)] });
  const heard = [];
  turn.on("event", (event) => heard.push(event.sequence_number));
  const reading = turn.stream();
  const [, state] = await Promise.all([checkWhole(turn, reading), turn.waitForCompletion()]);
  assert.deepEqual(heard, ALL);
  assert.equal(state.status, "done");
});

test("a wait with a listener is recovered like a loop", async (t) => {
  const { turn, server, told } = await serveResumed(t, events(...WHOLE.slice(0, 3)), { [SUBSCRIBE]: [reset, logged(WHOLE)] });
  const heard = [];
  turn.on("event", (event) => heard.push(event.sequence_number));
  assert.equal((await turn.waitForCompletion()).status, "done");
  assert.deepEqual(heard, ALL);
  assert.equal(server.count(START), 1);
  assert.deepEqual(topics(told).filter((topic) => topic === "error"), []);
});

test("an attached turn is recovered after afterSequenceNumber", async (t) => {
  const { session, server } = await serveResumed(t, [], { [SUBSCRIBE]: [stream(frames(WHOLE.slice(3, 5), 4)), logged(WHOLE)] });
  const turn = await session.getTurn("t1");
  const { events: got, error } = await collect(turn.stream({ afterSequenceNumber: 3 }));
  assert.equal(error, undefined);
  assert.deepEqual(numbers(got), range(4, WHOLE.length));
  assert.deepEqual(server.requests.slice(1).map(({ body }) => body), [{ after_sequence_number: 3 }, { after_sequence_number: 5 }]);
});

test("cancel() while the connection is lost stops the turn, and its end is read", async (t) => {
  const cancelled = done({ status: "cancelled", reason: "client-cancelled" });
  const log = [...WHOLE.slice(0, 4), cancelled];
  let isCancelled = false;
  const { turn, server, told } = await serveResumed(t, events(...log.slice(0, 4)), {
    [SUBSCRIBE]: (exchange) => (isCancelled ? logged(log) : reset)(exchange),
    [CANCEL]: (exchange) => {
      isCancelled = true;
      json({})(exchange);
    },
  }, { reconnect: { maxAttempts: 50, baseDelay: 20, maxDelay: 20 } });
  const reading = collect(turn.stream());
  await eventually(() => topics(told).filter((topic) => topic === "reconnecting").length > 1);
  await turn.cancel();
  const { events: got, error } = await reading;
  assert.equal(error, undefined);
  assert.deepEqual(numbers(got), range(1, 5));
  assert.deepEqual([turn.status, got.at(-1).state.reason, server.count(CANCEL)], ["cancelled", "client-cancelled", 1]);
});

const FAILURES = {
  "resets": [reset, (cause) => cause instanceof ConnectionError && cause.code === "network" && cause.cause instanceof Error],
  "answers of 503": [refusal(503), (cause) => cause instanceof ApiError && cause.status === 503],
  "HTML pages": [body("<!doctype html>", { type: "text/html" }), (cause) => cause instanceof ProtocolError && cause.code === "unexpected_response"],
};

for (const [name, [reply, isCause]] of Object.entries(FAILURES)) {
  test(`too many ${name} in a row, and the turn cannot be read either: the stream fails with the last one as its cause, and goes on with the next stream()`, async (t) => {
    let isBack = false;
    const { turn, server, told } = await serveResumed(t, events(...WHOLE.slice(0, 3)), {
      [SUBSCRIBE]: (exchange) => (isBack ? logged(WHOLE) : reply)(exchange),
      [GET_TURN]: reply,
    });
    const first = await collect(turn.stream());
    assert.deepEqual(numbers(first.events), [1, 2, 3]);
    const { error } = first;
    assert.ok(error instanceof IncompleteError, String(error));
    assert.equal(error.code, "incomplete");
    assert.match(error.message, /3 times/);
    assert.ok(isCause(error.cause), `the cause is ${error.cause}`);
    assert.equal(server.count(SUBSCRIBE), RECONNECT.maxAttempts);
    assert.deepEqual(topics(told).filter((topic) => topic === "error"), ["error"]);
    const { status, error: shown, reconnecting, last_sequence_number } = turn.snapshot();
    assert.deepEqual([status, shown, reconnecting, last_sequence_number], ["incomplete", error, null, 3]);
    assert.equal(textOf(turn), PIECES[0]);
    isBack = true;
    const second = await collect(turn.stream());
    assert.equal(second.error, undefined);
    assert.deepEqual(numbers([...first.events, ...second.events]), ALL);
    assert.deepEqual([turn.status, textOf(turn), turn.snapshot().error], ["done", TEXT, null]);
    assert.equal(server.count(START), 1);
  });
}

test("an event larger than maxFrameBytes would come again: nothing is retried", async (t) => {
  const list = [created(), message(), text("kept"), text("x".repeat(2000))];
  const { turn, server, told } = await serveResumed(t, events(...list), {}, { maxFrameBytes: 1000 });
  const { events: got, error } = await collect(turn.stream());
  assert.deepEqual(numbers(got), [1, 2, 3]);
  assert.ok(error instanceof ProtocolError, String(error));
  assert.equal(error.code, "frame_too_large");
  assert.deepEqual([server.asked, topics(told)], [[START], ["error"]]);
});

test("a stream that is gone is finished from the turn's events, over all pages, each of them once", async (t) => {
  const listed = [
    message("m1", { content: "Hello, world", finish_reason: "tool_calls" }),
    { type: "tool.response", id: "r1", thread_id: "main", created_at: created().created_at, tool_call_id: "c1", content: "42" },
    message("m2", { content: "It is 42.", finish_reason: "stop" }),
  ];
  const { turn, server } = await serveResumed(t, events(created(), message("m1"), text("Hello, ", "m1")), {
    [SUBSCRIBE]: refusal(412),
    [GET_TURN]: json({ data: record(DONE) }),
    [TURN_EVENTS]: [page(listed.slice(0, 2), "p2"), page(listed.slice(2))],
  });
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  const missed = got.slice(3);
  assert.deepEqual(missed.map(({ type, id }) => [type, id]), [
    ["model.message", "m1"], ["tool.response", "r1"], ["model.message", "m2"], ["turn.done", "t1"],
  ]);
  assert.deepEqual(numbers(missed), [0, 0, 0, 0]);
  assert.deepEqual(missed.at(-1).state, DONE);
  assert.deepEqual(turn.snapshot().threads[0].messages.map(({ content }) => content), ["Hello, world", "It is 42."]);
  assert.deepEqual([turn.status, turn.lastSequenceNumber], ["done", 3]);
  assert.deepEqual(server.requests.slice(-2).map(({ query }) => query.page_token), [undefined, "p2"]);
  assert.deepEqual(server.asked.slice(-3), [GET_TURN, TURN_EVENTS, TURN_EVENTS]);
});

test("a message that came whole is not delivered again", async (t) => {
  const { turn } = await serveResumed(t, events(created(), message(), text("Hi"), finished()), {
    [SUBSCRIBE]: refusal(412),
    [GET_TURN]: json({ data: record(DONE) }),
    [TURN_EVENTS]: page([message("m1", { content: "Hi", finish_reason: "stop" })]),
  });
  const { events: got } = await collect(turn.stream());
  assert.deepEqual(numbers(got), [1, 2, 3, 4, 0]);
  assert.equal(got.at(-1).type, "turn.done");
});

test("a running turn whose stream is gone is requested again", async (t) => {
  const { turn } = await serveResumed(t, events(...WHOLE.slice(0, 3)), { [SUBSCRIBE]: [refusal(412), logged(WHOLE)] });
  await checkWhole(turn);
});

test("a turn that ended while its events cannot be listed has ended, and says that events are missing", async (t) => {
  const { turn } = await serveResumed(t, events(...WHOLE.slice(0, 3)), {
    [SUBSCRIBE]: refusal(412), [GET_TURN]: json({ data: record(DONE) }), [TURN_EVENTS]: refusal(403),
  });
  const { events: got, error } = await collect(turn.stream());
  assert.deepEqual(numbers(got), [1, 2, 3, 0]);
  assert.equal(turn.status, "done");
  assert.ok(error instanceof IncompleteError, String(error));
  assert.match(error.message, /listEvents\(\)/);
  assert.equal(error.cause.status, 403);
  assert.equal(turn.snapshot().error, error);
});

test("one call's `reconnect` wins over the client's", async (t) => {
  const off = await serveResumed(t, events(...WHOLE.slice(0, 3)));
  const { error } = await collect(off.turn.stream({ reconnect: false }));
  assert.ok(error instanceof IncompleteError, String(error));
  assert.deepEqual(off.server.asked, [START]);
  const on = await serveTurn(t, events(...WHOLE.slice(0, 3)), { routes: { [SUBSCRIBE]: logged(WHOLE) } });
  await checkWhole(on.turn, on.turn.stream({ reconnect: RECONNECT }));
});

test("an abandoned loop can be continued, over lost connections", async (t) => {
  const live = new LiveStream();
  const { turn, told } = await serveResumed(t, live.reply, { [SUBSCRIBE]: [reset, logged(WHOLE, 2), logged(WHOLE)] });
  const iterator = turn.stream();
  await live.send(...WHOLE.slice(0, 3));
  const first = await until(iterator, "model.message.delta");
  await iterator.return();
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual([first.sequence_number, ...numbers(got)], range(3, WHOLE.length));
  assert.deepEqual(topics(told).filter((topic) => topic === "error"), []);
});
