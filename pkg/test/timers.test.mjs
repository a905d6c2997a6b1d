// Time limits, by a mocked clock: their defaults, to the millisecond, and what counts as a sign of life.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../dist/index.js";
import { collect, failure, textOf } from "./support/collect.mjs";
import { numbers, range, tellings, topics } from "./support/connection.mjs";
import { answer, DONE, frames, message, record } from "./support/wire.mjs";

const WHOLE = answer("Hel", "lo");

/** Runs everything that needs no time. */
async function settle() {
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A turn on a server that answers as `reply` says, while time stands still until `pass` is called. */
async function stillTurn(t, reply, options = {}) {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: Date.now() });
  const asked = [];
  const fetch = async (url, { method, signal, body }) => {
    const path = url.slice(url.indexOf("/sessions/s1") + 1);
    if (path === "sessions/s1") return Response.json({ data: { id: "s1" } });
    // The request before the start.
    if (path === "sessions/s1/turns?limit=2") return Response.json({ data: [], pagination: {} });
    asked.push({ path, method, body: body && JSON.parse(body), at: Date.now() });
    return reply({ path, signal, attempt: asked.length });
  };
  const client = await connect({ baseUrl: "http://server/acme", fetch, ...options });
  const session = await client.agents.getSession("s1");
  const turn = session.createTurn({ input: "Hello" });
  const pass = async (time) => {
    t.mock.timers.tick(time);
    await settle();
  };
  return { turn, session, asked, pass, told: tellings(turn) };
}

/** A stream that the test writes: `{ response, write, end, isLeft }`. */
function writable() {
  const own = { isLeft: false };
  const body = new ReadableStream({
    start(controller) {
      own.write = (text) => controller.enqueue(new TextEncoder().encode(text));
      own.end = () => controller.close();
    },
    cancel: () => void (own.isLeft = true),
  });
  own.response = new Response(body, { headers: { "content-type": "text/event-stream" } });
  return own;
}

const never = ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

test("an answer is waited for 30 seconds", async (t) => {
  const { session, pass } = await stillTurn(t, never);
  let error;
  const attempt = failure(session.getTurn("t1")).then((found) => (error = found));
  await pass(29_999);
  assert.equal(error, undefined);
  await pass(1);
  await attempt;
  assert.deepEqual([error.code, error.name], ["timeout", "ConnectionError"]);
});

test("a stream may be silent for 60 seconds", async (t) => {
  const live = writable();
  const { turn, pass, told } = await stillTurn(t, () => live.response);
  const reading = collect(turn.stream({ reconnect: false }));
  await settle();
  await pass(30_000);
  live.write(frames(WHOLE.slice(0, 3)));
  await settle();
  await pass(59_999);
  assert.deepEqual([told, live.isLeft], [[], false]);
  await pass(1);
  assert.equal((await reading).error.cause.code, "timeout");
  assert.deepEqual(told[0], ["idle", { silence: 60_000 }]);
  assert.equal(live.isLeft, true);
});

test("comments are a sign of life, and so is any byte", async (t) => {
  const live = writable();
  const { turn, pass, told } = await stillTurn(t, () => live.response);
  const reading = collect(turn.stream());
  await settle();
  const bytes = frames(WHOLE);
  for (const piece of [": hello\n\n", ":\n\n", "\n", bytes.slice(0, 1), bytes.slice(1, 50), "", bytes.slice(50)]) {
    await pass(piece === "" ? 1000 : 59_000);
    live.write(piece);
    await settle();
  }
  assert.deepEqual(numbers((await reading).events), range(1, WHOLE.length));
  assert.deepEqual(told, []);
});

test("a stream of comments only stays open without a limit; the deadline ends it", async (t) => {
  const live = writable();
  const { turn, pass, told } = await stillTurn(t, () => live.response);
  const reading = collect(turn.stream({ deadline: 3_600_000 }));
  await settle();
  live.write(frames(WHOLE.slice(0, 1)));
  for (let minute = 1; minute <= 60; minute += 1) {
    await pass(59_999);
    live.write(": still here\n\n");
    await settle();
  }
  assert.deepEqual([told, turn.status], [[], "running"]);
  await pass(60);
  const { error } = await reading;
  assert.deepEqual([error.code, error.name, turn.status], ["timeout", "ConnectionError", "running"]);
});

