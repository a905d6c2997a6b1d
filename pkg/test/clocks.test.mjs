// Time limits of an answer, of a silence, and of a whole call. The turn itself continues.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, ConnectionError, InputError } from "../dist/index.js";
import { collect, eventually, failure, textOf } from "./support/collect.mjs";
import { brokenOff, GRAIN, logged, numbers, range, serveResumed, serveResumedSession, topics } from "./support/connection.mjs";
import {
  CANCEL, events, GET_TURN, json, LIST_TURNS, LiveStream, page, refusal, reset, SESSION_EVENTS, silence, START, SUBSCRIBE, TURN_EVENTS,
} from "./support/server.mjs";
import { answer, created, DONE, frames, recent, record } from "./support/wire.mjs";

const WHOLE = answer("Hel", "lo");
/** A limit where no answer comes. */
const SHORT = 60;
/** The limit where other answers must come in time, on a busy machine. */
const MEDIUM = 300;
const LONG = 4000;

/** The error of a call that exceeds a time limit. Checks that this limit ended it, and not before its time. */
async function timedOut(call, name, time = SHORT) {
  const began = performance.now();
  const error = await Promise.race([failure(call), new Promise((resolve) => setTimeout(resolve, LONG, "it goes on").unref())]);
  checkTimeout(error, name);
  assert.ok(performance.now() - began >= Math.max(time - GRAIN, time / 2), `after ${performance.now() - began} ms`);
  return error;
}

function checkTimeout(error, name) {
  assert.ok(error instanceof ConnectionError, String(error));
  assert.equal(error.code, "timeout");
  assert.match(error.message, new RegExp(name));
}

/** Answers with the head, a part of the body, and nothing more. */
const stuck = ({ response }) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"data":');
};

/** Answers with a body that never ends, a space at a time. */
const endless = ({ response }) => {
  response.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => response.write(" "), 5);
  response.on("close", () => clearInterval(timer));
};

const SLOW = { connectTimeout: [silence, /connectTimeout/], idleTimeout: [stuck, /idleTimeout/], deadline: [endless, /deadline/] };

/** The requests that return JSON, and what they ask for. */
const REQUESTS = {
  "client.agents.getSession": ["GET agents/sessions/s2", ({ client }, options) => client.agents.getSession("s2", options)],
  "client.agents.createSession": ["POST agents/sessions", ({ client }, options) => client.agents.createSession("a", options)],
  "client.agents.listSessions": ["GET agents/sessions", ({ client }, options) => client.agents.listSessions("a", options).next()],
  "client.agents.downloadSandboxFile": [
    "GET agents/sandbox/b/file", ({ client }, options) => client.agents.downloadSandboxFile("b", "/f", options),
  ],
  "session.getTurn": [GET_TURN, ({ session }, options) => session.getTurn("t1", options)],
  "session.listTurns": [LIST_TURNS, ({ session }, options) => session.listTurns(options).next()],
  "session.listEvents": [SESSION_EVENTS, ({ session }, options) => session.listEvents(options).next()],
  "session.history": [LIST_TURNS, ({ session }, options) => session.history(options)],
  "session.resume": [LIST_TURNS, ({ session }, options) => session.resume(options)],
  "session.cancel": [CANCEL, ({ session }, options) => session.cancel(options)],
  "session.refresh": ["GET agents/sessions/s1", ({ session }, options) => session.refresh(options)],
};

for (const [name, [path, call]] of Object.entries(REQUESTS)) {
  for (const [clock, [reply, message]] of Object.entries(SLOW)) {
    test(`${name}({ ${clock} })`, async (t) => {
      const world = await serveResumedSession(t, { [path]: path === "GET agents/sessions/s1" ? [json({ data: { id: "s1" } }), reply] : reply });
      await timedOut(() => call(world, { [clock]: SHORT }), message);
      assert.deepEqual(world.server.asked.filter((asked) => asked !== path), []);
    });
  }
}

