// Requests: the token, the headers, a custom fetch. Secrets are never exposed.
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";
import { connect, ConnectionError, InputError, TurnwireError } from "../dist/index.js";
import { collect, failure } from "./support/collect.mjs";
import { body, events, GET_TURN, json, page, serve, SESSION, serveFetched, serveSession, serveTurn, START, stream, SUBSCRIBE } from "./support/server.mjs";
import { answer, created, frames, record } from "./support/wire.mjs";

const GET_SESSION = "GET agents/sessions/s1";
const found = json({ data: SESSION });

test("the token function is called before every request, and may be slow", async (t) => {
  let asked = 0;
  const token = () => new Promise((resolve) => setImmediate(resolve, `token-${(asked += 1)}`));
  const { session, server } = await serveFetched(t, {
    [GET_TURN]: json({ data: record() }),
    "GET agents/sessions/s1/turns": [page([record()], "next"), page([])],
    [SUBSCRIBE]: events(...answer("Hi")),
  }, { token });
  const turn = await session.getTurn("t1");
  await collect(session.listTurns());
  await collect(turn.stream());
  assert.deepEqual(server.requests.map((request) => request.headers.authorization), [2, 3, 4, 5].map((n) => `Bearer token-${n}`));
});

test("a fixed token is sent with every request, an absent one leaves no header", async (t) => {
  for (const [token, header] of [["k1", "Bearer k1"], [undefined, undefined], [null, undefined], [() => undefined, undefined], [() => null, undefined]]) {
    const server = await serve(t, { [GET_SESSION]: found });
    const client = await connect({ baseUrl: server.baseUrl, token });
    await client.agents.getSession("s1");
    assert.equal(server.requests[0].headers.authorization, header);
  }
});

test("headers are sent with every request, and win over the package's own", async (t) => {
  const headers = { "x-tenant": "acme", Accept: "application/x", authorization: "Basic abc" };
  const { turn, server } = await serveTurn(t, events(...answer("Hi")), { options: { headers, token: "k" } });
  await collect(turn.stream());
  const sent = server.requests[0].headers;
  assert.deepEqual([sent["x-tenant"], sent.accept, sent.authorization], ["acme", "application/x", "Basic abc"]);
  assert.equal(sent["content-type"], "application/json");
});

test("the options may be given as other things than plain objects of strings, or are refused", async (t) => {
  const given = [new Headers({ "x-tenant": "acme" }), new Map([["x-tenant", "acme"]]), [["x-tenant", "acme"]]];
  for (const headers of given) {
    const server = await serve(t, { [GET_SESSION]: found });
    const outcome = await connect({ baseUrl: server.baseUrl, headers }).then(
      (client) => client.agents.getSession("s1").then(() => server.requests[0].headers["x-tenant"]),
      (error) => error.code,
    );
    // A header is never dropped silently.
    assert.ok(outcome === "acme" || outcome === "invalid_option", `${headers.constructor.name}: ${outcome}`);
  }
});

test("a custom fetch is called with a URL and an init, and not as a method", async (t) => {
  const calls = [];
  const server = await serve(t, { [GET_SESSION]: found });
  async function custom(...args) {
    calls.push({ self: this, args });
    return fetch(...args);
  }
  const client = await connect({ baseUrl: server.baseUrl, fetch: custom, token: "k" });
  await client.agents.getSession("s1");
  const [{ self, args }] = calls;
  assert.equal(self, undefined);
  assert.equal(args.length, 2);
  assert.equal(args[0], `${server.baseUrl}/v1/agents/sessions/s1`);
  const { method, headers, body: sent, signal: passed } = args[1];
  assert.deepEqual([method, sent], ["GET", null]);
  assert.ok(passed instanceof AbortSignal, String(passed));
  assert.equal(headers.get("authorization"), "Bearer k");
});

test("the platform's fetch is looked up at each call", async (t) => {
  const server = await serve(t);
  const client = await connect({ baseUrl: server.baseUrl });
  const { fetch: platform } = globalThis;
  t.after(() => (globalThis.fetch = platform));
  globalThis.fetch = async () => Response.json({ data: SESSION });
  assert.equal((await client.agents.getSession("s1")).id, "s1");
});

const BAD_FETCHES = {
  "throws": () => {
    throw new Error("no network here");
  },
  "rejects": () => Promise.reject(new Error("no network here")),
  "rejects with no error": () => Promise.reject("no network here"),
  "gives nothing": () => undefined,
  "resolves to nothing": async () => undefined,
  "resolves to something else": async () => ({ data: SESSION }),
};

