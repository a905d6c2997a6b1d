// Streams that end before their turn: what came is kept, the end is reported, and what follows is
// neither lost nor doubled.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError, IncompleteError } from "../dist/index.js";
import { collect, failure, textOf, until } from "./support/collect.mjs";
import {
  body, deferred, events, GET_TURN, json, LiveStream, page, serveSession, serveTurn, START, stream, SUBSCRIBE, TURN_EVENTS,
} from "./support/server.mjs";
import { answer, created, done, DONE, finished, frames, message, record, text } from "./support/wire.mjs";

const WHOLE = answer("Hel", "lo, ", "world");
const BEGUN = WHOLE.slice(0, 4);

/** The events after the ones that were sent, and the number of the first of them. */
const rest = (from = 4) => stream(frames(WHOLE.slice(from), from + 1));

test("an end before turn.done is incomplete, and keeps what came", async (t) => {
  const { turn } = await serveTurn(t, events(...BEGUN));
  const { events: got, error } = await collect(turn.stream());
  assert.equal(got.length, 4);
  assert.ok(error instanceof IncompleteError);
  assert.equal(error.code, "incomplete");
  assert.match(error.message, /turn\.done/);
  assert.equal(turn.status, "incomplete");
  const snapshot = turn.snapshot();
  assert.deepEqual([snapshot.status, snapshot.error, snapshot.last_sequence_number], ["incomplete", error, 4]);
  assert.equal(textOf(turn), "Hello, ");
});

test("stream() goes on after the last event, and nothing doubles", async (t) => {
  const { turn, server } = await serveTurn(t, events(...BEGUN), { routes: { [SUBSCRIBE]: rest() } });
  const first = await collect(turn.stream());
  const second = await collect(turn.stream());
  assert.equal(second.error, undefined);
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
  assert.deepEqual(server.requests[1].body, { after_sequence_number: 4 });
  assert.equal(server.requests[1].headers["last-event-id"], undefined);
  const got = [...first.events, ...second.events];
  assert.deepEqual(got.map((event) => event.sequence_number), [1, 2, 3, 4, 5, 6, 7]);
  assert.equal(textOf(turn), "Hello, world");
  assert.deepEqual([turn.status, turn.snapshot().error], ["done", null]);
});

test("a server that repeats what was delivered changes nothing", async (t) => {
  const { turn } = await serveTurn(t, events(...BEGUN), { routes: { [SUBSCRIBE]: rest(0) } });
  await collect(turn.stream());
  const { events: got } = await collect(turn.stream());
  assert.deepEqual(got.map((event) => event.sequence_number), [5, 6, 7]);
  assert.equal(textOf(turn), "Hello, world");
});

test("a server that repeats an event within a stream changes nothing", async (t) => {
  const [first, ...more] = WHOLE;
  const twice = frames([first]) + frames(more, 2) .replace(/data: .*"Hel".*\nid: 3\n\n/, "$&$&");
  const { turn } = await serveTurn(t, stream(twice));
  const { events: got } = await collect(turn.stream());
  assert.deepEqual(got.map((event) => event.sequence_number), [1, 2, 3, 4, 5, 6, 7]);
  assert.equal(textOf(turn), "Hello, world");
});

test("a frame that was cut off by the end is forgotten, not glued to the next stream", async (t) => {
  const bytes = frames(WHOLE);
  const cut = bytes.indexOf("lo, ") + 2;
  const { turn } = await serveTurn(t, stream(bytes.slice(0, cut)), { routes: { [SUBSCRIBE]: rest(3) } });
  const first = await collect(turn.stream());
  assert.equal(first.events.length, 3);
  const second = await collect(turn.stream());
  assert.deepEqual(second.events.map((event) => event.type), WHOLE.slice(3).map((event) => event.type));
  assert.equal(textOf(turn), "Hello, world");
});

test("a connection that is reset is incomplete, with the cause", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply, { routes: { [SUBSCRIBE]: rest() } });
  const iterator = turn.stream();
  await live.send(...BEGUN);
  for (let count = 0; count < BEGUN.length; count += 1) await iterator.next();
  await live.reset();
  const error = await failure(iterator.next());
  assert.ok(error instanceof IncompleteError, String(error));
  assert.ok(error.cause instanceof Error);
  assert.equal(textOf(turn), "Hello, ");
  assert.deepEqual(await iterator.next(), { done: true, value: undefined });
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.equal(textOf(turn), "Hello, world");
});