for (const [clock, [reply, message]] of Object.entries(SLOW)) {
  if (clock === "deadline") continue;
  test(`connect({ ${clock} }) is for every request, and one call's own wins`, async (t) => {
    const { session } = await serveResumedSession(t, { [GET_TURN]: reply, [LIST_TURNS]: reply }, { [clock]: MEDIUM });
    await timedOut(session.getTurn("t1"), message, MEDIUM);
    await timedOut(session.listTurns({ [clock]: 2 * MEDIUM }).next(), message, 2 * MEDIUM);
  });

  test(`${clock}: 0 switches the client's clock off`, async (t) => {
    const late = (exchange) => {
      if (clock === "connectTimeout") return void setTimeout(json({ data: record() }), 2 * MEDIUM, exchange);
      const whole = JSON.stringify({ data: record() });
      exchange.response.writeHead(200, { "content-type": "application/json" });
      exchange.response.write(whole.slice(0, 9));
      setTimeout(() => exchange.response.end(whole.slice(9)), 2 * MEDIUM);
    };
    const { session } = await serveResumedSession(t, { [GET_TURN]: late }, { [clock]: MEDIUM });
    assert.equal((await session.getTurn("t1", { [clock]: 0 })).id, "t1");
    const off = await serveResumedSession(t, { [GET_TURN]: late }, { [clock]: 0 });
    assert.equal((await off.session.getTurn("t1")).id, "t1");
    await timedOut(off.session.getTurn("t1", { [clock]: SHORT }), message);
  });
}

/** Answers after a while. */
const later = (reply) => (exchange) => setTimeout(reply, SHORT, exchange);
const PAGES = [1, 2, 3, 4, 5, 6].map((number) => later(page([record(DONE, { id: `t${number}`, previous_turn_id: `t${number + 1}` })], number < 6 ? `p${number}` : undefined)));

for (const [name, call] of Object.entries({
  "history()": (session, options) => session.history(options),
  "resume()": (session, options) => session.resume(options),
  "a list": async (session, options) => {
    for await (const _ of session.listTurns(options));
  },
})) {
  test(`the deadline of ${name} is for all its pages together`, async (t) => {
    const { session, server } = await serveResumedSession(t, { [LIST_TURNS]: PAGES, [SESSION_EVENTS]: page([]) });
    await timedOut(() => call(session, { deadline: 2.5 * SHORT }), /deadline/, 2.5 * SHORT);
    assert.ok(server.count(LIST_TURNS) < PAGES.length, String(server.asked));
  });
}

test("the deadline of a stream ends the reading, not the turn", async (t) => {
  const live = new LiveStream();
  const { turn, server, told } = await serveResumed(t, live.reply, { [SUBSCRIBE]: logged(WHOLE) });
  const reading = collect(turn.stream({ deadline: 2 * MEDIUM }));
  await live.send(...WHOLE.slice(0, 3));
  const { events: got, error } = await reading;
  checkTimeout(error, /deadline/);
  assert.equal(await live.closed, true);
  assert.deepEqual([turn.status, turn.snapshot().error, topics(told)], ["running", error, ["error"]]);
  const { events: rest } = await collect(turn.stream());
  assert.deepEqual(numbers([...got, ...rest]), range(1, WHOLE.length));
  assert.deepEqual([textOf(turn), server.asked], ["Hello", [START, SUBSCRIBE]]);
});

const AWAY = { reconnect: { maxAttempts: 3, baseDelay: 100_000, maxDelay: 100_000 } };

for (const [name, start, routes, asked] of [
  ["a wait for the next try", events(...WHOLE.slice(0, 3)), {}, [START]],
  ["a wait for the look for a lost start", reset, {}, [START]],
  ["a start", silence, {}, [START]],
]) {
  test(`the deadline of a stream ends ${name}, too`, async (t) => {
    t.mock.method(Math, "random", () => 0.9);
    const { turn, server } = await serveResumed(t, start, routes, AWAY);
    await timedOut(async () => {
      const { error } = await collect(turn.stream({ deadline: MEDIUM }));
      throw error;
    }, /deadline/, MEDIUM);
    assert.deepEqual([server.asked, turn.snapshot().reconnecting], [asked, null]);
  });
}

