// A turn's life: lazy until it is started, started once, waited for, cancelled.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, InputError, StateError } from "../dist/index.js";
import { collect, failure, textOf, until } from "./support/collect.mjs";
import {
  body, CANCEL, events, GET_TURN, json, LIST_TURNS, LiveStream, page, serveSession, serveTurn, SESSION_EVENTS, START, SUBSCRIBE, TURN_EVENTS,
} from "./support/server.mjs";
import { answer, call, created, done, DONE, finished, message, recent, record, required, SUBJECT, text, TIME } from "./support/wire.mjs";

test("createTurn sends nothing to the server", async (t) => {
  const { turn, server } = await serveTurn(t, events(...answer("Hi")));
  const { id, previousTurnId, createdBy, createdBySubject, createdAt, status, lastSequenceNumber } = turn;
  assert.deepEqual([id, previousTurnId, createdBy, createdBySubject, createdAt], [null, null, null, null, null]);
  assert.deepEqual([status, lastSequenceNumber], ["unstarted", 0]);
  assert.deepEqual(turn.input, [{ type: "user.message", content: "Hello" }]);
  assert.equal(turn.session.id, "s1");
  turn.snapshot();
  turn.on("event", () => {});
  turn.subscribe(() => {});
  assert.deepEqual(server.asked, []);
});

test("stream() starts the turn at once, with its input and for a stream", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply);
  const iterator = turn.stream();
  assert.equal(turn.status, "starting");
  await live.opened;
  assert.deepEqual(server.requests[0].body, { input: [{ type: "user.message", content: "Hello" }], stream: true });
  await live.send(created({ previous_turn_id: "t0" }));
  await iterator.next();
  const { id, previousTurnId, createdBy, createdBySubject, createdAt, status } = turn;
  assert.deepEqual([id, previousTurnId, createdBy, createdAt, status], ["t1", "t0", "ada@example.com", TIME, "running"]);
  assert.deepEqual(createdBySubject, SUBJECT);
  await live.send(done());
  assert.equal((await collect(iterator)).error, undefined);
  assert.equal(turn.status, "done");
});

test("the end of the iteration comes once, also if it is requested again", async (t) => {
  const { turn } = await serveTurn(t, events(...answer("Hi")));
  const iterator = turn.stream();
  await collect(iterator);
  assert.deepEqual(await iterator.next(), { done: true, value: undefined });
  assert.deepEqual(await iterator.return(), { done: true, value: undefined });
});

test("several next() at once get an event each, in order", async (t) => {
  const { turn } = await serveTurn(t, events(...answer("Hi")));
  const iterator = turn.stream();
  const results = await Promise.all(Array.from({ length: 7 }, () => iterator.next()));
  assert.deepEqual(results.map(({ done: over, value }) => (over ? "end" : value.sequence_number)), [1, 2, 3, 4, 5, "end", "end"]);
});

test("previousTurnId is sent as given", async (t) => {
  for (const previousTurnId of ["auto", "none", "t0"]) {
    const { turn, server } = await serveTurn(t, events(...answer("Hi")), { turn: { previousTurnId } });
    await collect(turn.stream());
    assert.equal(server.requests[0].body.previous_turn_id, previousTurnId);
  }
});

test("a turn without input is sent without the field", async (t) => {
  for (const input of [undefined, null, []]) {
    const { turn, server } = await serveTurn(t, events(...answer("Hi")), { turn: { input } });
    await collect(turn.stream());
    assert.deepEqual(server.requests[0].body, { stream: true });
  }
});

test("a second stream() throws while the first is read, and after it", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply);
  const iterator = turn.stream();
  for (const status of ["starting", "running"]) {
    if (status === "running") {
      await live.send(created());
      await iterator.next();
    }
    const error = await failure(() => turn.stream());
    assert.ok(error instanceof StateError);
    assert.equal(error.code, "turn_already_streamed");
  }
  await live.send(done());
  await collect(iterator);
  assert.equal((await failure(() => turn.stream())).code, "turn_already_streamed");
  assert.deepEqual(server.asked, [START]);
});

test("a turn that was found finished is listed, not streamed", async (t) => {
  const listed = message("m1", { content: "Hi", finish_reason: "stop" });
  const { session, server } = await serveSession(t, {
    [GET_TURN]: json({ data: record(DONE) }),
    [TURN_EVENTS]: page([listed]),
  });
  const turn = await session.getTurn("t1");
  assert.equal(turn.status, "done");
  assert.deepEqual(turn.snapshot().state, DONE);
  assert.equal((await failure(() => turn.stream())).code, "turn_not_running");
  assert.deepEqual((await collect(turn.listEvents({ order: "desc", limit: 5 }))).events, [listed]);
  assert.deepEqual(server.requests.at(-1).query, { order: "desc", limit: "5" });
  assert.deepEqual(await turn.waitForCompletion(), DONE);
});

