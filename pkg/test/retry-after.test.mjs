// `Retry-After`: no request comes before the time that the server asks for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../dist/index.js";
import { collect, eventually, failure, textOf } from "./support/collect.mjs";
import { GRAIN, logged, serveResumed, serveResumedSession } from "./support/connection.mjs";
import { events, GET_TURN, json, LIST_TURNS, page, refusal, START, SUBSCRIBE, TURN_EVENTS } from "./support/server.mjs";
import { answer, DONE, message, recent, record } from "./support/wire.mjs";

const WHOLE = answer("Hel", "lo, ", "world");
const BEGUN = events(...WHOLE.slice(0, 3));
const LISTED = page([message("m1", { content: "Hello, world", finish_reason: "stop" })]);

/** The requests that the server asks to delay. The first of `asked` was refused, the second must come later. */
const REFUSED = {
  "a resumed stream": [BEGUN, (slow) => ({ [SUBSCRIBE]: [slow, logged(WHOLE)] }), SUBSCRIBE],
  "a start that is sent again": [null, () => ({}), START],
  "a look for a start": [refusal(500), (slow) => ({ [LIST_TURNS]: [slow, page([recent()])], [SUBSCRIBE]: logged(WHOLE) }), LIST_TURNS],
  "a question how the turn stands": [
    BEGUN, (slow) => ({ [SUBSCRIBE]: refusal(412), [GET_TURN]: [slow, json({ data: record(DONE) })], [TURN_EVENTS]: LISTED }), GET_TURN,
  ],
  "a list of events": [
    BEGUN, (slow) => ({ [SUBSCRIBE]: refusal(412), [GET_TURN]: json({ data: record(DONE) }), [TURN_EVENTS]: [slow, LISTED] }), TURN_EVENTS,
  ],
};

test("no request comes earlier than the server asked for", { concurrency: true }, async (t) => {
  const tests = [];
  for (const [status, wait] of [[503, () => "1"], [429, () => new Date(Date.now() + 2000).toUTCString()]]) {
    for (const [name, [start, routes, refused]] of Object.entries(REFUSED)) {
      tests.push(t.test(`${name}: ${status} with ${status === 503 ? "seconds" : "a date"}`, async (t) => {
        let until;
        const slow = (exchange) => {
          const header = wait();
          until = performance.now() + (header === "1" ? 1000 : Date.parse(header) - Date.now());
          refusal(status, { "retry-after": header })(exchange);
        };
        const { turn, server } = await serveResumed(t, start ?? [slow, events(...WHOLE)], { [LIST_TURNS]: page([]), ...routes(slow) });
        assert.equal((await collect(turn.stream())).error, undefined);
        assert.equal(textOf(turn), "Hello, world");
        const asked = server.requests.filter(({ method, path }) => `${method} ${path}` === refused);
        assert.equal(asked.length, 2);
        assert.ok(asked[1].at >= until - GRAIN, `${until - asked[1].at} ms too early`);
        // There is no other request meanwhile, either.
        const meanwhile = server.requests.filter(({ at }) => at > asked[0].at && at < until - GRAIN);
        assert.deepEqual(meanwhile.map(({ path }) => path), []);
      }));
    }
  }
  await Promise.all(tests);
});

test("the reported wait is the server's, with the package's own on top", async (t) => {
  t.mock.method(Math, "random", () => 0.5);
  const { turn } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: refusal(503, { "retry-after": "7" }) }, {
    reconnect: { maxAttempts: 3, baseDelay: 200, maxDelay: 1000 },
  });
  const controller = new AbortController();
  const waits = [];
  turn.on("reconnecting", ({ attempt, delay, cause }) => {
    waits.push([attempt, delay, cause.retryAfter]);
    if (attempt === 2) controller.abort();
  });
  await collect(turn.stream({ signal: controller.signal }));
  assert.deepEqual(waits, [[1, 100, undefined], [2, 7200, 7000]]);
});

const ASKED = [
  ["5", 5000],
  ["300", 300_000],
  // No timer waits longer.
  ["99999999999", 2 ** 31 - 1],
  ["0", undefined],
  ["soon", undefined],
  ["-5", undefined],
  [new Date(Date.now() - 60_000).toUTCString(), undefined],
];

for (const [header, retryAfter] of ASKED) {
  test(`error.retryAfter of "${header}" is ${retryAfter}`, async (t) => {
    const { session } = await serveResumedSession(t, { [GET_TURN]: refusal(503, { "retry-after": header }) });
    const error = await failure(session.getTurn("t1"));
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.retryAfter, retryAfter);
  });
}

test("error.retryAfter of a date is the time until then", async (t) => {
  const date = new Date(Date.now() + 60_000).toUTCString();
  const { session } = await serveResumedSession(t, { [GET_TURN]: refusal(429, { "retry-after": date }) });
  const left = () => Date.parse(date) - Date.now();
  const before = left();
  const { retryAfter } = await failure(session.getTurn("t1"));
  assert.ok(before >= retryAfter && retryAfter >= left(), `${before} ${retryAfter} ${left()}`);
});

/** No wait is longer than five minutes. */
const TOO_LONG = { "retry-after": "301" };

test("a server that asks for too long a wait ends the stream at once", async (t) => {
  const { turn, server } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: refusal(503, TOO_LONG) });
  const { error } = await collect(turn.stream());
  assert.ok(error instanceof ApiError, String(error));
  assert.deepEqual([error.status, error.retryAfter], [503, 301_000]);
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
});

for (const status of [429, 503]) {
  test(`a start does not wait for a server that asks for too long a wait: ${status}`, { timeout: 5000 }, async (t) => {
    const { turn, server } = await serveResumed(t, refusal(status, TOO_LONG), { [LIST_TURNS]: page([]) });
    const controller = new AbortController();
    const delays = [];
    turn.on("reconnecting", ({ delay }) => {
      delays.push(delay);
      if (delay > 300_000) controller.abort();
    });
    const { error } = await collect(turn.stream({ signal: controller.signal }));
    assert.ok(delays.every((delay) => delay <= 300_000), `it waits ${delays} ms`);
    assert.ok(error instanceof ApiError, String(error));
    assert.deepEqual([error.status, error.retryAfter, turn.status], [status, 301_000, "unstarted"]);
    assert.equal(server.count(START), 1);
  });
}

test("listing the events of a turn that was not streamed obeys it too", async (t) => {
  let until;
  const slow = (exchange) => {
    until = performance.now() + 1000;
    refusal(503, { "retry-after": "1" })(exchange);
  };
  const { session, server } = await serveResumedSession(t, { [GET_TURN]: json({ data: record(DONE) }), [TURN_EVENTS]: [slow, page([])] });
  const turn = await session.getTurn("t1");
  assert.deepEqual([turn.status, turn.snapshot().error], ["done", null]);
  assert.ok(server.requests.at(-1).at >= until - GRAIN, `${until - server.requests.at(-1).at} ms too early`);
});

for (const header of ["301", "99999999999"]) {
  test(`a wait does not hammer a server that asks for a pause of ${header} seconds`, async (t) => {
    const { turn, server } = await serveResumed(t, json({ data: recent() }), { [SUBSCRIBE]: refusal(503, { "retry-after": header }) });
    await turn.state();
    assert.equal((await failure(turn.waitForCompletion())).status, 503);
    assert.equal(server.count(SUBSCRIBE), 1);
  });
}
