// What a session can do besides turns: its history, lists, state, name and end.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../../dist/index.js";
import { answer, begin, CANCEL, complete, finish, frames, INTERRUPT, items, LATEST, messagePage, MESSAGES, MS, QUICK, recordOf, RUN, runOf, runRecord, RUNS, say, serveAgent, START, step, stored, suspended, THREAD, TIME, waitingState } from "../support/agent-event.mjs";
import { collect, eventually, failure, textOf } from "../support/collect.mjs";
import { body, json, LiveStream, serve } from "../support/server.mjs";

const THREAD_S1 = { id: "s1", messages: [], state: null, metadata: { title: "Plans", created_at: MS, updated_at: MS } };

/** The session `s1`, which has been there before. */
async function come(t, protocol, routes = {}, options = {}) {
  const server = await serve(t, { [THREAD]: json(THREAD_S1), ...routes });
  const client = await connect({ baseUrl: server.baseUrl, protocol, reconnect: QUICK, ...options });
  const session = await client.agents.getSession("s1", { agentName: "assistant" });
  server.requests.length = 0;
  return { server, client, session };
}

const TOOL_RESULT = { tool_name: "serverInfo", status: "success", data: { server: "x" }, message: null, metadata: {} };
const CONVERSATION = [
  stored(1, "user", "Hello", { id: "t1:0" }),
  stored(2, "assistant", "", { tool_calls: [{ id: "c1", name: "serverInfo", arguments: {} }] }),
  stored(3, "tool", JSON.stringify(TOOL_RESULT), { tool_call_id: "c1" }),
  stored(4, "assistant", "It is x."),
  stored(5, "user", "And you?", { id: "t2:0" }),
  stored(6, "assistant", "Fine."),
];

test("tirea: history has the turns with their messages", async (t) => {
  const runs = items([runRecord({ run_id: "t1" }), runRecord({ run_id: "t2", parent_run_id: "t1", status: "done", termination_code: "max_rounds_reached" })]);
  const { server, session } = await come(t, "tirea", { [RUNS.tirea]: runs, [MESSAGES]: messagePage(CONVERSATION) });
  const turns = await session.history();
  assert.deepEqual(turns.map((turn) => [turn.id, turn.status, textOf(turn)]), [["t1", "done", "It is x."], ["t2", "done", "Fine."]]);
  assert.deepEqual(turns.map((turn) => turn.input), [[{ type: "user.message", content: "Hello" }], [{ type: "user.message", content: "And you?" }]]);
  const [call] = turns[0].snapshot().threads[0].messages[0].tool_calls;
  assert.deepEqual([call.status, call.response.outcome, call.response.result], ["done", "succeeded", TOOL_RESULT]);
  assert.deepEqual(turns[1].snapshot().state.termination, { type: "stopped", value: { code: "max_rounds_reached" } });
  assert.equal(turns[1].previousTurnId, "t1");
  assert.equal(turns[0].createdAt, TIME);
  assert.ok(server.requests.every(({ method }) => method === "GET"));
  assert.equal(server.requests.find(({ path }) => path === "runs").query.thread_id, "s1");
});

test("tirea: a turn after a history follows its last turn", async (t) => {
  const { server, session } = await come(t, "tirea", { [RUNS.tirea]: items([runRecord({ run_id: "t2" })]), [MESSAGES]: messagePage(CONVERSATION), [START]: runOf("tirea", answer("Hi")) });
  await session.history();
  const turn = session.createTurn({ input: "next" });
  await collect(turn.stream());
  const { parentRunId, agentId, threadId } = server.requests.at(-1).body;
  assert.deepEqual([parentRunId, agentId, threadId], ["t2", "assistant", "s1"]);
});

for (const [status, code, wanted] of [["done", "cancelled", "cancelled"], ["done", "error", "error"], ["done", "natural", "done"], ["running", undefined, "running"]]) {
  test(`tirea: a last turn whose record says ${status}, ${code} is ${wanted}`, async (t) => {
    const runs = items([runRecord({ run_id: "t1", status, termination_code: code, termination_detail: code === "error" ? "no key" : undefined })]);
    const { session } = await come(t, "tirea", { [RUNS.tirea]: runs, [MESSAGES]: messagePage(CONVERSATION.slice(0, 4)) });
    const [turn] = await session.history();
    assert.equal(turn.status, wanted);
    assert.equal(textOf(turn), "It is x.");
    if (wanted === "error") assert.match(turn.snapshot().state.message, /no key/);
  });
}