for (const method of ["listEvents", "cancel"]) {
  test(`${method}() needs a started turn`, async (t) => {
    const { turn, server } = await serveTurn(t, events(...answer("Hi")));
    const error = await failure(async () => {
      const result = turn[method]();
      await (method === "cancel" ? result : result.next());
    });
    assert.ok(error instanceof StateError);
    assert.equal(error.code, "turn_not_started");
    assert.match(error.message, new RegExp(method));
    assert.deepEqual(server.asked, []);
    assert.equal(turn.status, "unstarted");
  });
}

test("state() starts the turn without a stream", async (t) => {
  const { turn, server } = await serveTurn(t, json({ data: record() }), {
    routes: { [GET_TURN]: [json({ data: record() }), json({ data: record(DONE) })], [TURN_EVENTS]: page([message("m1", { content: "Hi", finish_reason: "stop" })]) },
  });
  assert.deepEqual(await turn.state(), { status: "running" });
  assert.equal(server.requests[0].body.stream, false);
  assert.deepEqual([turn.id, turn.status, turn.createdAt], ["t1", "running", TIME]);
  assert.deepEqual(await turn.state(), DONE);
  assert.deepEqual([turn.status, textOf(turn)], ["done", "Hi"]);
  assert.deepEqual(server.asked, [START, GET_TURN, GET_TURN, TURN_EVENTS]);
});

test("a turn that state() started can be streamed", async (t) => {
  const { turn, server } = await serveTurn(t, json({ data: record() }), {
    routes: { [GET_TURN]: json({ data: record() }), [SUBSCRIBE]: events(...answer("Hi")) },
  });
  await turn.state();
  assert.equal((await collect(turn.stream())).events.length, 5);
  assert.deepEqual(server.asked, [START, GET_TURN, SUBSCRIBE]);
});

for (const [who, listen] of [
  ["the snapshot alone", () => {}],
  ["a listener", (turn) => turn.on("model.message.delta", () => {})],
  ["a subscriber", (turn) => turn.subscribe(() => {})],
]) {
  test(`waitForCompletion() streams for ${who}`, async (t) => {
    const { turn, server } = await serveTurn(t, events(...answer("Hi")));
    listen(turn);
    assert.equal((await turn.waitForCompletion()).status, "done");
    assert.deepEqual([server.asked, server.requests[0].body.stream], [[START], true]);
    assert.equal(textOf(turn), "Hi");
  });
}

test("waitForCompletion() waits for the stream that is being read", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply);
  const iterator = turn.stream();
  const waiting = Promise.all([turn.waitForCompletion(), turn.waitForCompletion()]);
  await live.send(...answer("Hi"));
  const [first, second] = await waiting;
  assert.equal(first.status, "done");
  assert.equal(second, first);
  assert.equal((await collect(iterator)).events.length, 5);
  assert.deepEqual(server.asked, [START]);
});

const ENDS = {
  done: { status: "done" },
  cancelled: { status: "cancelled", reason: "client-cancelled", completed_at: TIME },
  error: { status: "error", message: "model is gone", completed_at: TIME },
};

for (const [status, state] of Object.entries(ENDS)) {
  test(`a turn may end as ${status}: that is no failure of the stream`, async (t) => {
    const end = done();
    end.state = status === "done" ? end.state : state;
    const { turn } = await serveTurn(t, events(created(), message(), text("Hi"), end));
    const { error } = await collect(turn.stream());
    assert.equal(error, undefined);
    assert.equal(turn.status, status);
    assert.deepEqual(await turn.waitForCompletion(), end.state);
    assert.deepEqual(turn.snapshot().state, end.state);
    const { error: failed } = turn.snapshot();
    assert.deepEqual(failed && [failed.name, failed.code, failed.message, failed.body], status === "error" ? ["TurnFailedError", "turn_failed", state.message, end.state] : null);
  });
}

test("cancel() asks the server and keeps reading", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply, { routes: { [CANCEL]: json({}) } });
  const iterator = turn.stream();
  await live.send(created(), message(), text("Hi"));
  await until(iterator, "model.message.delta");
  await turn.cancel();
  await turn.cancel();
  assert.deepEqual(server.asked, [START, CANCEL, CANCEL]);
  assert.equal(turn.status, "running");
  const end = done();
  end.state = ENDS.cancelled;
  await live.send(text(" there"), end);
  const { events: got } = await collect(iterator);
  assert.deepEqual(got.map((event) => event.type), ["model.message.delta", "turn.done"]);
  assert.equal(turn.status, "cancelled");
  await turn.cancel();
});

test("cancel() while the turn is being started waits until there is something to cancel", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply, { routes: { [CANCEL]: json({}) } });
  const iterator = turn.stream();
  const cancelled = turn.cancel();
  await live.opened;
  assert.deepEqual(server.asked, [START]);
  await live.send(created());
  await cancelled;
  assert.deepEqual(server.asked, [START, CANCEL]);
  const end = done();
  end.state = ENDS.cancelled;
  await live.send(end);
  await collect(iterator);
  assert.equal(turn.status, "cancelled");
});

