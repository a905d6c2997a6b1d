// Shorthands: inputs without an object around them, answers to pending actions, keys, `using`, URLs of the page's own
// server, and errors that name the request.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { transform } from "esbuild";
import { WebSocket } from "ws";
import { allow, connect, deny, InputError, respond } from "../dist/index.js";
import { collect, failure, textOf } from "./support/collect.mjs";
import { fakeSockets } from "./support/fake-socket.mjs";
import { events, LIST_TURNS, LiveStream, page, serve, serveFetched, serveSession, serveTurn } from "./support/server.mjs";
import { created, done, message, record, text } from "./support/wire.mjs";

const ITEM = { type: "user.message", content: "Hello" };

for (const [form, given] of Object.entries({ "a text": ["Hello"], "an item": [ITEM], "a list": [[ITEM]], "options": [{ input: "Hello" }] })) {
  test(`createTurn takes ${form}`, async (t) => {
    const { session } = await serveSession(t);
    assert.deepEqual(session.createTurn(...given).input, [ITEM]);
  });
}

test("createTurn takes options beside the input, and checks them", async (t) => {
  const { session } = await serveSession(t);
  assert.deepEqual(session.createTurn("Hello", { previousTurnId: "none" }).input, [ITEM]);
  const error = await failure(() => session.createTurn("Hello", { previous: "none" }));
  assert.ok(error instanceof InputError, String(error));
  assert.match(error.message, /previous/);
});

const CALL = { thread_id: "main", tool_call_id: "c1", name: "restart", arguments: "{}", tool_info: null };
const APPROVAL = { ...CALL, type: "tool.approval_required" };
const RESPONSE = { ...CALL, type: "tool.response_required" };

test("allow, deny and respond make the items that servers take", () => {
  const approval = { type: "user.tool_approval", thread_id: "main", tool_call_id: "c1" };
  assert.deepEqual(allow(APPROVAL), { ...approval, approval: { status: "allow" } });
  assert.deepEqual(allow(APPROVAL, { remember: true }), { ...approval, approval: { status: "allow", remember: true } });
  assert.deepEqual(deny(APPROVAL), { ...approval, approval: { status: "deny" } });
  assert.deepEqual(deny(APPROVAL, "not today"), { ...approval, approval: { status: "deny", reason: "not today" } });
  const response = { type: "user.tool_response", thread_id: "main", tool_call_id: "c1" };
  assert.deepEqual(respond(RESPONSE, "12:00"), { ...response, content: "12:00" });
  assert.deepEqual(respond(RESPONSE, { time: 12 }), { ...response, content: '{"time":12}' });
  assert.deepEqual(respond(RESPONSE, undefined), { ...response, content: "null" });
});

test("what is no action is an input error", () => {
  for (const answer of [allow, deny, respond]) {
    for (const action of [undefined, null, "c1"]) {
      assert.throws(() => answer(action), (error) => error instanceof InputError && /required_actions/.test(error.message));
    }
  }
});

test("each turn has a key from the start, which its id does not change", async (t) => {
  const { session, turn } = await serveTurn(t, events(created(), message(), text("Hi"), done()));
  const other = session.createTurn("Hello");
  const { key } = turn;
  assert.ok(key && other.key && key !== other.key, key);
  await turn.waitForCompletion();
  assert.deepEqual([turn.id, turn.key], ["t1", key]);
});

test("a turn that was read from the server has its id as the key", async (t) => {
  const { session } = await serveFetched(t, { [`${LIST_TURNS}?limit=3`]: page([record()]) });
  for await (const turn of session.listTurns({ limit: 3 })) assert.equal(turn.key, "t1");
});

/** A function that reads a turn in a block, and leaves it, as a bundler compiles it for engines without `using`. */
async function blockWith(keyword) {
  const source = `return async (turn, read) => { { ${keyword} it = turn; await read(it); } };`;
  const { code } = await transform(`async function made() { ${source} }`, { target: "es2022" });
  return new Function(`${code}; return made();`)();
}

for (const [how, leave] of Object.entries({
  "await using": async (turn) => turn[Symbol.asyncDispose](),
  "using": async (turn) => turn[Symbol.dispose](),
  "`await using`, compiled": async (turn) => (await blockWith("await using"))(turn, () => {}),
  "`using`, compiled": async (turn) => (await blockWith("using"))(turn, () => {}),
  "a block that throws": async (turn) => {
    const block = await blockWith("await using");
    await assert.rejects(block(turn, () => Promise.reject(new RangeError("of the page"))), RangeError);
  },
})) {
  test(`${how}: leaving the block releases the connection, and stops nothing on the server`, async (t) => {
    const live = new LiveStream();
    const { server, turn } = await serveTurn(t, live.reply);
    const whole = failure(turn.waitForCompletion());
    await live.send(created(), message(), text("Hi"));
    const reading = collect(turn.stream());
    while (textOf(turn) !== "Hi") await new Promise(setImmediate);
    await leave(turn);
    await live.closed;
    assert.deepEqual([(await reading).error.code, (await whole).code], ["aborted", "aborted"]);
    assert.deepEqual([turn.status, textOf(turn), turn.snapshot().error], ["running", "Hi", null]);
    assert.equal(server.requests.filter(({ path }) => path.endsWith("cancel")).length, 0);
  });
}

