// Lists over all their pages, and the history of a conversation.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, InputError } from "../dist/index.js";
import { collect, failure, textOf } from "./support/collect.mjs";
import {
  events, json, LIST_TURNS, page, serve, SESSION, SESSION_EVENTS, serveSession, SUBSCRIBE, TURN_EVENTS,
} from "./support/server.mjs";
import { answer, created, done, DONE, message, record, required, toolResponse, TIME } from "./support/wire.mjs";

const named = (id) => ({ ...SESSION, id });

/** A list's page as these protocol variants end it. */
const LAST = {
  "no token": { limit: 2 },
  "a token of null": { limit: 2, next_page_token: null },
  "an empty token": { limit: 2, next_page_token: "" },
};

for (const [name, pagination] of Object.entries(LAST)) {
  test(`a list goes on to the last page, which has ${name}`, async (t) => {
    const server = await serve(t, {
      "GET agents/sessions": [page([named("a"), named("b")], "p2"), page([named("c")], "p3"), json({ data: [named("d")], pagination })],
    });
    const { agents } = await connect({ baseUrl: server.baseUrl });
    const sessions = [];
    for await (const session of agents.listSessions("support-bot", { limit: 2, order: "asc", startTimestamp: "2026-01-01T00:00:00Z" })) {
      sessions.push(session.id);
    }
    assert.deepEqual(sessions, ["a", "b", "c", "d"]);
    const query = { agent_name: "support-bot", limit: "2", order: "asc", start_timestamp: "2026-01-01T00:00:00Z" };
    assert.deepEqual(server.requests.map((request) => request.query), [query, { ...query, page_token: "p2" }, { ...query, page_token: "p3" }]);
  });
}

test("a page is requested when it is needed", async (t) => {
  const { session, server } = await serveSession(t, { [LIST_TURNS]: [page([record(), record(DONE, { id: "t0" })], "p2")] });
  const turns = session.listTurns();
  assert.deepEqual(server.asked, []);
  await turns.next();
  await turns.next();
  assert.deepEqual(server.asked, [LIST_TURNS]);
  await turns.return();
});

test("an empty page ends a list, with any token", async (t) => {
  const { session, server } = await serveSession(t, { [LIST_TURNS]: [page([], "p2")] });
  assert.deepEqual((await collect(session.listTurns())).events, []);
  assert.deepEqual(server.asked, [LIST_TURNS]);
});

test("a list may come without its pagination", async (t) => {
  const { session } = await serveSession(t, { [LIST_TURNS]: json({ data: [record()] }) });
  assert.equal((await collect(session.listTurns())).events.length, 1);
});

test("a list may begin at a page", async (t) => {
  const { session, server } = await serveSession(t, { [LIST_TURNS]: [page([record()], "p3"), page([record(DONE, { id: "t0" })])] });
  const { events: turns } = await collect(session.listTurns({ pageToken: "p2", limit: 1 }));
  assert.deepEqual(turns.map((turn) => turn.id), ["t1", "t0"]);
  assert.deepEqual(server.requests.map((request) => request.query), [
    { page_token: "p2", limit: "1" },
    { page_token: "p3", limit: "1" },
  ]);
});

test("sessions are listed from a year back, since servers look back half an hour", async (t) => {
  const server = await serve(t, { "GET agents/sessions": page([]) });
  const { agents } = await connect({ baseUrl: server.baseUrl });
  await collect(agents.listSessions("support-bot"));
  const from = Date.parse(server.requests[0].query.start_timestamp);
  const days = (Date.now() - from) / 86_400_000;
  assert.ok(days > 364 && days < 367, `${days} days`);
});

test("a listed turn has the server's data about it", async (t) => {
  const { session } = await serveSession(t, { [LIST_TURNS]: page([record(DONE, { previous_turn_id: "t0" })]) });
  const { value: turn } = await session.listTurns().next();
  const { id, previousTurnId, createdBy, createdAt, status, input } = turn;
  assert.deepEqual([id, previousTurnId, createdBy, createdAt, status], ["t1", "t0", "ada@example.com", TIME, "done"]);
  assert.deepEqual(input, [{ type: "user.message", content: "Hello" }]);
  assert.equal(turn.session, session);
});

test("a turn's events are listed over all pages", async (t) => {
  const list = [message("m1", { content: "a", finish_reason: "stop" }), toolResponse("c1", "b"), message("m2", { content: "c", finish_reason: "stop" })];
  const { session } = await serveSession(t, {
    [LIST_TURNS]: page([record(DONE)]),
    [TURN_EVENTS]: [page(list.slice(0, 2), "p2"), page(list.slice(2))],
  });
  const { value: turn } = await session.listTurns().next();
  assert.deepEqual((await collect(turn.listEvents())).events, list);
});

