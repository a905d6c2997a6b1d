// Resuming a conversation: after a reload, in another tab, and after leaving it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AbortError, connect } from "../dist/index.js";
import { collect, eventually, failure, textOf } from "./support/collect.mjs";
import { ENDS, logged, numbers, range, RECONNECT, SharedStream, serveResumed, serveResumedSession, topics } from "./support/connection.mjs";
import {
  CANCEL, events, json, LIST_TURNS, page, refusal, reset, serve, SESSION_EVENTS, silence, START, SUBSCRIBE,
} from "./support/server.mjs";
import { answer, call, created, done, DONE, finished, message, record, required, text } from "./support/wire.mjs";

/** The events of turn `id`: a message that says this. */
function eventsOf(id, previous_turn_id, ...pieces) {
  const own = `m-${id}`;
  return [
    created({ id: `c-${id}`, turn_id: id, previous_turn_id }), message(own), ...pieces.map((piece) => text(piece, own)), finished("stop", own),
    done({ output: null }),
  ];
}

const T1 = record(DONE, { created_at: "2026-11-20T09:00:01.000Z" });
const T2 = record({ status: "running" }, { id: "t2", previous_turn_id: "t1", created_at: "2026-11-20T09:00:02.000Z" });
const SECOND = eventsOf("t2", "t1", "How ", "are ", "you?");
const SUBSCRIBE_2 = "POST agents/sessions/s1/turns/t2/subscribe";
const GET_T2 = "GET agents/sessions/s1/turns/t2";
const T2_EVENTS = "GET agents/sessions/s1/turns/t2/events";
const FIRST = { turn_id: "t1", event: message("m-t1", { content: "Hello", finish_reason: "stop" }) };
const LAST_OF_2 = message("m-t2", { content: "How are you?", finish_reason: "stop" });

/** A session with a turn that ended and one that runs. */
function two(t, routes = {}) {
  return serveResumedSession(t, {
    [LIST_TURNS]: page([T2, T1]), [SESSION_EVENTS]: page([FIRST]), [SUBSCRIBE_2]: logged(SECOND), [GET_T2]: json({ data: T2 }), ...routes,
  });
}

/** Waits for the end of a turn; returns the numbers of the events that a listener received until then. */
async function heard(turn) {
  const got = [];
  turn.on("event", ({ sequence_number }) => got.push(sequence_number));
  await turn.waitForCompletion();
  return got;
}

function checkTwo([first, second, ...more]) {
  assert.deepEqual([more.length, first.id, first.status, textOf(first)], [0, "t1", "done", "Hello"]);
  assert.deepEqual([second.id, second.previousTurnId, second.status, textOf(second)], ["t2", "t1", "done", "How are you?"]);
  for (const turn of [first, second]) assert.equal(turn.snapshot().threads[0].messages.length, 1);
  assert.equal(second.snapshot().error, null);
}

test("ended turns are filled, and a running one is read from its beginning, each event once", async (t) => {
  const { session, server } = await two(t);
  const turns = await session.resume();
  assert.deepEqual(turns.map((turn) => [turn.id, turn.status]), [["t1", "done"], ["t2", "running"]]);
  assert.deepEqual(await heard(turns[1]), range(1, SECOND.length));
  checkTwo(turns);
  assert.deepEqual(server.asked, [LIST_TURNS, SESSION_EVENTS, SUBSCRIBE_2]);
  assert.deepEqual(server.requests[2].body, {});
});

