// A turn's notices of its connection: listeners are optional, and cannot break anything.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError, IncompleteError } from "../dist/index.js";
import { collect, eventually, reported, textOf, until } from "./support/collect.mjs";
import { GRAIN, logged, numbered, numbers, range, RECONNECT, serveResumed, topics } from "./support/connection.mjs";
import { events, GET_TURN, LIST_TURNS, LiveStream, page, refusal, reset, START, stream, SUBSCRIBE, TURN_EVENTS } from "./support/server.mjs";
import { answer, recent } from "./support/wire.mjs";

const WHOLE = answer("Hel", "lo, ", "world");
const BEGUN = events(...WHOLE.slice(0, 3));

/** Replaces random numbers. */
function fixedRandom(t, value) {
  t.mock.method(Math, "random", () => value);
}

test("an uncut turn has no notices", async (t) => {
  const { turn, told } = await serveResumed(t, events(...WHOLE));
  await collect(turn.stream());
  assert.deepEqual(told, []);
  assert.equal(turn.snapshot().reconnecting, null);
});

test("each try is reported before it is made, with its number, its wait and the failure; then the recovery is", async (t) => {
  const { turn, told } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: [reset, refusal(503), logged(WHOLE)] });
  await collect(turn.stream());
  assert.deepEqual(topics(told), ["reconnecting", "reconnecting", "reconnecting", "resumed"]);
  const values = told.map(([, value]) => value);
  assert.deepEqual(values.slice(0, 3).map((value) => Object.keys(value).sort()), Array(3).fill(["attempt", "cause", "delay"]));
  assert.deepEqual(values.slice(0, 3).map(({ attempt }) => attempt), [1, 2, 3]);
  for (const { delay } of values.slice(0, 3)) assert.ok(Number.isInteger(delay) && delay >= 0 && delay <= RECONNECT.maxDelay, String(delay));
  const [first, second, third] = values.map(({ cause }) => cause);
  assert.ok(first instanceof IncompleteError, String(first));
  assert.match(first.message, /turn\.done/);
  assert.ok(second instanceof ConnectionError && second.cause instanceof Error, String(second));
  assert.equal(third.status, 503);
  assert.deepEqual(values[3], { after: 3 });
});

test("notices stand between the events that they are about", async (t) => {
  const { turn } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: [logged(WHOLE, 2), logged(WHOLE)] });
  const log = [];
  turn.on("event", ({ sequence_number }) => log.push(sequence_number));
  for (const topic of ["reconnecting", "resumed"]) turn.on(topic, () => log.push(topic));
  await collect(turn.stream());
  assert.deepEqual(log, [1, 2, 3, "reconnecting", "resumed", 4, 5, "reconnecting", "resumed", 6, 7]);
});

for (const [random, expected] of [[0, [0, 0, 0, 0, 0]], [0.5, [4, 8, 16, 25, 25]], [0.999, [7, 15, 31, 49, 49]]]) {
  test(`the wait doubles up to maxDelay, with full jitter: the random number is ${random}`, async (t) => {
    fixedRandom(t, random);
    const { turn, told } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: reset, [GET_TURN]: reset }, {
      reconnect: { maxAttempts: 5, baseDelay: 8, maxDelay: 50 },
    });
    await collect(turn.stream());
    const delays = told.filter(([topic]) => topic === "reconnecting").map(([, { delay }]) => delay);
    assert.deepEqual(delays, expected);
  });
}

test("the wait is as long as reported", async (t) => {
  fixedRandom(t, 0.9);
  const { turn, server, told } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: logged(WHOLE) }, {
    reconnect: { maxAttempts: 1, baseDelay: 500, maxDelay: 1000 },
  });
  const at = [];
  turn.on("reconnecting", () => at.push(performance.now()));
  await collect(turn.stream());
  assert.equal(told[0][1].delay, 450);
  assert.ok(server.requests[1].at - at[0] >= 450 - GRAIN, String(server.requests[1].at - at[0]));
});

