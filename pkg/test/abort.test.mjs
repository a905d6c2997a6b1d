// Stopping to listen: by a signal or by leaving the loop. The turn continues, the connection is closed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AbortError, connect, TurnwireError } from "../dist/index.js";
import { fakeServer } from "../dist/testing.js";
import { collect, eventually, failure, textOf, until } from "./support/collect.mjs";
import { PROTOCOLS } from "./support/protocols.mjs";
import {
  deferred, events, GET_TURN, json, LIST_TURNS, LiveStream, page, serve, serveSession, serveTurn, START, stream, SUBSCRIBE,
} from "./support/server.mjs";
import { answer, created, done, frames, message, recent, record, text } from "./support/wire.mjs";

const REASON = new Error("the user went to lunch");

/** A signal that was aborted before anything began. */
const ABORTED = AbortSignal.abort(REASON);

function checkAborted(error) {
  assert.ok(error instanceof AbortError && error instanceof TurnwireError, String(error));
  assert.equal(error.name, "AbortError");
  assert.equal(error.code, "aborted");
  assert.equal(error.cause, REASON);
}

test("a signal that is aborted already: nothing is sent", async (t) => {
  const { turn, server } = await serveTurn(t, events());
  const { events: got, error } = await collect(turn.stream({ signal: ABORTED }));
  assert.deepEqual(got, []);
  checkAborted(error);
  assert.deepEqual(server.asked, []);
});

test("a turn of which nothing was sent can still be started", async (t) => {
  const { turn, server } = await serveTurn(t, events(...answer("Hi")));
  await collect(turn.stream({ signal: ABORTED }));
  assert.equal(turn.status, "unstarted");
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.deepEqual(server.asked, [START]);
});

test("every request takes a signal", async (t) => {
  const { session, client, server } = await serveSession(t, {
    [GET_TURN]: json({ data: record() }),
  });
  const turn = await session.getTurn("t1");
  const options = { signal: ABORTED };
  const attempts = [
    client.agents.createSession("a", options),
    client.agents.getSession("s", options),
    client.agents.listSessions("a", options).next(),
    client.agents.createDraftSession({}, options),
    client.agents.listDraftSessions(options).next(),
    client.agents.getDraftSession("d", options),
    client.agents.listOwnedSessions(options).next(),
    client.agents.searchSessions(options).next(),
    client.agents.downloadSandboxFile("sbx", "/f", options),
    session.listTurns(options).next(),
    session.getTurn("t2", options),
    session.listEvents(options).next(),
    session.history(options),
    session.cancel(options),
    session.refresh(options),
    session.createTurn({ input: "x" }).state(options),
    session.createTurn({ input: "x" }).waitForCompletion(options),
    turn.state(options),
    turn.listEvents(options).next(),
    turn.cancel(options),
    turn.waitForCompletion(options),
  ];
  for (const attempt of attempts) checkAborted(await failure(attempt));
  assert.deepEqual(server.asked, [GET_TURN]);
});

test("aborting within a stream ends the loop, not the turn", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply, { routes: { [SUBSCRIBE]: stream(frames(answer("Hel", "lo"))) } });
  const controller = new AbortController();
  const iterator = turn.stream({ signal: controller.signal });
  await live.send(...answer("Hel").slice(0, 3));
  await until(iterator, "model.message.delta");
  const next = failure(iterator.next());
  controller.abort(REASON);
  checkAborted(await next);
  assert.deepEqual(await iterator.next(), { done: true, value: undefined });
  assert.equal(await live.closed, true);
  assert.equal(turn.status, "running");
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
  assert.equal(textOf(turn), "Hello");
});

test("aborting a loop is no error of the turn", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const errors = [];
  turn.on("error", (error) => errors.push(error));
  const controller = new AbortController();
  const loop = collect(turn.stream({ signal: controller.signal }));
  await live.send(created());
  await eventually(() => turn.id);
  controller.abort(REASON);
  checkAborted((await loop).error);
  await collect(turn.stream({ signal: ABORTED }));
  assert.deepEqual([turn.status, turn.snapshot().error, errors], ["running", null, []]);
});

