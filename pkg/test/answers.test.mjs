// Unexpected answers: each one leads to a typed error that says what was received.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, connect, ConnectionError, IncompleteError, ProtocolError, TurnwireError } from "../dist/index.js";
import { collect, failure } from "./support/collect.mjs";
import {
  body, events, json, LIST_TURNS, page, serve, SESSION, SESSION_EVENTS, serveSession, serveTurn, START, stream, SUBSCRIBE, TURN_EVENTS,
} from "./support/server.mjs";
import { answer, created, DONE, frames, recent, record, text } from "./support/wire.mjs";

const HTML = "<!doctype html><title>Sign in</title>";

const NO_STREAMS = {
  "an HTML page": [body(HTML, { type: "text/html" }), { status: 200, body: HTML, message: /text\/html/ }],
  "JSON": [json({ data: record() }), { status: 200, body: { data: record() }, message: /application\/json/ }],
  "text without a type": [body("hello"), { status: 200, body: "hello" }],
  "nothing": [body("", { status: 204 }), { status: 204 }],
};

for (const [name, [reply, expected]] of Object.entries(NO_STREAMS)) {
  test(`a start that is answered with ${name} is no stream`, async (t) => {
    const { turn } = await serveTurn(t, reply);
    const { events: got, error } = await collect(turn.stream());
    assert.deepEqual(got, []);
    assert.ok(error instanceof ProtocolError, String(error));
    assert.equal(error.code, "unexpected_response");
    assert.equal(error.status, expected.status);
    if (expected.body !== undefined) assert.deepEqual(error.body, expected.body);
    if (expected.message) assert.match(error.message, expected.message);
    assert.equal(turn.snapshot().error, error);
  });
}

test("the type of a stream may have parameters and capitals", async (t) => {
  const { turn } = await serveTurn(t, body(frames(answer("ok")), { type: "Text/Event-Stream; charset=utf-8" }));
  assert.equal((await collect(turn.stream())).events.length, 5);
});

const STREAMS_WITHOUT_A_TURN = {
  "an empty stream": stream(),
  "nothing but comments": stream(": hi\n\n: there\n\n"),
  "a frame that is cut off": stream(frames([created()]).slice(0, -1)),
};

for (const [name, reply] of Object.entries(STREAMS_WITHOUT_A_TURN)) {
  test(`after ${name} it is unknown whether the turn began, and the next stream() checks`, async (t) => {
    const { turn, server } = await serveTurn(t, reply, {
      routes: { [LIST_TURNS]: page([recent()]), [SUBSCRIBE]: events(...answer("Hi")) },
    });
    const { events: got, error } = await collect(turn.stream());
    assert.deepEqual(got, []);
    assert.ok(error instanceof IncompleteError);
    assert.match(error.message, /turn\.created/);
    assert.equal(turn.status, "incomplete");
    assert.equal(turn.id, null);
    assert.deepEqual(server.asked, [START]);
    assert.equal((await collect(turn.stream())).events.length, 5);
    assert.deepEqual([turn.status, turn.id], ["done", "t1"]);
    assert.deepEqual(server.asked, [START, LIST_TURNS, SUBSCRIBE]);
  });
}

const REFUSALS = {
  "an envelope": [
    json({ error: { message: "no such agent", type: "not_found", code: null } }, 404),
    { status: 404, message: /404.*no such agent/, body: { error: { message: "no such agent", type: "not_found", code: null } } },
  ],
  "a plain error": [json({ error: "nope" }, 400), { status: 400, message: /nope/, body: { error: "nope" } }],
  "other JSON": [json({ detail: "x" }, 422), { status: 422, message: /422/, body: { detail: "x" } }],
  "text": [body("slow down", { status: 429, type: "text/plain" }), { status: 429, message: /429/, body: "slow down" }],
  "nothing": [body("", { status: 503 }), { status: 503, message: /503/, body: "" }],
  "an HTML page": [body(HTML, { status: 502, type: "text/html" }), { status: 502, message: /502/, body: HTML }],
  "a stream": [body(frames(answer("x")), { status: 500, type: "text/event-stream" }), { status: 500, message: /500/ }],
};

