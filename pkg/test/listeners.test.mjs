// Listeners and the iterator: each gets every event once, and none can break the others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, reported, textOf, until } from "./support/collect.mjs";
import { body, events, LiveStream, serveTurn, SUBSCRIBE, stream } from "./support/server.mjs";
import { answer, created, done, finished, frames, message, text } from "./support/wire.mjs";

test("a listener receives its type, in order, and an `event` listener receives all", async (t) => {
  const { turn } = await serveTurn(t, events(...answer("a", "b")));
  const deltas = [];
  const all = [];
  turn.on("model.message.delta", (event) => deltas.push(event.content ?? event.finish_reason));
  turn.on("event", (event) => all.push(event.type));
  await turn.waitForCompletion();
  assert.deepEqual(deltas, ["a", "b", "stop"]);
  assert.deepEqual(all, answer("a", "b").map((event) => event.type));
});

test("iterator and listeners get the same objects, once each", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const heard = [];
  turn.on("event", (event) => heard.push(event));
  const iterator = turn.stream();
  const iterated = [];
  for (const event of answer("a", "b", "c")) {
    await live.send(event);
    iterated.push((await iterator.next()).value);
  }
  assert.equal((await iterator.next()).done, true);
  assert.equal(heard.length, 7);
  assert.ok(heard.every((event, at) => event === iterated[at]));
});

test("two listeners receive the same objects", async (t) => {
  const { turn } = await serveTurn(t, events(...answer("a")));
  const [first, second] = [[], []];
  turn.on("event", (event) => first.push(event));
  turn.on("event", (event) => second.push(event));
  await turn.waitForCompletion();
  assert.ok(first.length === 5 && first.every((event, at) => event === second[at]));
});

test("a removed listener receives no more, and can be removed again", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const heard = [];
  const kept = [];
  const off = turn.on("event", (event) => heard.push(event.type));
  turn.on("event", (event) => kept.push(event.type));
  const iterator = turn.stream();
  await live.send(created());
  await iterator.next();
  off();
  off();
  await live.send(message(), text("a"), done());
  await collect(iterator);
  assert.deepEqual(heard, ["turn.created"]);
  assert.equal(kept.length, 4);
});

test("a listener that was added twice is removed once at a time", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  let heard = 0;
  const listener = () => (heard += 1);
  const off = turn.on("event", listener);
  turn.on("event", listener);
  const iterator = turn.stream();
  await live.send(created());
  await iterator.next();
  assert.equal(heard, 2);
  off();
  await live.send(message());
  await iterator.next();
  assert.equal(heard, 3);
  await live.send(done());
  await collect(iterator);
});

test("a listener that throws breaks nothing, and is reported", async (t) => {
  const errors = reported(t);
  const { turn } = await serveTurn(t, events(...answer("a", "b")));
  const heard = [];
  const thrown = new Error("mine");
  turn.on("event", () => {
    throw thrown;
  });
  turn.on("event", (event) => heard.push(event.type));
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.equal(got.length, 6);
  assert.equal(heard.length, 6);
  assert.ok(errors.length === 6 && errors.every((known) => known === thrown));
});

test("a subscriber that throws breaks nothing, and is reported", async (t) => {
  const errors = reported(t);
  const { turn } = await serveTurn(t, events(...answer("a")));
  turn.subscribe(() => {
    throw new Error("mine");
  });
  const ended = new Promise((resolve) => turn.subscribe(() => turn.status === "done" && resolve()));
  await turn.waitForCompletion();
  await ended;
  // The start is reported at once, the rest by a timer.
  assert.equal(errors.length, 2);
});

test("an `error` listener receives what ended the stream, and only that", async (t) => {
  const { turn } = await serveTurn(t, events(created(), text("a")), { routes: { [SUBSCRIBE]: stream(frames([done()], 3)) } });
  const errors = [];
  turn.on("error", (error) => errors.push(error));
  const { error } = await collect(turn.stream());
  assert.deepEqual(errors, [error]);
  await collect(turn.stream());
  assert.deepEqual(errors, [error]);
});

test("an `error` listener receives a refusal", async (t) => {
  const { turn } = await serveTurn(t, body("", { status: 401 }));
  const errors = [];
  turn.on("error", (error) => errors.push(error.status));
  await collect(turn.stream());
  assert.deepEqual(errors, [401]);
});

test("events that came before the iteration began are not lost", async (t) => {
  const { turn } = await serveTurn(t, events(...answer("a", "b", "c")));
  const iterator = turn.stream();
  await turn.waitForCompletion();
  assert.deepEqual((await collect(iterator)).events.map((event) => event.sequence_number), [1, 2, 3, 4, 5, 6, 7]);
});

test("a listener that is added late receives what follows, and the iterator still gets all", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const iterator = turn.stream();
  await live.send(created(), message());
  await until(iterator, "model.message");
  const heard = [];
  turn.on("event", (event) => heard.push(event.sequence_number));
  await live.send(text("a"), finished(), done());
  assert.deepEqual((await collect(iterator)).events.map((event) => event.sequence_number), [3, 4, 5]);
  assert.deepEqual(heard, [3, 4, 5]);
});

