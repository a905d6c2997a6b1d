// What a client sends to a relay, and how it finds the turn that runs, against a scripted server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assistant, history, serveAap, SESSION, HISTORY, TURNS, user } from "../support/aap.mjs";
import { failure, textOf } from "../support/collect.mjs";
import { json, stream } from "../support/server.mjs";

const OPEN = "GET _turnwire/v1/turns";
const EVENTS = "GET _turnwire/v1/turns/t9/events";
const FRAMES = ["turn_start", {}, "text_delta", { delta: "Hi" }, "turn_stop", { stopReason: "end_turn" }];

/** The frames of a turn as a relay has them. */
const frames = () =>
  [0, 2, 4].map((at) => `id: ${at / 2 + 1}\nevent: ${FRAMES[at]}\ndata: ${JSON.stringify(FRAMES[at + 1])}\n\n`).join("");

/** The answers of a server, with the headers of a relay. */
async function relayed(url, init) {
  const response = await fetch(url, init);
  const headers = new Headers([...response.headers, ["turnwire-relay", "1"], ["turnwire-log", "00ff"]]);
  return new Response(response.body, { status: response.status, headers });
}

const serveRelay = (t, routes) => serveAap(t, routes, { relay: true, fetch: relayed });

/** The session after a reload, of which the server has these messages while the turn `t9` runs. */
async function reloaded(t, ...messages) {
  const session = json({ sessionId: "s1", agent: { name: "assistant", tools: [] } });
  const routes = { [SESSION]: session, [HISTORY]: history(...messages), [OPEN]: json({ turns: [{ id: "t9" }] }), [EVENTS]: stream(frames()) };
  const { client } = await serveRelay(t, routes);
  const turns = await (await client.agents.getSession("s1")).resume();
  await turns.last.waitForCompletion();
  return { turns };
}

test("a start names the turn, and every request says that the client knows the relay", async (t) => {
  const { server, client } = await serveRelay(t, { [TURNS]: stream(frames()) });
  const turn = (await client.agents.createSession("assistant")).createTurn("Hello");
  await turn.waitForCompletion();
  assert.equal(textOf(turn), "Hi");
  assert.ok(server.requests.every(({ headers }) => headers["turnwire-relay"] === "1"));
  const names = server.requests.map(({ headers }) => headers["turnwire-turn"]).filter(Boolean);
  assert.deepEqual(names, [turn.id]);
  assert.match(turn.id, /^[0-9a-f]{32}$/);
});

test("a turn that the history shows as running is the relay's", async (t) => {
  const { turns } = await reloaded(t, user("One"), assistant("1"), user("Two"));
  assert.deepEqual(turns.map(({ id }) => id), ["turn-1", "t9"]);
  assert.deepEqual(turns.map(textOf), ["1", "Hi"]);
  assert.equal(turns.last.input[0].content, "Two");
});

test("a turn that the history does not have yet follows its turns", async (t) => {
  const { turns } = await reloaded(t, user("One"), assistant("1"));
  assert.deepEqual(turns.map(({ id }) => id), ["turn-1", "t9"]);
  assert.deepEqual(turns.map(textOf), ["1", "Hi"]);
  assert.deepEqual(turns.map(({ status }) => status), ["done", "done"]);
});

test("a page before the last one does not request the running turn", async (t) => {
  const session = json({ sessionId: "s1", agent: { name: "assistant", tools: [] } });
  const { server, client } = await serveRelay(t, { [SESSION]: session, [HISTORY]: history(user("One"), assistant("1"), user("Two"), assistant("2")) });
  const page = await (await client.agents.getSession("s1")).history({ before: "turn-2" });
  assert.deepEqual(page.map(({ id }) => id), ["turn-1"]);
  assert.ok(server.requests.every(({ path }) => !path.includes("_turnwire")));
});

test("an answer without the relay's header is refused before anything is sent to an agent", async (t) => {
  const { server, client } = await serveAap(t, {}, { relay: true });
  const error = await failure(client.agents.createSession("assistant"));
  assert.deepEqual([error.name, error.code], ["ProtocolError", "unexpected_response"]);
  assert.deepEqual(server.requests.map(({ path }) => path), ["meta"]);
});
