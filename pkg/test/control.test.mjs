// Starting and stopping under faults: which turn a cancel stops, and what is known of a start that broke.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AbortError, InputError, StateError } from "../dist/index.js";
import { collect, failure, textOf, until } from "./support/collect.mjs";
import {
  body, CANCEL, deferred, events, GET_TURN, json, LIST_TURNS, LiveStream, page, refusal, reset, serveSession, serveTurn, START, SUBSCRIBE, TURN_EVENTS,
} from "./support/server.mjs";
import { answer, created, done, DONE, message, recent, record } from "./support/wire.mjs";

test("cancel() of a turn that has ended stops no other turn", async (t) => {
  const live = new LiveStream();
  const { turn, session, server } = await serveTurn(t, [events(...answer("Hi")), live.reply]);
  await collect(turn.stream());
  const next = session.createTurn({ input: "and now?" });
  const iterator = next.stream();
  await live.send(created({ turn_id: "t2", previous_turn_id: "t1" }));
  await until(iterator, "turn.created");
  await turn.cancel();
  assert.deepEqual(server.asked, [START, START]);
  assert.equal(next.status, "running");
  await live.send(done());
  await collect(iterator);
});

test("cancel() of a turn without readers asks first whether it still runs", async (t) => {
  for (const [state, asked] of [[DONE, [GET_TURN]], [{ status: "running" }, [GET_TURN, CANCEL]]]) {
    const { session, server } = await serveSession(t, {
      [GET_TURN]: [json({ data: record() }), json({ data: record(state) })], [CANCEL]: json({}),
    });
    const turn = await session.getTurn("t1");
    server.requests.length = 0;
    await turn.cancel();
    assert.deepEqual(server.asked, asked);
    assert.equal(turn.status, state.status);
  }
});

test("cancel() of a turn whose loop was left first checks, too", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply, { routes: { [GET_TURN]: json({ data: record(DONE) }) } });
  const iterator = turn.stream();
  await live.send(created(), message());
  for await (const event of iterator) if (event.type === "model.message") break;
  await turn.cancel();
  assert.deepEqual(server.asked, [START, GET_TURN]);
  assert.equal(turn.status, "done");
});

test("cancel() that waits for the start can be aborted", async (t) => {
  const asked = deferred();
  const { turn, server } = await serveTurn(t, asked.resolve);
  turn.stream();
  const controller = new AbortController();
  const cancelling = failure(turn.cancel({ signal: controller.signal }));
  await asked.promise;
  controller.abort();
  const error = await cancelling;
  assert.ok(error instanceof AbortError, String(error));
  assert.equal(turn.status, "starting");
  assert.deepEqual(server.asked, [START]);
  await assert.rejects(turn.cancel({ signal: AbortSignal.abort() }), AbortError);
});

const BROKEN_STARTS = {
  "an answer of 500": body("oops", { status: 500 }),
  "an answer of 503": refusal(503),
  "a reset": reset,
};

/** Calls a method of a turn; resolves when it has taken effect. */
async function ask(turn, method) {
  if (method !== "stream") return turn[method]();
  const { error } = await collect(turn.stream());
  if (error) throw error;
}

/** A turn whose start broke and was not recovered, on a server that lists `turns`. */
async function broken(t, reply, start, turns) {
  const next = (exchange) => {
    const isStream = exchange.request.body.stream;
    (isStream ? events(...answer("Hi")) : json({ data: record() }))(exchange);
  };
  const world = await serveTurn(t, [reply, next], {
    routes: { [LIST_TURNS]: page(turns), [SUBSCRIBE]: events(...answer("Hi")), [GET_TURN]: json({ data: record(DONE) }), [TURN_EVENTS]: page([]) },
  });
  await failure(ask(world.turn, start));
  assert.deepEqual([world.turn.status, world.turn.id], ["incomplete", null]);
  assert.match((await failure(() => world.turn.listEvents())).message, /whether the turn began is not known.*session\.listTurns\(\)/);
  assert.deepEqual(world.server.asked, [START]);
  return world;
}

for (const [name, reply] of Object.entries(BROKEN_STARTS)) {
  for (const start of ["stream", "state", "waitForCompletion"]) {
    for (const method of ["stream", "state", "waitForCompletion"]) {
      test(`after ${name} to ${start}(), ${method}() goes on with the turn if it has begun`, async (t) => {
        const { turn, server } = await broken(t, reply, start, [recent()]);
        await ask(turn, method);
        assert.deepEqual([turn.status, turn.id], ["done", "t1"]);
        assert.equal(server.count(START), 1);
        assert.deepEqual(server.requests[1].query, { limit: "25" });
      });

      test(`after ${name} to ${start}(), ${method}() starts the turn if it has not begun`, async (t) => {
        const { turn, server } = await broken(t, reply, start, []);
        await ask(turn, method);
        assert.deepEqual([turn.status, turn.id], ["done", "t1"]);
        assert.deepEqual(server.asked.slice(0, 3), [START, LIST_TURNS, START]);
        assert.equal(server.count(START), 2);
      });
    }

    test(`after ${name} to ${start}(), cancel() stops the turn if it has begun`, async (t) => {
      const { turn, server } = await serveTurn(t, reply, {
        routes: { [LIST_TURNS]: page([recent()]), [GET_TURN]: json({ data: record() }), [CANCEL]: json({}) },
      });
      await failure(ask(turn, start));
      await turn.cancel();
      assert.equal(turn.id, "t1");
      assert.deepEqual(server.asked, [START, LIST_TURNS, GET_TURN, CANCEL]);
    });

    test(`after ${name} to ${start}(), cancel() starts nothing`, async (t) => {
      const { turn, server } = await broken(t, reply, start, []);
      const error = await failure(turn.cancel());
      assert.ok(error instanceof StateError, String(error));
      assert.equal(error.code, "turn_not_started");
      assert.equal(turn.status, "unstarted");
      assert.deepEqual(server.asked, [START, LIST_TURNS]);
    });
  }
}

