// The connection itself: how it is opened, refused, shared, given up and closed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { WebSocket } from "ws";
import { connect, ConnectionError, InputError, StateError } from "../../dist/index.js";
import { collect, eventually, failure, textOf } from "../support/collect.mjs";
import { QUICK, refuse, say, saying, serveRpc, serveSession, serveTimed, SILENCE, thread, turn } from "../support/turn-rpc.mjs";

test("there is no connection before the first request, and all share one", async (t) => {
  const { server, client } = await serveRpc(t);
  assert.equal(server.opens.length, 0);
  await Promise.all([client.agents.getSession("s1"), client.agents.getSession("s2"), client.agents.createSession("Chat")]);
  assert.equal(server.opens.length, 1);
});

test("a token is refused unless it may go into the address; the error says what to do instead", async () => {
  for (const protocol of ["turn-rpc", "codex"]) {
    for (const token of ["secret", () => "secret"]) {
      const error = await failure(connect({ baseUrl: "ws://127.0.0.1:1", protocol, token }));
      assert.ok(error instanceof InputError, String(error));
      assert.equal(error.code, "invalid_option");
      for (const way of [/proxy/, /webSocket/, /tokenInQuery: true/]) assert.match(error.message, way);
    }
    await connect({ baseUrl: "ws://127.0.0.1:1", protocol, token: null, tokenInQuery: false });
  }
});

test("`tokenInQuery`: the token is requested for each connection, and is in the query", async (t) => {
  let count = 0;
  const { server, client } = await serveRpc(t, {}, { tokenInQuery: true, token: async () => `t&${(count += 1)}` });
  await client.agents.getSession("s1");
  await client.agents.getSession("s1");
  await server.lose();
  await client.agents.getSession("s2");
  assert.deepEqual(server.opens.map(({ url }) => url.searchParams.get("access_token")), ["t&1", "t&2"]);
  assert.equal(server.opens[0].url.pathname, "/any");
});

test("without a token there is none in the query", async (t) => {
  const { server, client } = await serveRpc(t);
  await client.agents.getSession("s1");
  assert.equal(server.opens[0].url.search, "");
});

test("a token function that throws is a ConnectionError, and is called again by the next call", async (t) => {
  let isBroken = true;
  const cause = new Error("no token today");
  const { server, client } = await serveRpc(t, {}, {
    tokenInQuery: true,
    token: () => {
      if (isBroken) throw cause;
      return "good";
    },
  });
  const errors = await Promise.all([failure(client.agents.getSession("s1")), failure(client.agents.getSession("s2"))]);
  for (const error of errors) {
    assert.ok(error instanceof ConnectionError);
    assert.equal(error.code, "token");
    assert.equal(error.cause, cause);
  }
  isBroken = false;
  assert.equal((await client.agents.getSession("s1")).id, "s1");
  assert.equal(server.opens.length, 1);
});

test("a turn whose token fails was not started, and can be", async (t) => {
  let count = 0;
  const { server, session } = await serveSession(t, { "turn/start": saying("Hello") }, {
    tokenInQuery: true,
    token: () => {
      if ((count += 1) === 2) throw new Error("not yet");
      return "good";
    },
  });
  await server.lose();
  const played = session.createTurn({ input: "Hello" });
  const { error } = await collect(played.stream());
  assert.equal(error.code, "token");
  assert.equal(played.status, "unstarted");
  assert.equal((await collect(played.stream())).error, undefined);
  assert.equal(server.count("turn/start"), 1);
  assert.equal(server.count("turn/get"), 0, "nothing was sent that could have been lost");
});

test("a turn that runs waits for a token with backoff", async (t) => {
  let count = 0;
  const { server, session } = await serveSession(t, { "turn/start": ({ params }) => ({ turn: turn(params.turn_id) }) }, {
    tokenInQuery: true,
    token: () => {
      if ([2, 3].includes((count += 1))) throw new Error("not yet");
      return "good";
    },
  });
  const played = session.createTurn({ input: "Hello" });
  const tries = [];
  played.on("reconnecting", ({ attempt, cause }) => tries.push([attempt, cause.code]));
  const reading = collect(played.stream());
  const { params } = await server.until("turn/start");
  await eventually(() => played.id);
  await server.lose();
  const { peer } = await server.until("turn/timeline");
  peer.tell(...say(params).all("Hello"));
  assert.equal((await reading).error, undefined);
  assert.equal(textOf(played), "Hello");
  assert.deepEqual(tries, [[1, "network"], [2, "token"], [3, "token"]]);
});

