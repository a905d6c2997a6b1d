// The page's life: without a network, hidden, frozen, kept by the back/forward cache, and awake again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ConnectionError } from "../dist/index.js";
import { collect, eventually, failure, textOf } from "./support/collect.mjs";
import { GRAIN, logged, numbers, range, RECONNECT, serveResumed, serveResumedSession, topics } from "./support/connection.mjs";
import { events, GET_TURN, json, LIST_TURNS, LiveStream, page as listed, refusal, reset, START, stream, SUBSCRIBE, TURN_EVENTS } from "./support/server.mjs";
import { answer, DONE, frames, recent } from "./support/wire.mjs";

const WHOLE = answer("Hel", "lo, ", "world");
const BEGUN = events(...WHOLE.slice(0, 3));
/** Longer than any test: only what cuts it short ends such a wait. */
const LONG = { reconnect: { maxAttempts: 3, baseDelay: 100_000, maxDelay: 100_000 } };

/** Counts its listeners. */
class CountedTarget extends EventTarget {
  listeners = [];

  addEventListener(type, listener) {
    super.addEventListener(type, listener);
    this.listeners.push([type, listener]);
  }

  removeEventListener(type, listener) {
    super.removeEventListener(type, listener);
    const at = this.listeners.findIndex(([own, other]) => own === type && other === listener);
    if (at >= 0) this.listeners.splice(at, 1);
  }
}

/** A page around the test: a window and a document, and what happens to them. */
function openPage(t) {
  const window = new CountedTarget();
  const document = Object.assign(new CountedTarget(), { visibilityState: "visible" });
  const navigator = { onLine: true };
  const globals = {
    document, navigator,
    addEventListener: (type, listener) => window.addEventListener(type, listener),
    removeEventListener: (type, listener) => window.removeEventListener(type, listener),
  };
  for (const [name, value] of Object.entries(globals)) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { configurable: true, value });
    t.after(() => (before ? Object.defineProperty(globalThis, name, before) : delete globalThis[name]));
  }
  t.mock.method(Math, "random", () => 0.9);
  return {
    navigator,
    dispatch: {
      online: () => window.dispatchEvent(new Event("online")),
      shown: () => window.dispatchEvent(Object.assign(new Event("pageshow"), { persisted: false })),
      restored: () => window.dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true })),
      resumed: () => document.dispatchEvent(new Event("resume")),
      visible: () => document.dispatchEvent(new Event("visibilitychange")),
      hidden: () => {
        document.visibilityState = "hidden";
        document.dispatchEvent(new Event("visibilitychange"));
      },
    },
    /** The types that are listened to. */
    get listeners() {
      return [...window.listeners, ...document.listeners].map(([type]) => type).sort();
    },
  };
}

async function checkWhole({ events: got, error }, turn) {
  assert.equal(error, undefined);
  assert.deepEqual(numbers(got), range(1, WHOLE.length));
  assert.deepEqual([turn.status, textOf(turn)], ["done", "Hello, world"]);
}

/** What the package listens to, once for all turns of a page. */
const FOLLOWED = ["online", "pageshow", "resume", "visibilitychange"];

const RETURNS = { online: "the network is back", restored: "the page is back from the cache", resumed: "the page is thawed", visible: "the page is shown" };

for (const [how, name] of Object.entries(RETURNS)) {
  test(`a wait for the next try ends when ${name}`, async (t) => {
    const page = openPage(t);
    const { turn, server, told } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: logged(WHOLE) }, LONG);
    const reading = collect(turn.stream());
    await eventually(() => topics(told).includes("reconnecting"));
    page.dispatch[how]();
    await checkWhole(await reading, turn);
    assert.deepEqual(server.asked, [START, SUBSCRIBE]);
    assert.deepEqual(page.listeners, FOLLOWED);
  });

  test(`a wait that the server asked for (Retry-After) does not end earlier when ${name}`, async (t) => {
    const page = openPage(t);
    let until;
    const slow = (exchange) => {
      until = performance.now() + 1000;
      refusal(503, { "retry-after": "1" })(exchange);
    };
    const { turn, server, told } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: [slow, logged(WHOLE)] }, LONG);
    const reading = collect(turn.stream());
    for (const count of [1, 2]) {
      await eventually(() => topics(told).filter((topic) => topic === "reconnecting").length === count);
      page.dispatch[how]();
    }
    // Once more, in the middle of it.
    setTimeout(page.dispatch[how], 300);
    await checkWhole(await reading, turn);
    assert.ok(server.requests.at(-1).at >= until - GRAIN, `${until - server.requests.at(-1).at} ms too early`);
  });
}

