// What awaken does differently: answers one by one to a run that goes on, and a run that goes on without a reader.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, begin, calling, complete, DECISION, EVENTS, finish, frames, items, messagePage, MESSAGES, pausing, recordOf, RUN, runOf, runRecord, RUNS, say, serveAgent, START, step, stored, STREAM, suspended } from "../support/agent-event.mjs";
import { collect, eventually, failure, textOf } from "../support/collect.mjs";
import { tellings, topics } from "../support/connection.mjs";
import { json, LiveStream, refusal } from "../support/server.mjs";

const CALL = suspended("c1", "shell");
const ASK = suspended("c2", "ask", "use_decision_as_tool_result");
const allow = (tool_call_id, more = {}) => ({ type: "user.tool_approval", thread_id: "main", tool_call_id, approval: { status: "allow", ...more } });
const deny = (tool_call_id, reason) => ({ type: "user.tool_approval", thread_id: "main", tool_call_id, approval: { status: "deny", reason } });
const give = (tool_call_id, content) => ({ type: "user.tool_response", thread_id: "main", tool_call_id, content });

const NOT_FOUND = json({ error: "not found" }, 404);
const ACCEPTED = json({ status: "accepted" }, 202);
/** What a run's record says while it waits for these calls. */
function since(calls, at = 1_795_255_000_000) {
  const ticket = ({ call_id, tool_name, arguments: args, pending, resume_mode, suspension }) => {
    return { ticket_id: pending.id, tool_call_id: call_id, tool_name, arguments: args, resume_mode, reason: suspension.action, updated_at: at };
  };
  return { status: "waiting", waiting: { reason: "suspended", tickets: calls.map(ticket) } };
}

/** The server's record of these frames, as a page of its list, whose last event has this cursor. */
function kept(list, from = 0) {
  const texts = frames("awaken", list).trim().split("\n\n").map((line) => JSON.parse(line.slice(5)));
  const events = texts.map((payload, at) => ({ payload, cursors_by_scope: [{ scope: { scope_type: "run" }, cursor: `k${from + at + 1}` }] }));
  return items(events.slice(from), { next_cursor: null });
}

/** An event stream of frames that have cursors. */
function tail(list, from) {
  return ({ request, response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": heartbeat\n\n");
    const after = request.query.cursor === undefined ? from : Number(request.query.cursor.slice(1));
    for (const [at, item] of list.entries()) if (at >= after) response.write(`id: k${at + 1}\n${frames("awaken", [item])}`);
    response.end();
  };
}

/** What a run goes on with after these calls were answered. */
function resumed(...calls) {
  const done = calls.flatMap(([id, name, result]) => [
    ["tool_call_resumed", { target_id: id, result }],
    ["tool_call_done", { id, message_id: `d${id}`, outcome: "succeeded", result: { tool_name: name, status: "success", data: result } }],
  ]);
  return [begin(), ...done, step("m2"), say("Thanks."), complete(), ["step_end"], finish("natural_end", { result: { response: "Thanks." } })];
}

/** A session whose first turn has paused for these calls. */
async function paused(t, calls, routes = {}) {
  const world = await serveAgent(t, "awaken", { [START]: runOf("awaken", pausing("awaken", ...calls)), ...routes });
  const turn = world.session.createTurn({ input: "Hello" });
  const { error, events } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual(turn.snapshot().required_actions.map((action) => action.tool_call_id), calls.map((call) => call.call_id));
  world.server.requests.length = 0;
  return { ...world, turn, events };
}

const bodies = (server) => server.requests.filter(({ method }) => method === "POST").map(({ path, body }) => [path, body]);

