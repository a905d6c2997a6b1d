// Requests over a socket: which response belongs to which, what an error is, and what a caller waits for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, connect, ConnectionError, InputError, ProtocolError } from "../../dist/index.js";
import { collect, eventually, failure, textOf } from "../support/collect.mjs";
import { refuse, saying, serveRpc, serveSession, SILENCE, thread, turn } from "../support/turn-rpc.mjs";

test("ids have 21 characters, and no two are the same", async (t) => {
  const { server, client } = await serveRpc(t);
  await Promise.all(Array.from({ length: 50 }, (_, at) => client.agents.getSession(`s${at}`)));
  const ids = server.requests.map(({ id }) => id);
  assert.ok(ids.length >= 51);
  for (const id of ids) assert.match(id, /^[\w-]{21}$/);
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(server.peers.length, 1, "all of them share a connection");
});

test("responses are matched by their ids, in any order", async (t) => {
  const held = [];
  const { server, client } = await serveRpc(t, { "thread/get": (request) => void held.push(request) ?? SILENCE });
  const ids = ["s1", "s2", "s3", "s4"];
  const asked = Promise.all(ids.map((id) => client.agents.getSession(id)));
  await server.until("thread/get", 4);
  for (const { id, params, peer } of held.reverse()) peer.reply(id, { thread: thread(params.thread_id) });
  assert.deepEqual((await asked).map(({ id }) => id), ids);
});

test("a response may have its members in another order, blanks, and line ends between them", async (t) => {
  const { client } = await serveRpc(t, {
    "thread/get": ({ id, peer, params }) => {
      peer.write(`\n{ "result" : ${JSON.stringify({ thread: thread(params.thread_id) }, null, 2)} ,\r\n "id" : "${id}", "jsonrpc": "2.0" }\n`);
      return SILENCE;
    },
  });
  assert.equal((await client.agents.getSession("s1")).id, "s1");
});

test("an error is an ApiError with all its fields", async (t) => {
  const { session } = await serveSession(t, { "turn/start": refuse(-32600, "failed to start turn: thread `s1` already has a running turn", { a: [1] }) });
  const turn = session.createTurn({ input: "Hello" });
  const { error } = await collect(turn.stream());
  assert.ok(error instanceof ApiError, String(error));
  assert.equal(error.code, "rpc");
  assert.deepEqual(error.body, { code: -32600, message: "failed to start turn: thread `s1` already has a running turn", data: { a: [1] } });
  assert.match(error.message, /-32600.*already has a running turn/);
  assert.equal(turn.status, "unstarted");
});

test("codes with a matching status have that status", async (t) => {
  const { client } = await serveRpc(t, { "thread/get": [refuse(-32043, "forbidden"), refuse(-32600, "nothing"), refuse(-32602, "params")] });
  const statuses = [];
  for (let round = 0; round < 3; round += 1) statuses.push((await failure(client.agents.getSession("s1"))).status);
  assert.deepEqual(statuses, [403, 404, undefined]);
});

test("an invalid response is a ProtocolError", async (t) => {
  const answers = [(id) => `{"id":"${id}","result":`, (id) => `[{"id":"${id}"}]`, (id) => `{"jsonrpc":"2.0","id":"${id}"}`];
  const { client } = await serveRpc(t, {
    "thread/get": ({ id, peer, count }) => {
      peer.write(answers[count](id));
      return SILENCE;
    },
  });
  for (const _ of answers) {
    const error = await failure(client.agents.getSession("s1"));
    assert.ok(error instanceof ProtocolError, String(error));
    assert.equal(error.code, "unexpected_response");
  }
});

test("an aborted call ends at once; its late response is ignored", async (t) => {
  const held = [];
  const { server, session } = await serveSession(t, {
    "turn/start": saying("Hello"),
    "turn/get": (request) => void held.push(request) ?? SILENCE,
  });
  const first = session.createTurn({ input: "Hello" });
  await collect(first.stream());
  const controller = new AbortController();
  const asked = session.getTurn(first.id, { signal: controller.signal });
  await server.until("turn/get");
  controller.abort("enough");
  const error = await failure(asked);
  assert.equal(error.code, "aborted");
  assert.equal(error.cause, "enough");
  const events = [];
  const second = session.createTurn({ input: "More" });
  second.on("unknown", (event) => events.push(event));
  const [{ id, params, peer }] = held;
  peer.reply(id, { thread_id: params.thread_id, workspace_id: "ws_1", turn: turn(params.turn_id) });
  await collect(second.stream());
  assert.deepEqual(events, []);
  assert.equal(second.status, "done");
  assert.equal(server.peers.length, 1);
});

