// The declared capabilities of each protocol, and its answers to the rest.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, InputError, StateError } from "../../dist/index.js";
import { serveAgent } from "../support/agent-event.mjs";
import { failure } from "../support/collect.mjs";

const baseUrl = "http://127.0.0.1:1";
const NONE = { steer: false, files: false, drafts: false, search: false, sandboxFiles: false, titles: false };
const AGENT = { cancel: true, interrupt: true, history: true, liveAnswers: true, discardPending: true, rename: true, delete: true, state: true, ...NONE };
const OLDER = { resume: "cursor", history: true, cancel: true, liveAnswers: false, steer: false, discardPending: false, rename: false, state: false };

for (const [protocol, wanted] of Object.entries({
  tirea: { resume: "none", ...AGENT },
  awaken: { resume: "history", ...AGENT },
  truefoundry: { ...OLDER, delete: false, drafts: true, search: true, titles: true },
  trueforge: { ...OLDER, delete: true, drafts: true, search: false, titles: false },
})) {
  test(`${protocol} says what it can do, on the client and on its sessions`, async () => {
    const client = await connect({ baseUrl, protocol });
    assert.equal(client.protocol, protocol);
    for (const [name, value] of Object.entries(wanted)) assert.equal(client.capabilities[name], value, name);
    for (const hidden of ["clientIds", "separateAnswers", "silence"]) assert.equal(hidden in client.capabilities, false, hidden);
    if (protocol === "tirea" || protocol === "awaken") {
      assert.deepEqual((await client.agents.createSession("a")).capabilities, client.capabilities);
    }
  });
}

for (const protocol of ["tirea", "awaken"]) {
  for (const [name, attempt] of Object.entries({
    createDraftSession: ({ client }) => client.agents.createDraftSession({}),
    listDraftSessions: ({ client }) => client.agents.listDraftSessions().next(),
    getDraftSession: ({ client }) => client.agents.getDraftSession("d1"),
    listOwnedSessions: ({ client }) => client.agents.listOwnedSessions().next(),
    searchSessions: ({ client }) => client.agents.searchSessions().next(),
    downloadSandboxFile: ({ client }) => client.agents.downloadSandboxFile("b1", "/a.txt"),
    update: ({ session }) => session.update({ agentSpec: {} }),
  })) {
    test(`${protocol}: ${name} is unsupported, and nothing is sent`, async (t) => {
      const world = await serveAgent(t, protocol);
      const error = await failure(() => attempt(world));
      assert.ok(error instanceof StateError, String(error));
      assert.equal(error.code, "unsupported");
      assert.deepEqual(world.server.asked, []);
    });
  }
}

for (const protocol of ["truefoundry", "trueforge"]) {
  for (const [name, attempt] of Object.entries({
    delete: (session) => session.delete(),
    rename: (session) => session.rename("a"),
    state: (session) => session.state(),
    listMessages: (session) => session.listMessages().next(),
  })) {
    if (protocol === "trueforge" && name === "delete") continue;
    test(`${protocol}: session.${name}() is unsupported where the capability says so`, async () => {
      const fetch = async () => Response.json({ data: { id: "s1", agent_name: "a" }, id: "s1" });
      const client = await connect({ baseUrl, protocol, fetch });
      const session = await client.agents.getSession("s1");
      const error = await failure(() => attempt(session));
      assert.deepEqual([error.name, error.code], ["StateError", "unsupported"]);
    });
  }

  test(`${protocol}: discardPending and turn.answer() are unsupported`, async () => {
    const fetch = async () => Response.json({ data: { id: "s1", agent_name: "a" }, id: "s1" });
    const client = await connect({ baseUrl, protocol, fetch });
    const session = await client.agents.getSession("s1");
    assert.equal((await failure(() => session.createTurn({ input: "a", discardPending: true }))).code, "unsupported");
    const turn = session.createTurn({ input: "a" });
    const error = await failure(turn.answer({ type: "user.tool_response", thread_id: "main", tool_call_id: "c1", content: "x" }));
    assert.equal(error.code, "unsupported");
  });
}

test("options are checked, each by its name", async (t) => {
  const { server, client, session } = await serveAgent(t, "tirea");
  const turn = session.createTurn({ input: "Hello" });
  for (const [name, attempt] of Object.entries({
    discardPending: () => session.createTurn({ input: "a", discardPending: "yes" }),
    discard: () => session.createTurn({ input: "a", discard: true }),
    title: () => session.rename(7),
    force: () => session.delete({ force: true }),
    order: () => session.listMessages({ order: "up" }).next(),
    direction: () => session.listMessages({ direction: "asc" }).next(),
    agentName: () => client.agents.getSession("s1", { agentName: 7 }),
    remember: () => turn.answer("x", { remember: true }),
    signal: () => session.state({ signal: 1 }),
    turnId: () => session.listTurns({ turnId: "t1" }).next(),
    pageToken: () => session.listTurns({ pageToken: "first" }).next(),
    protocol: () => connect({ baseUrl, protocol: "agentevent" }),
  })) {
    const error = await failure(attempt);
    assert.ok(error instanceof InputError, `${name}: ${error}`);
    // The core names what came from a list as the protocol names it.
    assert.match(error.message, new RegExp(name === "pageToken" ? "page_?token" : name, "i"), name);
  }
  assert.deepEqual(server.asked, []);
});

test("a topic is checked, and those of agents are topics everywhere", async (t) => {
  const { session } = await serveAgent(t, "tirea");
  const turn = session.createTurn({ input: "Hello" });
  const topics = ["native", "state.snapshot", "state.delta", "messages.snapshot", "activity.snapshot", "activity.delta", "tool.resumed", "tool.cancelled", "message.reset", "server.error"];
  for (const topic of topics) turn.on(topic, () => {})();
  assert.equal((await failure(() => turn.on("run_start", () => {}))).code, "invalid_option");
});