test("a wait that the stream asked for (`retry:`) does not end earlier either", async (t) => {
  const page = openPage(t);
  const { turn, server, told } = await serveResumed(t, stream(`retry: 300\n\n${frames(WHOLE.slice(0, 3))}`), { [SUBSCRIBE]: logged(WHOLE) }, LONG);
  let began;
  turn.on("reconnecting", () => (began = performance.now()));
  const reading = collect(turn.stream());
  await eventually(() => topics(told).includes("reconnecting"));
  page.dispatch.online();
  await checkWhole(await reading, turn);
  assert.ok(server.requests.at(-1).at - began >= 300 - GRAIN, String(server.requests.at(-1).at - began));
});

for (const how of ["hidden", "shown"]) {
  test(`a wait goes on when the page is ${how}${how === "shown" ? " for the first time" : ""}`, async (t) => {
    const page = openPage(t);
    const { turn, server, told } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: logged(WHOLE) }, LONG);
    const iterator = turn.stream();
    await eventually(() => topics(told).includes("reconnecting"));
    page.dispatch[how]();
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual([server.asked, turn.snapshot().reconnecting?.attempt], [[START], 1]);
    await iterator.return();
    assert.deepEqual(page.listeners, FOLLOWED);
  });
}

for (const how of ["online", "restored", "resumed"]) {
  test(`a connection from before is given up and resumed when ${RETURNS[how]}`, async (t) => {
    const page = openPage(t);
    const live = new LiveStream();
    const { turn, server, told } = await serveResumed(t, live.reply, { [SUBSCRIBE]: logged(WHOLE) });
    const reading = collect(turn.stream());
    await live.send(...WHOLE.slice(0, 3));
    await eventually(() => turn.lastSequenceNumber === 3);
    page.dispatch[how]();
    assert.equal(await live.closed, true);
    await checkWhole(await reading, turn);
    assert.deepEqual(server.asked, [START, SUBSCRIBE]);
    assert.deepEqual(server.requests[1].body, { after_sequence_number: 3 });
    const [, { cause }] = told[0];
    assert.ok(cause instanceof ConnectionError, String(cause));
    assert.equal(cause.code, "network");
    assert.deepEqual(page.listeners, FOLLOWED);
  });
}

for (const how of ["visible", "hidden", "shown"]) {
  test(`a connection that is alive is kept when the page is ${how}`, async (t) => {
    const page = openPage(t);
    const live = new LiveStream();
    const { turn, server, told } = await serveResumed(t, live.reply);
    const reading = collect(turn.stream());
    await live.send(...WHOLE.slice(0, 3));
    await eventually(() => turn.lastSequenceNumber === 3);
    page.dispatch[how]();
    await live.send(...WHOLE.slice(3));
    await checkWhole(await reading, turn);
    assert.deepEqual([server.asked, told], [[START], []]);
  });
}

test("a silence that no timer could notice is noticed when the page is shown", async (t) => {
  const page = openPage(t);
  const live = new LiveStream();
  const { turn, told } = await serveResumed(t, live.reply, { [SUBSCRIBE]: logged(WHOLE) });
  const reading = collect(turn.stream());
  await live.send(...WHOLE.slice(0, 3));
  await eventually(() => turn.lastSequenceNumber === 3);
  // The machine sleeps: the clock on the wall goes on, timers do not.
  const { now } = Date;
  t.mock.method(Date, "now", () => now() + 3_600_000);
  page.dispatch.visible();
  await checkWhole(await reading, turn);
  assert.equal(told[0][0], "idle");
  assert.ok(told[0][1].silence >= 3_600_000);
});

test("an answer of which a part came before the page was away is given up", async (t) => {
  const page = openPage(t);
  let heads = 0;
  const fetch = async (...request) => {
    const response = await globalThis.fetch(...request);
    heads += 1;
    return response;
  };
  const half = ({ response }) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{"data":');
  };
  const { session, server } = await serveResumedSession(t, { [GET_TURN]: half }, { fetch });
  const before = heads;
  const attempt = failure(session.getTurn("t1"));
  await eventually(() => heads > before);
  await setImmediate();
  assert.equal(server.count(GET_TURN), 1);
  page.dispatch.online();
  assert.equal((await attempt).code, "network");
  assert.deepEqual(page.listeners, FOLLOWED);
});