test("tirea: waiting calls are pending again after a reload, at its call, and can be answered", async (t) => {
  const call = suspended("c1", "serverInfo");
  const thread = { ...THREAD_S1, state: waitingState(call) };
  const list = [stored(1, "user", "Hello", { id: "t1:0" }), CONVERSATION[1], stored(3, "tool", "Tool 'serverInfo' is awaiting approval. Execution paused.", { tool_call_id: "c1" })];
  const { server, session } = await come(t, "tirea", {
    [THREAD]: json(thread),
    [RUNS.tirea]: items([runRecord({ run_id: "t1", status: "waiting", termination_code: "input_required" })]),
    [MESSAGES]: messagePage(list),
    [START]: runOf("tirea", answer("Done.")),
  });
  const [turn, ...others] = await session.resume();
  assert.deepEqual(others, []);
  const [action] = turn.snapshot().required_actions;
  assert.deepEqual([turn.status, action.type, action.tool_call_id, action.name], ["done", "tool.approval_required", "c1", "serverInfo"]);
  assert.equal(turn.snapshot().threads[0].messages[0].tool_calls[0].status, "approval_required");
  const { thread_id, tool_call_id } = action;
  const next = session.createTurn({ input: { type: "user.tool_approval", thread_id, tool_call_id, approval: { status: "allow" } } });
  assert.equal((await collect(next.stream())).error, undefined);
  assert.equal(server.requests.at(-1).body.parentRunId, "t1");
  assert.deepEqual(turn.snapshot().required_actions, []);
});

test("tirea: resume() of a turn that runs elsewhere says that nothing more can be read of it", async (t) => {
  const { server, session } = await come(t, "tirea", { [RUNS.tirea]: items([runRecord({ run_id: "t1", status: "running" })]), [RUN]: recordOf({ status: "running" }), [MESSAGES]: messagePage(CONVERSATION.slice(0, 1)) });
  const [turn] = await session.resume();
  const error = await failure(turn.waitForCompletion());
  assert.equal(error.code, "incomplete");
  assert.equal(server.count(START), 0);
});

test("tirea: history leaves out what the server wrote for itself", async (t) => {
  const list = [
    stored(1, "user", "Hello", { id: "t1:0" }),
    stored(2, "assistant", "partial"),
    stored(3, "user", "Your previous response was interrupted due to a network error. Please continue.", { visibility: "internal" }),
    stored(4, "user", "The previous run was interrupted during inference. Please continue from the current context."),
    stored(5, "system", "be kind"),
  ];
  const { session } = await come(t, "tirea", { [RUNS.tirea]: items([runRecord({ run_id: "t1" })]), [MESSAGES]: messagePage(list) });
  const turns = await session.history();
  assert.deepEqual(turns.map((turn) => [turn.id, turn.input.length, textOf(turn)]), [["t1", 1, "partial"]]);
});

