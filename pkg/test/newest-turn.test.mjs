// The request for a session's newest turn before a start: when and how often it is sent, and what happens to the start if
// it fails or is stopped.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AbortError, connect, ConnectionError, IncompleteError } from "../dist/index.js";
import { collect, eventually, textOf } from "./support/collect.mjs";
import { RECONNECT } from "./support/connection.mjs";
import { ago, KeptTurns, reads, said, serveKept } from "./support/kept-turns.mjs";
import { body, deferred, json, LIST_TURNS, page, refusal, reset, serve, SESSION, silence, START } from "./support/server.mjs";

/** The request by which the newest turn is read. */
const NEWEST = `${LIST_TURNS}?limit=2`;

const FAILURES = {
  "an error of the server": refusal(503),
  "a refusal": refusal(404),
  "a reset": reset,
  "a captive portal": body("<!doctype html>", { type: "text/html" }),
  "silence": silence,
};

for (const [name, reply] of Object.entries(FAILURES)) {
  const clocks = name === "silence" ? { connectTimeout: 300 } : {};

  test(`${name} instead of the newest turn: the start continues`, async (t) => {
    const { fetched, server } = await serveKept(t, said("yes", 5), ["answered"], { [NEWEST]: reply });
    const session = await fetched(clocks);
    for (const id of ["t3", "t4"]) {
      const turn = session.createTurn({ input: "yes" });
      assert.equal((await collect(turn.stream())).error, undefined);
      assert.deepEqual([turn.id, textOf(turn)], [id, `I am ${id}`]);
    }
    assert.deepEqual([server.asked, reads(server)], [[LIST_TURNS, START, START], 1]);
  });

  for (const fate of ["lost", "refused"]) {
    test(`${name} instead of the newest turn: a start that is ${fate} takes no turn of the same input`, async (t) => {
      const kept = said("yes", 5);
      const { fetched } = await serveKept(t, kept, [fate], { [NEWEST]: reply });
      const turn = (await fetched(clocks)).createTurn({ input: "yes" });
      for (let count = 0; count < 2; count += 1) {
        const { error } = await collect(turn.stream());
        assert.ok(error instanceof IncompleteError, String(error));
        assert.deepEqual([turn.id, turn.status, kept.made.length], [null, "incomplete", 1]);
      }
    });
  }

  test(`${name} instead of the newest turn: if there is no turn of the same input, a start that does not arrive can be repeated`, async (t) => {
    const kept = said("no", 30);
    const { fetched } = await serveKept(t, kept, ["refused", "answered"], { [NEWEST]: reply });
    const turn = (await fetched(clocks)).createTurn({ input: "yes" });
    const { error } = await collect(turn.stream());
    assert.ok(error instanceof ConnectionError, String(error));
    assert.equal(turn.status, "unstarted");
    assert.equal((await collect(turn.stream())).error, undefined);
    assert.deepEqual([turn.id, kept.made], ["t3", [null, "t3"]]);
  });
}

for (const [name, start, prepare] of [
  ["a session that was made here", (client) => client.agents.createSession("support-bot")],
  ["a session whose history was read", (client) => client.agents.getSession("s1"), (session) => session.history()],
  ["a session that was resumed", (client) => client.agents.getSession("s1"), (session) => session.resume()],
  ["a session whose turns were listed", (client) => client.agents.getSession("s1"), (session) => collect(session.listTurns({ limit: 1 }))],
]) {
  for (const count of [0, 1, 3]) {
    for (const order of ["newest first", "oldest first"]) {
      if (name === "a session that was made here" && count > 0) continue;

      test(`${name}, ${count} turns, ${order}, is known: nothing is read before its starts`, async (t) => {
        const kept = new KeptTurns(order);
        for (let at = count; at > 0; at -= 1) kept.add("yes", ago(10 * at));
        const server = await serve(t, {
          "GET agents/sessions/s1": json({ data: SESSION }), "POST agents/sessions": json({ data: SESSION }, 201), ...kept.routes("refused", "lost"),
        });
        const session = await start(await connect({ baseUrl: server.baseUrl, reconnect: RECONNECT }));
        await prepare?.(session);
        server.requests.length = 0;
        const turn = session.createTurn({ input: "yes" });
        assert.ok((await collect(turn.stream())).error instanceof ConnectionError);
        assert.deepEqual([turn.status, server.asked[0]], ["unstarted", START]);
        assert.equal((await collect(turn.stream())).error, undefined);
        assert.deepEqual([turn.id, reads(server)], [`t${count + 1}`, 0]);
      });
    }
  }
}