for (const [name, input, body] of [
  ["an approval", allow("c1", { remember: true }), { toolCallId: "c1", action: "resume", payload: { approved: true, remember: true } }],
  ["a denial", deny("c1", "no"), { toolCallId: "c1", action: "cancel", payload: { approved: false, reason: "no" } }],
]) {
  test(`awaken: ${name} is a request of its own, and the same run goes on after it`, async (t) => {
    const before = pausing("awaken", CALL);
    const whole = [...before, ...resumed(["c1", "shell", { ok: true }])];
    const routes = { [RUN]: recordOf(since([CALL])), [EVENTS]: kept(before), [DECISION]: ACCEPTED, [STREAM]: tail(whole, before.length) };
    const { server, session, turn } = await paused(t, [CALL], routes);
    const next = session.createTurn({ input });
    const { events, error } = await collect(next.stream());
    assert.equal(error, undefined);
    assert.deepEqual(bodies(server), [["runs/r1/decision", body]]);
    assert.equal(server.requests.at(-1).query.cursor, `k${before.length}`);
    assert.equal(next.id, turn.id);
    assert.equal(next.status, "done");
    assert.equal(textOf(next), "Thanks.");
    assert.equal(events.some((event) => event.type === "tool.approval_required"), false, "what was said before is not said again");
    assert.equal(events.at(-1).type, "turn.done");
    assert.deepEqual(turn.snapshot().required_actions, []);
    assert.equal(turn.snapshot().threads[0].messages[0].tool_calls[0].status, "done");
  });
}

test("awaken: two answers are two requests, in their order, even if the run pauses between them", async (t) => {
  const before = pausing("awaken", CALL, ASK);
  const between = [begin(), ["tool_call_resumed", { target_id: "c1", result: { approved: true } }], finish("suspended")];
  const whole = [...before, ...between, ...resumed(["c2", "ask", "blue"])];
  const routes = { [RUN]: recordOf(since([CALL, ASK])), [EVENTS]: kept(before), [DECISION]: ACCEPTED, [STREAM]: tail(whole, before.length) };
  const { server, session } = await paused(t, [CALL, ASK], routes);
  const next = session.createTurn({ input: [allow("c1"), give("c2", "blue")] });
  const { error } = await collect(next.stream());
  assert.equal(error, undefined);
  assert.deepEqual(bodies(server).map(([, { toolCallId, payload }]) => [toolCallId, payload]), [["c1", { approved: true }], ["c2", "blue"]]);
  assert.equal(textOf(next), "Thanks.");
  assert.deepEqual(next.snapshot().required_actions, []);
});

test("awaken: without a record of the stream the answered run is polled until it has ended", async (t) => {
  const before = [stored("a1", "user", [{ type: "text", text: "Hello" }], { id: "0-a" }), stored("a2", "assistant", [], { id: "1-b", tool_calls: [{ id: "c1", name: "shell", arguments: {} }] })];
  const after = [...before, stored("a3", "tool", [{ type: "text", text: '{"ok":true}' }], { id: "2-c", tool_call_id: "c1" }), stored("a4", "assistant", [{ type: "text", text: "Thanks." }], { id: "3-d" })];
  const runs = [recordOf(since([CALL])), recordOf({ status: "running" }), recordOf()];
  const routes = { [RUN]: runs, [EVENTS]: NOT_FOUND, [STREAM]: NOT_FOUND, [MESSAGES]: [messagePage(before), messagePage(after)], [DECISION]: ACCEPTED };
  const { server, session } = await paused(t, [CALL], routes);
  const next = session.createTurn({ input: allow("c1") });
  const { events, error } = await collect(next.stream());
  assert.equal(error, undefined);
  assert.equal(next.status, "done");
  assert.equal(textOf(next), "Thanks.");
  assert.deepEqual(next.snapshot().threads[0].tool_responses.map((response) => response.tool_call_id), ["c1"]);
  assert.equal(events.filter((event) => event.type === "model.message").length, 1);
  assert.equal(bodies(server).length, 1);
});

test("awaken: an answer to a run that no longer waits is not sent", async (t) => {
  const { server, session } = await paused(t, [CALL], { [RUN]: recordOf() });
  const { error } = await collect(session.createTurn({ input: allow("c1") }).stream());
  assert.equal(error.code, "turn_not_running");
  assert.deepEqual(bodies(server), []);
});

