// Waiting for a turn: beside its stream, which is read meanwhile; reading its state, leaving the loop, several waits
// at once; and what is read of a turn whose end was found without a stream.
import assert from "node:assert/strict";
import { test } from "node:test";
import { IncompleteError, StateError } from "../dist/index.js";
import { collect, eventually, failure, textOf, until } from "./support/collect.mjs";
import { logged, numbers, range, RECONNECT } from "./support/connection.mjs";
import {
  body, deferred, events, GET_TURN, json, LIST_TURNS, LiveStream, page, refusal, SESSION_EVENTS, serveSession, serveTurn, START, SUBSCRIBE, TURN_EVENTS,
} from "./support/server.mjs";
import {
  answer, args, call, created, done, DONE, finished, frames, message, record, required, text, toolResponse,
} from "./support/wire.mjs";

const OUTPUT = message("m1", { content: "Hello world!", finish_reason: "stop" });
const ENDED = { ...DONE, output: OUTPUT };

/** The whole turn, as it is streamed. */
const WHOLE = [created(), message(), text("Hello "), text("world!"), finished(), done(ENDED)];

/** Answers when `gate` opens, or after this many milliseconds. */
function later(gate, reply) {
  return async (exchange) => {
    await (typeof gate === "number" ? new Promise((resolve) => setTimeout(resolve, gate)) : gate);
    reply(exchange);
  };
}

test("state() that is ahead of a stream does not cut the stream", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply, { routes: { [GET_TURN]: json({ data: record(ENDED) }) } });
  const iterator = turn.stream();
  await live.send(created(), message(), text("Hello "));
  await until(iterator, "model.message.delta");
  const state = await turn.state();
  assert.equal(state.status, "done");
  await live.send(text("world"), text("!"), finished(), done(ENDED));
  const { events: rest, error } = await collect(iterator);
  assert.equal(error, undefined);
  assert.deepEqual(rest.map(({ type, content }) => content ?? type), ["world", "!", "model.message.delta", "turn.done"]);
  assert.equal(textOf(turn), "Hello world!");
  assert.equal(turn.status, "done");
  assert.equal(turn.snapshot().error, null);
  assert.deepEqual(server.asked, [START, GET_TURN]);
});

test("state() of a turn that goes on does not affect its stream", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply, { routes: { [GET_TURN]: json({ data: record() }) } });
  const iterator = turn.stream();
  await live.send(created(), message(), text("Hello "));
  await until(iterator, "model.message.delta");
  assert.deepEqual(await turn.state(), { status: "running" });
  await live.send(text("world!"), finished(), done());
  assert.equal((await collect(iterator)).events.at(-1).type, "turn.done");
  assert.equal(textOf(turn), "Hello world!");
});

test("after a loop was left, a wait continues after the last event", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply, { routes: { [SUBSCRIBE]: logged(WHOLE) } });
  const iterator = turn.stream();
  await live.send(...WHOLE.slice(0, 3));
  for await (const event of iterator) if (event.type === "model.message.delta") break;
  assert.equal(await live.closed, true);
  assert.deepEqual(await turn.waitForCompletion(), ENDED);
  const { status, error, threads } = turn.snapshot();
  assert.deepEqual([status, error, threads[0].messages.length, threads[0].messages[0].finish_reason], ["done", null, 1, "stop"]);
  assert.equal(textOf(turn), "Hello world!");
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
  assert.equal(server.requests[1].body.after_sequence_number, 3);
  // The next loop begins with the events received meanwhile.
  assert.deepEqual(numbers((await collect(turn.stream())).events), range(4, WHOLE.length));
  assert.throws(() => turn.stream(), { code: "turn_already_streamed" });
});