test("a client closes its connection at the end of its block", async () => {
  const sockets = [];
  let closed = 0;
  const answers = { "workspace/default": { workspace: { id: "w", name: "Default" } }, "thread/start": { thread: { id: "t", workspace_id: "w", status: "Idle", created_at: 1, turns: [] } } };
  const made = fakeSockets(sockets, (socket, { id, method }) => socket.say({ id, result: answers[method] }));
  const webSocket = () => Object.assign(made(), { close: () => void (closed += 1) });
  const client = await connect({ baseUrl: "http://rpc.test", protocol: "turn-rpc", webSocket });
  await (await blockWith("using"))(client, async () => {
    await client.agents.createSession("Chat");
    assert.deepEqual([sockets.length, closed], [1, 0]);
  });
  assert.equal(closed, 1);
});

test("a relative URL waits for a page until the first request", async () => {
  const client = await connect({ baseUrl: "/api/agents/" });
  assert.equal(client.baseUrl, "/api/agents");
  const error = await failure(client.agents.createSession("a"));
  assert.ok(error instanceof InputError, String(error));
  assert.equal(error.code, "invalid_url");
  assert.match(error.message, /\/api\/agents.*no page/);
});

test("a page's own fetch gets a relative URL as it is", async () => {
  const asked = [];
  const fetch = async (url) => {
    asked.push(url);
    return Response.json({ data: [] });
  };
  for (const baseUrl of ["/api", "./api", "../api", "/"]) {
    const client = await connect({ baseUrl, fetch });
    await failure(client.agents.createSession("a"));
  }
  assert.deepEqual(asked.map((url) => url.split("/v1/")[0]), ["/api", "./api", "../api", ""]);
});

test("a relative URL is resolved against the page when a request is made", async (t) => {
  const client = await connect({ baseUrl: "../agents" });
  const asked = [];
  const { fetch } = globalThis;
  globalThis.fetch = async (url) => Promise.reject(new TypeError(asked.push(url)));
  globalThis.location = { href: "https://shop.example/app/chat?x=1" };
  t.after(() => {
    globalThis.fetch = fetch;
    delete globalThis.location;
  });
  await failure(client.agents.createSession("a"));
  assert.match(asked[0], /^https:\/\/shop\.example\/agents\/v1\//);
});

test("a server that is down: the error names the request and the likely causes", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  const client = await connect({ baseUrl: `http://127.0.0.1:${port}/acme`, token: "secret", reconnect: false });
  const error = await failure(client.agents.createSession("a"));
  assert.equal(error.code, "network");
  assert.match(error.message, new RegExp(`^POST http://127\\.0\\.0\\.1:${port}/acme/\\S+ did not get through: .*down.*baseUrl.*CORS.*CSP`));
  assert.doesNotMatch(error.message, /secret/);
});

test("a refusal names the request, in a call and in a stream", async (t) => {
  const refuse = ({ response }) => void response.writeHead(404).end();
  const { server, turn } = await serveTurn(t, refuse);
  const { error } = await collect(turn.stream());
  assert.equal(error.status, 404);
  assert.ok(error.message.endsWith(`(POST ${server.baseUrl}/v1/agents/sessions/s1/turns)`), error.message);
  const other = await serve(t, { "GET agents/sessions/s9": refuse });
  const client = await connect({ baseUrl: other.baseUrl });
  const missing = await failure(client.agents.getSession("s9"));
  assert.ok(missing.message.endsWith(`(GET ${other.baseUrl}/v1/agents/sessions/s9)`), missing.message);
});

test("a server over a socket that is down: the error names the address and the likely causes", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  const baseUrl = `ws://127.0.0.1:${port}/turn-rpc`;
  const client = await connect({ baseUrl, protocol: "turn-rpc", reconnect: false, webSocket: (url) => new WebSocket(url) });
  const error = await failure(client.agents.createSession("Chat"));
  client.close();
  assert.equal(error.code, "network");
  assert.match(error.message, /did not open.*down.*origin/);
  assert.ok(error.message.endsWith(`(${baseUrl})`), error.message);
});