for (const [name, custom] of Object.entries(BAD_FETCHES)) {
  test(`a custom fetch that ${name} is a connection error`, async (t) => {
    const server = await serve(t);
    const client = await connect({ baseUrl: server.baseUrl, fetch: custom });
    const error = await failure(client.agents.getSession("s1"));
    assert.ok(error instanceof ConnectionError, String(error));
    assert.equal(error.code, "network");
    if (name.includes("re")) assert.notEqual(error.cause, undefined);
  });

  test(`a start by a custom fetch that ${name} is a connection error`, async (t) => {
    const { turn } = await serveTurn(t, events(), {
      options: { fetch: (url, init) => (url.endsWith("/turns") ? custom() : fetch(url, init)) },
    });
    const { error } = await collect(turn.stream());
    assert.ok(error instanceof ConnectionError, String(error));
    assert.equal(error.code, "network");
  });
}

test("a response without a body is a stream without events", async (t) => {
  const empty = () => Promise.resolve(new Response(null, { headers: { "content-type": "text/event-stream" } }));
  const { turn } = await serveTurn(t, events(), {
    options: { fetch: (url, init) => (url.endsWith("/turns") ? empty() : fetch(url, init)) },
  });
  assert.equal((await collect(turn.stream())).error.code, "incomplete");
});

const SECRET = "sk-very-secret-0123456789";

test("a token function that fails, or returns something else, is a token error", async (t) => {
  const cause = new Error("signed out");
  const tokens = [
    () => {
      throw cause;
    },
    () => Promise.reject(cause),
    () => 5,
    async () => ({ token: SECRET }),
  ];
  for (const token of tokens) {
    const server = await serve(t);
    const client = await connect({ baseUrl: server.baseUrl, token });
    const error = await failure(client.agents.getSession("s1"));
    assert.ok(error instanceof ConnectionError);
    assert.equal(error.code, "token");
    if (token === tokens[0] || token === tokens[1]) {
      assert.equal(error.cause, cause);
      assert.equal(error.message, "the `token` function failed: signed out");
    }
    assert.deepEqual(server.asked, []);
    assertSilent(error);
  }
});

test("a start that failed for lack of a token can be tried again", async (t) => {
  let token;
  const { session, server } = await serveSession(t, { [START]: events(...answer("Hi")) }, { token: () => (token ? token() : "k") });
  const turn = session.createTurn({ input: "Hello" });
  token = () => {
    throw new Error("signed out");
  };
  assert.equal((await collect(turn.stream())).error.code, "token");
  assert.equal(turn.status, "unstarted");
  assert.equal((await failure(turn.state())).code, "token");
  assert.equal(turn.status, "unstarted");
  token = undefined;
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.deepEqual(server.asked, [START]);
});

/** The secret is in nothing that a page may log or show. */
function assertSilent(error) {
  assert.ok(error instanceof TurnwireError, String(error));
  for (let part = error; part instanceof Error; part = part.cause) {
    for (const text of [part.message, part.stack, String(part), JSON.stringify(part), JSON.stringify({ ...part })]) {
      assert.ok(!text.includes(SECRET), text);
    }
  }
  assert.ok(!inspect(error, { depth: 9 }).includes(SECRET), inspect(error));
}

const FORBIDDEN = {
  "a token with a line break": { token: `${SECRET}\nx` },
  "a token from a function with a character beyond Latin-1": { token: () => `${SECRET}…` },
  "a header's value with a line break": { headers: { "x-key": `${SECRET}\r\nx: y` } },
};

for (const [name, options] of Object.entries(FORBIDDEN)) {
  test(`a value that HTTP forbids is named, and not shown: ${name}`, async (t) => {
    const server = await serve(t);
    const client = await connect({ baseUrl: server.baseUrl, ...options });
    const error = await failure(client.agents.getSession("s1"));
    assert.ok(error instanceof InputError, String(error));
    assert.equal(error.code, "invalid_option");
    assert.match(error.message, /authorization|x-key/);
    assertSilent(error);
    assert.deepEqual(server.asked, []);
  });
}

test("a header's name that HTTP forbids is named", async (t) => {
  const server = await serve(t);
  const client = await connect({ baseUrl: server.baseUrl, headers: { "x key": "1" } });
  assert.match((await failure(client.agents.getSession("s1"))).message, /x key/);
});

const OUTCOMES = {
  "a refusal": json({ error: { message: "no" } }, 401),
  "an HTML page": body("<html>", { type: "text/html" }),
  "a reset": ({ response }) => response.socket.resetAndDestroy(),
  "a stream without an end": events(created()),
  "a large event": stream(`data: ${"x".repeat(4000)}\n\n`),
  "what is no stream at all": stream(frames(["{"])),
};