for (const [when, pieces] of [
  ["with all of it", [[...answer("Hi")]]],
  ["with its last chunk", [[created(), message(), text("Hi"), finished()], [done()]]],
]) {
  test(`leaving the loop at turn.done counts as its end: it comes ${when}`, async (t) => {
    const live = new LiveStream();
    const { turn, server } = await serveTurn(t, live.reply);
    const errors = [];
    turn.on("error", (error) => errors.push(error));
    const iterator = turn.stream();
    const waiting = turn.waitForCompletion();
    const send = async () => {
      for (const piece of pieces) {
        await live.send(...piece);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const sent = send();
    for await (const event of iterator) if (event.type === "turn.done") break;
    await sent;
    assert.equal((await waiting).status, "done");
    assert.equal(turn.snapshot().error, null);
    assert.equal(turn.status, "done");
    assert.deepEqual(errors, []);
    assert.deepEqual(server.asked, [START]);
  });
}

for (const [how, leave] of [
  ["by a break", async (turn, live) => {
    const iterator = turn.stream();
    await live.send(created(), message(), text("Hello "));
    for await (const event of iterator) if (event.type === "model.message.delta") break;
  }],
  ["by the stream's signal", async (turn, live) => {
    const controller = new AbortController();
    const iterator = turn.stream({ signal: controller.signal });
    await live.send(created(), message(), text("Hello "));
    await until(iterator, "model.message.delta");
    controller.abort();
    assert.equal((await collect(iterator)).error.code, "aborted");
  }],
]) {
  test(`a wait continues when the loop is left ${how}, on the same connection`, async (t) => {
    const live = new LiveStream();
    const { turn, server } = await serveTurn(t, live.reply);
    const left = leave(turn, live);
    const waiting = turn.waitForCompletion();
    await left;
    await live.send(...WHOLE.slice(3));
    assert.deepEqual(await waiting, ENDED);
    assert.equal(textOf(turn), "Hello world!");
    assert.equal(turn.snapshot().error, null);
    assert.deepEqual(server.asked, [START]);
  });
}

test("a wait that is aborted leaves the stream to other readers", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply);
  turn.subscribe(() => {});
  const controller = new AbortController();
  const impatient = failure(turn.waitForCompletion({ signal: controller.signal }));
  const patient = turn.waitForCompletion();
  await live.send(created(), message(), text("Hello "));
  controller.abort();
  assert.equal((await impatient).code, "aborted");
  await live.send(text("world!"), finished(), done());
  assert.equal((await patient).status, "done");
  assert.equal(textOf(turn), "Hello world!");
  assert.deepEqual(server.asked, [START]);
});

for (const method of ["waitForCompletion", "state"]) {
  test(`${method}() that is aborted during the start does not stop the start`, async (t) => {
    const gate = deferred();
    const start = later(gate.promise, (exchange) => (exchange.request.body.stream ? events(...WHOLE) : json({ data: record() }))(exchange));
    const { turn, server } = await serveTurn(t, start, { routes: { [SUBSCRIBE]: events(...WHOLE) } });
    const controller = new AbortController();
    const impatient = failure(turn[method]({ signal: controller.signal }));
    const patient = turn.waitForCompletion();
    controller.abort();
    assert.equal((await impatient).code, "aborted");
    gate.resolve();
    assert.deepEqual(await patient, ENDED);
    assert.equal(textOf(turn), "Hello world!");
    assert.deepEqual(server.asked, method === "state" ? [START, SUBSCRIBE] : [START]);
  });
}

const SLOW = 150;
const TOGETHER = {
  "waitForCompletion() twice": (turn) => [turn.waitForCompletion(), turn.waitForCompletion()],
  "state() twice": (turn) => [turn.state(), turn.state()],
  "stream() and state()": (turn) => [collect(turn.stream()), turn.state()],
  "a subscriber, state() and waitForCompletion()": (turn) => {
    turn.subscribe(() => {});
    return [turn.state(), turn.waitForCompletion()];
  },
  "a listener, waitForCompletion() twice, and state()": (turn) => {
    turn.on("event", () => {});
    return [turn.waitForCompletion(), turn.waitForCompletion(), turn.state()];
  },
  "waitForCompletion(), then a subscriber's": (turn) => {
    const first = turn.waitForCompletion();
    turn.subscribe(() => {});
    return [first, turn.waitForCompletion()];
  },
};