test("tries that fail without a network do not count", async (t) => {
  const page = openPage(t);
  const { turn, server, told } = await serveResumed(t, BEGUN, {
    [SUBSCRIBE]: (exchange) => (page.navigator.onLine ? logged(WHOLE) : reset)(exchange),
    [GET_TURN]: (exchange) => (page.navigator.onLine ? json({ data: recent() }) : reset)(exchange),
  });
  turn.on("reconnecting", () => (page.navigator.onLine = server.requests.length > 3 * RECONNECT.maxAttempts));
  page.navigator.onLine = false;
  await checkWhole(await collect(turn.stream()), turn);
  const attempts = told.filter(([topic]) => topic === "reconnecting").map(([, { attempt }]) => attempt);
  assert.ok(attempts.length > 2 * RECONNECT.maxAttempts, String(attempts));
  assert.ok(attempts.every((attempt) => attempt <= RECONNECT.maxAttempts), String(attempts));
});

test("a start without a network is looked for when it is back", async (t) => {
  const page = openPage(t);
  page.navigator.onLine = false;
  const { turn, server, told } = await serveResumed(t, reset, { [LIST_TURNS]: listed([recent()]), [SUBSCRIBE]: logged(WHOLE) }, LONG);
  const reading = collect(turn.stream());
  await eventually(() => topics(told).includes("reconnecting"));
  page.navigator.onLine = true;
  page.dispatch.online();
  await checkWhole(await reading, turn);
  assert.equal(server.count(START), 1);
});

/** Ways in which a reading ends. */
const ENDINGS = {
  "the turn has ended": [events(...WHOLE), {}, (turn) => collect(turn.stream())],
  "it was resumed and has ended": [BEGUN, { [SUBSCRIBE]: [reset, logged(WHOLE)] }, (turn) => collect(turn.stream())],
  "all tries were used up": [BEGUN, { [SUBSCRIBE]: reset, [GET_TURN]: reset }, (turn) => collect(turn.stream())],
  "a wait for the turn's end was aborted": [BEGUN, { [SUBSCRIBE]: refusal(412) }, (turn) => {
    const controller = new AbortController();
    turn.on("waiting", () => controller.abort());
    return collect(turn.stream({ signal: controller.signal }));
  }],
  "it was refused": [refusal(403), {}, (turn) => collect(turn.stream())],
  "the loop was left": [BEGUN, { [SUBSCRIBE]: reset }, async (turn) => {
    for await (const _ of turn.stream()) break;
  }],
  "it was aborted": [BEGUN, { [SUBSCRIBE]: reset }, (turn) => {
    const controller = new AbortController();
    turn.on("reconnecting", () => controller.abort());
    return collect(turn.stream({ signal: controller.signal }));
  }],
  "it was waited for": [events(...WHOLE), {}, (turn) => turn.waitForCompletion()],
  "its end was found": [json({ data: recent() }), { [GET_TURN]: json({ data: recent(DONE) }), [TURN_EVENTS]: listed([]) }, (turn) => turn.state()],
};

for (const [name, [start, routes, read]] of Object.entries(ENDINGS)) {
  test(`the page's return has no effect when ${name}`, async (t) => {
    const page = openPage(t);
    const { server, turn } = await serveResumed(t, start, routes);
    await read(turn);
    assert.deepEqual(page.listeners, FOLLOWED);
    const { length } = server.requests;
    const { status } = turn;
    for (const dispatch of Object.values(page.dispatch)) dispatch();
    await setImmediate();
    assert.deepEqual([server.requests.length, turn.status, turn.snapshot().reconnecting], [length, status, null]);
  });
}

test("a page is listened to once, however often a stream is resumed", async (t) => {
  const page = openPage(t);
  const live = new LiveStream();
  const { turn } = await serveResumed(t, BEGUN, { [SUBSCRIBE]: [reset, logged(WHOLE, 1), live.reply] });
  const reading = collect(turn.stream());
  await live.opened;
  await eventually(() => turn.snapshot().reconnecting === null);
  assert.deepEqual(page.listeners, FOLLOWED);
  await live.write(frames(WHOLE.slice(4), 5));
  await checkWhole(await reading, turn);
  assert.deepEqual(page.listeners, FOLLOWED);
});