test("aborting while the start is in flight: whether the turn began is checked before it is started again", async (t) => {
  const asked = deferred();
  const { turn, server } = await serveTurn(t, () => asked.resolve(), {
    routes: { [LIST_TURNS]: page([recent()]), [SUBSCRIBE]: events(...answer("Hi")) },
  });
  const controller = new AbortController();
  const next = failure(turn.stream({ signal: controller.signal }).next());
  await asked.promise;
  controller.abort(REASON);
  checkAborted(await next);
  assert.deepEqual([turn.status, turn.id], ["incomplete", null]);
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.equal(textOf(turn), "Hi");
  assert.deepEqual(server.asked, [START, LIST_TURNS, SUBSCRIBE]);
});

test("a reason is optional", async (t) => {
  const controller = new AbortController();
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const next = failure(turn.stream({ signal: controller.signal }).next());
  await live.opened;
  controller.abort();
  const error = await next;
  assert.equal(error.code, "aborted");
  assert.equal(error.cause, controller.signal.reason);
});

test("a timeout's signal works as any other", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const { error } = await collect(turn.stream({ signal: AbortSignal.timeout(20) }));
  assert.equal(error.code, "aborted");
  assert.equal(error.cause.name, "TimeoutError");
});

test("leaving the loop releases the connection", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const iterator = turn.stream();
  await live.send(created(), message(), text("Hi"));
  for await (const event of iterator) if (event.type === "model.message") break;
  assert.equal(await live.closed, true);
  assert.equal(turn.status, "running");
  assert.deepEqual(await iterator.next(), { done: true, value: undefined });
});

test("an error thrown in the loop releases the connection", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const thrown = new Error("mine");
  const iterator = turn.stream();
  await live.send(created());
  const error = await failure(async () => {
    for await (const _ of iterator) throw thrown;
  });
  assert.equal(error, thrown);
  assert.equal(await live.closed, true);
});

test("return() settles a next() that waits", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const iterator = turn.stream();
  const next = iterator.next();
  await live.opened;
  assert.deepEqual(await iterator.return(), { done: true, value: undefined });
  assert.deepEqual(await next, { done: true, value: undefined });
  assert.equal(await live.closed, true);
});

test("leaving a loop is not an error, for other readers neither", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const errors = [];
  turn.on("error", (error) => errors.push(error));
  const iterator = turn.stream();
  await live.send(created());
  for await (const _ of iterator) break;
  assert.deepEqual(errors, []);
  assert.equal(turn.snapshot().error, null);
  assert.equal(turn.status, "running");
});

test("the loop can be left and begun again at once", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply, { routes: { [SUBSCRIBE]: stream(frames([text("Hi"), done()], 3)) } });
  const iterator = turn.stream();
  await live.send(created(), message());
  for await (const event of iterator) if (event.type === "model.message") break;
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual(got.map((event) => event.sequence_number), [3, 4]);
  await iterator.return();
});

test("aborting one waiting caller leaves the stream to the others", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const iterator = turn.stream();
  const controller = new AbortController();
  const impatient = failure(turn.waitForCompletion({ signal: controller.signal }));
  const patient = turn.waitForCompletion();
  await live.send(created());
  await iterator.next();
  controller.abort(REASON);
  checkAborted(await impatient);
  await live.send(...answer("Hi").slice(1));
  assert.equal((await patient).status, "done");
  assert.equal((await collect(iterator)).error, undefined);
});

test("aborting the only waiting caller releases the connection, and is no error of the turn", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply, { routes: { [SUBSCRIBE]: stream(frames(answer("Hi").slice(2), 3)) } });
  const controller = new AbortController();
  const waiting = failure(turn.waitForCompletion({ signal: controller.signal }));
  await live.send(created(), message());
  await eventually(() => turn.lastSequenceNumber === 2);
  controller.abort(REASON);
  checkAborted(await waiting);
  assert.equal(await live.closed, true);
  assert.deepEqual([turn.status, turn.snapshot().error], ["running", null]);
  assert.equal((await turn.waitForCompletion()).status, "done");
  assert.equal(textOf(turn), "Hi");
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
});