for (const [name, ask] of Object.entries(TOGETHER)) {
  test(`${name} on a new turn start it once`, async (t) => {
    const start = later(SLOW, (exchange) => {
      const wantsStream = exchange.request.body.stream;
      return (wantsStream ? events(...answer("Hello world!")) : json({ data: record() }))(exchange);
    });
    const { turn, server } = await serveTurn(t, start, {
      routes: { [GET_TURN]: json({ data: record(ENDED) }), [SUBSCRIBE]: events(...answer("Hello world!")), [TURN_EVENTS]: page([OUTPUT]) },
    });
    const results = await Promise.all(ask(turn));
    for (const result of results) assert.equal(result.error, undefined);
    assert.equal(server.asked.filter((name) => name === START).length, 1);
    assert.equal(turn.status, "done");
    assert.equal(turn.snapshot().error, null);
  });

  test(`${name} on a new turn all learn that its start is refused`, async (t) => {
    const { turn, server } = await serveTurn(t, later(SLOW, json({ error: { message: "not now" } }, 400)));
    for (const outcome of await Promise.allSettled(ask(turn))) {
      // A loop's outcome was collected.
      const error = outcome.reason ?? outcome.value.error;
      assert.equal(error?.status, 400, String(error));
    }
    assert.deepEqual(server.asked, [START]);
    assert.equal(turn.status, "unstarted");
  });
}

for (const status of [401, 403, 404]) {
  test(`a wait ends with an answer of ${status}`, async (t) => {
    const { turn, server } = await serveTurn(t, json({ data: record() }), {
      routes: { [GET_TURN]: json({ data: record() }), [SUBSCRIBE]: refusal(status) },
    });
    await turn.state();
    assert.equal((await failure(turn.waitForCompletion())).status, status);
    assert.deepEqual(server.asked, [START, GET_TURN, SUBSCRIBE]);
  });
}

test("a wait is one request, however long the turn", async (t) => {
  const pieces = Array.from({ length: 50 }, (_, at) => `${at} `);
  const { turn, server } = await serveTurn(t, events(...answer(...pieces)));
  await turn.waitForCompletion();
  assert.equal(textOf(turn), pieces.join(""));
  assert.deepEqual(server.asked, [START]);
});

test("a loop joins the read of a wait, after the event that it names; a second one does not", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply);
  const waiting = turn.waitForCompletion();
  await live.send(...WHOLE.slice(0, 4));
  await eventually(() => turn.lastSequenceNumber === 4);
  assert.equal((await failure(() => turn.stream({ afterSequenceNumber: -1 }))).code, "invalid_option");
  const iterator = turn.stream({ afterSequenceNumber: 2 });
  assert.equal((await failure(() => turn.stream())).code, "turn_already_streamed");
  assert.equal((await iterator.next()).value.sequence_number, 3);
  // The wait continues to read, and the next loop gets the events that this one did not take.
  await iterator.return();
  const next = collect(turn.stream());
  await live.send(...WHOLE.slice(4));
  assert.deepEqual(await waiting, ENDED);
  assert.deepEqual(numbers((await next).events), [4, 5, 6]);
  assert.deepEqual(server.asked, [START]);
});

test("the deadline of a loop that has joined ends the loop", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const waiting = turn.waitForCompletion();
  const iterator = turn.stream({ deadline: 30 });
  await live.send(...WHOLE.slice(0, 3));
  const { events: got, error } = await collect(iterator);
  assert.deepEqual([numbers(got), error.code], [[1, 2, 3], "timeout"]);
  await live.send(...WHOLE.slice(3));
  assert.deepEqual(await waiting, ENDED);
  assert.equal(turn.snapshot().error, null);
});