test("a session that was listed is not known: its newest turn is read before the first start, and only then", async (t) => {
  const kept = said("yes", 5);
  const { server } = await serveKept(t, kept, ["lost", "lost"], { "GET agents/sessions": page([SESSION]) });
  const client = await connect({ baseUrl: server.baseUrl, reconnect: RECONNECT });
  for await (const session of client.agents.listSessions("support-bot")) {
    server.requests.length = 0;
    for (const id of ["t3", "t4"]) {
      const turn = session.createTurn({ input: "yes" });
      assert.equal((await collect(turn.stream())).error, undefined);
      assert.equal(turn.id, id);
    }
  }
  assert.equal(reads(server), 1);
});

test("a list that is abandoned at once does not say which turn is the newest", async (t) => {
  const kept = said("yes", 5, "oldest first");
  const { fetched, server } = await serveKept(t, kept, ["lost"]);
  const session = await fetched();
  for await (const turn of session.listTurns({ limit: 1 })) {
    assert.equal(turn.id, "t1");
    break;
  }
  const turn = session.createTurn({ input: "yes" });
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.deepEqual([turn.id, reads(server)], ["t3", 1]);
});

test("nothing is read before a start that names its previous turn, nor where nothing is recovered", async (t) => {
  const { fetched, server } = await serveKept(t, said("yes", 5));
  const named = (await fetched()).createTurn({ input: "yes", previousTurnId: "t1" });
  assert.equal((await collect(named.stream())).error, undefined);
  assert.deepEqual(server.asked, [START]);
  const bare = (await fetched({ reconnect: false })).createTurn({ input: "yes" });
  assert.equal((await collect(bare.stream())).error, undefined);
  assert.deepEqual(server.asked, [START]);
  const alone = (await fetched()).createTurn({ input: "yes" });
  assert.equal((await collect(alone.stream({ reconnect: false }))).error, undefined);
  assert.deepEqual(server.asked, [START]);
  const afresh = (await fetched()).createTurn({ input: "yes", previousTurnId: "none" });
  assert.equal((await collect(afresh.stream())).error, undefined);
  assert.deepEqual([server.asked, reads(server)], [[LIST_TURNS, START], 1]);
});

test("starts that are made at once are sent in their order, after one reading", async (t) => {
  for (const methods of [["stream", "stream", "stream"], ["stream", "state", "waitForCompletion"], ["state", "stream", "state"], ["waitForCompletion", "waitForCompletion", "stream"]]) {
    const kept = said("yes", 5);
    const { fetched, server } = await serveKept(t, kept);
    const session = await fetched();
    const turns = ["one", "two", "three"].map((input) => session.createTurn({ input }));
    await Promise.all(turns.map((turn, at) => (methods[at] === "stream" ? collect(turn.stream()) : turn[methods[at]]())));
    const sent = server.requests.filter(({ method, path }) => `${method} ${path}` === START).map(({ body }) => body.input[0].content);
    assert.deepEqual([sent, reads(server)], [["one", "two", "three"], 1], `${methods}`);
    assert.deepEqual(turns.map(({ id }) => id), ["t3", "t4", "t5"]);
  }
});

/** A session whose newest turn is not returned before `gate` opens, the first time it is requested. */
async function held(t, kept = said("yes", 5)) {
  const gate = deferred();
  let count = 0;
  const world = await serveKept(t, kept, ["answered"], {
    [NEWEST]: async (exchange) => {
      if ((count += 1) === 1) await gate.promise;
      kept.routes()[LIST_TURNS](exchange);
    },
  });
  return { ...world, kept, session: await world.fetched(), gate };
}

for (const [name, stop] of [
  ["an abort", (turn, controller) => collect(turn.stream({ signal: controller.signal }))],
  ["an abort of waitForCompletion()", (turn, controller) => turn.waitForCompletion({ signal: controller.signal }).then(() => ({}), (error) => ({ error }))],
  ["an abort of state()", (turn, controller) => turn.state({ signal: controller.signal }).then(() => ({}), (error) => ({ error }))],
]) {
  test(`${name} while the newest turn is read: nothing was sent, and the turn can be started`, async (t) => {
    const { session, server, kept } = await held(t);
    const controller = new AbortController();
    const turn = session.createTurn({ input: "yes" });
    const stopped = stop(turn, controller);
    await eventually(() => reads(server) > 0);
    controller.abort();
    const { error } = await stopped;
    assert.ok(error instanceof AbortError, String(error));
    assert.deepEqual([turn.id, turn.status, kept.made], [null, "unstarted", []]);
    assert.equal((await collect(turn.stream())).error, undefined);
    assert.deepEqual([turn.id, kept.made, reads(server)], ["t3", ["t3"], 2]);
  });
}