test("awaken: an answer that is refused is the server's own error, and can be tried again", async (t) => {
  const before = pausing("awaken", CALL);
  const routes = {
    [RUN]: recordOf(since([CALL])),
    [EVENTS]: kept(before),
    [DECISION]: [json({ error: "bad request: unknown tool call" }, 400), ACCEPTED],
    [STREAM]: tail([...before, ...resumed(["c1", "shell", 1])], before.length),
  };
  const { server, session } = await paused(t, [CALL], routes);
  const next = session.createTurn({ input: allow("c1") });
  const { error } = await collect(next.stream());
  assert.equal(error.status, 400);
  assert.match(error.message, /unknown tool call/);
  assert.equal((await collect(next.stream())).error, undefined);
  assert.equal(bodies(server).length, 2);
});

test("awaken: of two answers of which one was lost, only that one is sent again", async (t) => {
  const before = pausing("awaken", CALL, ASK);
  const routes = {
    [RUN]: recordOf(since([CALL, ASK])),
    [EVENTS]: kept(before),
    [DECISION]: [ACCEPTED, json({ error: "bad request: no" }, 400), ACCEPTED],
    [STREAM]: tail([...before, ...resumed(["c1", "shell", 1], ["c2", "ask", "blue"])], before.length),
  };
  const { server, session } = await paused(t, [CALL, ASK], routes);
  const next = session.createTurn({ input: [allow("c1"), give("c2", "blue")] });
  const { error } = await collect(next.stream());
  assert.equal(error.code, "incomplete");
  assert.match(error.message, /only some of the answers/);
  assert.equal(next.status, "incomplete");
  assert.equal((await collect(next.stream())).error, undefined);
  assert.deepEqual(bodies(server).map(([, body]) => body.toolCallId), ["c1", "c2", "c2"]);
});

test("awaken: turn.answer() while the turn runs is a request for each answer", async (t) => {
  const live = new LiveStream();
  const { server, session } = await serveAgent(t, "awaken", { [START]: live.reply, [DECISION]: ACCEPTED });
  const turn = session.createTurn({ input: "Hello" });
  const over = collect(turn.stream());
  await live.write(frames("awaken", [...pausing("awaken", CALL, ASK).slice(0, -2), say("Meanwhile")]));
  await eventually(() => turn.snapshot().required_actions.length === 2);
  assert.equal(await turn.answer([allow("c1"), give("c2", "blue")]), turn);
  assert.deepEqual(bodies(server).slice(1), [
    ["runs/r1/decision", { toolCallId: "c1", action: "resume", payload: { approved: true } }],
    ["runs/r1/decision", { toolCallId: "c2", action: "resume", payload: "blue" }],
  ]);
  await live.write(frames("awaken", [complete(), finish()]));
  assert.equal((await over).error, undefined);
});

const WHOLE = answer("one ", "two ", "three");