for (const protocol of ["tirea", "awaken"]) {
  test(`${protocol}: an empty thread has an empty history`, async (t) => {
    const { session } = await come(t, protocol, { [RUNS[protocol]]: items([]), [MESSAGES]: messagePage([]) });
    assert.deepEqual(await session.history(), []);
    assert.deepEqual(await session.resume(), []);
    assert.deepEqual((await collect(session.listTurns())).events, []);
    assert.deepEqual((await collect(session.listMessages())).events, []);
  });

  test(`${protocol}: a deleted thread is the server's own error`, async (t) => {
    const gone = json({ error: "thread not found: s1" }, 404);
    const { session } = await come(t, protocol, { [RUNS[protocol]]: gone, [MESSAGES]: gone });
    const error = await failure(session.history());
    assert.deepEqual([error.code, error.status], ["http", 404]);
    assert.match(error.message, /thread not found: s1/);
  });

  test(`${protocol}: rename and delete are one request each`, async (t) => {
    const { server, session } = await come(t, protocol, { "PATCH threads/s1/metadata": json({ id: "s1" }), "DELETE threads/s1": ({ response }) => response.writeHead(204).end() });
    await session.rename("Winter");
    assert.equal(session.title, "Winter");
    assert.deepEqual(server.requests.map(({ body }) => body), [{ title: "Winter" }]);
    await session.delete();
    assert.deepEqual(server.asked, ["PATCH threads/s1/metadata", "DELETE threads/s1"]);
    assert.equal(server.requests[1].body, undefined);
  });

  test(`${protocol}: a refused name is not shown`, async (t) => {
    const { session } = await come(t, protocol, { "PATCH threads/s1/metadata": json({ error: "thread not found: s1" }, 404) });
    assert.equal((await failure(session.rename("Winter"))).status, 404);
    assert.equal(session.title, "Plans");
  });

  test(`${protocol}: interrupt stops every running turn, and the session continues`, async (t) => {
    const routes = { [INTERRUPT]: json({ status: "interrupt_requested" }, 202), [START]: runOf(protocol, answer("Hi")), [LATEST]: json(runRecord()) };
    const { server, session } = await come(t, protocol, routes);
    await session.interrupt();
    assert.deepEqual(server.asked, ["POST threads/s1/interrupt"]);
    assert.equal((await collect(session.createTurn({ input: "a" }).stream())).error, undefined);
  });

  test(`${protocol}: cancel() of a session ends it here`, async (t) => {
    const { session } = await come(t, protocol, { [INTERRUPT]: json({ status: "interrupt_requested" }, 202) });
    await session.cancel();
    assert.equal((await failure(() => session.createTurn({ input: "a" }))).code, "session_cancelled");
  });

  test(`${protocol}: cancel() of a turn stops the run, whose end comes by its stream`, async (t) => {
    const live = new LiveStream();
    const { server, session } = await serveAgent(t, protocol, { [START]: live.reply, [CANCEL]: json({ status: "cancel_requested" }, 202) });
    const turn = session.createTurn({ input: "Hello" });
    const over = collect(turn.stream());
    await live.write(frames(protocol, [begin(), step(), say("tok00 ")]));
    await eventually(() => turn.status === "running");
    await turn.cancel();
    assert.deepEqual(server.asked, [START, `POST runs/${turn.id}/cancel`]);
    await live.write(frames(protocol, [finish("cancelled")]));
    assert.equal((await over).error, undefined);
    assert.equal(turn.status, "cancelled");
    assert.equal(turn.snapshot().state.status, "cancelled");
    assert.equal(textOf(turn), "tok00 ");
    await turn.cancel();
    assert.equal(server.requests.length, 2);
  });
}

test("tirea: a cancel that comes too late is the server's own error", async (t) => {
  const live = new LiveStream();
  const { session } = await serveAgent(t, "tirea", { [START]: live.reply, [CANCEL]: json({ error: "bad request: run is not active" }, 400) });
  const turn = session.createTurn({ input: "Hello" });
  const over = collect(turn.stream());
  await live.write(frames("tirea", [begin(), step(), say("x")]));
  await eventually(() => turn.status === "running");
  const error = await failure(turn.cancel());
  assert.deepEqual([error.code, error.status], ["http", 400]);
  assert.match(error.message, /run is not active/);
  await live.write(frames("tirea", [complete(), finish()]));
  assert.equal((await over).error, undefined);
  assert.equal(turn.status, "done");
});

test("tirea: state() is the agent's own state, without the server's own names", async (t) => {
  const thread = { ...THREAD_S1, state: { notes: ["a"], __run: {}, nested: { __inner: 1 } } };
  const { session } = await come(t, "tirea", { [THREAD]: json(thread) });
  assert.deepEqual(await session.state(), { notes: ["a"], nested: { __inner: 1 } });
});

test("awaken: state() is that of the last run", async (t) => {
  const run = runRecord({ state: { revision: 7, extensions: { notes: ["a"], "__runtime.x": {} } } });
  const { server, session } = await come(t, "awaken", { "GET threads/s1/runs/latest": json(run) });
  assert.deepEqual(await session.state(), { revision: 7, extensions: { notes: ["a"] } });
  assert.deepEqual(server.asked, ["GET threads/s1/runs/latest"]);
});

test("tirea: listTurns has the records with all their fields, over all pages", async (t) => {
  const record = (at) => runRecord({ run_id: `t${at}`, parent_run_id: at > 1 ? `t${at - 1}` : undefined, origin: "user", metadata: { a: 1 } });
  const pages = [items([record(1), record(2)], { total: 3, has_more: true }), items([record(3)], { total: 3 })];
  const { server, session } = await come(t, "tirea", { [RUNS.tirea]: pages });
  const { events: turns, error } = await collect(session.listTurns({ limit: 2 }));
  assert.equal(error, undefined);
  assert.deepEqual(turns.map((turn) => turn.id), ["t1", "t2", "t3"]);
  assert.deepEqual(server.requests.map(({ query }) => query), [{ thread_id: "s1", offset: "0", limit: "2" }, { thread_id: "s1", offset: "2", limit: "2" }]);
});

