// Sequence numbers that are not what the protocol says: repeated, missing, out of order, or no numbers at all.
import assert from "node:assert/strict";
import { test } from "node:test";
import { IncompleteError, ProtocolError } from "../dist/index.js";
import { collect, textOf } from "./support/collect.mjs";
import { logged, numbered, numbers, range, serveResumed, topics } from "./support/connection.mjs";
import { deferred, events, GET_TURN, json, LIST_TURNS, page, refusal, reset, START, stream, SUBSCRIBE, TURN_EVENTS } from "./support/server.mjs";
import { answer, created, done, DONE, finished, frames, message, recent, record, text } from "./support/wire.mjs";

const WHOLE = answer("Hel", "lo, ", "world");
const LAST = WHOLE.length;
const LISTED = page([message("m1", { content: "Hello, world", finish_reason: "stop" })]);

/** The events without their numbers. */
const said = (got) => got.map((event) => event.content ?? event.type);
const SAID = said(WHOLE);

async function checkWhole(turn) {
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual(numbers(got), range(1, LAST));
  assert.deepEqual(said(got), SAID);
  assert.deepEqual([turn.status, textOf(turn)], ["done", "Hello, world"]);
}

/** The frames of the whole turn, without these numbers. */
const without = (...lost) => numbered(WHOLE.filter((_, at) => !lost.includes(at + 1)), range(1, LAST).filter((number) => !lost.includes(number)));

const REPEATS = {
  "an event twice": frames(WHOLE.slice(0, 3)) + frames(WHOLE.slice(2), 3),
  "every event twice": WHOLE.map((event, at) => frames([event], at + 1).repeat(2)).join(""),
  "all events again after the fourth": frames(WHOLE.slice(0, 4)) + frames(WHOLE),
  "turn.created again at the end of the message": frames(WHOLE.slice(0, 6)) + frames(WHOLE.slice(0, 1)) + frames(WHOLE.slice(6), 7),
};

for (const [name, bytes] of Object.entries(REPEATS)) {
  test(`a stream that brings ${name} delivers each once`, async (t) => {
    const { turn, server, told } = await serveResumed(t, stream(bytes));
    await checkWhole(turn);
    assert.deepEqual([server.asked, told], [[START], []]);
  });
}

test("a server that starts over from 1 on every request doubles nothing", async (t) => {
  const { turn, server } = await serveResumed(t, events(...WHOLE.slice(0, 4)), {
    [SUBSCRIBE]: [events(...WHOLE.slice(0, 2)), events(...WHOLE.slice(0, 5)), events(...WHOLE)],
  });
  await checkWhole(turn);
  assert.equal(server.count(START), 1);
});

test("a gap is filled from the last number before it, and not reported", async (t) => {
  const { turn, server, told } = await serveResumed(t, stream(without(4, 5)), { [SUBSCRIBE]: logged(WHOLE) });
  await checkWhole(turn);
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
  assert.deepEqual(server.requests[1].body, { after_sequence_number: 3 });
  assert.deepEqual(topics(told), ["reconnecting", "resumed"]);
});

test("events out of order are put in order", async (t) => {
  const swapped = numbered([WHOLE[0], WHOLE[1], WHOLE[3], WHOLE[2], ...WHOLE.slice(4)], [1, 2, 4, 3, 5, 6, 7]);
  const { turn } = await serveResumed(t, stream(swapped), { [SUBSCRIBE]: logged(WHOLE) });
  await checkWhole(turn);
});

test("several gaps are filled one after another", async (t) => {
  const { turn, told } = await serveResumed(t, stream(without(2)), {
    [SUBSCRIBE]: [numbered(WHOLE.slice(1).filter((_, at) => at !== 2), [2, 3, 5, 6, 7]), frames(WHOLE.slice(3), 4)].map((bytes) => stream(bytes)),
  });
  await checkWhole(turn);
  assert.ok(!topics(told).includes("gap"), String(topics(told)));
});