test("a loop that stays takes over the read from a wait", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const controller = new AbortController();
  const waiting = failure(turn.waitForCompletion({ signal: controller.signal }));
  const reading = collect(turn.stream());
  await live.send(...WHOLE.slice(0, 3));
  controller.abort();
  assert.equal((await waiting).code, "aborted");
  await live.send(...WHOLE.slice(3));
  assert.deepEqual(numbers((await reading).events), range(1, WHOLE.length));
});

test("a loop cannot join once listeners have had the first events, and gets an error", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const waiting = turn.waitForCompletion();
  // These take no events.
  for (const topic of ["error", "reconnecting", "resumed", "gap", "idle"]) turn.on(topic, () => {});
  await live.send(created());
  await eventually(() => turn.lastSequenceNumber === 1);
  const heard = [];
  const mute = turn.on("event", (event) => heard.push(event.sequence_number));
  await live.send(message());
  await eventually(() => heard.length === 2);
  const error = await failure(() => turn.stream());
  assert.ok(error instanceof StateError);
  assert.equal(error.code, "turn_already_streamed");
  mute();
  turn.on("event", (event) => heard.push(event.sequence_number));
  await live.send(...WHOLE.slice(2));
  await waiting;
  assert.deepEqual(heard, range(1, WHOLE.length));
});

test("events wait for a listener until one MiB of the stream has come", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const waiting = turn.waitForCompletion();
  const size = 10_000;
  const pieces = Array.from({ length: 120 }, () => text("x".repeat(size)));
  await live.send(created(), message(), ...pieces);
  await eventually(() => turn.lastSequenceNumber === 122);
  assert.equal((await failure(() => turn.stream())).code, "turn_already_streamed");
  const heard = [];
  turn.on("event", (event) => heard.push([event.sequence_number, event.id]));
  await live.send(text("y"), finished(), done());
  await waiting;
  assert.deepEqual(heard, [[123, "m1"], [124, "m1"], [125, "ev-done"]]);
  assert.equal(textOf(turn), `${"x".repeat(120 * size)}y`);
});

/** A turn that pauses for an approval of call c1, and its messages as they are listed. */
const PAUSED = { ...DONE, required_actions: [required(["c1"])] };
const MADE = { id: "c1", type: "function", function: { name: "restart", arguments: '{"service":"billing"}' }, tool_info: { type: "truefoundry-system", name: "restart" } };
const ASKED = message("m1", { tool_calls: [MADE], finish_reason: "tool_calls" });
const ACTION = { type: "tool.approval_required", thread_id: "main", tool_call_id: "c1", name: "restart", arguments: '{"service":"billing"}' };

/** The calls that wait after a turn that ended in this state. */
const calls = (state) => state.required_actions.map(({ tool_calls: [{ id }] }) => id);

/** Checks that each pending action was shown together with its call. Returns what the turn shows in the end. */
function watched(turn) {
  const shown = [];
  const look = () => shown.push(...turn.snapshot().required_actions);
  const timer = setInterval(look, 0);
  turn.subscribe(look);
  return (expected) => {
    clearInterval(timer);
    look();
    assert.ok(shown.length > 0, "it waits");
    for (const { tool_info: _, ...action } of shown) assert.deepEqual(action, expected);
    const { threads } = turn.snapshot();
    return threads.flatMap(({ messages }) => messages).some(({ tool_calls }) => tool_calls.some(({ id }) => id === expected.tool_call_id));
  };
}

const PAUSES = [created(), message(), call("c1", "restart"), args('{"service":'), args('"billing"}'), finished("tool_calls"), required(["c1"]), done(PAUSED)];