test("awaken: a stream that breaks goes on with the server's record, and each event comes once", async (t) => {
  const { server, session } = await serveAgent(t, "awaken", {
    [START]: runOf("awaken", WHOLE.slice(0, 4), (response) => response.socket.resetAndDestroy()),
    [EVENTS]: kept(WHOLE.slice(0, 5)),
    [STREAM]: tail(WHOLE, 0),
  });
  const turn = session.createTurn({ input: "Hello" });
  const told = tellings(turn);
  const { events, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.equal(textOf(turn), "one two three");
  assert.deepEqual(events.map((event) => event.sequence_number), events.map((_, at) => at + 1));
  assert.deepEqual(events.filter((event) => event.content && event.type.endsWith("delta")).map((event) => event.content), ["one ", "two ", "three"]);
  assert.equal(server.count(START), 1);
  assert.equal(server.requests.at(-1).query.cursor, "k5");
  assert.ok(topics(told).includes("reconnecting"));
});

test("awaken: after an expired cursor the record is read once more", async (t) => {
  const { session } = await serveAgent(t, "awaken", {
    [START]: runOf("awaken", WHOLE.slice(0, 4), (response) => response.socket.resetAndDestroy()),
    [EVENTS]: [kept(WHOLE.slice(0, 4)), kept(WHOLE)],
    [STREAM]: refusal(410),
  });
  const turn = session.createTurn({ input: "Hello" });
  const { events, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.equal(textOf(turn), "one two three");
  assert.deepEqual(events.map((event) => event.sequence_number), events.map((_, at) => at + 1));
});

test("awaken: where there is no record, the run's messages are read after it has ended", async (t) => {
  const list = [stored("a1", "user", [{ type: "text", text: "Hello" }], { id: "0" }), stored("a2", "assistant", [{ type: "text", text: "one two three" }], { id: "m1" })];
  const { server, session } = await serveAgent(t, "awaken", {
    [START]: runOf("awaken", WHOLE.slice(0, 3)),
    [EVENTS]: NOT_FOUND,
    [STREAM]: NOT_FOUND,
    [RUN]: [recordOf({ status: "running" }), recordOf()],
    [MESSAGES]: messagePage(list),
  });
  const turn = session.createTurn({ input: "Hello" });
  const { error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.equal(turn.status, "done");
  assert.equal(textOf(turn), "one two three");
  assert.equal(server.count(START), 1);
  assert.deepEqual(turn.snapshot().state.termination, { type: "natural_end" });
});

test("awaken: a delivered result is not repeated by the list, which has it under another id", async (t) => {
  const done = (id, data) => ["tool_call_done", { id, message_id: "", outcome: "succeeded", result: { tool_name: "look", status: "success", data } }];
  const call = (id) => ({ id, name: "look", arguments: {} });
  const list = [
    stored("a1", "user", [{ type: "text", text: "Hello" }]),
    stored("a2", "assistant", "", { id: "m1", tool_calls: [call("c1")] }),
    stored("a3", "tool", [{ type: "text", text: "1" }], { tool_call_id: "c1" }),
    stored("a4", "assistant", "", { id: "m2", tool_calls: [call("c1")] }),
    stored("a5", "tool", [{ type: "text", text: "2" }], { tool_call_id: "c1" }),
    stored("a6", "assistant", [{ type: "text", text: "Done." }], { id: "m3" }),
  ];
  const { session } = await serveAgent(t, "awaken", {
    [START]: runOf("awaken", [begin(), step("m1"), ...calling("c1", "look"), complete(), done("c1", 1), ["step_end"], step("m2")]),
    [EVENTS]: NOT_FOUND,
    [STREAM]: NOT_FOUND,
    [RUN]: recordOf(),
    [MESSAGES]: messagePage(list),
  });
  const turn = session.createTurn({ input: "Hello" });
  const { error, events } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual(events.filter((event) => event.type === "tool.response").map((event) => event.content), ["1", "2"]);
  assert.equal(textOf(turn), "Done.");
});

test("awaken: a text that the server withdraws is gone, and a call that it cancels is cancelled", async (t) => {
  const list = [begin(), step(), say("no"), ...[["tool_call_start", { id: "c1", name: "x" }]], ["tool_call_cancel", { id: "c1", name: "x", reason: "again" }], ["stream_reset", { reason: "again" }], say("yes"), complete(), finish()];
  const { session } = await serveAgent(t, "awaken", { [START]: runOf("awaken", list) });
  const turn = session.createTurn({ input: "Hello" });
  const { events } = await collect(turn.stream());
  assert.equal(textOf(turn), "yes");
  assert.ok(events.some((event) => event.type === "message.reset"));
  assert.ok(events.some((event) => event.type === "tool.cancelled"));
});

test("awaken: a blocked run is an error that names the cause", async (t) => {
  const { session } = await serveAgent(t, "awaken", { [START]: runOf("awaken", [begin(), ["run_finish", { termination: { type: "blocked", value: "policy" } }]]) });
  const turn = session.createTurn({ input: "Hello" });
  await collect(turn.stream());
  assert.equal(turn.status, "error");
  assert.match(turn.snapshot().state.message, /policy/);
});

test("awaken: history after a reload shows pending calls, by the last run's record", async (t) => {
  const list = [stored("a1", "user", [{ type: "text", text: "Hello" }], { id: "0-a" }), stored("a2", "assistant", [], { id: "1-b", tool_calls: [{ id: "c1", name: "shell", arguments: { a: 1 } }] })];
  const { session } = await serveAgent(t, "awaken", { [RUNS.awaken]: items([runRecord(since([CALL]))]), [MESSAGES]: messagePage(list), "GET threads/*": json({ id: "s1" }) });
  const [turn] = await session.history();
  assert.deepEqual(turn.snapshot().required_actions.map(({ type, tool_call_id, name }) => [type, tool_call_id, name]), [["tool.approval_required", "c1", "shell"]]);
  assert.match((await failure(() => session.createTurn({ input: "hm" }))).message, /while calls wait/);
});

const SAID = [stored("a1", "user", [{ type: "text", text: "Hello" }], { id: "0" }), stored("a2", "assistant", [{ type: "text", text: "one two three" }], { id: "m1" })];

/** The session `s1` after a reload. */
async function reloaded(t, routes) {
  const world = await serveAgent(t, "awaken", { "GET threads/*": json({ id: "s1", metadata: {} }), ...routes });
  return { ...world, session: await world.client.agents.getSession("s1", { agentName: "assistant" }) };
}

test("awaken: after a reload a run that goes on is read from its beginning, and each event comes once", async (t) => {
  const { server, session } = await reloaded(t, {
    [RUNS.awaken]: items([runRecord({ status: "running" })]),
    [MESSAGES]: messagePage(SAID.slice(0, 1)),
    [EVENTS]: kept(WHOLE.slice(0, 4)),
    [STREAM]: tail(WHOLE, 0),
  });
  const [turn, ...others] = await session.resume();
  assert.deepEqual(others, []);
  const events = [];
  turn.on("event", (event) => events.push(event));
  const state = await turn.waitForCompletion();
  assert.equal(state.output.content, "one two three");
  assert.equal(textOf(turn), "one two three");
  assert.deepEqual(events.map((event) => event.sequence_number), events.map((_, at) => at + 1));
  assert.equal(server.count(START), 0);
  assert.equal(server.requests.at(-1).query.cursor, "k4");
});

test("awaken: after a reload a run of which there is no record is waited for", async (t) => {
  const { server, session } = await reloaded(t, {
    [RUNS.awaken]: items([runRecord({ status: "running" })]),
    [MESSAGES]: [messagePage(SAID.slice(0, 1)), messagePage(SAID)],
    [RUN]: recordOf(),
    [EVENTS]: NOT_FOUND,
    [STREAM]: NOT_FOUND,
  });
  const [turn] = await session.resume();
  assert.equal((await turn.waitForCompletion()).status, "done");
  assert.equal(textOf(turn), "one two three");
  assert.equal(server.count(START), 0);
});

test("awaken: history has each turn with its messages", async (t) => {
  const list = [
    ...SAID,
    stored("a3", "user", [{ type: "text", text: "And you?" }], { id: "n1", metadata: { run_id: "r2" } }),
    stored("a4", "assistant", [{ type: "thinking", thinking: "Hm." }, { type: "text", text: "Fine." }], { id: "n2", metadata: { run_id: "r2" } }),
  ];
  const { session } = await reloaded(t, { [RUNS.awaken]: items([runRecord(), runRecord({ run_id: "r2" })]), [MESSAGES]: messagePage(list) });
  const turns = await session.history();
  assert.deepEqual(turns.map((turn) => [turn.status, turn.input[0].content, textOf(turn)]), [["done", "Hello", "one two three"], ["done", "And you?", "Fine."]]);
  assert.equal(turns[1].id, "r2");
  assert.equal(turns[1].snapshot().threads[0].messages[0].reasoning_content, "Hm.");
});

test("awaken: sessions are listed over all pages, once each", async (t) => {
  const { server, client } = await serveAgent(t, "awaken", {
    "GET threads/summaries": [
      items([{ id: "s1", title: "One", agent_id: "assistant" }, { id: "s2", agent_id: "poet" }], { has_more: true, next_cursor: "n" }),
      items([{ id: "s1", title: "One", agent_id: "assistant" }, { id: "s3" }]),
    ],
  });
  const { events: sessions, error } = await collect(client.agents.listSessions("assistant", { limit: 2 }));
  assert.equal(error, undefined);
  assert.deepEqual(sessions.map(({ id, agentName }) => [id, agentName]), [["s1", "assistant"], ["s3", "assistant"]]);
  assert.deepEqual(server.requests.map(({ query }) => query), [{ limit: "2", root: "true" }, { limit: "2", cursor: "n", root: "true" }]);
});