test("a gap that the server cannot fill is reported once, and the message is made whole from the list", async (t) => {
  const { turn, server, told } = await serveResumed(t, stream(without(4, 5)), {
    [SUBSCRIBE]: stream(numbered(WHOLE.slice(5), [6, 7])),
    [TURN_EVENTS]: LISTED,
  });
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual(numbers(got), [1, 2, 3, 6, 7]);
  assert.deepEqual(told.filter(([topic]) => topic === "gap"), [["gap", { after: 3, next: 6 }]]);
  assert.deepEqual([turn.status, textOf(turn)], ["done", "Hello, world"]);
  assert.deepEqual(server.asked, [START, SUBSCRIBE, SUBSCRIBE, SUBSCRIBE, TURN_EVENTS]);
  assert.equal(turn.snapshot().error, null);
});

test("a gap whose events are not listed either leaves what came", async (t) => {
  const empty = page([]);
  for (const reply of [refusal(409), refusal(404), empty]) {
    const { turn, told } = await serveResumed(t, stream(without(4)), {
      [SUBSCRIBE]: stream(numbered(WHOLE.slice(4), [5, 6, 7])), [TURN_EVENTS]: reply,
    });
    const { events: got, error } = await collect(turn.stream());
    assert.equal(error?.code, reply === empty ? undefined : "incomplete");
    assert.deepEqual(numbers(got), [1, 2, 3, 5, 6, 7]);
    assert.equal(topics(told).filter((topic) => topic === "gap").length, 1);
    assert.deepEqual([turn.status, textOf(turn)], ["done", "Helworld"]);
  }
});

test("a late event of a skipped gap is delivered, once", async (t) => {
  const late = numbered([WHOLE[4], WHOLE[3], WHOLE[3], WHOLE[5], WHOLE[6]], [5, 4, 4, 6, 7]);
  const { turn } = await serveResumed(t, stream(without(4)), { [SUBSCRIBE]: stream(late), [TURN_EVENTS]: LISTED });
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual(numbers(got), [1, 2, 3, 5, 4, 6, 7]);
  assert.equal(textOf(turn), "Hello, world");
});

test("a stream that begins behind the cursor is filled too", async (t) => {
  const { turn, told } = await serveResumed(t, events(...WHOLE.slice(0, 2)), {
    [SUBSCRIBE]: [stream(numbered(WHOLE.slice(4), [5, 6, 7])), logged(WHOLE)],
  });
  await checkWhole(turn);
  assert.ok(!topics(told).includes("gap"), String(topics(told)));
});

const NOT_NUMBERS = {
  "negative": (number) => -number,
  "words": (number) => ["zero", "one", "two", "three", "four", "five", "six", "seven"][number],
  "missing": () => undefined,
  "fractions": (number) => `${number}.5`,
  "beyond what a double holds": (number) => String(2n ** 60n + BigInt(number)),
  "beyond 64 bits": (number) => `${"9".repeat(30)}${number}`,
  "zero": () => 0,
};

for (const [name, numberOf] of Object.entries(NOT_NUMBERS)) {
  const bytes = (list) => numbered(list, range(1, LAST).map(numberOf));

  test(`numbers that are ${name}: an uncut stream is delivered as it comes`, async (t) => {
    const { turn, server } = await serveResumed(t, stream(bytes(WHOLE)), { [LIST_TURNS]: page([recent()]), [SUBSCRIBE]: stream(bytes(WHOLE)) });
    const { events: got, error } = await collect(turn.stream());
    assert.equal(error, undefined);
    assert.deepEqual(said(got), SAID);
    assert.ok(got.every(({ sequence_number }) => sequence_number === 0), String(numbers(got)));
    assert.deepEqual([turn.status, textOf(turn), turn.lastSequenceNumber], ["done", "Hello, world", 0]);
    assert.deepEqual(server.asked, [START]);
  });

  test(`numbers that are ${name}: events that a lost connection may have had are read from the list`, async (t) => {
    const { turn, server } = await serveResumed(t, stream(bytes(WHOLE.slice(0, 4))), {
      [SUBSCRIBE]: stream(bytes(WHOLE)), [GET_TURN]: json({ data: record(DONE) }), [TURN_EVENTS]: LISTED,
    });
    const { events: got, error } = await collect(turn.stream());
    assert.equal(error, undefined);
    // The message, whole, and the end; no piece of it a second time.
    assert.deepEqual(said(got), [...SAID.slice(0, 4), "Hello, world", "turn.done"]);
    assert.deepEqual([turn.status, textOf(turn)], ["done", "Hello, world"]);
    assert.equal(server.count(START), 1);
    assert.equal(server.count(SUBSCRIBE), 0);
  });
}

