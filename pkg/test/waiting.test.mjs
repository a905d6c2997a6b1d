// Waiting for a turn beside its stream: asking how it stands, leaving the loop, several who wait at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, failure, textOf, until } from "./support/collect.mjs";
import { deferred, events, GET_TURN, json, LiveStream, serveTurn, START, SUBSCRIBE } from "./support/server.mjs";
import { answer, created, done, DONE, finished, message, record, text } from "./support/wire.mjs";

const OUTPUT = message("m1", { content: "Hello world!", finish_reason: "stop" });
const ENDED = { ...DONE, output: OUTPUT };

/** Answers when `gate` opens, or after so many milliseconds. */
function later(gate, reply) {
  return async (exchange) => {
    await (typeof gate === "number" ? new Promise((resolve) => setTimeout(resolve, gate)) : gate);
    reply(exchange);
  };
}

/** Cuts the connection without an answer. */
const reset = ({ response }) => response.socket.resetAndDestroy();

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

test("state() of a turn that goes on leaves its stream alone", async (t) => {
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

test("after a loop was left, waiting brings the whole message", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply, { routes: { [GET_TURN]: json({ data: record(ENDED) }) } });
  const iterator = turn.stream();
  await live.send(created(), message(), text("Hello "));
  for await (const event of iterator) if (event.type === "model.message.delta") break;
  assert.equal(await live.closed, true);
  assert.deepEqual(await turn.waitForCompletion(), ENDED);
  const { status, error, threads } = turn.snapshot();
  assert.deepEqual([status, error, threads[0].messages.length, threads[0].messages[0].finish_reason], ["done", null, 1, "stop"]);
  assert.equal(textOf(turn), "Hello world!");
  assert.deepEqual(server.asked, [START, GET_TURN]);
});

for (const [when, pieces] of [
  ["with all of it", [[...answer("Hi")]]],
  ["with its last chunk", [[created(), message(), text("Hi"), finished()], [done()]]],
]) {
  test(`to leave the loop at turn.done is as good as its end: it comes ${when}`, async (t) => {
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
  test(`who waits goes on waiting when the loop is left ${how}`, async (t) => {
    const live = new LiveStream();
    const { turn, server } = await serveTurn(t, live.reply, {
      routes: { [GET_TURN]: [json({ data: record() }), json({ data: record(ENDED) })] },
    });
    const left = leave(turn, live);
    const waiting = turn.waitForCompletion();
    await left;
    assert.deepEqual(await waiting, ENDED);
    assert.equal(textOf(turn), "Hello world!");
    assert.deepEqual(server.asked, [START, GET_TURN, GET_TURN]);
  });
}

test("one who waits and is aborted takes the stream from nobody", async (t) => {
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
  test(`${method}() that is aborted during the start takes the start from nobody`, async (t) => {
    const gate = deferred();
    const { turn, server } = await serveTurn(t, later(gate.promise, json({ data: record() })), {
      routes: { [GET_TURN]: json({ data: record(ENDED) }) },
    });
    const controller = new AbortController();
    const impatient = failure(turn[method]({ signal: controller.signal }));
    const patient = turn.waitForCompletion();
    controller.abort();
    assert.equal((await impatient).code, "aborted");
    gate.resolve();
    assert.deepEqual(await patient, ENDED);
    assert.deepEqual(server.asked, [START, GET_TURN]);
  });
}

test("one who waits and is aborted between two questions stops no other", async (t) => {
  const { turn } = await serveTurn(t, json({ data: record() }), {
    routes: { [GET_TURN]: json({ data: record(ENDED) }) },
  });
  const controller = new AbortController();
  const impatient = failure(turn.waitForCompletion({ signal: controller.signal }));
  const patient = turn.waitForCompletion();
  await turn.state();
  controller.abort();
  await impatient.catch(() => {});
  assert.deepEqual(await patient, ENDED);
});

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
      routes: { [GET_TURN]: json({ data: record(ENDED) }), [SUBSCRIBE]: events(...answer("Hello world!")) },
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

test("waiting survives questions that fail in passing", async (t) => {
  const { turn, server } = await serveTurn(t, json({ data: record() }), {
    routes: { [GET_TURN]: [json({ error: { message: "busy" } }, 503), reset, json({ data: record(ENDED) })] },
  });
  assert.deepEqual(await turn.waitForCompletion(), ENDED);
  assert.equal(textOf(turn), "Hello world!");
  assert.deepEqual(server.asked, [START, GET_TURN, GET_TURN, GET_TURN]);
});

for (const status of [401, 403, 404]) {
  test(`waiting ends with an answer of ${status}`, async (t) => {
    const { turn, server } = await serveTurn(t, json({ data: record() }), {
      routes: { [GET_TURN]: json({ error: { message: "no" } }, status) },
    });
    assert.equal((await failure(turn.waitForCompletion())).status, status);
    assert.deepEqual(server.asked, [START, GET_TURN]);
  });
}
