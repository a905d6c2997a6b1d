// The differences of TrueFoundry's open-source sibling: drafts, lists, and its options.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, InputError, StateError } from "../dist/index.js";
import { collect, failure } from "./support/collect.mjs";
import { json, page, serve } from "./support/server.mjs";

const PATH = "/acme/api/v1/sessions";
const SPEC = { model: { name: "m" } };
const OTHER = { model: { name: "n" } };

const session = (id, agent) => ({ id, agent, title: null, created_by: "ada", created_at: "2026-11-20T09:00:00.000Z", updated_at: "2026-11-20T09:00:00.000Z" });
const saved = (id, name = "support-bot") => session(id, { type: "reference", id: `agent-${name}`, name });
const draft = (id, spec = SPEC) => session(id, { type: "inline", spec });

async function sibling(t, routes = {}) {
  const server = await serve(t, routes);
  return { server, client: await connect({ baseUrl: server.baseUrl, protocol: "trueforge" }) };
}

const idsOf = async (list) => (await collect(list)).events.map(({ id }) => id);

test("a session with an agent of its own is a draft from its creation on, in every response", async (t) => {
  const { server, client } = await sibling(t, {
    [`POST ${PATH}`]: json({ data: draft("d1") }, 201),
    [`PATCH ${PATH}/d1`]: json({ data: draft("d1", OTHER) }),
    [`GET ${PATH}/d1`]: json({ data: draft("d1", OTHER) }),
  });
  assert.equal(client.capabilities.drafts, true);
  const { agents } = client;
  const made = await agents.createDraftSession(SPEC);
  assert.deepEqual([made.type, made.agentName, made.agentSpec], ["session/draft", null, SPEC]);
  assert.equal(await made.update({ agentSpec: OTHER }), made);
  assert.deepEqual([made.type, made.agentSpec], ["session/draft", OTHER]);
  await made.refresh();
  for (const read of [await agents.getDraftSession("d1"), await agents.getSession("d1"), made]) {
    assert.deepEqual([read.type, read.agentSpec], ["session/draft", OTHER]);
  }
  assert.deepEqual(server.asked, [`POST ${PATH}`, `PATCH ${PATH}/d1`, `GET ${PATH}/d1`, `GET ${PATH}/d1`, `GET ${PATH}/d1`]);
  assert.deepEqual(server.requests.slice(0, 2).map(({ body }) => body), [{ agent: { spec: SPEC } }, { agent: { spec: OTHER } }]);
});

test("the one list of sessions is split: those of an agent, drafts, and both", async (t) => {
  const pages = () => [page([saved("a"), draft("d"), saved("b", "other")], "p2"), page([draft("e")], "p3"), page([saved("c")])];
  const { server, client: { agents } } = await sibling(t, { [`GET ${PATH}`]: [...pages(), ...pages(), ...pages(), ...pages()] });
  assert.deepEqual(await idsOf(agents.listSessions("support-bot")), ["a", "c"]);
  assert.deepEqual(await idsOf(agents.listDraftSessions()), ["d", "e"]);
  assert.deepEqual(await idsOf(agents.listOwnedSessions()), ["a", "d", "b", "e", "c"]);
  assert.deepEqual(await idsOf(agents.listOwnedSessions({ agentName: "other" })), ["b"]);
  for (const { query } of server.requests) assert.ok(Number(query.limit ?? 25) <= 25, "it refuses pages of more than 25");
});

test("lists have an order, and a beginning and an end if they are given", async (t) => {
  const { server, client: { agents } } = await sibling(t, { [`GET ${PATH}`]: page([]) });
  const options = { order: "asc", startTimestamp: "2026-01-01T00:00:00Z", endTimestamp: "2026-02-01T00:00:00Z", limit: 5 };
  for (const list of [agents.listSessions("bot", options), agents.listDraftSessions(options), agents.listOwnedSessions(options)]) await collect(list);
  const query = { order: "asc", start_timestamp: "2026-01-01T00:00:00Z", end_timestamp: "2026-02-01T00:00:00Z", limit: "5" };
  assert.deepEqual(server.requests.map((request) => request.query), [query, query, query]);
});

test("unsupported options are refused by name, and nothing is sent", async (t) => {
  const { server, client: { agents } } = await sibling(t);
  const attempts = {
    title: () => agents.createSession("bot", { title: "Help" }),
    metadata: () => agents.createSession("bot", { metadata: { team: "a" } }),
    agentName: () => agents.createDraftSession(SPEC, { agentName: "bot" }),
    sandboxId: () => agents.downloadSandboxFile("b1", "/a.txt"),
  };
  for (const [name, attempt] of Object.entries(attempts)) {
    const error = await failure(attempt);
    assert.ok(error instanceof InputError, `${name}: ${error}`);
    assert.equal(error.code, "invalid_option");
    assert.match(error.message, new RegExp(`\`${name}\``));
  }
  assert.equal((await failure(agents.createDraftSession(SPEC, { metadata: {} }))).code, "invalid_option");
  assert.equal((await failure(agents.listDraftSessions({ agentName: "bot" }).next())).code, "invalid_option");
  assert.equal((await failure(agents.searchSessions().next())).code, "unsupported");
  assert.deepEqual(server.asked, []);
});

test("the agent of a session of a saved one is not changed, and nothing is sent", async (t) => {
  const { server, client } = await sibling(t, { [`GET ${PATH}/s1`]: json({ data: saved("s1") }) });
  const own = await client.agents.getSession("s1");
  assert.equal(own.type, "session");
  const error = await failure(own.update({ agentSpec: SPEC }));
  assert.ok(error instanceof StateError);
  assert.equal(error.code, "unsupported");
  assert.deepEqual(server.asked, [`GET ${PATH}/s1`]);
});