test("a caller that waits again in the same task takes over the reading: effects of React run twice", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply);
  const controller = new AbortController();
  const first = failure(turn.waitForCompletion({ signal: controller.signal }));
  controller.abort(REASON);
  const second = turn.waitForCompletion();
  checkAborted(await first);
  await live.send(...answer("Hi"));
  assert.equal((await second).status, "done");
  assert.equal(textOf(turn), "Hi");
  assert.deepEqual(server.asked, [START]);
});

/** The numbers of a loop's events. */
const numbersOf = ({ events, error }) => {
  assert.equal(error, undefined);
  return events.map((event) => event.sequence_number);
};

// Effects of React run twice in its strict mode: the second loop begins before the first one has ended.
test("an aborted loop can be begun again at once, or any moment later", async () => {
  for (let moments = 0; moments < 40; moments += 1) {
    for (let before = 0; before <= moments; before += 1) {
      const client = await connect({ baseUrl: "http://server.example", reconnect: false, fetch: resumable() });
      const turn = (await client.agents.createSession("support-bot")).createTurn("Hello");
      const controller = new AbortController();
      const first = collect(turn.stream({ signal: controller.signal }));
      for (let at = 0; at < before; at += 1) await undefined;
      controller.abort(REASON);
      for (let at = before; at < moments; at += 1) await undefined;
      let second = { events: [] };
      try {
        second = collect(turn.stream());
      } catch (error) {
        // The first one had everything.
        assert.equal(error.code, "turn_already_streamed");
      }
      const { events: earlier, error } = await first;
      if (error) checkAborted(error);
      assert.deepEqual([...numbersOf({ events: earlier }), ...numbersOf(await second)], [1, 2, 3, 4, 5], `${before} of ${moments}`);
      assert.deepEqual([turn.status, turn.snapshot().error], ["done", null]);
    }
  }
});

/** A server of one turn, which has five events. A stream of it begins after the number that it asks for. */
function resumable() {
  let turns = [];
  return async (url, { method, body }) => {
    if (!url.includes("/turns")) return Response.json({ data: { id: "s1" } });
    if (method === "GET") return Response.json({ data: turns, pagination: { limit: 3 } });
    turns = [recent()];
    const after = JSON.parse(body).after_sequence_number ?? 0;
    return new Response(frames(answer("Hi").slice(after), after + 1), { headers: { "content-type": "text/event-stream" } });
  };
}

test("an aborted loop is followed at once by another: it continues after the last delivered event, in the same stream", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply);
  const controller = new AbortController();
  const iterator = turn.stream({ signal: controller.signal });
  await live.send(created(), message(), text("Hel"));
  await until(iterator, "turn.created");
  // The others have come, too.
  await eventually(() => turn.lastSequenceNumber === 3);
  controller.abort(REASON);
  const rest = collect(turn.stream());
  checkAborted(await failure(iterator.next()));
  await live.send(text("lo"), done());
  assert.deepEqual(numbersOf(await rest), [2, 3, 4, 5]);
  assert.deepEqual(server.asked, [START]);
  assert.equal(textOf(turn), "Hello");
});

for (const protocol of PROTOCOLS) {
  test(`${protocol}: a loop that is aborted and begun again in one task loses nothing, and doubles nothing`, async () => {
    const server = fakeServer(["a", "b", "c", "d"], { protocol });
    const client = await connect(server.connection);
    const session = await client.agents.createSession({ aap: "agent", "turn-rpc": "Chat" }[protocol] ?? "support-bot");
    const turn = session.createTurn("Hello");
    const numbers = [];
    let words = "";
    const take = ({ sequence_number, content = "" }) => {
      numbers.push(sequence_number);
      words += content;
    };
    const controller = new AbortController();
    let rest;
    const { error } = await collect(
      (async function* () {
        for await (const event of turn.stream({ signal: controller.signal })) {
          take(event);
          if (event.content !== "b") continue;
          controller.abort(REASON);
          rest = collect(turn.stream());
        }
      })(),
    );
    checkAborted(error);
    (await rest).events.forEach(take);
    assert.deepEqual([words, turn.status, numbers], ["abcd", "done", numbers.map((_, at) => at + 1)]);
    client.close();
  });
}