for (const [name, silent] of [
  ["for a new try", [stream("retry: 400\n\n"), logged(WHOLE)]],
  ["for every try", [stream("retry: 400\n\n"), stream(": nothing yet\n\n"), logged(WHOLE)]],
]) {
  test(`the stream's own wait (\`retry:\`) is obeyed ${name}`, async (t) => {
    const { turn, server } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: silent });
    assert.equal((await collect(turn.stream())).error, undefined);
    const asked = server.requests.filter(({ path }) => path.endsWith("/subscribe")).map(({ at }) => at);
    for (let at = 1; at < asked.length; at += 1) {
      assert.ok(asked[at] - asked[at - 1] >= 400 - GRAIN, `asked again after ${asked[at] - asked[at - 1]} ms`);
    }
  });
}

test("a silence is reported before the try that it leads to", async (t) => {
  const live = new LiveStream();
  const { turn, told } = await serveResumed(t, live.reply, { [SUBSCRIBE]: logged(WHOLE) }, { idleTimeout: 250 });
  const reading = collect(turn.stream());
  await live.send(...WHOLE.slice(0, 3));
  assert.equal((await reading).error, undefined);
  assert.deepEqual(topics(told), ["idle", "reconnecting", "resumed"]);
  const [[, idle], [, { cause }]] = told;
  assert.deepEqual(Object.keys(idle), ["silence"]);
  assert.ok(idle.silence >= 250, String(idle.silence));
  assert.ok(cause instanceof ConnectionError, String(cause));
  assert.equal(cause.code, "timeout");
  assert.match(cause.message, /idleTimeout/);
});

test("a gap is reported with the numbers on both its sides, before what comes after it", async (t) => {
  const { turn } = await serveResumed(t, BEGUN, {
    [SUBSCRIBE]: stream(numbered(WHOLE.slice(5), [6, 7])), [TURN_EVENTS]: page([]),
  });
  const log = [];
  turn.on("event", ({ sequence_number }) => log.push(sequence_number));
  turn.on("gap", (gap) => log.push(gap));
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.deepEqual(log, [1, 2, 3, { after: 3, next: 6 }, 6, 7]);
});

test("the snapshot shows that the connection is lost, and that it is back", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: [reset, live.reply] });
  const shown = [];
  turn.on("reconnecting", (value) => shown.push([value, turn.snapshot().reconnecting]));
  turn.on("resumed", () => shown.push([null, turn.snapshot().reconnecting]));
  const iterator = turn.stream();
  assert.equal(turn.snapshot().reconnecting, null);
  await live.opened;
  await eventually(() => shown.length > 2);
  for (const [told, snapshot] of shown) assert.deepEqual(snapshot, told);
  assert.deepEqual(shown.map(([value]) => value?.attempt), [1, 2, undefined]);
  assert.equal(turn.snapshot().reconnecting, null);
  assert.equal(turn.snapshot().status, "running");
  await live.write(numbered(WHOLE.slice(3), [4, 5, 6, 7]));
  assert.equal((await collect(iterator)).error, undefined);
  assert.equal(turn.snapshot().reconnecting, null);
});

test("a subscriber sees the connection go and come back", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: [reset, live.reply] }, {
    reconnect: { maxAttempts: 3, baseDelay: 1000, maxDelay: 1000 },
  });
  fixedRandom(t, 0.4);
  const seen = [];
  turn.subscribe(() => {
    const { reconnecting } = turn.snapshot();
    seen.push(reconnecting && reconnecting.attempt);
  });
  const reading = collect(turn.stream());
  await live.opened;
  await live.write(numbered(WHOLE.slice(3), [4, 5, 6, 7]));
  await reading;
  await eventually(() => seen.at(-1) === null && turn.status === "done");
  assert.ok(seen.includes(1) && seen.includes(2), String(seen));
});

for (const [name, start, routes] of [
  ["a start that was found", reset, { [LIST_TURNS]: page([recent()]) }],
  ["a start that was sent again", [refusal(429)], {}],
  ["a start that was sent again after a look", [refusal(503)], { [LIST_TURNS]: page([]) }],
]) {
  test(`no connection is shown as lost while the stream of ${name} is read`, async (t) => {
    const live = new LiveStream();
    const replies = Array.isArray(start) ? [...start, live.reply] : start;
    const { turn, told } = await serveResumed(t, replies, { ...routes, [SUBSCRIBE]: live.reply });
    const iterator = turn.stream();
    await live.send(...WHOLE.slice(0, 3));
    await until(iterator, "model.message.delta");
    assert.deepEqual([topics(told)[0], told[0][1].attempt], ["reconnecting", 1]);
    assert.equal(turn.snapshot().reconnecting, null);
    await live.send(...WHOLE.slice(3));
    await collect(iterator);
  });
}