test("the deadline of a stream ends a read of the record, which is then read again", async (t) => {
  const { turn, server } = await serveResumed(t, reset, { [LIST_TURNS]: [silence, page([recent()])], [SUBSCRIBE]: logged(WHOLE) });
  checkTimeout((await collect(turn.stream({ deadline: MEDIUM }))).error, /deadline/);
  assert.deepEqual([turn.status, turn.id], ["incomplete", null]);
  assert.equal((await collect(turn.stream())).events.length, WHOLE.length);
  assert.equal(server.count(START), 1);
});

const WAITS = {
  "reading": [brokenOff(frames(WHOLE.slice(0, 2)), () => {}), {}],
  "asking how the turn stands": [events(created()), { [SUBSCRIBE]: refusal(412), [GET_TURN]: json({ data: recent() }) }],
  "waiting for an answer to that": [events(created()), { [SUBSCRIBE]: refusal(412), [GET_TURN]: silence }],
  "waiting for the list of events": [events(created()), { [SUBSCRIBE]: refusal(412), [GET_TURN]: json({ data: recent(DONE) }), [TURN_EVENTS]: silence }],
  "waiting for the start": [silence, {}],
};

for (const [name, [start, routes]] of Object.entries(WAITS)) {
  test(`the deadline of waitForCompletion() while ${name}`, async (t) => {
    const { session } = await serveResumed(t, start, routes);
    await timedOut(session.createTurn({ input: "Hello" }).waitForCompletion({ deadline: 6 * SHORT }), /deadline/, 6 * SHORT);
  });
}

test("the deadline of waitForCompletion() leaves the stream to other readers", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveResumed(t, live.reply);
  const heard = [];
  turn.on("event", (event) => heard.push(event.sequence_number));
  await timedOut(turn.waitForCompletion({ deadline: SHORT }), /deadline/);
  await live.send(...WHOLE);
  await eventually(() => turn.status === "done");
  assert.deepEqual(heard, range(1, WHOLE.length));
  assert.deepEqual([turn.snapshot().error, server.asked], [null, [START]]);
});

for (const [name, options, message] of [
  ["state({ deadline })", { deadline: SHORT }, /deadline/],
  ["state({ connectTimeout })", { connectTimeout: SHORT }, /connectTimeout/],
  ["waitForCompletion({ connectTimeout })", { connectTimeout: SHORT }, /connectTimeout/],
]) {
  test(`${name} is for the start that it makes, too`, async (t) => {
    const { session } = await serveResumed(t, silence, { [LIST_TURNS]: page([]) }, { reconnect: false });
    const turn = session.createTurn({ input: "Hello" });
    await timedOut(turn[name.split("(")[0]](options), message);
  });
}

test("cancel({ deadline }) is for the start that it waits for, too", async (t) => {
  const { turn } = await serveResumed(t, silence);
  turn.stream();
  await timedOut(turn.cancel({ deadline: SHORT }), /deadline/);
  assert.equal(turn.status, "starting");
});

for (const [name, options, how] of [
  ["a client's connectTimeout", { connectTimeout: MEDIUM }, undefined],
  ["a call's connectTimeout", {}, { connectTimeout: MEDIUM }],
]) {
  test(`a stream whose answer does not come is requested again: ${name}`, async (t) => {
    const { turn, server, told } = await serveResumed(t, events(...WHOLE.slice(0, 3)), { [SUBSCRIBE]: [silence, logged(WHOLE)] }, options);
    assert.equal((await collect(turn.stream(how))).error, undefined);
    assert.equal(textOf(turn), "Hello");
    checkTimeout(told[1][1].cause, /connectTimeout/);
    assert.equal(server.count(START), 1);
  });
}

test("a call's idleTimeout is for its stream", async (t) => {
  const live = new LiveStream();
  const { turn, told } = await serveResumed(t, live.reply, { [SUBSCRIBE]: logged(WHOLE) });
  const reading = collect(turn.stream({ idleTimeout: MEDIUM }));
  await live.send(created());
  assert.equal((await reading).error, undefined);
  assert.deepEqual(topics(told), ["idle", "reconnecting", "resumed"]);
});

test("a token function that does not come in time is called again while the turn runs", async (t) => {
  let count = 0;
  const token = () => ((count += 1) === 4 ? new Promise(() => {}) : "k");
  const { turn, server } = await serveResumed(t, events(...WHOLE.slice(0, 3)), { [SUBSCRIBE]: logged(WHOLE) }, { token, connectTimeout: MEDIUM });
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.deepEqual([textOf(turn), server.count(START)], ["Hello", 1]);
});