test("the same after the stream was let go: it is requested again", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply, { routes: { [SUBSCRIBE]: stream(frames([text("lo"), done()], 4)) } });
  const controller = new AbortController();
  const iterator = turn.stream({ signal: controller.signal });
  await live.send(created(), message(), text("Hel"));
  await until(iterator, "turn.created");
  await eventually(() => turn.lastSequenceNumber === 3);
  controller.abort(REASON);
  await undefined;
  const rest = collect(turn.stream());
  checkAborted(await failure(iterator.next()));
  assert.deepEqual(numbersOf(await rest), [2, 3, 4, 5]);
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
  assert.equal(textOf(turn), "Hello");
});

test("the same while a wait reads on", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply);
  const whole = turn.waitForCompletion();
  const controller = new AbortController();
  const iterator = turn.stream({ signal: controller.signal });
  await live.send(...answer("Hi").slice(0, 3));
  await until(iterator, "turn.created");
  await eventually(() => turn.lastSequenceNumber === 3);
  controller.abort(REASON);
  const rest = collect(turn.stream());
  checkAborted(await failure(iterator.next()));
  await live.send(...answer("Hi").slice(3));
  assert.deepEqual(numbersOf(await rest), [2, 3, 4, 5]);
  await whole;
  assert.deepEqual(server.asked, [START]);
});

test("the same while the start is in flight", async (t) => {
  const asked = deferred();
  const { turn, server } = await serveTurn(t, () => asked.resolve(), {
    routes: { [LIST_TURNS]: page([recent()]), [SUBSCRIBE]: events(...answer("Hi")) },
  });
  const controller = new AbortController();
  const first = failure(turn.stream({ signal: controller.signal }).next());
  await asked.promise;
  controller.abort(REASON);
  const second = collect(turn.stream());
  checkAborted(await first);
  assert.deepEqual(numbersOf(await second), [1, 2, 3, 4, 5]);
  assert.deepEqual(server.asked, [START, LIST_TURNS, SUBSCRIBE]);
});

test("loops that are aborted one after the other send nothing; the last one starts the turn", async (t) => {
  const { turn, server } = await serveTurn(t, events(...answer("Hi")));
  const aborted = Array.from({ length: 4 }, () => {
    const controller = new AbortController();
    const loop = collect(turn.stream({ signal: controller.signal }));
    controller.abort(REASON);
    return loop;
  });
  const last = collect(turn.stream());
  for (const { events: got, error } of await Promise.all(aborted)) {
    assert.deepEqual(got, []);
    checkAborted(error);
  }
  assert.deepEqual(numbersOf(await last), [1, 2, 3, 4, 5]);
  assert.deepEqual(server.asked, [START]);
});

test("a loop that takes over can be aborted while it waits for the one before", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply);
  const iterator = turn.stream();
  await live.send(created());
  await iterator.next();
  void turn[Symbol.asyncDispose]();
  const controller = new AbortController();
  const second = failure(turn.stream({ signal: controller.signal }).next());
  controller.abort(REASON);
  checkAborted(await second);
  assert.equal(await live.closed, true);
  assert.deepEqual(server.asked, [START]);
});

test("a loop that was returned from is followed at once by another", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply);
  const iterator = turn.stream();
  await live.send(created(), message());
  await until(iterator, "model.message");
  const returned = iterator.return();
  const rest = collect(turn.stream());
  assert.deepEqual(await returned, { done: true, value: undefined });
  await live.send(text("Hi"), done());
  assert.deepEqual(numbersOf(await rest), [3, 4]);
  assert.deepEqual(server.asked, [START]);
});

test("a loop that ended with its turn's block is followed at once by another", async (t) => {
  const live = new LiveStream();
  const { turn, server } = await serveTurn(t, live.reply, { routes: { [SUBSCRIBE]: stream(frames([text("Hi"), done()], 3)) } });
  const iterator = turn.stream();
  await live.send(created(), message());
  await until(iterator, "model.message");
  const disposed = turn[Symbol.asyncDispose]();
  const rest = collect(turn.stream());
  await disposed;
  assert.equal((await failure(iterator.next())).code, "aborted");
  assert.deepEqual(numbersOf(await rest), [3, 4]);
  assert.deepEqual(server.asked, [START, SUBSCRIBE]);
  assert.equal(turn.snapshot().error, null);
});