test("a read that was aborted or used up its tries is no longer shown as lost", async (t) => {
  const controller = new AbortController();
  const { turn, told } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: reset, [GET_TURN]: reset });
  turn.on("reconnecting", ({ attempt }) => attempt === 2 && controller.abort());
  assert.equal((await collect(turn.stream({ signal: controller.signal }))).error.code, "aborted");
  assert.equal(turn.snapshot().reconnecting, null);
  assert.equal((await collect(turn.stream())).error.code, "incomplete");
  assert.equal(turn.snapshot().reconnecting, null);
  // The abort was the page's own.
  assert.deepEqual(topics(told).filter((topic) => topic === "error"), ["error"]);
});

test("a wait for a turn that runs is distinguished from a lost connection", async (t) => {
  const controller = new AbortController();
  const { turn, told } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: refusal(412) });
  const seen = [];
  turn.on("waiting", (value) => {
    seen.push(turn.snapshot().waiting);
    assert.equal(turn.snapshot().reconnecting, null);
    if (seen.length === 2) controller.abort();
    return value;
  });
  assert.equal((await collect(turn.stream({ signal: controller.signal }))).error.code, "aborted");
  assert.deepEqual(seen, [{ delay: 500, for: "turn" }, { delay: 1000, for: "turn" }]);
  assert.equal(turn.snapshot().waiting, null);
  // The start's stream broke once; then its server was asked, and did not fail.
  assert.deepEqual(topics(told), ["reconnecting", "waiting", "waiting"]);
});

test("a listener that aborts ends it: no further try is made", async (t) => {
  const controller = new AbortController();
  const { turn, server } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: logged(WHOLE) });
  turn.on("reconnecting", () => controller.abort());
  assert.equal((await collect(turn.stream({ signal: controller.signal }))).error.code, "aborted");
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.deepEqual(server.asked, [START]);
});

test("listeners that throw break neither the stream nor other listeners", async (t) => {
  const errors = reported(t);
  const live = new LiveStream();
  const { turn } = await serveResumed(t, live.reply, {
    [SUBSCRIBE]: [reset, stream(numbered(WHOLE.slice(4), [5, 6, 7])), stream(numbered(WHOLE.slice(4), [5, 6, 7]))],
    [TURN_EVENTS]: page([]),
  }, { idleTimeout: 250 });
  const heard = [];
  for (const topic of ["reconnecting", "resumed", "gap", "idle", "event", "turn.done"]) {
    turn.on(topic, () => {
      throw new Error(topic);
    });
    turn.on(topic, () => heard.push(topic));
  }
  const reading = collect(turn.stream());
  await live.send(...WHOLE.slice(0, 3));
  const { events: got, error } = await reading;
  assert.equal(error, undefined);
  assert.deepEqual(numbers(got), [1, 2, 3, 5, 6, 7]);
  assert.deepEqual([...new Set(heard)].sort(), ["event", "gap", "idle", "reconnecting", "resumed", "turn.done"]);
  assert.deepEqual(errors.map(({ message }) => message), heard);
  assert.equal(turn.snapshot().error, null);
});

test("a listener that was removed is no longer notified", async (t) => {
  const { turn, told } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: [reset, reset, logged(WHOLE)] });
  const heard = [];
  const off = turn.on("reconnecting", ({ attempt }) => {
    heard.push(attempt);
    off();
  });
  await collect(turn.stream());
  assert.deepEqual(heard, [1]);
  assert.equal(topics(told).filter((topic) => topic === "reconnecting").length, 3);
});

test("without listeners, the turn is recovered all the same", async (t) => {
  const { session } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: [reset, logged(WHOLE)] });
  const turn = session.createTurn({ input: "Hello" });
  const { events: got } = await collect(turn.stream());
  assert.deepEqual(numbers(got), range(1, WHOLE.length));
  assert.equal(textOf(turn), "Hello, world");
});