test("a connection that is reset before the turn began is a network error", async (t) => {
  const { turn } = await serveTurn(t, ({ response }) => response.socket.resetAndDestroy());
  const { error } = await collect(turn.stream());
  assert.equal(error.code, "network");
  assert.equal(error.name, "ConnectionError");
  assert.equal(turn.status, "incomplete");
});

test("what came at once with a reset is delivered before the error", async (t) => {
  const bytes = new TextEncoder().encode(frames(BEGUN));
  const broken = new ReadableStream({
    pull(controller) {
      if (this.sent) return controller.error(new TypeError("the line went dead"));
      this.sent = true;
      controller.enqueue(bytes);
    },
  });
  const response = () => new Response(broken, { headers: { "content-type": "text/event-stream" } });
  const { turn } = await serveTurn(t, body(""), {
    options: { fetch: (url, init) => (url.endsWith("/turns") ? Promise.resolve(response()) : fetch(url, init)) },
  });
  const { events: got, error } = await collect(turn.stream());
  assert.equal(got.length, 4);
  assert.match(error.message, /the line went dead/);
  assert.ok(error.cause instanceof ConnectionError, String(error.cause));
  assert.equal(error.cause.cause.message, "the line went dead");
});

test("afterSequenceNumber skips ahead, and never goes back", async (t) => {
  const { turn, server } = await serveTurn(t, events(...WHOLE.slice(0, 2)), {
    routes: { [SUBSCRIBE]: [stream(frames(WHOLE.slice(4, 5), 5)), rest(0)] },
  });
  await collect(turn.stream());
  const skipped = await collect(turn.stream({ afterSequenceNumber: 4 }));
  const last = await collect(turn.stream({ afterSequenceNumber: 1 }));
  assert.deepEqual(server.requests.slice(1).map((request) => request.body), [
    { after_sequence_number: 4 },
    { after_sequence_number: 5 },
  ]);
  assert.deepEqual(skipped.events.map((event) => event.sequence_number), [5]);
  assert.deepEqual(last.events.map((event) => event.sequence_number), [6, 7]);
});

for (const afterSequenceNumber of [-1, 1.5, NaN, Infinity, "abc", {}]) {
  test(`afterSequenceNumber cannot be ${String(afterSequenceNumber)}`, async (t) => {
    const { session } = await serveSession(t, { [GET_TURN]: json({ data: record() }) });
    const turn = await session.getTurn("t1");
    const error = await failure(() => turn.stream({ afterSequenceNumber }));
    assert.equal(error.code, "invalid_option");
    assert.equal(turn.status, "running");
  });
}

test("a turn that has not begun has nothing to skip", async (t) => {
  const { turn, server } = await serveTurn(t, events(...WHOLE));
  assert.equal((await failure(() => turn.stream({ afterSequenceNumber: 3 }))).code, "invalid_option");
  assert.deepEqual(server.asked, []);
  assert.equal((await collect(turn.stream({ afterSequenceNumber: 0 }))).error, undefined);
});

test("a turn that was found running streams from its beginning", async (t) => {
  const { session, server } = await serveSession(t, {
    [GET_TURN]: json({ data: record() }),
    [SUBSCRIBE]: events(...WHOLE),
  });
  const turn = await session.getTurn("t1");
  assert.deepEqual([turn.status, turn.id], ["running", "t1"]);
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.equal(got.length, WHOLE.length);
  assert.deepEqual(server.requests[1].body, {});
});

test("a stream may begin in the middle of a message", async (t) => {
  const { session } = await serveSession(t, {
    [GET_TURN]: json({ data: record() }),
    [SUBSCRIBE]: stream(frames([text("wor"), text("ld"), finished(), done()], 4)),
  });
  const turn = await session.getTurn("t1");
  const { events: got, error } = await collect(turn.stream({ afterSequenceNumber: 3 }));
  assert.equal(error, undefined);
  assert.deepEqual(got.map((event) => event.sequence_number), [4, 5, 6, 7]);
  assert.equal(textOf(turn), "world");
});