for (const [name, reply] of Object.entries(OUTCOMES)) {
  test(`${name} shows no secret`, async (t) => {
    const options = { token: SECRET, headers: { "x-key": SECRET }, maxFrameBytes: 1000 };
    const { turn } = await serveTurn(t, reply, { options });
    const { error } = await collect(turn.stream());
    assertSilent(error);
    assert.ok(!JSON.stringify(turn.snapshot()).includes(SECRET));
    assert.ok(!inspect(turn, { depth: 9, showHidden: true }).includes(SECRET));
  });
}

test("a logged client shows no secret", async () => {
  const client = await connect({ baseUrl: "http://127.0.0.1:9/acme", token: SECRET, headers: { "x-key": SECRET } });
  assert.ok(!inspect(client, { depth: 9, showHidden: true }).includes(SECRET));
  assert.ok(!JSON.stringify(client).includes(SECRET));
});

const SECRET_URLS = [
  `ftp://user:${SECRET}@gateway.example/`,
  `https://gateway.example/?key=${SECRET}`,
  `https://gateway.example/#${SECRET}`,
  `https://user:${SECRET}@:x`,
  `https://user:${SECRET}@gateway.example/`,
];

for (const baseUrl of SECRET_URLS) {
  test(`a secret in a base URL is refused, and not shown: ${baseUrl.replace(SECRET, "…")}`, async () => {
    const error = await failure(connect({ baseUrl }));
    assert.equal(error.code, "invalid_url");
    assertSilent(error);
  });
}

test("ids are percent-encoded, and cannot leave their place in the path", async (t) => {
  const server = await serve(t, {
    "GET agents/sessions/a%2Fb%3Fc%23d%25": found,
    "GET agents/sessions/%C3%A9%F0%9F%8E%89": found,
  });
  const client = await connect({ baseUrl: server.baseUrl });
  await client.agents.getSession("a/b?c#d%");
  await client.agents.getSession("é🎉");
  for (const id of ["", ".", "..", 5, null, undefined]) {
    const error = await failure(client.agents.getSession(id));
    assert.equal(error.code, "invalid_option", String(id));
  }
  assert.equal(server.requests.length, 2);
});

test("sessions are made, found, changed and searched for as the protocol defines it", async (t) => {
  const draft = { ...SESSION, type: "session/draft", id: "d1", agent_spec: { model: { name: "m" } } };
  const server = await serve(t, {
    "POST agents/sessions": json({ data: SESSION }, 201),
    "POST agents/draft-sessions": json({ data: draft }, 201),
    "PATCH agents/draft-sessions/d1": json({ data: { ...draft, agent_spec: { model: { name: "n" } } } }),
    "GET agents/draft-sessions/d1": json({ data: draft }),
    "GET agents/draft-sessions": page([draft]),
    "GET x/agents/owned-sessions": page([draft, SESSION]),
    "GET x/agents/search-sessions": page([SESSION]),
    "GET agents/sandbox/sbx/file": body("a,b\n", { type: "text/csv" }),
  });
  const { agents } = await connect({ baseUrl: server.baseUrl });
  await agents.createSession("support-bot", { title: "Help", metadata: { team: "blå" } });
  const made = await agents.createDraftSession({ model: { name: "m" } }, { agentName: "x" });
  assert.deepEqual([made.type, made.agentSpec], ["session/draft", { model: { name: "m" } }]);
  await made.update({ agentSpec: { model: { name: "n" } } });
  assert.deepEqual(made.agentSpec, { model: { name: "n" } });
  await made.refresh();
  await agents.getDraftSession("d1");
  const listed = [agents.listDraftSessions(), agents.listOwnedSessions({ agentName: "x" }), agents.searchSessions({ sessionType: "session", createdBySubjectId: "u1" })];
  const counts = [];
  for (const list of listed) counts.push((await collect(list)).events.length);
  assert.deepEqual(counts, [1, 2, 1]);
  const file = await agents.downloadSandboxFile("sbx", "/data/a b.csv");
  assert.ok(file instanceof Blob);
  assert.equal(await file.text(), "a,b\n");
  const [create, createDraft, , , , , , search, download] = server.requests;
  assert.deepEqual(create.body, { agent_name: "support-bot", title: "Help" });
  assert.deepEqual(JSON.parse(create.headers["x-tfy-metadata"]), { team: "blå" });
  assert.deepEqual(createDraft.body, { agent_spec: { model: { name: "m" } }, agent_name: "x" });
  assert.deepEqual(search.query, { session_type: "session", created_by_subject_id: "u1" });
  assert.deepEqual(download.query, { path: "/data/a b.csv" });
});

test("a missing file is an API error", async (t) => {
  const server = await serve(t, { "GET agents/sandbox/sbx/file": json({ error: { message: "gone" } }, 410) });
  const { agents } = await connect({ baseUrl: server.baseUrl });
  const error = await failure(agents.downloadSandboxFile("sbx", "/f"));
  assert.deepEqual([error.name, error.status], ["ApiError", 410]);
});