test("a late response to an aborted request is no event of a turn that is read", async (t) => {
  const held = [];
  const { server, session } = await serveSession(t, {
    "turn/get": (request) => void held.push(request) ?? SILENCE,
    "turn/start": ({ params }) => ({ turn: turn(params.turn_id) }),
  });
  const one = session.createTurn({ input: "Hello" });
  const controller = new AbortController();
  const reading = collect(one.stream({ signal: controller.signal }));
  const { peer } = await server.until("turn/start");
  await eventually(() => one.id);
  const signal = AbortSignal.timeout(20);
  await failure(one.state({ signal }));
  const unknown = [];
  one.on("unknown", (event) => unknown.push(event));
  peer.reply(held[0].id, { thread_id: "s1", workspace_id: "ws_1", turn: turn(one.id) });
  peer.tell(["mood/changed", { thread_id: "s1", turn_id: one.id }]);
  await eventually(() => unknown.length > 0);
  assert.deepEqual(unknown.map(({ wire_type }) => wire_type), ["mood/changed"]);
  controller.abort();
  await reading;
});

test("abandoned requests are not kept, however many", async (t) => {
  const kept = new Set();
  const { set } = Map.prototype;
  Map.prototype.set = function (key, value) {
    if (value?.watch) kept.add(this);
    return set.call(this, key, value);
  };
  t.after(() => (Map.prototype.set = set));
  const { server, client } = await serveRpc(t, { "thread/get": ({ params }) => (params.thread_id === "s1" ? { thread: thread("s1") } : SILENCE) });
  const controller = new AbortController();
  const asked = Array.from({ length: 100 }, () => failure(client.agents.getSession("slow", { signal: controller.signal })));
  await server.until("thread/get", 100);
  const [pending] = kept;
  assert.equal(pending.size, 100);
  controller.abort();
  await Promise.all(asked);
  assert.equal(pending.size, 0);
  assert.equal((await client.agents.getSession("s1")).id, "s1");
  assert.equal(kept.size, 1);
});

test("a response beyond `maxFrameBytes` is a ProtocolError, and does not affect the others", async (t) => {
  const { server, client } = await serveRpc(t, {
    "thread/get": ({ params }) => ({ thread: { ...thread(params.thread_id), preview: "x".repeat(params.thread_id === "large" ? 2000 : 200) } }),
  }, { maxFrameBytes: 2000 });
  const [error, session] = await Promise.all([failure(client.agents.getSession("large")), client.agents.getSession("small")]);
  assert.ok(error instanceof ProtocolError, String(error));
  assert.equal(error.code, "frame_too_large");
  assert.match(error.message, /maxFrameBytes.*2000/);
  assert.equal(session.id, "small");
  assert.equal(server.peers.length, 1);
});

test("a start whose response is too large may have begun the turn: it is looked for, and not sent again", async (t) => {
  const { server, session } = await serveSession(t, {
    "turn/start": ({ params }) => ({ turn: turn(params.turn_id), more: "x".repeat(2000) }),
  }, { maxFrameBytes: 2000 });
  const played = session.createTurn({ input: "Hello" });
  assert.equal((await played.state()).status, "running");
  assert.equal(played.status, "running");
  assert.equal(server.count("turn/start"), 1);
  assert.ok(server.count("turn/get", played.id) > 0);
});

test("each request has a clock", async (t) => {
  const { client } = await serveRpc(t, { "thread/get": () => SILENCE });
  const error = await failure(client.agents.getSession("s1", { connectTimeout: 30 }));
  assert.ok(error instanceof ConnectionError);
  assert.equal(error.code, "timeout");
  const whole = await failure(client.agents.getSession("s1", { deadline: 30 }));
  assert.match(whole.message, /deadline/);
});

