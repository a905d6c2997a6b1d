// Agents and sessions of the Agent Application Protocol.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AGENT, CREATE, declaring, DELETE, HISTORY, history, META, meta, saying, sent, serveAap, serveSession, SESSION, SESSIONS, TURNS, turn, start, stop, user, assistant } from "../support/aap.mjs";
import { collect, failure, textOf } from "../support/collect.mjs";
import { body, json } from "../support/server.mjs";

test("agents are listed with their tools and options", async (t) => {
  const { client } = await serveAap(t);
  assert.deepEqual(await client.agents.list(), [AGENT]);
  assert.equal(client.capabilities.agents, true);
});

test("a server of another version is an error that names the version", async (t) => {
  const { client } = await serveAap(t, { [META]: json({ version: 2, agents: [] }) });
  const error = await failure(client.agents.list());
  assert.equal(error.code, "unexpected_response");
  assert.match(error.message, /version 2/);
});

test("a session is created with the settings that it is given", async (t) => {
  const { server, client } = await serveAap(t, { [HISTORY]: history(user("Before")) });
  const seed = [user("Before"), assistant("Indeed")];
  const session = await client.agents.createSession("assistant", {
    agentTools: [{ name: "lookup", trust: true }],
    agentOptions: { key: "secret-value" },
    messages: seed,
  });
  assert.equal(session.id, "s1");
  assert.equal(session.agentName, "assistant");
  assert.equal(session.agent.title, "Assistant");
  const { body: made } = server.requests.at(-1);
  assert.deepEqual(made, {
    agent: { name: "assistant", tools: [{ name: "lookup", trust: true }], options: { key: "secret-value" } },
    messages: seed,
  });
});

test("by default an agent has all its tools, and each needs permission", async (t) => {
  const { server } = await serveSession(t);
  assert.deepEqual(server.requests.at(-1).body.agent, { name: "assistant", tools: [{ name: "lookup" }, { name: "restart" }] });
});

test("an unknown agent is an error that names it and the known ones; nothing is sent", async (t) => {
  const { server, client } = await serveAap(t);
  const error = await failure(client.agents.createSession("nobody"));
  assert.equal(error.code, "invalid_option");
  assert.match(error.message, /`nobody`.*assistant/);
  assert.equal(server.count(CREATE), 0);
});

test("agents are fetched once, and again for an unknown one", async (t) => {
  const { server, client } = await serveAap(t, { [META]: [meta(AGENT), meta(AGENT, { ...AGENT, name: "later" })] });
  await client.agents.createSession("assistant");
  await client.agents.createSession("assistant");
  assert.equal(server.count(META), 1);
  await client.agents.createSession("later");
  assert.equal(server.count(META), 2);
});

test("a list of agents that failed is fetched again", async (t) => {
  const { client } = await serveAap(t, { [META]: [json({ error: "not now" }, 503), meta(AGENT)] }, { reconnect: false });
  assert.equal((await failure(client.agents.createSession("assistant"))).status, 503);
  assert.equal((await client.agents.createSession("assistant")).id, "s1");
});

test("the agent's sessions are listed over all pages", async (t) => {
  const item = (sessionId, name) => ({ sessionId, agent: { name } });
  const { server, client } = await serveAap(t, {
    [SESSIONS]: [json({ sessions: [item("s1", "assistant"), item("s2", "other")], next: "c/1" }), json({ sessions: [item("s3", "assistant")] })],
  });
  const ids = [];
  for await (const session of client.agents.listSessions("assistant")) ids.push(session.id);
  assert.deepEqual(ids, ["s1", "s3"]);
  assert.deepEqual(server.requests.filter(({ path }) => path === "sessions").map(({ query }) => query), [{}, { after: "c/1" }]);
});

test("a session is deleted; deleting it again is an API error with the server's message", async (t) => {
  const { session, client } = await serveSession(t, {
    [DELETE]: body("", { status: 204 }),
    [SESSION]: json({ error: "Session not found" }, 404),
  });
  await session.delete();
  const error = await failure(client.agents.getSession("s1"));
  assert.equal(error.status, 404);
  assert.match(error.message, /Session not found/);
});