test("the sibling protocol lists the running turn's events, too: they come once", async (t) => {
  const path = "/acme/api/v1/sessions/s1";
  const listed = [
    { turn_id: "t2", event: LAST_OF_2 }, { turn_id: "t2", event: SECOND[0] },
    { turn_id: "t1", event: done() }, FIRST, { turn_id: "t1", event: created() },
  ];
  const server = await serve(t, {
    [`GET ${path}`]: json({ data: { id: "s1", agent: { type: "reference", id: "a", name: "support-bot" }, created_by: "ada", title: null } }),
    // In any order, says its documentation.
    [`GET ${path}/turns`]: page([T1, T2]),
    [`GET ${path}/events`]: page(listed),
    [`GET ${path}/turns/t2/subscribe`]: [logged(SECOND, 3), reset, logged(SECOND)],
    [`GET ${path}/turns/t2`]: json({ data: T2 }),
  });
  const client = await connect({ baseUrl: server.baseUrl, protocol: "trueforge", reconnect: RECONNECT });
  const turns = await (await client.agents.getSession("s1")).resume();
  assert.deepEqual(await heard(turns[1]), range(1, SECOND.length));
  checkTwo(turns);
  assert.deepEqual(server.requests.filter(({ path: own }) => own.endsWith("/subscribe")).map(({ query }) => query.after_sequence_number), [undefined, "3", "3"]);
});

test("a running turn that is resumed is recovered like any other", async (t) => {
  const { session } = await two(t, { [SUBSCRIBE_2]: [reset, logged(SECOND, 2), logged(SECOND, 1), refusal(503), logged(SECOND)] });
  const turns = await session.resume();
  assert.deepEqual(await heard(turns[1]), range(1, SECOND.length));
  checkTwo(turns);
});

test("a turn that ends before it is subscribed to is replayed", async (t) => {
  const { session } = await two(t, { [GET_T2]: json({ data: { ...T2, state: DONE } }) });
  const turns = await session.resume();
  await turns[1].waitForCompletion();
  checkTwo(turns);
});

test("a turn that ends before it is subscribed to, and whose stream is gone, is read from its events", async (t) => {
  const { session, server } = await two(t, {
    [SUBSCRIBE_2]: refusal(412), [GET_T2]: json({ data: { ...T2, state: DONE } }), [T2_EVENTS]: page([LAST_OF_2]),
  });
  const turns = await session.resume();
  assert.deepEqual(await heard(turns[1]), [0, 0]);
  checkTwo(turns);
  assert.deepEqual(server.asked.slice(2), [SUBSCRIBE_2, GET_T2, T2_EVENTS]);
});

test("a running turn whose stream is gone is requested again", async (t) => {
  const { session } = await two(t, { [SUBSCRIBE_2]: [refusal(412), logged(SECOND)] });
  const turns = await session.resume();
  assert.deepEqual(await heard(turns[1]), range(1, SECOND.length));
  checkTwo(turns);
});

test("where nothing runs, nothing is streamed", async (t) => {
  for (const [turns, entries, expected] of [[[], [], []], [[T1], [FIRST], [["t1", "done", "Hello"]]]]) {
    const { session, server } = await serveResumedSession(t, { [LIST_TURNS]: page(turns), [SESSION_EVENTS]: page(entries) });
    const resumed = await session.resume();
    assert.deepEqual(resumed.map((turn) => [turn.id, turn.status, textOf(turn)]), expected);
    assert.deepEqual(server.asked, [LIST_TURNS, SESSION_EVENTS]);
  }
});

test("a resumed conversation goes on: pending calls are answered, and shown as answered", async (t) => {
  const allow = { type: "user.tool_approval", thread_id: "main", tool_call_id: "c1", approval: { status: "allow" } };
  const log = [
    SECOND[0], message("m-t2"), call("c1", "restart", { args: "{}", message: "m-t2" }), finished("tool_calls", "m-t2"),
    required(["c1"], { source_event_id: "m-t2" }), done({ required_actions: [required(["c1"], { source_event_id: "m-t2" })] }),
  ];
  const { session, server } = await two(t, {
    [SUBSCRIBE_2]: logged(log), [START]: events(...eventsOf("t3", "t2", "Done.")),
  });
  const turns = await session.resume();
  await turns[1].waitForCompletion();
  assert.equal(turns[1].snapshot().required_actions.length, 1);
  assert.equal((await failure(() => session.createTurn({ input: "and now?" }))).code, "invalid_input");
  const next = session.createTurn({ input: allow });
  assert.equal((await collect(next.stream())).error, undefined);
  assert.deepEqual([next.id, next.previousTurnId, textOf(next)], ["t3", "t2", "Done."]);
  assert.equal(turns[1].snapshot().required_actions.length, 0);
  assert.equal(server.count(START), 1);
});