for (const [name, [reply, expected]] of Object.entries(REFUSALS)) {
  const check = (error) => {
    assert.ok(error instanceof ApiError && error instanceof TurnwireError && error instanceof Error);
    assert.equal(error.name, "ApiError");
    assert.equal(error.code, "http");
    assert.equal(error.status, expected.status);
    assert.match(error.message, expected.message);
    if ("body" in expected) assert.deepEqual(error.body, expected.body);
  };

  test(`a refusal with ${name}: of a stream`, async (t) => {
    const { turn } = await serveTurn(t, reply);
    check((await collect(turn.stream())).error);
  });

  test(`a refusal with ${name}: of a start without a stream`, async (t) => {
    const { turn } = await serveTurn(t, reply);
    check(await failure(turn.state()));
  });

  test(`a refusal with ${name}: of a list`, async (t) => {
    const { session } = await serveSession(t, { [LIST_TURNS]: reply });
    check((await collect(session.listTurns())).error);
  });
}

test("no more than 64 KiB of a refusal's body are kept", async (t) => {
  const { turn } = await serveTurn(t, body("ä".repeat(200_000), { status: 400, type: "text/plain" }));
  const { error } = await collect(turn.stream());
  assert.equal(Buffer.byteLength(error.body), 64 * 1024);
});

const NO_LISTS = {
  "an HTML page": body(HTML, { type: "text/html" }),
  "no JSON": body("{", { type: "application/json" }),
  "a list without `data`": json([]),
  "`data` that is no list": json({ data: {} }),
  "nothing": body(""),
};

for (const [name, reply] of Object.entries(NO_LISTS)) {
  test(`a list is not answered with ${name}`, async (t) => {
    const { session } = await serveSession(t, { [LIST_TURNS]: reply });
    const { events: got, error } = await collect(session.listTurns());
    assert.deepEqual(got, []);
    assert.ok(error instanceof ProtocolError, String(error));
    assert.equal(error.code, "unexpected_response");
    assert.equal(error.status, 200);
  });
}

const BAD_ITEMS = {
  "a number": 5,
  "null": null,
  "an object without an id": {},
};

for (const [name, item] of Object.entries(BAD_ITEMS)) {
  for (const [what, path, list] of [
    ["turns", LIST_TURNS, ({ session }) => session.listTurns()],
    ["sessions", "GET agents/sessions", ({ client }) => client.agents.listSessions("support-bot")],
  ]) {
    test(`a list of ${what} with ${name} in it fails as the protocol's, not the package's`, async (t) => {
      const world = await serveSession(t, { [path]: page([item]) });
      const { error } = await collect(list(world));
      assert.ok(error instanceof ProtocolError, String(error));
      assert.equal(error.code, "unexpected_response");
    });
  }
}

test("events of a list that cannot be read arrive as unknown", async (t) => {
  const items = [{ type: "brand.new", id: "n" }, { type: "tool.response", id: "x" }];
  const { session } = await serveSession(t, {
    "GET agents/sessions/s1/turns/t1": json({ data: record({ status: "done" }) }),
    [TURN_EVENTS]: page(items),
  });
  const { events: got, error } = await collect((await session.getTurn("t1")).listEvents());
  assert.equal(error, undefined);
  assert.deepEqual(got.map(({ type, wire_type, raw }) => ({ type, wire_type, raw })), [
    { type: "unknown", wire_type: "brand.new", raw: items[0] },
    { type: "unknown", wire_type: "tool.response", raw: { ...items[1], thread_id: "main" } },
  ]);
});

const BAD_ENTRIES = [5, null, {}, { turn_id: "t1" }, { turn_id: "t1", event: 5 }, { turn_id: "t1", event: null }];

for (const entry of BAD_ENTRIES) {
  test(`a history survives the entry ${JSON.stringify(entry)}`, async (t) => {
    const { session } = await serveSession(t, {
      [LIST_TURNS]: page([record({ status: "done", output: null, required_actions: [] })]),
      [SESSION_EVENTS]: page([entry]),
    });
    // Whether it is skipped or reported, it is never an internal error of the package.
    const outcome = await session.history().then((turns) => turns.length, (error) => error.code);
    assert.ok(outcome === 1 || outcome === "unexpected_response", String(outcome));
  });
}

const NO_SESSIONS = {
  "no data": json({}),
  "data that is no object": json({ data: [] }),
  "a session without an id": json({ data: { type: "session" } }),
  "nothing": body(""),
};

for (const [name, reply] of Object.entries(NO_SESSIONS)) {
  test(`a session is not answered with ${name}`, async (t) => {
    const server = await serve(t, { "POST agents/sessions": reply });
    const client = await connect({ baseUrl: server.baseUrl, reconnect: false });
    const error = await failure(client.agents.createSession("support-bot"));
    assert.ok(error instanceof ProtocolError, String(error));
  });
}

