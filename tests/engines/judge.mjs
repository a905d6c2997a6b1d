// Compares a page's report of a case, and the gateway's record, with what the case expects.
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";

/** Throws unless the case ended as expected. */
export function judge({ expects }, report, record) {
  OUTCOMES[expects.outcome](expects, report, record);
  judgeRequests(expects, report, record);
  if (expects.waits !== undefined) judgeWaiting(expects.waits, report);
  assert.deepEqual(report.topics.mismatch, expects.mismatch ?? [], "that two numbers differ is told once");
}

/** Throws unless a page that came back has the whole turn, and got no event twice. */
export function judgeWhole({ numbers, snapshot }, uncut, log) {
  assert.ok(numbers.every((number, at) => at === 0 || number > numbers[at - 1]), `the numbers of the events: ${numbers}`);
  assertSnapshot({ snapshot }, log);
  assertAlike(snapshot, uncut.snapshot);
  // A turn that had ended when the page returned was not streamed.
  assert.ok([0, log.length].includes(snapshot.last_sequence_number));
}

const OUTCOMES = {
  recovers(expects, report, { log }) {
    assertEnded(report, expects);
    assertEvents(report.events, log, { numbered: true });
    assertSame(report.events, report.uncut.events);
    assertSnapshot(report, log);
    assert.deepEqual(report.snapshot, report.uncut.snapshot, "the snapshot is that of an uncut turn");
    assert.deepEqual(report.topics.gap, [], "no gap is told");
  },

  delivers(expects, report, { log }) {
    assertEnded(report, expects);
    assertEvents(report.events, log, { numbered: false });
    assertSnapshot(report, log);
    assertAlike(report.snapshot, report.uncut.snapshot);
  },

  heals(expects, report, { log }) {
    assertEnded(report, expects);
    const { missing = [], from = Infinity, gaps = [] } = expects;
    const given = log.filter(({ number }) => !missing.includes(number) && number < from);
    const numbered = report.events.filter((event) => event.sequence_number > 0);
    assertEvents(numbered, given, { numbered: true });
    if (from !== Infinity) assert.equal(report.events.at(-1).type, "turn.done", "the end is delivered");
    assertSnapshot(report, log);
    assertAlike(report.snapshot, report.uncut.snapshot);
    assert.deepEqual(report.topics.gap, gaps, "each gap is told once");
  },

  fails(expects, report, { log }) {
    const [error] = assertErrors(report, [expects.error]);
    assert.ok(error.typed, "the error is one of the package's");
    const { threads, required_actions, last_sequence_number } = report.snapshot;
    // Events in the chunk in which the loop stopped are in the snapshot, and are delivered now or to the next loop.
    const count = expects.atLeast ? Math.max(expects.kept, last_sequence_number) : expects.kept;
    const delivered = expects.atLeast ? Math.max(expects.kept, report.events.length) : count;
    assertEvents(report.events, log.slice(0, delivered), { numbered: true });
    const kept = report.uncut.snapshot;
    assert.deepEqual(threads, kept.threads, "what came is kept");
    assert.deepEqual(required_actions, kept.required_actions, "what waited for an answer is kept");
    assert.equal(last_sequence_number, count, "the cursor stands behind the last event");
    // The caller's own abort is no error of the turn.
    const shown = expects.error.code === "aborted" ? undefined : expects.error.code;
    assert.equal(report.snapshot.error?.code, shown, "the snapshot has the turn's error");
  },

  refuses(expects, report) {
    const [error] = assertErrors(report, [expects.error]);
    assert.ok(error.typed, "the error is one of the package's");
    assert.deepEqual([report.turn, report.status, report.events], [null, "unstarted", []]);
  },

  settles(expects, report, { log }) {
    for (const error of report.errors) assert.ok(error.typed, "the error is one of the package's");
    // A message with missed parts is repeated as a whole.
    const single = report.events.filter(({ type }) => !type.startsWith("model.message"));
    const keys = single.map(({ type, id }) => `${type} ${id}`);
    assert.equal(new Set(keys).size, keys.length, `no event comes twice: ${keys}`);
    const known = new Map(texts(log.map(({ event }) => event)));
    for (const [id, text] of texts(report.events)) {
      assert.ok(known.get(id)?.startsWith(text), `the text of ${id} is the server's, each piece once: ${text}`);
    }
    const status = report.errors.length > 0 ? "incomplete" : "done";
    assert.equal(report.status, status);
  },
};

/** The turn has ended; if the case expects an error meanwhile, there was only that one. */
export function assertEnded(report, { error }) {
  assertErrors(report, error === undefined ? [] : [error]);
  assert.ok(["done", "cancelled", "error"].includes(report.status), `the turn has ended: ${report.status}`);
  const code = report.status === "error" ? "turn_failed" : undefined;
  assert.equal(report.snapshot.error?.code, code, "the snapshot's only error is that of the turn");
  assert.equal(report.snapshot.reconnecting, null, "nothing is being tried any more");
}