test("a resumed turn is already being read: a loop joins, and a second one does not", async (t) => {
  const { session, server } = await two(t);
  const [, running] = await session.resume();
  const reading = collect(running.stream());
  assert.equal((await failure(() => running.stream())).code, "turn_already_streamed");
  await running.waitForCompletion();
  assert.deepEqual(numbers((await reading).events), range(1, SECOND.length));
  assert.equal(server.count(SUBSCRIBE_2), 1);
});

/** Two tabs of a page on one session, in which one of them has started a turn. */
async function tabs(t) {
  const log = new SharedStream();
  const cancelled = done({ status: "cancelled", reason: "client-cancelled" });
  const { server, turn } = await serveResumed(t, log.reply, {
    [SUBSCRIBE]: log.reply, [LIST_TURNS]: page([record()]), [SESSION_EVENTS]: page([]),
    [CANCEL]: (exchange) => {
      log.send(cancelled);
      json({})(exchange);
    },
  });
  const open = async () => {
    const client = await connect({ baseUrl: server.baseUrl, reconnect: RECONNECT });
    return client.agents.getSession("s1");
  };
  return { log, server, turn, open };
}

const PIECES = ["one ", "two ", "three ", "four"];
const WHOLE = answer(...PIECES);

test("several tabs on one session all see the whole turn, once, also if their connections break", async (t) => {
  const { log, server, turn, open } = await tabs(t);
  const first = collect(turn.stream());
  await eventually(() => log.readers === 1);
  log.send(...WHOLE.slice(0, 2));
  const [second] = await (await open()).resume();
  const got = heard(second);
  await eventually(() => log.readers === 2);
  for (const [at, end] of Object.values(ENDS).entries()) {
    log.send(WHOLE[2 + at]);
    await eventually(() => turn.lastSequenceNumber === 3 + at && second.lastSequenceNumber === 3 + at);
    log.cut(end);
    await eventually(() => log.readers === 2);
  }
  log.send(...WHOLE.slice(5));
  const { events: streamed, error } = await first;
  assert.equal(error, undefined);
  for (const own of [numbers(streamed), await got]) assert.deepEqual(own, range(1, WHOLE.length));
  for (const tab of [turn, second]) assert.deepEqual([tab.status, textOf(tab)], ["done", PIECES.join("")]);
  assert.equal(server.count(START), 1);
});

test("cancel() in one tab is seen by the other", async (t) => {
  const { log, turn, open } = await tabs(t);
  const first = collect(turn.stream());
  await eventually(() => log.readers === 1);
  log.send(...WHOLE.slice(0, 3));
  const [second] = await (await open()).resume();
  await eventually(() => log.readers === 2);
  await second.cancel();
  assert.equal((await first).events.at(-1).state.reason, "client-cancelled");
  await second.waitForCompletion();
  for (const tab of [turn, second]) assert.deepEqual([tab.status, textOf(tab)], ["cancelled", "one "]);
});

test("closing a tab does not end the turn for others", async (t) => {
  const { log, server, turn, open } = await tabs(t);
  const first = collect(turn.stream());
  await eventually(() => log.readers === 1);
  log.send(...WHOLE.slice(0, 3));
  const controller = new AbortController();
  const [second] = await (await open()).resume({ signal: controller.signal });
  await eventually(() => log.readers === 2);
  controller.abort();
  await eventually(() => log.readers === 1);
  assert.equal(second.status, "running");
  log.send(...WHOLE.slice(3));
  assert.deepEqual(numbers((await first).events), range(1, WHOLE.length));
  assert.equal(server.count(CANCEL), 0);
});