for (const start of ["stream", "state", "waitForCompletion"]) {
  test(`${start}() that is aborted while the token is awaited has sent nothing`, async (t) => {
    let token = "k";
    const { turn, server } = await serveTurn(t, events(...answer("Hi")), { options: { token: () => token } });
    token = new Promise(() => {});
    const error = await failure(async () => {
      const result = turn[start]({ signal: AbortSignal.timeout(20) });
      await (start === "stream" ? result.next() : result);
    });
    assert.ok(error instanceof AbortError, String(error));
    assert.equal(turn.status, "unstarted");
    assert.deepEqual(server.asked, []);
    token = "k";
    assert.equal((await collect(turn.stream())).error, undefined);
    assert.equal(textOf(turn), "Hi");
    assert.deepEqual(server.asked, [START]);
  });
}

const WRONG_CALLS = {
  "stream() with a controller for a signal": (turn) => turn.stream({ signal: new AbortController() }),
  "stream() with a misspelt name": (turn) => turn.stream({ afterSequence: 5 }),
  "stream() with a number": (turn) => turn.stream(5),
  "stream() with null": (turn) => turn.stream(null),
  "state() with a controller": (turn) => turn.state({ signal: new AbortController() }),
  "state() with a misspelt name": (turn) => turn.state({ sgnal: undefined }),
  "waitForCompletion() with a controller": (turn) => turn.waitForCompletion({ signal: new AbortController() }),
  "waitForCompletion() with a misspelt name": (turn) => turn.waitForCompletion({ timeout: 5 }),
  "cancel() with a controller": (turn) => turn.cancel({ signal: new AbortController() }),
  "cancel() with a misspelt name": (turn) => turn.cancel({ reason: "enough" }),
  "on() with a misspelt type": (turn) => turn.on("turn.donee", () => {}),
  "on() with a name that every object has": (turn) => turn.on("constructor", () => {}),
  "on() with a number for a listener": (turn) => turn.on("turn.done", 5),
  "subscribe() with nothing": (turn) => turn.subscribe(),
};

for (const [name, attempt] of Object.entries(WRONG_CALLS)) {
  test(`${name} is refused, and the turn is as before`, async (t) => {
    const { turn, server } = await serveTurn(t, events(...answer("Hi")));
    const error = await failure(async () => attempt(turn));
    assert.ok(error instanceof InputError, String(error));
    assert.equal(error.code, "invalid_option");
    assert.equal(turn.status, "unstarted");
    assert.deepEqual(server.asked, []);
    assert.equal((await collect(turn.stream())).error, undefined);
    assert.equal(textOf(turn), "Hi");
  });
}

test("requests of a client and of a session refuse wrong options", async (t) => {
  const { client: { agents }, session, server } = await serveSession(t);
  const controller = { signal: new AbortController() };
  const attempts = {
    "createSession(5)": () => agents.createSession(5),
    "createSession(\"\")": () => agents.createSession(""),
    "createSession, null": () => agents.createSession("a", null),
    "createSession, a controller": () => agents.createSession("a", controller),
    "createSession, a title of 5": () => agents.createSession("a", { title: 5 }),
    "getSession(5)": () => agents.getSession(5),
    "getSession, a controller": () => agents.getSession("a", controller),
    "listSessions, null": () => agents.listSessions("a", null).next(),
    "createDraftSession, a title": () => agents.createDraftSession({}, { title: "t" }),
    "getTurn(5)": () => session.getTurn(5),
    "getTurn()": () => session.getTurn(),
    "getTurn, a controller": () => session.getTurn("t1", controller),
    "history, a limit": () => session.history({ limit: 5 }),
    "listTurns, a controller": () => session.listTurns(controller).next(),
    "cancel, null": () => session.cancel(null),
  };
  const codes = {};
  for (const [name, attempt] of Object.entries(attempts)) {
    const error = await attempt().catch((thrown) => thrown);
    codes[name] = error instanceof InputError ? error.code : String(error);
  }
  assert.deepEqual(codes, Object.fromEntries(Object.keys(attempts).map((name) => [name, "invalid_option"])));
  assert.deepEqual(server.asked, []);
});