test("a deadline while the newest turn is read: nothing was sent", async (t) => {
  const { session, server, kept } = await held(t);
  const turn = session.createTurn({ input: "yes" });
  const { error } = await collect(turn.stream({ deadline: 100 }));
  assert.equal(error.code, "timeout");
  assert.deepEqual([turn.id, turn.status, kept.made, reads(server)], [null, "unstarted", [], 1]);
});

test("a loop that is left while the newest turn is read sends nothing", async (t) => {
  const { session, server, kept } = await held(t);
  const turn = session.createTurn({ input: "yes" });
  const iterator = turn.stream();
  await eventually(() => reads(server) > 0);
  await iterator.return();
  assert.deepEqual([turn.id, turn.status, kept.made], [null, "unstarted", []]);
});

test("a start that waits for another one goes on, and reads, when that is stopped", async (t) => {
  const { session, server, kept } = await held(t);
  const controller = new AbortController();
  const turns = ["one", "two", "three"].map((input) => session.createTurn({ input }));
  const [one, ...others] = turns.map((turn, at) => collect(turn.stream(at === 0 ? { signal: controller.signal } : {})));
  await eventually(() => reads(server) > 0);
  assert.deepEqual(turns.map(({ status }) => status), ["starting", "unstarted", "unstarted"]);
  controller.abort();
  assert.ok((await one).error instanceof AbortError);
  for (const other of others) assert.equal((await other).error, undefined);
  assert.deepEqual([turns.map(({ id }) => id), kept.made, reads(server)], [[null, "t3", "t4"], ["t3", "t4"], 2]);
  assert.deepEqual(kept.turns.slice(2).map(({ input }) => input[0].content), ["two", "three"]);
});

test("a start that waits for another one can be stopped, and cancelled", async (t) => {
  const { session, server, kept, gate } = await held(t);
  const controller = new AbortController();
  const turns = ["one", "two", "three"].map((input) => session.createTurn({ input }));
  const [one, two, three] = turns.map((turn, at) => collect(turn.stream(at === 1 ? { signal: controller.signal } : {})));
  await eventually(() => reads(server) > 0);
  controller.abort();
  await turns[2].cancel();
  assert.ok((await two).error instanceof AbortError);
  assert.ok((await three).error instanceof AbortError);
  gate.resolve();
  assert.equal((await one).error, undefined);
  assert.deepEqual([turns.map(({ status }) => status), kept.made], [["done", "unstarted", "unstarted"], ["t3"]]);
});

test("the sibling protocol lists the oldest turn first: its newest one is that of the newest event", async (t) => {
  const path = "/acme/api/v1/sessions/s1";
  const kept = said("yes", 5, "oldest first");
  const event = (turn) => ({ turn_id: turn.id, event: { type: "turn.done", id: `e-${turn.id}`, state: turn.state } });
  const routes = kept.routes("lost");
  const server = await serve(t, {
    [`GET ${path}`]: json({ data: { id: "s1", agent: { type: "reference", id: "a", name: "support-bot" }, created_by: "ada", title: null } }),
    [`GET ${path}/events?limit=1`]: (exchange) => page(kept.turns.slice(-1).map(event), "more")(exchange),
    [`GET ${path}/turns`]: routes["GET agents/sessions/s1/turns"],
    [`POST ${path}/turns`]: routes["POST agents/sessions/s1/turns"],
    [`GET ${path}/turns/t3/subscribe`]: routes["POST agents/sessions/s1/turns/*/subscribe"],
  });
  const client = await connect({ baseUrl: server.baseUrl, protocol: "trueforge", reconnect: RECONNECT });
  const turn = (await client.agents.getSession("s1")).createTurn({ input: "yes" });
  server.requests.length = 0;
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.deepEqual([turn.id, kept.made], ["t3", ["t3"]]);
  assert.deepEqual(server.requests.slice(0, 2).map(({ method, path: own, query }) => [method, own, query]), [
    ["GET", `${path}/events`, { limit: "1" }], ["POST", `${path}/turns`, {}],
  ]);
});