/** Ways to find a paused turn that was not streamed to its end. */
const FOUND = {
  "state() started it, and finds it over": [json({ data: record() }), { [GET_TURN]: [json({ data: record() }), json({ data: record(PAUSED) })] }, async (turn) => {
    await turn.state();
    return turn.state();
  }],
  "state() started it, and the server was done at once": [json({ data: record(PAUSED) }), { [GET_TURN]: json({ data: record(PAUSED) }) }, (turn) => turn.state()],
  "it was started by state(), and is waited for": [json({ data: record() }), { [GET_TURN]: json({ data: record() }), [SUBSCRIBE]: events(...PAUSES) }, async (turn) => {
    await turn.state();
    return turn.waitForCompletion();
  }],
  "its stream has expired": [events(...PAUSES.slice(0, 4)), { [SUBSCRIBE]: refusal(412), [GET_TURN]: json({ data: record(PAUSED) }) }, (turn) => turn.waitForCompletion()],
  "its stream has expired, and its end is waited for": [
    events(...PAUSES.slice(0, 4)), { [SUBSCRIBE]: refusal(412), [GET_TURN]: [json({ data: record() }), json({ data: record() }), json({ data: record(PAUSED) })] }, (turn) => turn.waitForCompletion(),
  ],
  "its loop was left within the call": [events(...PAUSES.slice(0, 4)), { [GET_TURN]: json({ data: record(PAUSED) }) }, async (turn) => {
    for await (const event of turn.stream({ reconnect: false })) if (event.tool_calls) break;
    return turn.state();
  }],
  "the event with its call was lost": [events(...PAUSES), { [SUBSCRIBE]: events(...PAUSES) }, async (turn) => {
    await collect(turn.stream({ signal: AbortSignal.abort() }));
    return turn.waitForCompletion();
  }],
};

for (const [name, [start, routes, wait]] of Object.entries(FOUND)) {
  test(`pending actions are shown with their calls, although ${name}`, async (t) => {
    const { turn } = await serveTurn(t, start, {
      routes: { [TURN_EVENTS]: page([ASKED, required(["c1"])]), ...routes },
      options: { reconnect: RECONNECT },
    });
    const check = watched(turn);
    assert.deepEqual(calls(await wait(turn)), ["c1"]);
    assert.equal(check(ACTION), true);
    assert.equal(turn.snapshot().error, null);
  });
}

test("pending actions are shown with their calls after a stream that began later", async (t) => {
  const { session, server } = await serveSession(t, {
    [GET_TURN]: json({ data: record() }), [SUBSCRIBE]: logged(PAUSES), [TURN_EVENTS]: page([ASKED, required(["c1"])]),
  });
  const turn = await session.getTurn("t1");
  const check = watched(turn);
  await collect(turn.stream({ afterSequenceNumber: 5 }));
  assert.equal(check(ACTION), true);
  assert.deepEqual(server.asked, [GET_TURN, SUBSCRIBE, TURN_EVENTS]);
});

test("pending actions are shown with their whole calls where the server lost a part", async (t) => {
  const lossy = frames(PAUSES.slice(0, 4)) + frames(PAUSES.slice(5), 6);
  const { turn, server } = await serveTurn(t, body(lossy, { type: "text/event-stream" }), { routes: { [TURN_EVENTS]: page([ASKED, required(["c1"])]) } });
  const check = watched(turn);
  await turn.waitForCompletion();
  assert.equal(check(ACTION), true);
  assert.deepEqual(server.asked, [START, TURN_EVENTS]);
});

test("a call that a sub-agent made in an earlier turn is shown with its pending action", async (t) => {
  const waiting = required(["c1"], { thread_id: "sub", source_event_id: "m1" });
  const earlier = { ...ASKED, thread_id: "sub" };
  const { session, server } = await serveSession(t, {
    [START]: events(created({ turn_id: "t2", previous_turn_id: "t1" }), message("m2"), finished("stop", "m2"), waiting, done({ required_actions: [waiting] })),
    "GET agents/sessions/s1/turns/t2/events": page([message("m2", { content: "", finish_reason: "stop" }), waiting]),
    [SESSION_EVENTS]: [
      page([{ turn_id: "t2", event: waiting }, { turn_id: "t1", event: message("m3", { thread_id: "sub", tool_calls: [{ ...MADE, function: { name: "other", arguments: "{}" } }] }) }], "p2"),
      page([{ turn_id: "t1", event: earlier }]),
    ],
  });
  const turn = session.createTurn({ input: "Go on" });
  const seen = [];
  turn.subscribe(() => seen.push(...turn.snapshot().required_actions));
  await turn.waitForCompletion();
  const [action, ...more] = turn.snapshot().required_actions;
  assert.deepEqual({ ...action }, { ...ACTION, thread_id: "sub", tool_info: MADE.tool_info });
  assert.deepEqual([more, seen.filter(({ name }) => name === "")], [[], []]);
  assert.deepEqual(server.requests.slice(2).map(({ query }) => query), [{ last_turn_id: "t2", limit: "100" }, { page_token: "p2", limit: "100" }]);
  // It can be answered.
  session.createTurn({ input: { type: "user.tool_approval", thread_id: "sub", tool_call_id: "c1", approval: { status: "allow" } } });
});