test("errors in plain text are reported, too", async (t) => {
  const { client } = await serveAap(t, { [SESSION]: body("Internal Server Error", { status: 500, type: "text/plain" }) }, { reconnect: false });
  const error = await failure(client.agents.getSession("s1"));
  assert.equal(error.code, "http");
  assert.match(error.message, /Internal Server Error/);
  assert.equal(error.body, "Internal Server Error");
});

test("settings are sent once, with the next turn, and no error shows a secret", async (t) => {
  const { server, session } = await serveSession(t, { [TURNS]: [body("nope", { status: 401 }), saying("a"), saying("b")] }, { reconnect: false });
  await session.update({ agentTools: [{ name: "lookup" }], agentOptions: { key: "s3cret" } });
  await session.update({ agentOptions: { tone: "warm" } });
  const error = await failure(collect(session.createTurn({ input: "Hello" }).stream()).then(({ error }) => { throw error; }));
  assert.equal(error.status, 401);
  assert.doesNotMatch(JSON.stringify({ ...error, message: error.message, stack: error.stack }), /s3cret/);
  await collect(session.createTurn({ input: "One" }).stream());
  await collect(session.createTurn({ input: "Two" }).stream());
  const news = { tools: [{ name: "lookup" }], options: { key: "s3cret", tone: "warm" } };
  assert.deepEqual(sent(server).map(({ agent }) => agent), [news, news, undefined]);
});

test("unknown options are refused", async (t) => {
  const { client } = await serveAap(t);
  assert.equal((await failure(client.agents.createSession("assistant", { metadata: {} }))).code, "invalid_option");
  assert.equal((await failure(client.agents.createSession("assistant", { stream: "bytes" }))).code, "invalid_option");
});

test("what an agent declares decides what its sessions can do", async (t) => {
  const { session } = await serveSession(t, {}, { agent: declaring({ stream: { message: {} } }) });
  const { history: canRead, files, images, resume } = session.capabilities;
  assert.deepEqual({ canRead, files, images, resume }, { canRead: false, files: false, images: false, resume: "none" });
  const full = await serveSession(t);
  assert.deepEqual([full.session.capabilities.history, full.session.capabilities.files, full.session.capabilities.images, full.session.capabilities.resume], [true, true, true, "history"]);
});

test("what an agent does not declare is an error that says so", async (t) => {
  const { session, server } = await serveSession(t, {}, { agent: declaring({ stream: { delta: {} } }) });
  assert.equal((await failure(session.history())).code, "unsupported");
  const image = (part) => failure(() => session.createTurn({ input: { type: "user.message", content: [{ type: "text", text: "See" }, part] } }));
  assert.equal((await image({ type: "image", url: "https://example.com/a.png" })).code, "invalid_input");
  assert.equal((await image({ type: "file", name: "a.png", data: "data:image/png;base64,AAAA" })).code, "invalid_input");
  assert.equal(server.count(TURNS), 0);
});

test("images are sent as blocks", async (t) => {
  const { session, server } = await serveSession(t, { [TURNS]: saying("Seen.") });
  const content = [{ type: "text", text: "See" }, { type: "image", url: "https://example.com/a.png" }, { type: "file", name: "a.png", data: "data:image/png;base64,AAAA" }];
  const played = session.createTurn({ input: { type: "user.message", content } });
  await collect(played.stream());
  assert.equal(textOf(played), "Seen.");
  assert.deepEqual(sent(server)[0].messages, [
    { role: "user", content: [{ type: "text", text: "See" }, { type: "image", url: "https://example.com/a.png" }, { type: "image", url: "data:image/png;base64,AAAA" }] },
  ]);
});

test("a file that is not an image is refused with a reason", async (t) => {
  const { session } = await serveSession(t);
  const error = await failure(() => session.createTurn({ input: { type: "user.message", content: [{ type: "file", name: "a.pdf", data: "data:application/pdf;base64,AAAA" }] } }).waitForCompletion());
  assert.equal(error.code, "invalid_input");
  assert.match(error.message, /image/);
});