test("the error of a time limit names the request, or the token function for which nothing was sent", async (t) => {
  const { session, server } = await serveResumedSession(t, { [GET_TURN]: silence, [LIST_TURNS]: stuck });
  const named = (path) => `${server.baseUrl}/v1/${path}: `;
  const late = await failure(session.getTurn("t1", { connectTimeout: SHORT }));
  assert.equal(late.message, `GET ${named("agents/sessions/s1/turns/t1")}no answer within ${SHORT} ms (\`connectTimeout\`)`);
  const still = await failure(session.listTurns({ idleTimeout: SHORT }).next());
  assert.equal(still.message, `GET ${named("agents/sessions/s1/turns")}nothing came for ${SHORT} ms (\`idleTimeout\`)`);
  const client = await connect({ baseUrl: server.baseUrl, connectTimeout: SHORT, token: () => new Promise(() => {}) });
  server.requests.length = 0;
  const unsent = await failure(client.agents.getSession("s1"));
  assert.equal(unsent.message, `the \`token\` function: no answer within ${SHORT} ms (\`connectTimeout\`)`);
  assert.deepEqual(server.asked, []);
});

const NO_TIMES = [-1, 1.5, NaN, Infinity, 2 ** 31, "5", true, {}];
const NO_RECONNECTS = [true, 5, "yes", { maxAttempts: -1 }, { baseDelay: 1.5 }, { maxDelay: "5" }, { attempts: 3 }];

test("connect refuses clocks that are no milliseconds, and a wrong `reconnect`", async () => {
  const refused = (options) => failure(connect({ baseUrl: "http://localhost/acme", ...options }));
  for (const value of NO_TIMES) {
    for (const clock of ["connectTimeout", "idleTimeout"]) assert.equal((await refused({ [clock]: value })).code, "invalid_option", `${clock} ${value}`);
  }
  for (const reconnect of NO_RECONNECTS) assert.equal((await refused({ reconnect })).code, "invalid_option", JSON.stringify(reconnect));
  // A client has no deadline.
  assert.equal((await refused({ deadline: 1000 })).code, "invalid_option");
});

/** The calls with time limits; those with `true` also accept `reconnect`. */
const TAKERS = {
  "turn.stream": [({ turn }, options) => turn.stream(options), true],
  "turn.waitForCompletion": [({ turn }, options) => turn.waitForCompletion(options), true],
  "session.resume": [({ session }, options) => session.resume(options), true],
  "turn.state": [({ turn }, options) => turn.state(options)],
  "turn.cancel": [({ turn }, options) => turn.cancel(options)],
  ...Object.fromEntries(Object.entries(REQUESTS).map(([name, [, call]]) => [name, [call]])),
};

for (const [name, [call, takesReconnect]] of Object.entries(TAKERS)) {
  test(`${name} refuses clocks that are no milliseconds${takesReconnect ? ", and a wrong `reconnect`" : ""}, before it does anything`, async (t) => {
    const { turn, session, client, server } = await serveResumed(t, json({ data: record(DONE) }), { [LIST_TURNS]: page([]), [SESSION_EVENTS]: page([]), [TURN_EVENTS]: page([]) });
    const { signal } = new AbortController();
    let listeners = 0;
    signal.addEventListener = () => (listeners += 1);
    signal.removeEventListener = () => (listeners -= 1);
    const wrong = ["connectTimeout", "idleTimeout", "deadline"].flatMap((clock) => NO_TIMES.map((value) => ({ [clock]: value })));
    if (takesReconnect) wrong.push(...NO_RECONNECTS.map((reconnect) => ({ reconnect, deadline: 1000 })));
    for (const options of wrong) {
      const error = await failure(async () => call({ turn, session, client }, { signal, ...options }));
      assert.ok(error instanceof InputError, `${JSON.stringify(options)}: ${error}`);
      assert.equal(error.code, "invalid_option");
    }
    assert.deepEqual([server.asked, turn.status, listeners], [[], "unstarted", 0]);
  });
}