test("a list that cannot be read is an error, and read again by the next wait; the state is kept", async (t) => {
  const { session, server } = await serveSession(t, { [GET_TURN]: json({ data: record(PAUSED) }), [TURN_EVENTS]: [refusal(403), refusal(500), page([ASKED, required(["c1"])])] });
  const turn = await session.getTurn("t1");
  const told = turn.snapshot();
  assert.ok(told.error instanceof IncompleteError, String(told.error));
  assert.deepEqual([told.status, calls(told.state), told.required_actions], ["done", ["c1"], []]);
  const error = await failure(turn.waitForCompletion());
  assert.ok(error instanceof IncompleteError, String(error));
  assert.match(error.message, /the turn has ended.*could not be read.*listEvents\(\)/);
  assert.deepEqual([turn.status, turn.snapshot().error, turn.snapshot().required_actions], ["done", error, []]);
  assert.deepEqual(calls(await turn.waitForCompletion()), ["c1"]);
  assert.deepEqual([turn.snapshot().error, turn.snapshot().required_actions.map(({ name }) => name)], [null, ["restart"]]);
  assert.deepEqual(server.asked, [GET_TURN, TURN_EVENTS, TURN_EVENTS, TURN_EVENTS]);
});

test("a listed turn shows its answer at once, and after a wait all of it, in order", async (t) => {
  const [first, last] = [message("m1", { content: "Let me see.", finish_reason: "tool_calls" }), message("m2", { content: "Done.", finish_reason: "stop" })];
  const { session, server } = await serveSession(t, {
    [LIST_TURNS]: page([record({ ...DONE, output: last })]), [TURN_EVENTS]: [page([first], "p2"), page([toolResponse("c0", "ok"), last])],
  });
  const turns = [];
  for await (const turn of session.listTurns()) turns.push(turn);
  const [turn] = turns;
  const contents = () => turn.snapshot().threads[0].messages.map(({ content }) => content);
  assert.deepEqual(contents(), ["Done."]);
  const before = turn.snapshot();
  await turn.waitForCompletion();
  assert.deepEqual(contents(), ["Let me see.", "Done."]);
  assert.deepEqual(before.threads[0].messages.map(({ content }) => content), ["Done."]);
  assert.deepEqual(server.asked, [LIST_TURNS, TURN_EVENTS, TURN_EVENTS]);
});

test("state() that is ahead of a stream reports pending actions only when the snapshot has them", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply, { routes: { [GET_TURN]: json({ data: record(PAUSED) }) } });
  const reading = collect(turn.stream());
  await live.send(...PAUSES.slice(0, 3));
  await eventually(() => turn.lastSequenceNumber === 3);
  let state;
  const asking = turn.state().then((found) => (state = found));
  await eventually(() => server.count(GET_TURN) === 1);
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.deepEqual([state, turn.snapshot().required_actions], [undefined, []]);
  await live.send(...PAUSES.slice(3));
  assert.deepEqual(calls(await asking), ["c1"]);
  assert.deepEqual(turn.snapshot().required_actions.map(({ name }) => name), ["restart"]);
  assert.equal((await reading).error, undefined);
});