test("an abort only ends the read: the turn runs on, and the next page has all of it", async (t) => {
  const { log, server, turn, open } = await tabs(t);
  const controller = new AbortController();
  const first = collect(turn.stream({ signal: controller.signal }));
  await eventually(() => log.readers === 1);
  log.send(...WHOLE.slice(0, 3));
  await eventually(() => turn.lastSequenceNumber === 3);
  controller.abort();
  assert.ok((await first).error instanceof AbortError);
  await eventually(() => log.readers === 0);
  log.send(...WHOLE.slice(3, 5));
  const [second] = await (await open()).resume();
  const got = heard(second);
  await eventually(() => log.readers === 1);
  log.send(...WHOLE.slice(5));
  assert.deepEqual(await got, range(1, WHOLE.length));
  assert.equal(server.count(CANCEL), 0);
});

test("a cancel stops the turn, and reads to its end", async (t) => {
  const { log, server, turn } = await tabs(t);
  const first = collect(turn.stream());
  await eventually(() => log.readers === 1);
  log.send(...WHOLE.slice(0, 3));
  await eventually(() => turn.lastSequenceNumber === 3);
  await turn.cancel();
  const { events: got, error } = await first;
  assert.equal(error, undefined);
  assert.deepEqual([numbers(got), turn.status, turn.snapshot().state.reason], [[1, 2, 3, 4], "cancelled", "client-cancelled"]);
  assert.equal(server.count(CANCEL), 1);
});

const LEAVES = {
  "by return()": async (turn, controller, iterator) => void (await iterator.return()),
  "by its signal": async (turn, controller) => controller.abort(),
};

for (const [name, leave] of Object.entries(LEAVES)) {
  test(`a loop that is left ${name} before the next try sends nothing more`, async (t) => {
    const { turn, server, told } = await serveResumed(t, events(...WHOLE.slice(0, 3)), { [SUBSCRIBE]: logged(WHOLE) }, {
      reconnect: { maxAttempts: 3, baseDelay: 30, maxDelay: 30 },
    });
    t.mock.method(Math, "random", () => 0.9);
    const controller = new AbortController();
    const iterator = turn.stream({ signal: controller.signal });
    for (let count = 0; count < 3; count += 1) await iterator.next();
    const next = iterator.next().catch((error) => error);
    await eventually(() => topics(told).includes("reconnecting"));
    await leave(turn, controller, iterator);
    await next;
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual(server.asked, [START]);
    assert.deepEqual([turn.status, turn.snapshot().reconnecting], ["running", null]);
    // It continues on demand.
    assert.deepEqual(numbers((await collect(turn.stream())).events), range(4, WHOLE.length));
  });
}

test("a loop that is left while its stream is requested aborts the request", async (t) => {
  let closed = false;
  const { turn, server } = await serveResumed(t, events(...WHOLE.slice(0, 3)), {
    [SUBSCRIBE]: ({ response }) => response.on("close", () => (closed = true)),
  });
  const iterator = turn.stream();
  for (let count = 0; count < 3; count += 1) await iterator.next();
  await eventually(() => server.count(SUBSCRIBE) === 1);
  await iterator.return();
  await eventually(() => closed);
  assert.equal(turn.status, "running");
});

test("resume() can be aborted: before, during and after its request", async (t) => {
  const before = await two(t);
  assert.ok((await failure(before.session.resume({ signal: AbortSignal.abort() }))) instanceof AbortError);
  assert.deepEqual(before.server.asked, []);
  const meanwhile = await two(t, { [SESSION_EVENTS]: silence });
  const controller = new AbortController();
  const resuming = failure(meanwhile.session.resume({ signal: controller.signal }));
  await eventually(() => meanwhile.server.count(SESSION_EVENTS) === 1);
  controller.abort();
  assert.ok((await resuming) instanceof AbortError);
  assert.equal(meanwhile.server.count(SUBSCRIBE_2), 0);
});

test("a page may resume without listening: the snapshot grows all the same", async (t) => {
  const { session } = await two(t, { [SUBSCRIBE_2]: [logged(SECOND, 3), logged(SECOND)] });
  const turns = await session.resume();
  await eventually(() => turns[1].status === "done");
  checkTwo(turns);
});