export function assertErrors({ errors }, expected) {
  const found = errors.map((error, at) => pick(error, expected[at] ?? { name: 0, code: 0, message: 0 }));
  assert.deepEqual(found, expected, JSON.stringify(errors, null, 2));
  return errors;
}

/** The members that an error shares with another, causes included. */
function pick(error, wanted) {
  const member = (name) => (name === "cause" ? pick(error.cause ?? {}, wanted.cause) : error[name]);
  return Object.fromEntries(Object.keys(wanted).map((name) => [name, member(name)]));
}

/** The events are those of the log, one by one: kind, id and text, and number where that can be trusted. */
function assertEvents(events, log, { numbered }) {
  const found = events.map((event) => line(event, numbered ? event.sequence_number : 0));
  const expected = log.map(({ number, event }) => line(event, numbered ? number : 0));
  const at = expected.findIndex((text, index) => text !== found[index]);
  if (at !== -1) assert.fail(`event ${at + 1} is ${found[at] ?? "missing"}, not ${expected[at]}`);
  assert.equal(found.length, expected.length, `after the last event comes ${found[expected.length]}`);
}

/** Every event equals that of the uncut stream, in all its members. */
export function assertSame(events, uncut) {
  const at = uncut.findIndex((event, index) => !isDeepStrictEqual(event, events[index]));
  if (at !== -1) assert.deepEqual(events[at], uncut[at], `event ${at + 1}`);
  assert.equal(events.length, uncut.length);
}

/** Members that are delivered as on the wire; others are completed. */
function line({ type, id, content, reasoning_content, tool_calls }, number) {
  if (type !== "model.message.delta") return `#${number} ${type} ${id}`;
  const call = tool_calls?.map(({ index, function: { arguments: text } = {} }) => [index, text]);
  return `#${number} ${type} ${id} ${JSON.stringify([content ?? "", reasoning_content ?? "", call ?? []])}`;
}

/** The texts of the snapshot are those of the log's events, merged without the package. */
function assertSnapshot({ snapshot }, log) {
  const messages = snapshot.threads.flatMap((thread) => thread.messages);
  const shown = messages.map(({ id, content }) => [id, content]);
  const expected = [...texts(log.map(({ event }) => event))];
  assert.deepEqual(new Map(shown), new Map(expected), "the texts are those of the log");
}

function texts(events) {
  const messages = new Map();
  for (const { type, id, content } of events) {
    if (type === "model.message") messages.set(id, content ?? "");
    if (type === "model.message.delta") messages.set(id, (messages.get(id) ?? "") + (content ?? ""));
  }
  return messages;
}

/** The snapshot is that of an uncut turn, except what only the stream's numbers show. */
function assertAlike({ last_sequence_number: _one, ...snapshot }, { last_sequence_number: _other, ...uncut }) {
  assert.deepEqual(snapshot, uncut, "the snapshot is that of an uncut turn");
}

/** One turn was begun, by one request unless the case says otherwise, and resumed where it had stopped. */
export function judgeRequests({ outcome, posts = [200], cursors, looks, earlier }, report, { requests, turns }) {
  const lines = requests.map(({ on, status, after, fault }) => [on, status, after, fault].join(" ").trim());
  const journal = JSON.stringify(lines);
  assert.equal(turns, earlier + (outcome === "refuses" ? 0 : 1), `turns that were begun: ${journal}`);
  const starts = requests.filter(({ on }) => on === "create").map(({ status }) => status);
  if (typeof posts === "number") assert.equal(starts.length, posts, `requests for a start: ${journal}`);
  else if (posts !== "any") assert.deepEqual(starts, posts, `answers to a start: ${journal}`);
  // Reads before the start do not count as a search.
  const after = requests.slice(requests.findLastIndex(({ on }) => on === "create"));
  const found = after.filter(({ on }) => on === "turns").length;
  if (looks !== undefined) assert.equal(found, looks, `looks for the turn: ${journal}`);
  if (cursors !== undefined) judgeCursors(cursors, report, requests, journal);
  if (report.tokens !== undefined) judgeTokens(report.tokens);
}

function judgeCursors(expected, { topics }, requests, journal) {
  const cursors = requests.filter(({ on }) => on === "subscribe").map(({ after }) => after ?? 0);
  const fitting = cursors.map((cursor, at) => (cursor <= expected[at]?.atMost ? expected[at] : cursor));
  assert.deepEqual(fitting, expected, `cursors of subscriptions: ${journal}`);
  if (expected.length === 0) assert.deepEqual(topics.reconnecting, [], "nothing was tried again");
  else assert.ok(topics.reconnecting.length > 0, "each try is told");
}

/** A token function returns another token each time: none may be sent twice. */
function judgeTokens(tokens) {
  const renewed = tokens.filter((token) => token?.startsWith("Bearer token-"));
  assert.equal(new Set(renewed).size, renewed.length, `tokens: ${tokens}`);
}

export function judgeWaiting(least, { topics, took }) {
  assert.ok(took >= least, `it took ${took} ms`);
  const longest = Math.max(...topics.reconnecting.map(({ delay }) => delay));
  assert.ok(longest >= least, `the longest delay that was told is ${longest} ms`);
}