test("a list can be left, and aborted between its pages", async (t) => {
  const controller = new AbortController();
  const { session, server } = await serveSession(t, { [LIST_TURNS]: [page([record()], "p2"), page([record()], "p2")] });
  for await (const _ of session.listTurns()) break;
  const turns = session.listTurns({ signal: controller.signal });
  assert.equal((await turns.next()).value.id, "t1");
  controller.abort(REASON);
  checkAborted(await failure(turns.next()));
  assert.deepEqual(server.asked, [LIST_TURNS, LIST_TURNS]);
});

test("signals that outlive their streams keep no listener", async (t) => {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  signal.addEventListener = function (...rest) {
    listeners += 1;
    return addEventListener.apply(this, rest);
  };
  signal.removeEventListener = function (...rest) {
    listeners -= 1;
    return removeEventListener.apply(this, rest);
  };
  // A fake fetch, since the platform's keeps listeners for an unknown time.
  const server = await serve(t);
  const client = await connect({ baseUrl: server.baseUrl, reconnect: false, fetch: async (url) => canned(url) });
  const session = await client.agents.getSession("s1");
  const turn = session.createTurn({ input: "Hello" });
  const waiting = (iterator) => Promise.all([collect(iterator), turn.waitForCompletion({ signal })]);
  await waiting(turn.stream({ signal }));
  assert.equal(turn.status, "done");
  assert.equal(listeners, 0);
});

/** Answers the start of a turn with a stream, and everything else with a session. */
function canned(url) {
  if (!url.endsWith("/turns")) return Response.json({ data: { id: "s1" } });
  return new Response(frames(answer("Hi")), { headers: { "content-type": "text/event-stream" } });
}

for (const [name, when] of [["before it answers", "never"], ["after it answered", "answers"]]) {
  test(`a custom fetch that ignores the signal delays nothing: ${name}`, async (t) => {
    const released = deferred();
    const asked = deferred();
    const silent = new ReadableStream({ cancel: () => released.resolve() });
    const options = {
      fetch: (url, init) => {
        if (!url.endsWith("/turns")) return fetch(url, init);
        asked.resolve();
        if (when === "never") return new Promise(() => {});
        return Promise.resolve(new Response(silent, { headers: { "content-type": "text/event-stream" } }));
      },
    };
    const { turn } = await serveTurn(t, events(), { options });
    const controller = new AbortController();
    const next = failure(turn.stream({ signal: controller.signal }).next());
    await asked.promise;
    controller.abort(REASON);
    checkAborted(await next);
    if (when === "answers") await released.promise;
  });
}

test("a token that never comes delays no abort", async (t) => {
  const asked = deferred();
  const token = () => {
    asked.resolve();
    return new Promise(() => {});
  };
  const server = await serve(t);
  const client = await connect({ baseUrl: server.baseUrl, reconnect: false, token });
  const controller = new AbortController();
  const attempt = failure(client.agents.getSession("s1", { signal: controller.signal }));
  await asked.promise;
  controller.abort(REASON);
  checkAborted(await attempt);
});

test("a loop that was left after the whole turn had come can be resumed", async (t) => {
  const { turn } = await serveTurn(t, events(...answer("Hel", "lo")));
  const first = [];
  for await (const event of turn.stream()) {
    first.push(event.sequence_number);
    // The rest of the turn comes with this chunk, or soon after it.
    while (turn.status !== "done") await new Promise((resolve) => setTimeout(resolve, 5));
    break;
  }
  const { events: rest, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual([...first, ...rest.map((event) => event.sequence_number)], [1, 2, 3, 4, 5, 6].slice(0, first.length + rest.length));
  assert.equal(rest.at(-1).type, "turn.done");
  assert.throws(() => turn.stream(), { code: "turn_already_streamed" });
});