test("events are delivered again to a listener that is added after all others have left", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const told = { first: [], second: [] };
  const begun = new Promise((resolve) => {
    const off = turn.on("event", (event) => {
      told.first.push(event.sequence_number);
      off();
      resolve();
    });
  });
  const over = turn.waitForCompletion();
  await live.send(created());
  await begun;
  turn.on("event", (event) => told.second.push(event.sequence_number));
  await live.send(message(), text("a"), done());
  await over;
  assert.deepEqual(told, { first: [1], second: [2, 3, 4] });
  assert.equal(textOf(turn), "a");
});

test("a slow reader gets everything, in order", async (t) => {
  const pieces = Array.from({ length: 500 }, (_, at) => `${at} `);
  const { turn } = await serveTurn(t, events(...answer(...pieces)));
  const iterator = turn.stream();
  await turn.waitForCompletion();
  const seen = [];
  for await (const event of iterator) {
    if (event.content) seen.push(event.content);
    if (seen.length % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(seen, pieces);
});

test("a stream that is not iterated still fills the snapshot, and its failure is not an uncaught error", async (t) => {
  const alarms = [];
  const alarm = (error) => alarms.push(error);
  process.on("unhandledRejection", alarm);
  t.after(() => process.off("unhandledRejection", alarm));
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const ended = new Promise((resolve) => turn.on("error", resolve));
  turn.stream();
  await live.send(created(), message(), text("a"));
  await live.end();
  await ended;
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(textOf(turn), "a");
  assert.deepEqual(alarms, []);
});

test("a listener may look at the turn, add listeners and leave", async (t) => {
  const { turn } = await serveTurn(t, events(...answer("a", "b")));
  const texts = [];
  const late = [];
  const off = turn.on("model.message.delta", () => {
    texts.push(textOf(turn));
    if (texts.length === 1) turn.on("turn.done", (event) => late.push(event.state.status));
    if (texts.length === 2) off();
  });
  await turn.waitForCompletion();
  assert.equal(texts.length, 2);
  assert.deepEqual(late, ["done"]);
});

test("a listener may abort the stream that it listens to", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const controller = new AbortController();
  turn.on("model.message", () => controller.abort());
  const iterator = turn.stream({ signal: controller.signal });
  await live.send(created(), message(), text("a"));
  const { error } = await collect(iterator);
  assert.equal(error.code, "aborted");
  assert.equal(await live.closed, true);
});

test("a listener that is added within a listener does not receive the current event", async (t) => {
  const { turn } = await serveTurn(t, events(...answer("a", "b")));
  const heard = [];
  turn.on("event", (event) => {
    heard.push(`first ${event.sequence_number}`);
    if (event.sequence_number === 2) turn.on("event", (late) => heard.push(`late ${late.sequence_number}`));
    if (event.sequence_number === 5) turn.on("turn.done", () => heard.push("done"));
  });
  await turn.waitForCompletion();
  const both = (number) => [`first ${number}`, `late ${number}`];
  assert.deepEqual(heard, ["first 1", "first 2", ...[3, 4, 5].flatMap(both), "done", ...both(6)]);
});

test("a listener that is removed within a listener does not receive the current event", async (t) => {
  const { turn } = await serveTurn(t, events(...answer("a")));
  const heard = [];
  const offs = [];
  turn.on("model.message", () => offs.forEach((off) => off()));
  offs.push(turn.on("model.message", () => heard.push("removed")));
  turn.on("model.message", () => heard.push("kept"));
  await turn.waitForCompletion();
  assert.deepEqual(heard, ["kept"]);
});

test("a subscriber that is removed while others are notified is not notified", async (t) => {
  const { turn } = await serveTurn(t, events(...answer("a")));
  const told = [];
  const offs = [];
  const over = new Promise((resolve) => {
    turn.subscribe(() => {
      told.push("first");
      offs.forEach((off) => off());
    });
    offs.push(turn.subscribe(() => told.push("removed")));
    turn.subscribe(resolve);
  });
  await turn.waitForCompletion();
  await over;
  assert.deepEqual(told, ["first"]);
});

test("a subscriber that is added while others are notified is notified the next time", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const late = [];
  const iterator = turn.stream();
  const first = new Promise((resolve) => {
    const off = turn.subscribe(() => {
      off();
      turn.subscribe(() => late.push(turn.status));
      resolve();
    });
  });
  await live.send(created());
  await iterator.next();
  await first;
  assert.deepEqual(late, []);
  await live.send(message(), done());
  await collect(iterator);
  while (late.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual(late, ["done"]);
});

test("what is read for subscribers alone, after a stream, waits for the first listener", async (t) => {
  const [first, second] = [new LiveStream(), new LiveStream()];
  const { turn } = await serveTurn(t, first.reply, { routes: { [SUBSCRIBE]: second.reply } });
  const iterator = turn.stream();
  await first.send(created(), message(), text("a"));
  await first.end();
  assert.equal((await collect(iterator)).error.code, "incomplete");
  turn.subscribe(() => {});
  const waiting = turn.waitForCompletion();
  await second.write(frames([text("b"), text("c")], 4));
  while (turn.lastSequenceNumber < 5) await new Promise((resolve) => setTimeout(resolve, 5));
  const heard = [];
  turn.on("event", (event) => heard.push(event.sequence_number));
  await second.write(frames([finished(), done()], 6));
  await waiting;
  assert.deepEqual(heard, [4, 5, 6, 7]);
  assert.equal(textOf(turn), "abc");
});
