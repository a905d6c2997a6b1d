// Sequence numbers in the JSON of events, where servers write them instead of an `id:`, or beside it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, textOf } from "./support/collect.mjs";
import { brokenOff, numbers, range, serveResumed, serveResumedSession, topics } from "./support/connection.mjs";
import { GET_TURN, json, LIST_TURNS, page, refusal, serveTurn, SESSION_EVENTS, START, stream, SUBSCRIBE, TURN_EVENTS } from "./support/server.mjs";
import { answer, call, created, done, DONE, finished, frame, message, record, text, toolResponse } from "./support/wire.mjs";

const WHOLE = answer("Hel", "lo, ", "world");
const LAST = WHOLE.length;

const numbered = (event, sequence_number) => ({ ...event, sequence_number });

/** Frames of events with these numbers in their JSON; also with ids, if there are any. */
const said = (list, says, ids = []) => list.map((event, at) => frame(numbered(event, says[at]), ids[at])).join("");

/** The events after those that the request has. */
const logged = (list) => ({ request, response }) => {
  const after = request.body?.after_sequence_number ?? 0;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(said(list.slice(after), range(after + 1, list.length)));
};

async function checkWhole(turn) {
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual(numbers(got), range(1, LAST));
  assert.deepEqual(got.map((event) => event.content ?? event.type), WHOLE.map((event) => event.content ?? event.type));
  assert.deepEqual([turn.status, textOf(turn), turn.lastSequenceNumber], ["done", "Hello, world", LAST]);
}

test("an uncut stream has the numbers of its events", async (t) => {
  const { turn, server, told } = await serveResumed(t, logged(WHOLE));
  await checkWhole(turn);
  assert.deepEqual([server.asked, told], [[START], []]);
});

test("a stream that breaks off is resumed after the last number", async (t) => {
  const { turn, server, told } = await serveResumed(t, brokenOff(said(WHOLE.slice(0, 4), range(1, 4))), { [SUBSCRIBE]: logged(WHOLE) });
  await checkWhole(turn);
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
  assert.deepEqual(server.requests[1].body, { after_sequence_number: 4 });
  assert.deepEqual(topics(told), ["reconnecting", "resumed"]);
});

test("repeats are dropped, and gaps are filled", async (t) => {
  const { turn, server } = await serveResumed(t, stream(said([...WHOLE.slice(0, 3), WHOLE[1], WHOLE[5]], [1, 2, 3, 2, 6])), {
    [SUBSCRIBE]: stream(said(WHOLE, range(1, LAST))),
  });
  await checkWhole(turn);
  assert.deepEqual(server.requests[1].body, { after_sequence_number: 3 });
});

test("after a reload a stream goes on where the page says", async (t) => {
  const { session, server } = await serveResumedSession(t, { [SUBSCRIBE]: logged(WHOLE) });
  const turn = await session.getTurn("t1");
  const { events: got } = await collect(turn.stream({ afterSequenceNumber: 5 }));
  assert.deepEqual(numbers(got), [6, 7]);
  assert.deepEqual(server.requests.at(-1).body, { after_sequence_number: 5 });
});

const NONE = { "a word": "one", "a text": "4", "negative": -4, "a fraction": 4.5, "zero": 0, "null": null, "too large": 2 ** 53 };

for (const [name, number] of Object.entries(NONE)) {
  test(`a number that is ${name} does not count: events that a lost connection may have had are read from the list`, async (t) => {
    const { turn, server } = await serveResumed(t, brokenOff(said(WHOLE.slice(0, 4), [1, 2, 3, number])), {
      [GET_TURN]: json({ data: record(DONE) }),
      [TURN_EVENTS]: page([message("m1", { content: "Hello, world", finish_reason: "stop" })]),
    });
    const { events: got, error } = await collect(turn.stream());
    assert.equal(error, undefined);
    assert.deepEqual(numbers(got), [1, 2, 3, 0, 0, 0]);
    assert.equal(textOf(turn), "Hello, world");
    assert.equal(server.count(SUBSCRIBE), 0);
  });
}

test("an id of an earlier frame is no number of a later one", async (t) => {
  const frames = frame(WHOLE[0], 1) + frame(WHOLE[1], 2) + said(WHOLE.slice(2, 4), [3, 4]) + frame(WHOLE[4], 5) + said(WHOLE.slice(5), [6, 7]);
  const { turn, told } = await serveResumed(t, stream(frames));
  await checkWhole(turn);
  assert.deepEqual(told, []);
});

test("an id that is no number leaves the number in the JSON", async (t) => {
  const { turn, told } = await serveResumed(t, stream(said(WHOLE, range(1, LAST), WHOLE.map(({ id }) => id))));
  await checkWhole(turn);
  assert.deepEqual(told, []);
});