test("a token that cannot be had does not start a running turn a second time", async (t) => {
  let token = () => "k";
  const { turn, server } = await serveTurn(t, events(...BEGUN), {
    routes: { [SUBSCRIBE]: rest() },
    options: { token: () => token() },
  });
  await collect(turn.stream());
  token = () => {
    throw new Error("signed out");
  };
  const { error } = await collect(turn.stream());
  assert.equal(error.code, "token");
  assert.notEqual(turn.status, "unstarted");
  token = () => "k2";
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
  assert.equal(textOf(turn), "Hello, world");
});

test("state() that is ahead of the stream takes nothing from the stream", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply, { routes: { [GET_TURN]: json({ data: record(DONE) }) } });
  const iterator = turn.stream();
  await live.send(created(), message(), text("Hel"));
  for (let count = 0; count < 3; count += 1) await iterator.next();
  assert.equal((await turn.state()).status, "done");
  await live.send(text("lo"), finished(), done());
  await live.end();
  const { events: got, error } = await collect(iterator);
  assert.equal(error, undefined);
  assert.deepEqual(got.map((event) => event.sequence_number), [4, 5, 6]);
  assert.equal(textOf(turn), "Hello");
});

test("events that an abandoned loop had not taken come with the next stream", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply, { routes: { [SUBSCRIBE]: rest() } });
  const seen = [];
  const iterator = turn.stream();
  await live.send(...BEGUN);
  for await (const event of iterator) {
    seen.push(event.sequence_number);
    if (event.sequence_number === 2) break;
  }
  await live.closed;
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  seen.push(...got.map((event) => event.sequence_number));
  assert.deepEqual(seen, [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
  assert.equal(textOf(turn), "Hello, world");
});

test("waiting calls learn of the broken stream too", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const iterator = turn.stream();
  const waiting = failure(turn.waitForCompletion());
  await live.send(...BEGUN);
  await until(iterator, "model.message.delta");
  await live.end();
  const error = await waiting;
  assert.ok(error instanceof IncompleteError);
  assert.equal((await collect(iterator)).error, error);
});

test("after a broken stream a wait reads the rest of it", async (t) => {
  const { turn, server } = await serveTurn(t, events(...BEGUN), { routes: { [SUBSCRIBE]: rest() } });
  await collect(turn.stream());
  assert.deepEqual(await turn.waitForCompletion(), DONE);
  assert.deepEqual([turn.status, textOf(turn)], ["done", "Hello, world"]);
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
});

test("after a broken stream a listener gets the rest of it", async (t) => {
  const { turn, server } = await serveTurn(t, events(...BEGUN), { routes: { [SUBSCRIBE]: rest() } });
  await collect(turn.stream());
  const heard = [];
  turn.on("event", (event) => heard.push(event.sequence_number));
  assert.equal((await turn.waitForCompletion()).status, "done");
  assert.deepEqual(heard, [5, 6, 7]);
  assert.equal(turn.snapshot().error, null);
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
});

test("a turn that is known to be done does not show half of its last message", async (t) => {
  const output = message("m1", { content: "Hello, world", finish_reason: "stop" });
  const { turn } = await serveTurn(t, events(...BEGUN), { routes: { [GET_TURN]: json({ data: record({ ...DONE, output }) }), [TURN_EVENTS]: page([output]) } });
  await collect(turn.stream());
  await turn.state();
  assert.equal(turn.status, "done");
  assert.equal(textOf(turn), "Hello, world");
});

test("a status that this version does not know still ends the turn", async (t) => {
  const odd = done();
  odd.state = { status: "evaporated", completed_at: odd.created_at };
  const { turn } = await serveTurn(t, events(created(), odd));
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual([turn.status, got[1].state.status, got[1].state.wire_status], ["error", "error", "evaporated"]);
  assert.match(got[1].state.message, /evaporated/);
});

test("what comes after turn.done is not read", async (t) => {
  const closed = deferred();
  const endless = ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.on("close", closed.resolve);
    response.write(frames([...WHOLE, text("more"), { type: "brand.new" }]));
  };
  const { turn } = await serveTurn(t, endless);
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.equal(got.at(-1).type, "turn.done");
  assert.equal(textOf(turn), "Hello, world");
  // The server never ended the answer: the package closed it.
  await closed.promise;
});