for (const status of [401, 403, 503]) {
  test(`an upgrade that is refused with ${status} is a ConnectionError, and is tried again with backoff`, async (t) => {
    const { server, client } = await serveRpc(t, { "turn/start": saying("Hello") }, { upgrade: (count) => (count === 1 || count > 4 ? undefined : status), reconnect: { maxAttempts: 5, baseDelay: 20, maxDelay: 40 } });
    const session = await client.agents.getSession("s1");
    server.peers[0].drop();
    await eventually(() => server.open.length === 0);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const error = await failure(client.agents.getSession("s2"));
    assert.ok(error instanceof ConnectionError, String(error));
    assert.equal(error.code, "network");
    const played = session.createTurn({ input: "Hello" });
    const told = [];
    played.on("reconnecting", (value) => told.push(value));
    assert.equal((await collect(played.stream())).error, undefined);
    assert.equal(textOf(played), "Hello");
    assert.equal(server.opens.length, 5);
    assert.ok(told.length >= 2, String(told.length));
    assert.ok(told.every(({ cause }) => cause.code === "network"));
    assert.equal(server.count("turn/start"), 1);
  });
}

test("a connection that is not made in time is dropped; a late one is closed", async (t) => {
  const { server, client } = await serveRpc(t, {}, { upgrade: (count) => (count === 1 ? "never" : undefined), connectTimeout: 300 });
  const error = await failure(client.agents.getSession("s1"));
  assert.ok(error instanceof ConnectionError);
  assert.equal(error.code, "timeout");
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal((await client.agents.getSession("s1")).id, "s1");
  assert.equal(server.opens.length, 2);
  assert.equal(server.open.length, 1);
});

test("a turn whose connection is not made in time was not sent, and is tried again", async (t) => {
  const { server, session } = await serveSession(t, { "turn/start": saying("Hello") }, { upgrade: (count) => (count === 2 ? "never" : undefined), connectTimeout: 200 });
  await server.lose();
  const played = session.createTurn({ input: "Hello" });
  const tries = [];
  played.on("reconnecting", ({ cause }) => tries.push(cause.code));
  assert.equal((await collect(played.stream())).error, undefined);
  assert.deepEqual([textOf(played), tries], ["Hello", ["timeout"]]);
  assert.equal(server.count("turn/start"), 1);
});

test("calls that need no server need no connection", async () => {
  const client = await connect({ baseUrl: "ws://127.0.0.1:1", protocol: "turn-rpc", webSocket: () => assert.fail("nothing is asked") });
  assert.deepEqual((await client.agents.list()).map(({ name }) => name), ["Chat", "Agent"]);
});

test("a ping whose answer was lost is repeated after the next message", async (t) => {
  let pings = 0;
  const { server, session } = await serveSession(t, {
    "turn/start": ({ params }) => ({ turn: turn(params.turn_id) }),
    "workspace/default": () => ((pings += 1) === 2 ? SILENCE : { workspace: { id: "ws_1" } }),
  }, { idleTimeout: 400 });
  const played = session.createTurn({ input: "Hello" });
  const reading = collect(played.stream());
  const { params, peer } = await server.until("turn/start");
  await server.until("workspace/default", 2);
  peer.tell(say(params).begin());
  await new Promise((resolve) => setTimeout(resolve, 700));
  peer.tell(...say(params).all("Hello"));
  assert.equal((await reading).error, undefined);
  assert.equal(server.peers.length, 1, "the connection is alive");
});