test("after a request without an answer, and without other messages, the connection is given up; the next request has another", async (t) => {
  const { server, client } = await serveRpc(t, { "thread/get": [() => SILENCE, ({ params }) => ({ thread: thread(params.thread_id) })] }, { connectTimeout: 100 });
  const error = await failure(client.agents.getSession("s1"));
  assert.equal(error.code, "timeout");
  assert.equal((await client.agents.getSession("s1")).id, "s1");
  assert.equal(server.peers.length, 2);
});

test("a slow request does not drop a connection that brings other messages", async (t) => {
  const { server, client } = await serveRpc(t, {
    "thread/get": async ({ params }) => (params.thread_id === "slow" ? SILENCE : { thread: thread(params.thread_id) }),
  }, { connectTimeout: 100 });
  const slow = failure(client.agents.getSession("slow"));
  await server.until("thread/get");
  await new Promise((resolve) => setTimeout(resolve, 20));
  await client.agents.getSession("s1");
  assert.equal((await slow).code, "timeout");
  await client.agents.getSession("s1");
  assert.equal(server.peers.length, 1);
});

test("options of sessions and turns are sent to the server under its names", async (t) => {
  const { server, client } = await serveRpc(t, { "turn/start": saying("Hello") });
  const session = await client.agents.createSession("Agent", { title: "Mine", sessionOptions: { model: "big", modelProvider: "p", workspaceId: "ws_9" } });
  const { params } = await server.until("thread/start");
  assert.deepEqual(params, { thread_id: session.id, mode: "Agent", name: "Mine", model: "big", model_provider: "p", workspace_id: "ws_9" });
  const turn = session.createTurn({ input: "Hello", turnOptions: { mode: "Chat", capabilities: [{ id: "c", kind: { type: "skill", slug: "s", sourceKind: "k" } }] } });
  await collect(turn.stream());
  const { params: start } = await server.until("turn/start");
  assert.equal(start.mode, "Chat");
  assert.equal(start.capabilities[0].id, "c");
  assert.equal(textOf(turn), "Hello");
  await collect(session.createTurn({ input: "Again" }).stream());
  assert.equal("mode" in (await server.until("turn/start", 2)).params, false, "they are of one turn");
});

test("a session of Codex is named once it exists, and only if it has a title", async (t) => {
  const { server, client } = await serveRpc(
    t,
    {
      initialize: () => ({ userAgent: "test" }),
      "thread/start": ({ count }) => ({ thread: { id: `t${count + 1}` } }),
      "thread/name/set": () => ({}),
    },
    { protocol: "codex" },
  );
  const [named, other] = [await client.agents.createSession("gpt", { title: "Mine", sessionOptions: { cwd: "/srv" } }), await client.agents.createSession("gpt")];
  assert.deepEqual([named.title, other.title], ["Mine", null]);
  const sent = server.requests.filter(({ method }) => method.startsWith("thread/")).map(({ method, params }) => [method, params]);
  assert.deepEqual(sent, [
    ["thread/start", { model: "gpt", cwd: "/srv" }],
    ["thread/name/set", { threadId: "t1", name: "Mine" }],
    ["thread/start", { model: "gpt" }],
  ]);
});

test("options that the protocol does not know are refused, and nothing is sent", async (t) => {
  const { server, client, session } = await serveSession(t);
  for (const sessionOptions of [{ modle: "big" }, [], 7]) {
    const error = await failure(client.agents.createSession("Chat", { sessionOptions }));
    assert.ok(error instanceof InputError);
    assert.equal(error.code, "invalid_option");
  }
  const turn = session.createTurn({ input: "Hello", turnOptions: { modle: "big" } });
  const { error } = await collect(turn.stream());
  assert.equal(error.code, "invalid_option");
  assert.match(error.message, /modle/);
  assert.equal(turn.status, "unstarted");
  for (const turnOptions of [[], "x"]) assert.equal((await failure(() => session.createTurn({ turnOptions }))).code, "invalid_option");
  assert.deepEqual(server.asked, ["thread/get"]);
});

test("other protocols have no such options", async () => {
  const client = await connect({ baseUrl: "http://server/acme", fetch: async () => Response.json({ data: { id: "s1", type: "session" } }) });
  assert.equal((await failure(client.agents.createSession("bot", { sessionOptions: {} }))).code, "invalid_option");
  const session = await client.agents.getSession("s1");
  assert.equal((await failure(() => session.createTurn({ input: "Hello", turnOptions: {} }))).code, "invalid_option");
});
