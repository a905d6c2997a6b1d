// What a test can ask of a fake server: its requests, its faults, and mistakes that are named.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../../dist/index.js";
import { fakeServer } from "../../dist/testing.js";
import { cancelledMidway, failure } from "../support/collect.mjs";

test("requests are kept in order, with their headers and bodies", async () => {
  const server = fakeServer("Hello");
  const client = await connect({ ...server.connection, token: "secret", headers: { "x-tenant": "acme" } });
  const session = await client.agents.createSession("support");
  await session.createTurn("Hi").waitForCompletion();
  const [created, turn] = server.requests;
  assert.deepEqual([created.method, new URL(created.url).pathname, created.body], ["POST", "/fake/v1/agents/sessions", { agent_name: "support" }]);
  assert.deepEqual([turn.headers["authorization"], turn.headers["x-tenant"]], ["Bearer secret", "acme"]);
  assert.deepEqual(turn.body.input, [{ type: "user.message", content: "Hi" }]);
});

test("requests over a socket have the names of their methods", async () => {
  const server = fakeServer("Hello", { protocol: "turn-rpc" });
  const client = await connect(server.connection);
  const session = await client.agents.createSession("Chat");
  await session.createTurn("Hi").waitForCompletion();
  assert.deepEqual(server.requests.map(({ url }) => url), ["workspace/default", "thread/start", "turn/start"]);
  client.close();
});

test("ids and events are the same in each run", async () => {
  const play = async () => {
    const { connection } = fakeServer(["a", "b", { tool: "t", result: 1 }, "c"]);
    const session = await (await connect(connection)).agents.createSession("support");
    const turn = session.createTurn("Hi");
    await turn.waitForCompletion();
    return JSON.stringify(turn.snapshot().threads).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "");
  };
  assert.equal(await play(), await play());
});

test("planned faults are those of the next streams, in order; lists and records arrive", async () => {
  const server = fakeServer(["a", "b", "c", "d"]);
  const client = await connect({ ...server.connection, reconnect: { baseDelay: 1, maxDelay: 5 } });
  server.fail("reset:3", "status:503:0", "none");
  const session = await client.agents.createSession("support");
  const turn = session.createTurn("Hi");
  const states = [];
  turn.on("reconnecting", () => states.push("reconnecting"));
  await turn.waitForCompletion();
  assert.equal(turn.snapshot().threads[0].messages[0].content, "abcd");
  assert.deepEqual(states, ["reconnecting", "reconnecting"]);
  assert.equal(server.requests.filter(({ headers }) => headers.accept === "text/event-stream").length, 3);
});

test("an event that comes over a socket is repeated, left out, and never shown wrong", async () => {
  for (const fault of ["duplicate:6", "gap:6:2", "replay:7", "eof:6", "stall:6", "no-done", "reset:0", "none"]) {
    const server = fakeServer(["a", "b", "c", "d", "e"], { protocol: "turn-rpc" });
    const client = await connect({ ...server.connection, idleTimeout: 100, reconnect: { baseDelay: 1, maxDelay: 5 } });
    server.fail(fault);
    const session = await client.agents.createSession("Chat");
    const turn = session.createTurn("Hi");
    await turn.waitForCompletion();
    assert.equal(turn.snapshot().threads[0].messages.map(({ content }) => content).join(""), "abcde", fault);
    client.close();
  }
});

test("a fault that does not exist is an error that names it and the known ones", () => {
  const server = fakeServer("Hello");
  assert.throws(() => server.fail("reste:3"), { name: "TypeError", message: /no fault `reste:3`; there are .*reset:N/ });
  for (const text of ["reset", "reset:x", "reset:1:2", "gap:1", "status", "refuse:1", "", "reset:-1"]) {
    assert.throws(() => server.fail(text), { name: "TypeError" }, text);
  }
  server.fail("status:503:1", "status:503", "reset:3+retry:5");
  assert.throws(() => fakeServer("Hello", { protocol: "codex" }).fail("status:503"), { message: /no fault `status:503` over a socket; there are none, eof:N,/ });
});

test("what is no script is an error that says so", () => {
  for (const script of [undefined, null, 5, { tool: "lookup" }, Promise.resolve("Hello")]) {
    assert.throws(() => fakeServer(script), { name: "TypeError", message: /^a script is a text, a list of steps, or a function/ });
  }
});

test("an unknown step, or one with an unknown field, is an error that names it", async () => {
  const WRONG = [
    [{ tool: "lookup", args: {} }, /^a step `tool` has no field `args`; there are tool, arguments, result, approval$/],
    [{ agent: "helper", script: [{ text: "Hi", delay: 5 }] }, /^a step `text` has no field `delay`; there are text$/],
    [{ say: "Hi" }, /^a script has no step {"say":"Hi"}$/],
    [undefined, /^a script has no step undefined$/],
  ];
  for (const [step, message] of WRONG) {
    assert.throws(() => fakeServer([step]), { name: "TypeError", message });
    const turn = await played(function* () {
      yield step;
    });
    assert.match(turn.snapshot().error.message, message);
  }
});

test("a script that is an async function, or returns nothing, ends the turn with a text that says what to write", async () => {
  for (const script of [async () => "Hello", () => {}]) {
    const turn = await played(script);
    assert.match(turn.snapshot().error.message, /^a script that is a function returns a text, or steps: write `async function\*`/);
  }
});

/** A turn that has ended. */
async function played(script) {
  const client = await connect(fakeServer(script).connection);
  const turn = (await client.agents.createSession("agent")).createTurn("Hi");
  await turn.waitForCompletion();
  return turn;
}

test("an unknown protocol is an error that names it", () => {
  assert.throws(() => fakeServer("Hello", { protocol: "grpc" }), { name: "TypeError", message: /no protocol `grpc`/ });
});

test("a missing resource is refused as by a server", async () => {
  const { connection } = fakeServer("Hello");
  const client = await connect(connection);
  const error = await failure(client.agents.getSession("nope"));
  assert.deepEqual([error.status, error.message.includes("nope")], [404, true]);
  assert.equal((await connection.fetch("https://elsewhere.test/")).status, 404);
});

test("a request that is aborted fails as `fetch` does", async () => {
  const { connection } = fakeServer("Hello", { delay: 50 });
  const control = new AbortController();
  const opened = await connection.fetch(`${connection.baseUrl}/v1/agents/sessions`, { method: "POST", body: "{}" });
  const { data } = await opened.json();
  const turns = `${connection.baseUrl}/v1/agents/sessions/${data.id}/turns`;
  const stream = await connection.fetch(turns, { method: "POST", body: '{"input":[]}', signal: control.signal });
  const text = stream.text();
  control.abort();
  assert.equal((await failure(text)).name, "AbortError");
  assert.equal((await failure(connection.fetch(turns, { method: "POST", body: "{}", signal: control.signal }))).name, "AbortError");
});

test("a script without an end lets the test go on", async () => {
  const server = fakeServer(function* () {
    for (;;) yield "word ";
  });
  const session = await (await connect(server.connection)).agents.createSession("support");
  assert.equal(await cancelledMidway(session.createTurn("Hi")), "cancelled");
});

test("`wait` and `delay` use the current timers", async (t) => {
  const { connection } = fakeServer(["a", { wait: 60_000 }, "b"]);
  const session = await (await connect(connection)).agents.createSession("support");
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const turn = session.createTurn("Hi");
  const wait = turn.waitForCompletion();
  await new Promise((resolve) => turn.on("model.message.delta", resolve));
  t.mock.timers.tick(60_000);
  await wait;
  assert.equal(turn.snapshot().threads[0].messages[0].content, "ab");
});