test("the same number twice is no mismatch", async (t) => {
  const { turn, told } = await serveResumed(t, stream(said(WHOLE, range(1, LAST), range(1, LAST))));
  await checkWhole(turn);
  assert.deepEqual(told, []);
});

test("of two numbers the id counts, and the difference is reported once a turn", async (t) => {
  const bytes = (from, to) => said(WHOLE.slice(from - 1, to), range(from + 100, to + 100), range(from, to));
  const { turn, server, told } = await serveResumed(t, brokenOff(bytes(1, 4)), { [SUBSCRIBE]: stream(bytes(5, LAST)) });
  await checkWhole(turn);
  assert.deepEqual(server.requests[1].body, { after_sequence_number: 4 });
  assert.deepEqual(topics(told), ["mismatch", "reconnecting", "resumed"]);
  assert.deepEqual(told[0], ["mismatch", { id: 1, sequence_number: 101 }]);
});

/** A turn with a tool call: its stream, and the list of its events, which has the numbers of the stream. */
const TOOL = [
  created(), message(), call("c1", "find", { args: "{}" }), finished("tool_calls"), toolResponse("c1", "found"),
  message("m2"), text("It is ", "m2"), text("there.", "m2"), finished("stop", "m2"), done(),
];
const LISTED = [
  numbered(message("m1", { tool_calls: [{ index: 0, ...TOOL[2].tool_calls[0] }].map(({ index, ...call }) => call), finish_reason: "tool_calls" }), 4),
  numbered(toolResponse("c1", "found"), 5),
  numbered(message("m2", { content: "It is there.", finish_reason: "stop" }), 9),
];

test("events of the list keep their numbers, and none is delivered twice", async (t) => {
  for (const [cut, expected] of [[1, [1, 4, 5, 9, 0]], [4, [1, 2, 3, 4, 5, 9, 0]], [5, [1, 2, 3, 4, 5, 9, 0]], [8, [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]]]) {
    const { turn } = await serveResumed(t, brokenOff(said(TOOL.slice(0, cut), range(1, cut))), {
      [SUBSCRIBE]: refusal(412), [GET_TURN]: json({ data: record(DONE) }), [TURN_EVENTS]: page(LISTED),
    });
    const { events: got, error } = await collect(turn.stream());
    assert.equal(error, undefined);
    assert.deepEqual(numbers(got), expected, `after ${cut}`);
    assert.deepEqual([textOf(turn), turn.lastSequenceNumber], ["It is there.", 9]);
    const [{ tool_calls }] = turn.snapshot().threads[0].messages;
    assert.deepEqual(tool_calls[0].response, toolResponse("c1", "found"));
  }
});

test("a message that is repeated whole has no delivered number", async (t) => {
  const list = [LISTED[0], LISTED[1], { ...LISTED[2], sequence_number: 6 }];
  const { turn } = await serveResumed(t, brokenOff(said(TOOL.slice(0, 8), range(1, 8))), {
    [SUBSCRIBE]: refusal(412), [GET_TURN]: json({ data: record(DONE) }), [TURN_EVENTS]: page(list),
  });
  const { events: got } = await collect(turn.stream());
  assert.deepEqual(numbers(got), [...range(1, 8), 0, 0]);
  assert.equal(textOf(turn), "It is there.");
});

test("lists keep valid numbers, and no others", async (t) => {
  const odd = { type: "turn.mood", id: "x", sequence_number: 7 };
  const list = [...LISTED, { ...toolResponse("c9", "late"), sequence_number: "10" }, odd];
  const unknown = { type: "unknown", wire_type: "turn.mood", raw: odd, sequence_number: 7 };
  const { session } = await serveResumedSession(t, {
    [LIST_TURNS]: page([record(DONE)]), [GET_TURN]: json({ data: record(DONE) }), [TURN_EVENTS]: page(list),
    [SESSION_EVENTS]: page(list.map((event) => ({ turn_id: "t1", event })).reverse()),
  });
  const got = [];
  for await (const event of (await session.getTurn("t1")).listEvents()) got.push(event);
  assert.deepEqual(got.map((event) => event.sequence_number), [4, 5, 9, undefined, 7]);
  assert.ok(!("sequence_number" in got[3]));
  assert.deepEqual(got[4], unknown);
  const entries = [];
  for await (const { event } of session.listEvents()) entries.push(event);
  assert.deepEqual(entries.reverse(), got);
  const [turn] = await session.history();
  const [thread] = turn.snapshot().threads;
  assert.equal(textOf(turn), "It is there.");
  assert.deepEqual(thread.messages[0].tool_calls[0].response, toolResponse("c1", "found"), "the snapshot is that of a stream");
});

test("the snapshot has no number of an event in it", async (t) => {
  const { turn } = await serveTurn(t, stream(said(TOOL, range(1, TOOL.length))));
  const { error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.ok(!JSON.stringify(turn.snapshot()).includes('"sequence_number"'));
});