test("a single event without a number is delivered, and the next number goes on", async (t) => {
  const bytes = numbered(WHOLE, [1, 2, 3, undefined, 4, 5, 6]);
  const { turn, server } = await serveResumed(t, stream(bytes));
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual(said(got), SAID);
  assert.deepEqual(numbers(got), [1, 2, 3, 0, 4, 5, 6]);
  assert.deepEqual(server.asked, [START]);
});

test("numbers that go backwards: each event comes once, in the order in which it was sent", async (t) => {
  const bytes = numbered(WHOLE, range(1, LAST).map((number) => 20 - number));
  const { turn, server } = await serveResumed(t, stream(bytes), { [SUBSCRIBE]: stream(bytes), [LIST_TURNS]: page([recent()]), [TURN_EVENTS]: LISTED });
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual(said(got), SAID);
  assert.deepEqual([turn.status, textOf(turn)], ["done", "Hello, world"]);
  assert.equal(server.count(START), 1);
});

test("numbers with holes everywhere are accepted as they come in the end", async (t) => {
  const bytes = numbered(WHOLE, range(1, LAST).map((number) => 10 * number));
  const { turn, server } = await serveResumed(t, stream(bytes), {
    [LIST_TURNS]: page([recent()]), [TURN_EVENTS]: LISTED,
    [SUBSCRIBE]: (exchange) => {
      const after = (exchange.request.body?.after_sequence_number ?? 0) / 10;
      stream(numbered(WHOLE.slice(after), range(after + 1, LAST).map((number) => 10 * number)))(exchange);
    },
  });
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual(numbers(got), range(1, LAST).map((number) => 10 * number));
  assert.deepEqual([turn.status, textOf(turn)], ["done", "Hello, world"]);
  assert.equal(server.count(START), 1);
});

test("a stream that changes to another turn is closed, and its events are not taken", async (t) => {
  const foreign = [created({ turn_id: "t9", id: "ev-9" }), message("m9"), text("not yours", "m9"), done()];
  const { turn, server } = await serveResumed(t, events(...WHOLE.slice(0, 4), ...foreign), { [SUBSCRIBE]: logged(WHOLE) });
  await checkWhole(turn);
  assert.equal(turn.id, "t1");
  assert.equal(turn.snapshot().threads[0].messages.length, 1);
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
});

test("a server that answers with another turn every time: the stream fails, and keeps what it has", async (t) => {
  const foreign = [created({ turn_id: "t9" }), message("m9"), text("not yours", "m9"), done()];
  const { turn, server } = await serveResumed(t, events(...WHOLE.slice(0, 4), ...foreign), { [SUBSCRIBE]: stream(frames(foreign, 5)), [GET_TURN]: reset });
  const { events: got, error } = await collect(turn.stream());
  assert.deepEqual(numbers(got), [1, 2, 3, 4]);
  assert.ok(error instanceof IncompleteError, String(error));
  assert.match(error.message, /another turn/);
  assert.deepEqual([turn.id, turn.status, textOf(turn)], ["t1", "incomplete", "Hello, "]);
  assert.equal(server.count(START), 1);
});

test("nothing after turn.done is accepted, and the connection is released", async (t) => {
  const closed = deferred();
  const endless = ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.on("close", closed.resolve);
    response.write(frames([...WHOLE, text("more"), done({ status: "error", message: "no" }), finished(), created({ turn_id: "t9" })]));
  };
  const { turn, server, told } = await serveResumed(t, endless);
  const heard = [];
  turn.on("turn.done", (event) => heard.push(event.state.status));
  await checkWhole(turn);
  await closed.promise;
  assert.deepEqual([heard, server.asked, told], [["done"], [START], []]);
  assert.deepEqual(turn.snapshot().state, DONE);
});
