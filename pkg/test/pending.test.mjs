// Pending actions: which turn decides them, and what remains once they are answered.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InputError, StateError } from "../dist/index.js";
import { collect, failure } from "./support/collect.mjs";
import {
  CANCEL, deferred, events, GET_TURN, json, LIST_TURNS, LiveStream, page, SESSION_EVENTS, serveSession, serveTurn, START, TURN_EVENTS,
} from "./support/server.mjs";
import { answer, call, created, done, DONE, finished, message, record, required, toolResponse } from "./support/wire.mjs";

const ALLOW = { type: "user.tool_approval", thread_id: "main", tool_call_id: "c1", approval: { status: "allow" } };
const PAUSED = { ...DONE, required_actions: [required(["c1"])] };

/** A turn that pauses for an approval of call c1. */
function pause(fields = {}) {
  return [
    created(fields), message(), call("c1", "restart", { args: "{}" }), finished("tool_calls"), required(["c1"]), done(PAUSED),
  ];
}

/** A turn t2 that answers the approval, and gets the call's result. */
function go(...more) {
  return [created({ turn_id: "t2", previous_turn_id: "t1", input: [ALLOW] }), toolResponse("c1", "restarted"), ...more];
}

const GET_T2 = "GET agents/sessions/s1/turns/t2";
const T2_EVENTS = "GET agents/sessions/s1/turns/t2/events";

/** The list entry of a paused turn, with its pending actions. */
const MADE = { id: "c1", type: "function", function: { name: "restart", arguments: "{}" }, tool_info: { type: "truefoundry-system", name: "restart" } };
const LISTED = page([message("m1", { tool_calls: [MADE], finish_reason: "tool_calls" }), required(["c1"])]);