test("cancel() while a start is refused has nothing to cancel", async (t) => {
  const { turn, server } = await serveTurn(t, json({ error: "no" }, 400));
  const { error } = await Promise.all([collect(turn.stream()), failure(turn.cancel())]).then(([, error]) => ({ error }));
  assert.equal(error.code, "turn_not_started");
  assert.deepEqual(server.asked, [START]);
});

test("a cancelled session takes no more turns; a refused cancel changes nothing", async (t) => {
  const { session } = await serveSession(t, { [CANCEL]: [body("", { status: 424 }), json({})] });
  assert.ok((await failure(session.cancel())) instanceof ApiError);
  session.createTurn({ input: "Hello" });
  await session.cancel();
  const error = await failure(() => session.createTurn({ input: "Hello" }));
  assert.ok(error instanceof StateError);
  assert.equal(error.code, "session_cancelled");
});

for (const status of [400, 404, 412, 422, 429]) {
  test(`a start that was refused with ${status} can be tried again`, async (t) => {
    const refusal = json({ error: { message: "not now" } }, status);
    const { turn, server } = await serveTurn(t, [refusal, refusal, events(...answer("Hi"))]);
    assert.equal((await collect(turn.stream())).error.status, status);
    assert.deepEqual([turn.status, turn.id], ["unstarted", null]);
    assert.equal((await failure(turn.state())).status, status);
    assert.equal((await collect(turn.stream())).error, undefined);
    assert.equal(textOf(turn), "Hi");
    assert.deepEqual(server.requests.map((request) => request.body.stream), [true, false, true]);
  });
}

for (const status of [500, 502, 504]) {
  test(`a start that failed with ${status} may have begun, and is looked for`, async (t) => {
    const { turn, server } = await serveTurn(t, body("", { status }), {
      routes: { [LIST_TURNS]: page([recent()]), [SUBSCRIBE]: events(...answer("Hi")) },
    });
    assert.equal((await collect(turn.stream())).error.status, status);
    assert.deepEqual([turn.status, turn.id], ["incomplete", null]);
    assert.equal((await collect(turn.stream())).error, undefined);
    assert.deepEqual([turn.status, turn.id, textOf(turn)], ["done", "t1", "Hi"]);
    assert.deepEqual(server.asked, [START, LIST_TURNS, SUBSCRIBE]);
  });
}

test("pending calls are checked before anything is sent", async (t) => {
  const pause = [
    created(), message(), call("c1", "restart"), finished("tool_calls"), required(["c1"]),
    done({ required_actions: [required(["c1"])] }),
  ];
  const { turn, session, server } = await serveTurn(t, [events(...pause), events(...answer("Done"))]);
  await collect(turn.stream());
  const allow = { type: "user.tool_approval", thread_id: "main", tool_call_id: "c1", approval: { status: "allow" } };
  const wrong = {
    "nothing": undefined,
    "a message": "and now?",
    "another call": { ...allow, tool_call_id: "c2" },
    "another thread": { ...allow, thread_id: "elsewhere" },
    "a result": { type: "user.tool_response", thread_id: "main", tool_call_id: "c1", content: "x" },
    "an answer twice": [allow, allow],
  };
  for (const [name, input] of Object.entries(wrong)) {
    const error = await failure(() => session.createTurn({ input }));
    assert.ok(error instanceof InputError, name);
    assert.equal(error.code, "invalid_input", name);
  }
  assert.match((await failure(() => session.createTurn())).message, /missing: c1/);
  assert.deepEqual(server.asked, [START]);
  // A branch has its own pending calls.
  session.createTurn({ input: "start over", previousTurnId: "none" });
  const { error } = await collect(session.createTurn({ input: allow }).stream());
  assert.equal(error, undefined);
  assert.deepEqual(server.requests[1].body.input, [allow]);
  // Answered: the next message is allowed again.
  session.createTurn({ input: "thanks" });
});

test("a refused start leaves pending what was pending", async (t) => {
  const pause = [created(), message(), call("c1", "restart"), finished("tool_calls"), required(["c1"]), done()];
  const { turn, session } = await serveTurn(t, [events(...pause), json({ error: "no" }, 400)]);
  await collect(turn.stream());
  const input = { type: "user.tool_approval", thread_id: "main", tool_call_id: "c1", approval: { status: "deny", reason: "no" } };
  assert.equal((await collect(session.createTurn({ input }).stream())).error.status, 400);
  assert.equal((await failure(() => session.createTurn({ input: "Hello" }))).code, "invalid_input");
});

test("after a reload, pending calls are known from the list of turns", async (t) => {
  const paused = record({ ...DONE, required_actions: [required(["c1"])] });
  const older = record(DONE, { id: "t0" });
  const call = { id: "c1", type: "function", function: { name: "restart", arguments: "{}" } };
  const asked = message("m1", { tool_calls: [call], finish_reason: "tool_calls" });
  const { session } = await serveSession(t, { "GET agents/sessions/s1/turns": page([paused, older]), [SESSION_EVENTS]: page([{ turn_id: "t1", event: asked }]) });
  await session.history();
  assert.equal((await failure(() => session.createTurn({ input: "Hello" }))).code, "invalid_input");
});