/** A server's record of a turn that said this. */
function kept(turnId, content) {
  const list = [
    created({ turn_id: turnId }),
    message(`m-${turnId}`, { content, finish_reason: "stop" }),
    done(),
  ];
  return list.map((event) => ({ turn_id: turnId, event }));
}

test("a history has the oldest turn first, each with its text", async (t) => {
  const turns = [record(DONE, { id: "t3", previous_turn_id: "t2" }), record(DONE, { id: "t2", previous_turn_id: "t1" }), record(DONE, { id: "t1" })];
  const entries = [...kept("t1", "one"), ...kept("t2", "two"), ...kept("t3", "three")].reverse();
  const { session, server } = await serveSession(t, {
    [LIST_TURNS]: [page(turns.slice(0, 2), "p2"), page(turns.slice(2))],
    // A page's end may lie within a turn.
    [SESSION_EVENTS]: [page(entries.slice(0, 4), "e2"), page(entries.slice(4))],
  });
  const history = await session.history();
  assert.deepEqual(history.map((turn) => [turn.id, turn.status, textOf(turn)]), [
    ["t1", "done", "one"],
    ["t2", "done", "two"],
    ["t3", "done", "three"],
  ]);
  assert.deepEqual(history.map((turn) => turn.snapshot().state.status), ["done", "done", "done"]);
  assert.deepEqual(server.requests.map(({ query }) => query.limit), ["25", "25", "100", "100"]);
});

test("a history keeps the order of messages, although the turn's state has the last one", async (t) => {
  const list = [
    message("m1", { content: "first", finish_reason: "tool_calls" }),
    message("m2", { content: "second", finish_reason: "tool_calls" }),
    message("m3", { content: "third", finish_reason: "stop" }),
  ];
  const { session } = await serveSession(t, {
    [LIST_TURNS]: page([record({ ...DONE, output: list[2] })]),
    [SESSION_EVENTS]: page(list.map((event) => ({ turn_id: "t1", event })).reverse()),
  });
  const [turn] = await session.history();
  assert.deepEqual(turn.snapshot().threads[0].messages.map((known) => known.content), ["first", "second", "third"]);
});

/** A message that makes this call. */
function made(id, messageId) {
  const call = { id, type: "function", function: { name: "restart", arguments: "{}" }, tool_info: { type: "truefoundry-system", name: "restart" } };
  return message(messageId, { content: "May I?", tool_calls: [call], finish_reason: "tool_calls" });
}

test("a server that lists the oldest turn first has the same history, and the same that waits", async (t) => {
  const paused = { ...DONE, required_actions: [required(["c1"])] };
  const turns = [record(DONE, { id: "t1" }), record(DONE, { id: "t2", previous_turn_id: "t1" }), record(paused, { id: "t3", previous_turn_id: "t2" })];
  const { session } = await serveSession(t, { [LIST_TURNS]: page(turns), [SESSION_EVENTS]: page([...kept("t1", "one"), ...kept("t2", "two"), { turn_id: "t3", event: made("c1", "m1") }]) });
  const history = await session.history();
  assert.deepEqual(history.map((turn) => turn.id), ["t1", "t2", "t3"]);
  const input = { type: "user.tool_approval", thread_id: "main", tool_call_id: "c1", approval: { status: "allow" } };
  session.createTurn({ input });
  assert.equal((await failure(() => session.createTurn({ input: "Hello" }))).code, "invalid_input");
});

test("a history's last turn may still run: its stream brings all of it, once", async (t) => {
  const { session } = await serveSession(t, {
    [LIST_TURNS]: page([record({ status: "running" }, { id: "t1", previous_turn_id: "t0" }), record(DONE, { id: "t0" })]),
    // The sibling protocol lists what a running turn has kept so far.
    [SESSION_EVENTS]: page([...kept("t0", "before"), { turn_id: "t1", event: message("m1", { content: "Hello", finish_reason: "stop" }) }].reverse()),
    [SUBSCRIBE]: events(...answer("Hel", "lo")),
  });
  const [before, running] = await session.history();
  assert.deepEqual([before.status, running.status], ["done", "running"]);
  const { events: got, error } = await collect(running.stream());
  assert.equal(error, undefined);
  assert.equal(got.length, 6);
  assert.equal(textOf(running), "Hello");
});