/** Waits for this many requests: the server's replies depend on their order. */
async function asked(server, count) {
  while (server.asked.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
}

function isRefused(session, options) {
  const error = failure(() => session.createTurn(options));
  return error.then((found) => {
    assert.ok(found instanceof InputError, String(found));
    assert.equal(found.code, "invalid_input");
  });
}

function firstOf(turn) {
  const { required_actions, threads } = turn.snapshot();
  const [known] = threads[0].messages[0].tool_calls;
  return { waits: required_actions.length, status: known.status, response: known.response?.content };
}

test("a turn that another client made after the newest one decides what is pending", async (t) => {
  const other = record(PAUSED, { id: "t2", previous_turn_id: "t1" });
  const { session } = await serveTurn(t, events(...answer("Hi")), { routes: { [GET_T2]: json({ data: other }), [T2_EVENTS]: LISTED } });
  await collect(session.createTurn({ input: "Hello" }).stream());
  const found = await session.getTurn("t2");
  assert.deepEqual(found.snapshot().required_actions.map((action) => action.tool_call_id), ["c1"]);
  session.createTurn({ input: ALLOW });
  session.createTurn({ input: ALLOW, previousTurnId: "t2" });
  await isRefused(session, { input: "and now?" });
});

test("an older turn that is read again decides nothing", async (t) => {
  const { session } = await serveTurn(t, events(...answer("Hi")), {
    routes: { [GET_T2]: json({ data: record(PAUSED, { id: "t2", previous_turn_id: "t0" }) }), [T2_EVENTS]: LISTED },
  });
  await collect(session.createTurn({ input: "Hello" }).stream());
  await session.getTurn("t2");
  session.createTurn({ input: "and now?" });
});

test("an approval is sent although no pending call is known", async (t) => {
  const { turn, session, server } = await serveTurn(t, [events(...answer("Hi")), events(...answer("Done"))]);
  await collect(turn.stream());
  assert.equal((await collect(session.createTurn({ input: ALLOW }).stream())).error, undefined);
  assert.deepEqual(server.requests[1].body.input, [ALLOW]);
});

for (const [name, before] of [["as the first ones", []], ["after a turn that ended", [events(...answer("Hi"))]]]) {
  test(`of two starts at once, ${name}, the one that is not refused decides what is pending`, async (t) => {
    const gate = deferred();
    const refusal = async (exchange) => {
      await gate.promise;
      json({ error: { message: "not now" } }, 400)(exchange);
    };
    const { session, server } = await serveTurn(t, [...before, refusal, events(...pause())]);
    for (const _ of before) await collect(session.createTurn({ input: "Hello" }).stream());
    const refused = collect(session.createTurn({ input: "one" }).stream());
    await asked(server, before.length + 1);
    const paused = session.createTurn({ input: "two" });
    await collect(paused.stream());
    gate.resolve();
    assert.equal((await refused).error.status, 400);
    assert.equal(paused.snapshot().required_actions.length, 1);
    await isRefused(session, { input: "and now?" });
    await isRefused(session, {});
    session.createTurn({ input: ALLOW });
  });
}

test("two starts at once that are refused leave pending what was pending", async (t) => {
  const gates = [deferred(), deferred()];
  const refusal = (gate) => async (exchange) => {
    await gate.promise;
    json({ error: { message: "not now" } }, 400)(exchange);
  };
  const { turn, session, server } = await serveTurn(t, [events(...pause()), ...gates.map(refusal)]);
  await collect(turn.stream());
  const ends = [];
  for (const attempt of [session.createTurn({ input: ALLOW }), session.createTurn({ input: ALLOW })]) {
    ends.push(collect(attempt.stream()));
    await asked(server, 1 + ends.length);
  }
  for (const at of [1, 0]) {
    gates[at].resolve();
    assert.equal((await ends[at]).error.status, 400);
  }
  await isRefused(session, { input: "and now?" });
  session.createTurn({ input: ALLOW });
});

test("naming the newest turn follows it", async (t) => {
  const { turn, session } = await serveTurn(t, events(...pause()));
  await collect(turn.stream());
  await isRefused(session, { input: "and now?", previousTurnId: turn.id });
  await isRefused(session, { previousTurnId: "auto" });
  session.createTurn({ input: ALLOW, previousTurnId: turn.id });
  // After any other turn, only the server knows the pending actions.
  session.createTurn({ input: "and now?", previousTurnId: "t0" });
});

for (const start of ["stream", "state", "waitForCompletion"]) {
  test(`a turn that was prepared before the session was cancelled is not started by ${start}()`, async (t) => {
    const { turn, session, server } = await serveTurn(t, events(), { routes: { [CANCEL]: json({}) } });
    await session.cancel();
    const error = await failure(async () => {
      const result = turn[start]();
      await (start === "stream" ? result.next() : result);
    });
    assert.ok(error instanceof StateError, String(error));
    assert.equal(error.code, "session_cancelled");
    assert.deepEqual(server.asked, [CANCEL]);
  });
}

test("a turn that was prepared before another one paused does not start past the pause", async (t) => {
  const { turn, session, server } = await serveTurn(t, events(...pause()));
  const prepared = session.createTurn({ input: "and now?" });
  await collect(turn.stream());
  const error = await failure(() => prepared.stream());
  assert.equal(error.code, "invalid_input");
  assert.equal(prepared.status, "unstarted");
  assert.deepEqual(server.asked, [START]);
});

test("an answered call waits no longer, and gets its result when the next turn ended", async (t) => {
  const live = new LiveStream();
  const { turn, session } = await serveTurn(t, [events(...pause()), live.reply]);
  await collect(turn.stream());
  assert.deepEqual(firstOf(turn), { waits: 1, status: "approval_required", response: undefined });
  const next = session.createTurn({ input: ALLOW });
  const reading = collect(next.stream());
  await live.send(...go());
  while (next.lastSequenceNumber < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  const { waits, status } = firstOf(turn);
  assert.equal(waits, 0);
  assert.notEqual(status, "approval_required");
  await live.send(message("m2"), finished("stop", "m2"), done());
  await reading;
  assert.deepEqual(firstOf(turn), { waits: 0, status: "done", response: "restarted" });
  // It is also in the turn that reported it.
  assert.deepEqual(next.snapshot().threads[0].tool_responses.map((response) => response.content), ["restarted"]);
  // The end of the turn itself stays.
  assert.equal(turn.snapshot().state.required_actions.length, 1);
});

test("a subscriber to a turn is notified when it no longer waits", async (t) => {
  const { turn, session } = await serveTurn(t, [events(...pause()), events(...go(done()))]);
  await collect(turn.stream());
  turn.snapshot();
  const told = new Promise((resolve) => turn.subscribe(() => resolve(firstOf(turn))));
  await collect(session.createTurn({ input: ALLOW }).stream());
  assert.equal((await told).waits, 0);
});

test("an answered call waits no longer when the next turn was started without a stream", async (t) => {
  const next = (state) => json({ data: record(state, { id: "t2", previous_turn_id: "t1" }) });
  const { turn, session } = await serveTurn(t, [events(...pause()), next({ status: "running" })], {
    routes: { [GET_T2]: next(DONE), [T2_EVENTS]: page([]) },
  });
  await collect(turn.stream());
  assert.deepEqual(await session.createTurn({ input: ALLOW }).state(), DONE);
  const { waits, status } = firstOf(turn);
  assert.equal(waits, 0);
  assert.notEqual(status, "approval_required");
  session.createTurn({ input: "thanks" });
});

test("a paused turn that was read by its id waits no longer once it was answered", async (t) => {
  const { session } = await serveSession(t, { [GET_TURN]: json({ data: record(PAUSED) }), [TURN_EVENTS]: LISTED, [START]: events(...go(done())) });
  const turn = await session.getTurn("t1");
  assert.equal(turn.snapshot().required_actions.length, 1);
  await collect(session.createTurn({ input: ALLOW }).stream());
  assert.equal(turn.snapshot().required_actions.length, 0);
});

test("a turn that starts a new branch answers nothing", async (t) => {
  const fresh = [created({ turn_id: "t2", previous_turn_id: null }), message("m2"), finished("stop", "m2"), done()];
  const { turn, session } = await serveTurn(t, [events(...pause()), events(...fresh)]);
  await collect(turn.stream());
  await collect(session.createTurn({ input: "Hello", previousTurnId: "none" }).stream());
  assert.deepEqual(firstOf(turn), { waits: 1, status: "approval_required", response: undefined });
});

test("in a history, an answered call has its result and waits no longer", async (t) => {
  const entries = [
    { turn_id: "t1", event: message("m1", { tool_calls: [MADE], finish_reason: "tool_calls" }) },
    { turn_id: "t1", event: required(["c1"]) },
    { turn_id: "t2", event: toolResponse("c1", "restarted") },
    { turn_id: "t2", event: message("m2", { content: "Done.", finish_reason: "stop" }) },
  ];
  const turns = [record(PAUSED), record(DONE, { id: "t2", previous_turn_id: "t1" })];
  const { session } = await serveSession(t, { [LIST_TURNS]: page(turns.toReversed()), [SESSION_EVENTS]: page(entries.reverse()) });
  const [first, second] = await session.history();
  assert.deepEqual(firstOf(first), { waits: 0, status: "done", response: "restarted" });
  assert.equal(second.snapshot().threads[0].messages[0].content, "Done.");
  session.createTurn({ input: "thanks" });
});

test("a history's paused last turn waits until it is answered", async (t) => {
  const entries = [
    { turn_id: "t1", event: message("m1", { tool_calls: [MADE], finish_reason: "tool_calls" }) },
    { turn_id: "t1", event: required(["c1"]) },
  ];
  const { session } = await serveSession(t, {
    [LIST_TURNS]: page([record(PAUSED)]), [SESSION_EVENTS]: page(entries.reverse()), [START]: events(...go(done())),
  });
  const [first] = await session.history();
  assert.deepEqual(firstOf(first), { waits: 1, status: "approval_required", response: undefined });
  await isRefused(session, { input: "and now?" });
  await collect(session.createTurn({ input: ALLOW }).stream());
  assert.deepEqual(firstOf(first), { waits: 0, status: "done", response: "restarted" });
});