test("tirea: getTurn and state() read one run, and what it said once", async (t) => {
  const { server, session } = await come(t, "tirea", {
    [RUN]: recordOf({ input_tokens: 42, output_tokens: 17 }), [MESSAGES]: messagePage([stored(1, "assistant", "Seven.", { id: "m1" })]),
  });
  const turn = await session.getTurn("t7");
  assert.equal(turn.snapshot().threads[0].messages[0].content, "Seven.");
  assert.deepEqual([turn.id, turn.status, turn.input], ["t7", "done", []]);
  const state = await turn.state();
  assert.deepEqual(state.metrics, { total_input_tokens: 42, total_output_tokens: 17, total_tokens: 59 });
  assert.deepEqual(state.termination, { type: "natural_end" });
  assert.deepEqual(server.asked, ["GET runs/t7", "GET threads/s1/messages", "GET runs/t7"]);
});

test("tirea: listEvents has the events of a turn and of the session", async (t) => {
  const { session } = await come(t, "tirea", { [RUN]: recordOf(), [MESSAGES]: messagePage(CONVERSATION) });
  const { events } = await collect(session.listEvents());
  assert.deepEqual(events.map(({ turn_id, event }) => [turn_id, event.type]), [
    ["t1", "turn.created"], ["t1", "model.message"], ["t1", "tool.response"], ["t1", "model.message"], ["t2", "turn.created"], ["t2", "model.message"],
  ]);
  const turn = await session.getTurn("t1");
  const { events: own } = await collect(turn.listEvents());
  assert.equal(own.length, 6);
});

for (const [order, query] of [["asc", [{ limit: "2" }, { limit: "2", after: "2" }]], ["desc", [{ limit: "2", order: "desc" }, { limit: "2", order: "desc", before: "2" }]]]) {
  test(`tirea: messages are listed over all pages, ${order}`, async (t) => {
    const list = CONVERSATION.slice(0, 3);
    const pages = [messagePage(list.slice(0, 2), { has_more: true, next_cursor: 2 }), messagePage(list.slice(2))];
    const { server, session } = await come(t, "tirea", { [MESSAGES]: pages });
    const { events } = await collect(session.listMessages({ order, limit: 2 }));
    assert.deepEqual(events, list);
    assert.deepEqual(server.requests.map((request) => request.query), query);
  });
}

test("tirea: sessions are listed once each, with the requested agent", async (t) => {
  const summary = (id, more) => ({ id, title: `Of ${id}`, created_at: MS, updated_at: MS, message_count: 2, ...more });
  const { server, client } = await come(t, "tirea", {
    "GET threads/summaries": json([summary("s2"), summary("s1"), summary("s2")]),
    "GET threads": items(["s1", "s201"]),
  });
  const { events: sessions, error } = await collect(client.agents.listSessions("assistant"));
  assert.equal(error, undefined);
  assert.deepEqual(sessions.map(({ id, title, agentName, createdAt }) => [id, title, agentName, createdAt]), [
    ["s2", "Of s2", "assistant", TIME], ["s1", "Of s1", "assistant", TIME], ["s201", null, "assistant", null],
  ]);
  assert.equal(server.requests.at(-1).query.offset, "200");
});

test("tirea: no further page of sessions is requested once the loop has ended", async (t) => {
  const { server, client } = await come(t, "tirea", { "GET threads/summaries": json([{ id: "s2" }]) });
  for await (const session of client.agents.listSessions("assistant")) {
    assert.equal(session.id, "s2");
    break;
  }
  assert.deepEqual(server.asked, ["GET threads/summaries"]);
});

test("tirea: errors in plain text are reported as such, and HTML is not", async (t) => {
  const { session } = await come(t, "tirea", { [MESSAGES]: [body("Failed to deserialize query string: limit: invalid digit found in string", { status: 400, type: "text/plain" }), body("<html><body>Bad gateway</body></html>", { status: 404, type: "text/html" })] });
  assert.match((await failure(session.listMessages().next())).message, /invalid digit/);
  const error = await failure(session.listMessages().next());
  assert.equal(error.status, 404);
  assert.doesNotMatch(error.message, /</);
});

test("a session that is refreshed keeps its agent", async (t) => {
  const { session } = await come(t, "tirea", { [THREAD]: json({ ...THREAD_S1, metadata: { title: "New" } }) });
  await session.refresh();
  assert.deepEqual([session.title, session.agentName], ["New", "assistant"]);
});