test("a history shows what still waits, and results of calls before it", async (t) => {
  const paused = { ...DONE, required_actions: [required(["c1"])] };
  const entries = [
    { turn_id: "t1", event: made("c1", "m1") },
    { turn_id: "t1", event: required(["c1"]) },
    { turn_id: "t2", event: toolResponse("c1", "restarted") },
    { turn_id: "t2", event: made("c2", "m9") },
    { turn_id: "t2", event: required(["c2"], { source_event_id: "m9" }) },
  ];
  const { session } = await serveSession(t, {
    [LIST_TURNS]: page([record({ ...DONE, required_actions: [required(["c2"], { source_event_id: "m9" })] }, { id: "t2", previous_turn_id: "t1" }), record(paused)]),
    [SESSION_EVENTS]: page(entries.reverse()),
  });
  const [first, second] = (await session.history()).map((turn) => turn.snapshot());
  assert.deepEqual(first.required_actions, []);
  assert.equal(first.threads[0].messages[0].tool_calls[0].response.content, "restarted");
  assert.deepEqual(second.required_actions.map((action) => action.tool_call_id), ["c2"]);
  assert.deepEqual(second.threads[0].tool_responses.map(({ tool_call_id, content }) => [tool_call_id, content]), [["c1", "restarted"]]);
});

test("an empty conversation has an empty history", async (t) => {
  const { session } = await serveSession(t, { [LIST_TURNS]: page([]), [SESSION_EVENTS]: page([]) });
  assert.deepEqual(await session.history(), []);
});

test("a server that returns the same page without end is not followed without end", async (t) => {
  let asked = 0;
  const again = (exchange) => {
    asked += 1;
    // The test must end as well where the package would not.
    page([record(DONE)], asked < 50 ? "same" : undefined)(exchange);
  };
  const { session } = await serveSession(t, { [LIST_TURNS]: again });
  await collect(session.listTurns());
  assert.ok(asked < 50, `asked ${asked} times for the same page`);
});

const OF_SIBLING = (id, name) => ({ ...named(id), agent_name: undefined, agent: { type: "reference", name } });

test("the sibling lists all agents' sessions; listSessions returns those of one", async (t) => {
  const pages = [page([OF_SIBLING("a", "other"), OF_SIBLING("b", "mine")], "p2"), page([OF_SIBLING("c", "mine"), OF_SIBLING("d", "mine2")])];
  const server = await serve(t, { "GET /acme/api/v1/sessions": pages });
  const { agents } = await connect({ baseUrl: server.baseUrl, protocol: "trueforge" });
  const { events: sessions, error } = await collect(agents.listSessions("mine"));
  assert.equal(error, undefined);
  assert.deepEqual(sessions.map(({ id, agentName }) => [id, agentName]), [["b", "mine"], ["c", "mine"]]);
  // None of its own lists takes an agent, or a time.
  for (const { query } of server.requests) assert.deepEqual(Object.keys(query).filter((name) => !["limit", "page_token"].includes(name)), []);
});

test("an option that is not the list's is an error, not ignored", async (t) => {
  const server = await serve(t);
  for (const protocol of ["truefoundry", "trueforge"]) {
    const { agents } = await connect({ baseUrl: server.baseUrl, protocol });
    for (const options of [{ agentName: "other" }, { sort: "asc" }, { windowStart: TIME }]) {
      const error = await failure(agents.listSessions("mine", options).next());
      assert.ok(error instanceof InputError, `${Object.keys(options)}: ${error}`);
      assert.equal(error.code, "invalid_option");
    }
  }
  assert.deepEqual(server.asked, []);
});

test("a session's lists on the gateway are of the requested agent", async (t) => {
  const server = await serve(t, { "GET agents/sessions": page([named("a"), { ...named("b"), agent_name: null }]) });
  const { agents } = await connect({ baseUrl: server.baseUrl });
  const { events: sessions } = await collect(agents.listSessions("support-bot"));
  assert.deepEqual(sessions.map(({ id }) => id), ["a", "b"]);
  assert.equal(server.requests[0].query.agent_name, "support-bot");
});

test("a list that is answered with something else is requested once: the address may be wrong", async (t) => {
  const server = await serve(t, {
    "GET agents/sessions": ({ response }) => response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>"),
  });
  const { agents } = await connect({ baseUrl: server.baseUrl, reconnect: { baseDelay: 1, maxDelay: 1 } });
  const { events: sessions, error } = await collect(agents.listSessions("support-bot"));
  assert.deepEqual([sessions, error?.code, server.requests.length], [[], "unexpected_response", 1]);
});