test("a session may have nothing but an id", async (t) => {
  const server = await serve(t, { "POST agents/sessions": json({ data: { id: "s9" } }, 201) });
  const client = await connect({ baseUrl: server.baseUrl, reconnect: false });
  const session = await client.agents.createSession("support-bot");
  const { id, type, agentName, title, createdAt, updatedAt, createdBySubject, agentSpec } = session;
  assert.deepEqual([id, type, agentName, title, createdAt, updatedAt, createdBySubject, agentSpec], ["s9", "session", null, null, null, null, null, null]);
});

test("a server that is down is a connection error with its cause", async (t) => {
  const server = await serve(t);
  const { baseUrl } = server;
  await server.stop();
  const client = await connect({ baseUrl });
  const error = await failure(client.agents.getSession("s1"));
  assert.ok(error instanceof ConnectionError);
  assert.equal(error.code, "network");
  assert.ok(error.cause instanceof Error);
});

test("a body that breaks off is a connection error", async (t) => {
  const broken = ({ response }) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": 1000 });
    response.write('{"data":');
    response.socket.end();
  };
  const { session } = await serveSession(t, { [LIST_TURNS]: broken });
  const { error } = await collect(session.listTurns());
  assert.ok(error instanceof ConnectionError, String(error));
});

const BIG = "x".repeat(2000);

test("an event larger than maxFrameBytes ends the stream; what came before is kept", async (t) => {
  const list = [created(), text("kept", "m1"), text(BIG)];
  const { turn } = await serveTurn(t, events(...list), { options: { maxFrameBytes: 1000 } });
  const { events: got, error } = await collect(turn.stream());
  assert.deepEqual(got.map((event) => event.type), ["turn.created", "model.message.delta"]);
  assert.ok(error instanceof ProtocolError, String(error));
  assert.equal(error.code, "frame_too_large");
  assert.equal(turn.status, "incomplete");
  assert.match(error.message, /maxFrameBytes.*1000/);
  assert.equal(turn.snapshot().threads[0].messages[0].content, "kept");
});

test("an event too large before the turn began is a protocol error", async (t) => {
  const { turn } = await serveTurn(t, events(text(BIG)), { options: { maxFrameBytes: 1000 } });
  const { error } = await collect(turn.stream());
  assert.ok(error instanceof ProtocolError, String(error));
  assert.equal(error.code, "frame_too_large");
});

test("a line that never ends is cut off by the limit, not by memory", async (t) => {
  const endless = ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: ");
    const chunk = "x".repeat(1 << 16);
    const more = () => void (response.destroyed || response.write(chunk, more));
    response.on("error", () => {});
    more();
  };
  const { turn } = await serveTurn(t, endless, { options: { maxFrameBytes: 1 << 20 } });
  assert.equal((await collect(turn.stream())).error.code, "frame_too_large");
});

test("a turn that cannot be subscribed to says why and can be tried again", async (t) => {
  const { session } = await serveSession(t, {
    "GET agents/sessions/s1/turns/t1": json({ data: record() }),
    [SUBSCRIBE]: [json({ error: { message: "Cannot read from stream" } }, 412), events(...answer("Hi"))],
  });
  const turn = await session.getTurn("t1");
  const { error } = await collect(turn.stream());
  assert.equal(error.status, 412);
  assert.equal(turn.status, "running");
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.equal(turn.status, "done");
});

for (const [name, reply] of Object.entries({
  "an answer of 500": body("", { status: 500 }),
  "an HTML page": body(HTML, { type: "text/html" }),
  "an empty stream": stream(),
})) {
  test(`after ${name}, waiting for a turn that has begun starts no other one`, async (t) => {
    const { turn, server } = await serveTurn(t, reply, { routes: { [LIST_TURNS]: page([recent(DONE)]), [SUBSCRIBE]: events(...answer("Hi")) } });
    await collect(turn.stream());
    assert.deepEqual(await turn.waitForCompletion(), DONE);
    assert.deepEqual(server.asked, [START, LIST_TURNS, SUBSCRIBE]);
  });
}

test("a session keeps the server's data about it", async (t) => {
  const { session } = await serveSession(t);
  assert.deepEqual([session.id, session.agentName, session.createdAt], [SESSION.id, SESSION.agent_name, SESSION.created_at]);
  assert.deepEqual(session.createdBySubject, SESSION.created_by_subject);
});