test("a caller that aborts while the connection is made stops waiting; others do not", async (t) => {
  let decide;
  const decided = new Promise((resolve) => (decide = resolve));
  const { server, client } = await serveRpc(t, {}, { tokenInQuery: true, token: () => decided });
  const controller = new AbortController();
  const first = failure(client.agents.getSession("s1", { signal: controller.signal }));
  const second = client.agents.getSession("s2");
  controller.abort("enough");
  assert.equal((await first).code, "aborted");
  decide("late");
  assert.equal((await second).id, "s2");
  assert.deepEqual(server.requests.filter(({ method }) => method === "thread/get").map(({ params }) => params.thread_id), ["s2"]);
});

test("a turn that is aborted while the connection is made was not started, and can be", async (t) => {
  const { server, session } = await serveSession(t, { "turn/start": saying("Hello") }, { upgrade: (count) => (count === 2 ? "never" : undefined) });
  await server.lose();
  const played = session.createTurn({ input: "Hello" });
  const controller = new AbortController();
  const reading = collect(played.stream({ signal: controller.signal }));
  await eventually(() => server.opens.length === 2);
  controller.abort();
  assert.equal((await reading).error.code, "aborted");
  assert.equal(played.status, "unstarted");
  assert.equal(server.count("turn/start"), 0);
});

test("a server that does not introduce itself: the error is the server's, and no connection stays", async (t) => {
  const { server, client } = await serveRpc(t, { "workspace/default": [refuse(-32040, "over"), () => ({ workspace: { id: "ws_1" } })] });
  const error = await failure(client.agents.getSession("s1"));
  assert.equal(error.code, "rpc");
  assert.equal(error.status, 401);
  await eventually(() => server.open.length === 0);
  assert.equal((await client.agents.getSession("s1")).id, "s1");
});

test("a turn on such a server reports the reason, and not an abort", async (t) => {
  const { server, session } = await serveSession(t, { "workspace/default": [() => ({ workspace: { id: "ws_1" } }), refuse(-32040, "over")] });
  await server.lose();
  const played = session.createTurn({ input: "Hello" });
  const { error } = await collect(played.stream());
  assert.equal(error.code, "rpc");
  assert.equal(played.status, "unstarted");
  await eventually(() => server.open.length === 0);
});

test("a silent first answer has as long as a connection; the socket is not left open", async (t) => {
  const { server, client } = await serveRpc(t, { "workspace/default": () => SILENCE }, { connectTimeout: 50 });
  const error = await failure(client.agents.getSession("s1"));
  assert.equal(error.code, "timeout");
  await eventually(() => server.peers.length === 1 && server.open.length === 0);
});

test("requests that wait fail when the connection drops", async (t) => {
  const { server, client } = await serveRpc(t, { "thread/get": () => SILENCE });
  const asked = ["s1", "s2", "s3"].map((id) => failure(client.agents.getSession(id)));
  const { peer } = await server.until("thread/get", 3);
  peer.socket.close(4401, "authentication is over");
  for (const error of await Promise.all(asked)) {
    assert.ok(error instanceof ConnectionError);
    assert.match(error.message, /4401: authentication is over/);
  }
});

test("after a close frame from the server nothing more is sent: the next request has another connection", async (t) => {
  const sockets = [];
  const { server, client } = await serveRpc(t, {}, {
    webSocket: (url) => {
      const socket = new WebSocket(url);
      const own = { socket, isLeaving: false };
      sockets.push(own);
      return {
        get readyState() {
          return own.isLeaving ? 2 : socket.readyState;
        },
        bufferedAmount: 0,
        send: (text) => socket.send(text),
        close: () => socket.close(),
        addEventListener: (...all) => socket.addEventListener(...all),
      };
    },
  });
  await client.agents.getSession("s1");
  // The close frame has arrived, the end of the connection has not.
  sockets[0].isLeaving = true;
  assert.equal((await client.agents.getSession("s2")).id, "s2");
  assert.equal(server.peers.length, 2);
  assert.equal(server.requests.at(-1).peer.number, 1);
});