test("by default the wait is up to half a second, then twice as long each time, up to eight; ten times", async (t) => {
  t.mock.method(Math, "random", () => 0.999_999);
  const { turn, pass, asked, told } = await stillTurn(t, ({ attempt }) => {
    if (attempt === 1) return new Response(frames(WHOLE.slice(0, 3)), { headers: { "content-type": "text/event-stream" } });
    throw new TypeError("no network");
  });
  const reading = collect(turn.stream());
  await settle();
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    const [topic, value] = told.at(-1);
    assert.deepEqual([topic, value.attempt, value.delay], ["reconnecting", attempt, Math.min(500 * 2 ** (attempt - 1), 8000) - 1]);
    const before = asked.length;
    await pass(value.delay - 1);
    assert.equal(asked.length, before, "it asked too early");
    await pass(1);
    assert.ok(asked.length > before, "it did not ask");
  }
  const { error } = await reading;
  assert.equal(error.code, "incomplete");
  assert.equal(topics(told).filter((topic) => topic === "reconnecting").length, 10);
});

test("a turn without a stream is polled for as long as the server says that it runs", async (t) => {
  t.mock.method(Math, "random", () => 0.5);
  let isOver = false;
  const { turn, pass, asked, told } = await stillTurn(t, ({ attempt, path }) => {
    if (attempt === 1) return new Response(frames(WHOLE.slice(0, 3)), { headers: { "content-type": "text/event-stream" } });
    if (path.includes("/events?")) return Response.json({ data: [message("m1", { content: "Hello", finish_reason: "stop" })], pagination: { limit: 25 } });
    if (!path.endsWith("/subscribe")) return Response.json({ data: record(isOver ? DONE : undefined) });
    throw new TypeError("a proxy that lets no stream pass");
  }, { reconnect: { maxAttempts: 3 } });
  const reading = collect(turn.stream());
  for (let second = 0; second < 600; second += 1) await pass(1000);
  assert.deepEqual([turn.status, turn.snapshot().waiting, turn.snapshot().reconnecting], ["running", { delay: 2000, for: "turn" }, null]);
  // Three tries for the stream, and then one read every two seconds.
  assert.deepEqual(topics(told).filter((topic) => topic !== "waiting"), ["reconnecting", "reconnecting", "reconnecting"]);
  const looks = asked.slice(-100);
  assert.ok(looks.every(({ at, path }, look) => path.endsWith("/turns/t1") && (look === 0 || at - looks[look - 1].at === 2000)));
  isOver = true;
  await pass(2000);
  assert.equal((await reading).error, undefined);
  assert.deepEqual([turn.status, textOf(turn), turn.snapshot().waiting], ["done", "Hello", null]);
});

test("the deadline ends the wait for a turn that runs", async (t) => {
  const { turn, pass } = await stillTurn(t, ({ attempt, path }) => {
    if (attempt === 1) return new Response(frames(WHOLE.slice(0, 3)), { headers: { "content-type": "text/event-stream" } });
    return path.endsWith("/subscribe") ? Response.json({ error: { message: "gone" } }, { status: 412 }) : Response.json({ data: record() });
  });
  const reading = collect(turn.stream({ deadline: 120_000 }));
  for (let second = 0; second < 119; second += 1) await pass(1000);
  assert.equal(turn.snapshot().waiting.for, "turn");
  await pass(1000);
  assert.deepEqual([(await reading).error.code, turn.status, turn.snapshot().waiting], ["timeout", "running", null]);
});

test("a connection that stayed open for long counts as a success, even if it brought nothing", async (t) => {
  t.mock.method(Math, "random", () => 0);
  let live;
  const { turn, pass, told } = await stillTurn(t, ({ attempt, path }) => {
    if (attempt === 1) return new Response(frames(WHOLE.slice(0, 3)), { headers: { "content-type": "text/event-stream" } });
    if (!path.endsWith("/subscribe")) return Response.json({ data: record() });
    live = writable();
    return live.response;
  }, { reconnect: { maxAttempts: 2 } });
  const reading = collect(turn.stream());
  // A proxy that cuts every connection after 50 seconds, while the model thinks.
  for (let time = 0; time < 10; time += 1) {
    await settle();
    await pass(1);
    await pass(50_000);
    live.end();
  }
  await settle();
  await pass(1);
  live.write(frames(WHOLE.slice(3), 4));
  const { events: got, error } = await reading;
  assert.equal(error, undefined);
  assert.deepEqual(numbers(got), range(1, WHOLE.length));
  assert.equal(topics(told).filter((topic) => topic === "resumed").length, 11);
});

test("timers that come late, as in a hidden tab, do not cut off live streams", async (t) => {
  const live = writable();
  const { turn, told } = await stillTurn(t, () => live.response);
  const reading = collect(turn.stream());
  await settle();
  live.write(frames(WHOLE.slice(0, 2)));
  await settle();
  // Bytes come all the time, but the timer of the first minute runs only after two.
  t.mock.timers.setTime(Date.now() + 59_000);
  live.write(": hello\n\n");
  await settle();
  t.mock.timers.tick(58_000);
  await settle();
  assert.deepEqual(told, []);
  live.write(frames(WHOLE.slice(2), 3));
  assert.equal((await reading).error, undefined);
});