test("a failing connection does not close the one that was made meanwhile", async (t) => {
  const { server, client } = await serveRpc(t, { "workspace/default": [() => SILENCE, () => ({ workspace: { id: "ws_1" } })] });
  const first = failure(client.agents.getSession("s1"));
  const { peer } = await server.until("workspace/default");
  peer.drop();
  assert.ok((await first) instanceof ConnectionError);
  await Promise.all(Array.from({ length: 5 }, (_, at) => client.agents.getSession(`s${at}`)));
  await client.agents.getSession("s1");
  assert.equal(server.peers.length, 2);
});

test("`close()` ends open connections and those being made; the next call makes another one", async (t) => {
  const { server, client } = await serveRpc(t, { "thread/get": [() => SILENCE, ({ params }) => ({ thread: thread(params.thread_id) })] }, { upgrade: (count) => (count === 2 ? "never" : undefined) });
  client.close();
  const pending = failure(client.agents.getSession("s1"));
  await server.until("thread/get");
  client.close();
  assert.match((await pending).message, /the client was closed/);
  await eventually(() => server.open.length === 0);
  const dialling = failure(client.agents.getSession("s1"));
  await eventually(() => server.opens.length === 2);
  client.close();
  assert.match((await dialling).message, /the client was closed/);
  assert.equal((await client.agents.getSession("s1")).id, "s1");
  assert.equal(server.peers.length, 2);
});

test("an unused connection is closed after a minute, and not before", async (t) => {
  const { server, client, pass, until } = await serveTimed(t);
  await client.agents.getSession("s1");
  await pass(59_000);
  assert.equal(server.open.length, 1);
  await client.agents.getSession("s1");
  await pass(59_000);
  assert.equal(server.open.length, 1, "each use counts");
  await pass(1_000);
  await until(() => server.open.length === 0);
  assert.equal((await client.agents.getSession("s1")).id, "s1");
  assert.equal(server.peers.length, 2);
});

test("a machine that slept does not trust its connection", async (t) => {
  const { server, client } = await serveTimed(t);
  await client.agents.getSession("s1");
  // Timers stood still.
  t.mock.timers.setTime(Date.now() + 1);
  const { now } = Date;
  const later = now() + 3_600_000;
  Date.now = () => later;
  t.after(() => (Date.now = now));
  assert.equal((await client.agents.getSession("s1")).id, "s1");
  assert.equal(server.peers.length, 2);
});

test("a platform without WebSocket says so; the platform's message about the address is not shown", async (t) => {
  const { WebSocket: own } = globalThis;
  delete globalThis.WebSocket;
  t.after(() => own && (globalThis.WebSocket = own));
  const options = { baseUrl: "ws://127.0.0.1:1/x", protocol: "turn-rpc", token: "secret", tokenInQuery: true, reconnect: QUICK };
  const error = await failure((await connect(options)).agents.getSession("s1"));
  assert.ok(error instanceof StateError);
  assert.equal(error.code, "unsupported");
  const quoting = await failure((await connect({ ...options, webSocket: (url) => { throw new SyntaxError(`bad ${url}`); } })).agents.getSession("s1"));
  assert.ok(quoting instanceof ConnectionError);
  assert.equal([quoting.message, String(quoting.cause)].some((text) => text.includes("secret")), false);
  for (const given of [undefined, {}, "socket"]) {
    const wrong = await failure((await connect({ ...options, webSocket: () => given })).agents.getSession("s1"));
    assert.ok(wrong instanceof InputError, String(wrong));
  }
});

test("a WebSocket of the platform's is used where there is one", async (t) => {
  const { server } = await serveRpc(t);
  const { WebSocket: own } = globalThis;
  globalThis.WebSocket = WebSocket;
  t.after(() => (own ? (globalThis.WebSocket = own) : delete globalThis.WebSocket));
  const client = await connect({ baseUrl: server.baseUrl.replace(/^ws/, "http"), protocol: "turn-rpc" });
  t.after(() => client.close());
  assert.equal((await client.agents.getSession("s1")).id, "s1");
});

test("headers cannot be sent, and are refused", async () => {
  const error = await failure(connect({ baseUrl: "ws://127.0.0.1:1", protocol: "turn-rpc", headers: { "x-key": "1" } }));
  assert.ok(error instanceof InputError);
  assert.match(error.message, /webSocket/);
});
