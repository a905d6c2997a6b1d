// Answers to calls that wait: what is sent, when, and what is refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, begin, complete, finish, frames, INPUTS, pausing, recordOf, replay, RUN, runOf, serveAgent, START, say, step, suspended, waitingState } from "../support/agent-event.mjs";
import { collect, eventually, failure, textOf } from "../support/collect.mjs";
import { json, LiveStream, serve } from "../support/server.mjs";
import { connect } from "../../dist/index.js";

const allow = (tool_call_id, more = {}) => ({ type: "user.tool_approval", thread_id: "main", tool_call_id, approval: { status: "allow", ...more } });
const deny = (tool_call_id, reason) => ({ type: "user.tool_approval", thread_id: "main", tool_call_id, approval: { status: "deny", ...(reason && { reason }) } });
const give = (tool_call_id, content) => ({ type: "user.tool_response", thread_id: "main", tool_call_id, content });

const CALL = suspended("c1", "shell");
const ASK = suspended("c2", "ask", "use_decision_as_tool_result");

/** A session whose first turn has paused for these calls, and what follows that. */
async function paused(t, calls, ...then) {
  const world = await serveAgent(t, "tirea", { [START]: [runOf("tirea", pausing("tirea", ...calls)), ...then], [INPUTS]: json({ error: "bad request: run is not active" }, 400) });
  const turn = world.session.createTurn({ input: "Hello" });
  const { error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.equal(turn.status, "done");
  assert.deepEqual(turn.snapshot().required_actions.map((action) => action.tool_call_id), calls.map((call) => call.call_id));
  return { ...world, turn };
}

/** A run that goes on with the results of these calls. */
function resumed(...results) {
  const done = results.flatMap(([id, name, result]) => [
    ["tool_call_resumed", { target_id: id, result }],
    ["tool_call_done", { id, message_id: `d${id}`, outcome: "succeeded", result: { tool_name: name, status: "success", data: result, message: null, metadata: {} } }],
  ]);
  return runOf("tirea", [begin(), ...done, ["state_snapshot", { snapshot: { notes: [] } }], step("m2"), say("Thanks."), complete(), ["step_end"], finish("natural_end", { result: { response: "Thanks." } })]);
}

for (const [name, input, decision] of [
  ["an approval", allow("c1"), { target_id: "c1", action: "resume", result: { approved: true } }],
  ["one that is remembered", allow("c1", { remember: true }), { target_id: "c1", action: "resume", result: { approved: true, remember: true } }],
  ["one with more", allow("c1", { result: { directory: "/srv", tries: 2 } }), { target_id: "c1", action: "resume", result: { approved: true, directory: "/srv", tries: 2 } }],
  ["a denial", deny("c1"), { target_id: "c1", action: "cancel", result: { approved: false } }],
  ["a denial with its reason", deny("c1", "too dangerous"), { target_id: "c1", action: "cancel", result: { approved: false }, reason: "too dangerous" }],
]) {
  test(`tirea: ${name} is one decision of the next run, which follows the first`, async (t) => {
    const { server, session, turn } = await paused(t, [CALL], resumed(["c1", "shell", { ok: true }]));
    const next = session.createTurn({ input });
    const { error } = await collect(next.stream());
    assert.equal(error, undefined);
    const { body } = server.requests[1];
    const { decision_id, ...rest } = body.decisions[0];
    assert.deepEqual(rest, decision);
    assert.equal(decision_id, `${next.id}:0`);
    assert.deepEqual([body.messages, body.decisions.length, body.parentRunId, body.runId], [[], 1, turn.id, next.id]);
    assert.equal(server.count(START), 2);
    assert.equal(next.previousTurnId, turn.id);
  });
}

for (const [content, result] of [
  ["blue", "blue"],
  ['{"colour":"blue","n":1}', { colour: "blue", n: 1 }],
  ["[1,2]", [1, 2]],
  ["true", "true"],
  ["42", "42"],
  ["{not json", "{not json"],
]) {
  test(`tirea: the response ${JSON.stringify(content)} is sent as ${JSON.stringify(result)}`, async (t) => {
    const { server, session } = await paused(t, [ASK], resumed(["c2", "ask", result]));
    const next = session.createTurn({ input: give("c2", content) });
    assert.equal((await collect(next.stream())).error, undefined);
    const { decision_id: _, ...decision } = server.requests[1].body.decisions[0];
    assert.deepEqual(decision, { target_id: "c2", action: "resume", result });
  });
}

test("tirea: all answers go in one request, and the results are at the calls of both turns", async (t) => {
  const { server, session, turn } = await paused(t, [CALL, ASK], resumed(["c1", "shell", { ok: true }], ["c2", "ask", "blue"]));
  const next = session.createTurn({ input: [allow("c1"), give("c2", "blue")] });
  const { events } = await collect(next.stream());
  assert.deepEqual(server.requests[1].body.decisions.map(({ target_id }) => target_id), ["c1", "c2"]);
  assert.equal(server.count(START), 2);
  assert.deepEqual(events.filter((event) => event.type === "tool.resumed").map((event) => event.tool_call_id), ["c1", "c2"]);
  assert.equal(textOf(next), "Thanks.");
  assert.deepEqual(next.snapshot().threads[0].tool_responses.map((response) => response.tool_call_id), ["c1", "c2"]);
  const calls = turn.snapshot().threads[0].messages[0].tool_calls;
  assert.deepEqual(calls.map(({ status, response }) => [status, response?.outcome]), [["done", "succeeded"], ["done", "succeeded"]]);
  assert.deepEqual(turn.snapshot().required_actions, []);
  assert.deepEqual(next.snapshot().required_actions, []);
});

test("tirea: a refused decision shows as a failed call", async (t) => {
  const { session, turn } = await paused(t, [suspended("call_1", "serverInfo")], replay("tirea", "resume-deny"));
  const next = session.createTurn({ input: deny("call_1", "not allowed by user") });
  await collect(next.stream());
  const [call] = turn.snapshot().threads[0].messages[0].tool_calls;
  assert.deepEqual([call.status, call.response.outcome, call.response.result.message], ["done", "failed", "not allowed by user"]);
});

test("tirea: answers to only some of the calls are refused", async (t) => {
  const { server, session } = await paused(t, [CALL, ASK]);
  const error = await failure(() => session.createTurn({ input: allow("c1") }));
  assert.equal(error.code, "invalid_input");
  assert.match(error.message, /c2|every|all/);
  assert.equal(server.requests.length, 1);
});

for (const [name, input] of Object.entries({
  "an answer to a call that nobody made": allow("c9"),
  "an approval where a response is wanted": allow("c2"),
  "two answers to one call": [give("c2", "a"), give("c2", "b")],
  "a user's message beside an answer": ["c2"].flatMap((id) => [give(id, "a"), { type: "user.message", content: "and more" }]),
  "a response that is empty": give("c2", ""),
  "an approval without a verdict": { ...allow("c2"), approval: {} },
})) {
  test(`tirea: ${name} is refused before anything is sent`, async (t) => {
    const { server, session } = await paused(t, [ASK]);
    assert.equal((await failure(() => session.createTurn({ input }))).code, "invalid_input");
    assert.equal(server.requests.length, 1);
  });
}

test("tirea: a user's message while calls wait is refused, by an error that says what it would do", async (t) => {
  const { server, session } = await paused(t, [CALL]);
  const error = await failure(() => session.createTurn({ input: "never mind" }));
  assert.equal(error.code, "invalid_input");
  assert.match(error.message, /while calls wait for an answer/);
  assert.equal(server.requests.length, 1);
});

test("tirea: discardPending sends it, and the pending calls wait no longer", async (t) => {
  const { server, session, turn } = await paused(t, [CALL], runOf("tirea", answer("Fine.")));
  const next = session.createTurn({ input: "never mind", discardPending: true });
  assert.equal((await collect(next.stream())).error, undefined);
  const { body } = server.requests[1];
  assert.equal(body.messages[0].content, "never mind");
  assert.equal("decisions" in body, false);
  assert.deepEqual(turn.snapshot().required_actions, []);
  assert.doesNotThrow(() => session.createTurn({ input: "and on" }));
});

test("tirea: what was answered cannot be answered once more, by a turn made before or after that", async (t) => {
  const { server, session } = await paused(t, [CALL], resumed(["c1", "shell", 1]));
  const [one, two] = [session.createTurn({ input: allow("c1") }), session.createTurn({ input: allow("c1") })];
  assert.equal((await collect(one.stream())).error, undefined);
  assert.equal((await failure(() => session.createTurn({ input: allow("c1") }))).code, "invalid_input");
  assert.equal((await failure(async () => { for await (const _ of two.stream()); })).code, "invalid_input");
  assert.equal(server.count(START), 2);
});

test("tirea: after the answers a user's message is accepted again", async (t) => {
  const { session } = await paused(t, [CALL], resumed(["c1", "shell", 1]), runOf("tirea", answer("Hi")));
  await collect(session.createTurn({ input: allow("c1") }).stream());
  const turn = session.createTurn({ input: "next" });
  assert.equal((await collect(turn.stream())).error, undefined);
});

test("tirea: pending calls are known again after a reload, from the thread's state", async (t) => {
  const thread = json({ id: "s1", messages: [], state: waitingState(CALL, ASK), metadata: {} });
  const server = await serve(t, { "GET threads/s1": thread, [START]: resumed(["c1", "shell", 1], ["c2", "ask", "blue"]) });
  const client = await connect({ baseUrl: server.baseUrl, protocol: "tirea" });
  const session = await client.agents.getSession("s1", { agentName: "assistant" });
  assert.match((await failure(() => session.createTurn({ input: "hm" }))).message, /while calls wait/);
  const turn = session.createTurn({ input: [allow("c1"), give("c2", "blue")] });
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.deepEqual(server.requests[1].body.decisions.map(({ target_id }) => target_id), ["c1", "c2"]);
});

/** A turn that continues to speak while a call waits. */
async function talking(t, inputs, routes = {}) {
  const live = new LiveStream();
  const world = await serveAgent(t, "tirea", { [START]: [live.reply, ...(routes[START] ?? [])], [INPUTS]: inputs, [RUN]: recordOf({ status: "running" }) });
  const turn = world.session.createTurn({ input: "Hello" });
  const over = collect(turn.stream());
  const waits = pausing("tirea", CALL, ASK).slice(0, -1);
  await live.write(frames("tirea", [...waits, step("m2"), say("Meanwhile")]));
  await eventually(() => turn.snapshot().threads[0].messages.length === 2);
  return { ...world, live, turn, over };
}

const TAKEN = json({ status: "decision_forwarded", run_id: "r1", thread_id: "s1" }, 202);

test("tirea: an answer while the turn runs is accepted by that turn", async (t) => {
  const { server, live, turn, over } = await talking(t, TAKEN);
  assert.equal(await turn.answer(allow("c1", { remember: true })), turn);
  const request = server.requests.at(-1);
  assert.equal(request.path, `runs/${turn.id}/inputs`);
  const [{ decision_id: _, ...decision }, ...others] = request.body.decisions;
  assert.deepEqual([decision, others], [{ target_id: "c1", action: "resume", result: { approved: true, remember: true } }, []]);
  assert.deepEqual(Object.keys(request.body), ["decisions"]);
  const done = ["tool_call_done", { id: "c1", message_id: "d1", outcome: "succeeded", result: { tool_name: "shell", status: "success", data: 1, message: null, metadata: {} } }];
  await live.write(frames("tirea", [["tool_call_resumed", { target_id: "c1", result: { approved: true } }], done]));
  await eventually(() => turn.snapshot().threads[0].messages[0].tool_calls[0].status === "done");
  assert.equal(await turn.answer([give("c2", "blue")]), turn);
  await live.write(frames("tirea", [["tool_call_resumed", { target_id: "c2", result: "blue" }], complete(), finish()]));
  assert.equal((await over).error, undefined);
  assert.equal(turn.status, "done");
  assert.deepEqual(turn.snapshot().required_actions, []);
  assert.equal(server.count(START), 1);
});

test("tirea: an accepted answer is published at once, not with a frame", async (t) => {
  const { turn } = await talking(t, TAKEN);
  const { requestAnimationFrame } = globalThis;
  globalThis.requestAnimationFrame = () => {};
  t.after(() => Object.assign(globalThis, { requestAnimationFrame }));
  let told = 0;
  turn.view.subscribe(() => (told += 1));
  await turn.answer(allow("c1"));
  assert.equal(told, 1);
});

test("tirea: several answers while the turn runs are one request", async (t) => {
  const { server, turn } = await talking(t, TAKEN);
  await turn.answer([allow("c1"), give("c2", '{"a":1}')]);
  assert.deepEqual(server.requests.at(-1).body.decisions.map(({ target_id, result }) => [target_id, result]), [["c1", { approved: true }], ["c2", { a: 1 }]]);
});

test("tirea: an answer to a turn that has paused meanwhile is sent with the next turn", async (t) => {
  const inactive = json({ error: "bad request: run is not active" }, 400);
  const { server, live, turn } = await talking(t, inactive, { [START]: [resumed(["c1", "shell", 1], ["c2", "ask", "x"])] });
  const answered = turn.answer([allow("c1"), give("c2", "x")]);
  await eventually(() => server.requests.at(-1).path.endsWith("/inputs"));
  await live.write(frames("tirea", [complete(), ["step_end"], finish("suspended")]));
  const next = await answered;
  assert.notEqual(next, turn);
  assert.equal(next.status, "unstarted");
  assert.equal((await collect(next.stream())).error, undefined);
  assert.deepEqual(server.requests.at(-1).body.decisions.map(({ target_id }) => target_id), ["c1", "c2"]);
  assert.equal(server.requests.at(-1).body.parentRunId, turn.id);
});

test("tirea: answer() on a turn that has ended returns the next one, and sends nothing", async (t) => {
  const { server, turn } = await paused(t, [CALL]);
  const next = await turn.answer(allow("c1"));
  assert.deepEqual([next.status, server.requests.length], ["unstarted", 1]);
});

test("tirea: wrong answers to a running turn are refused, and it runs on", async (t) => {
  const { server, turn } = await talking(t, TAKEN);
  for (const input of ["text", allow("c9"), allow("c2"), [], null, { type: "user.tool_approval" }]) {
    const error = await failure(turn.answer(input));
    assert.equal(error.code, "invalid_input", `${JSON.stringify(input)}: ${error}`);
  }
  assert.equal(server.count(`POST runs/${turn.id}/inputs`), 0);
  assert.equal(turn.status, "running");
});

test("tirea: answer() before the turn was started is refused", async (t) => {
  const { session } = await serveAgent(t, "tirea");
  assert.equal((await failure(session.createTurn({ input: "Hello" }).answer(allow("c1")))).code, "turn_not_started");
});

for (const status of [401, 422, 500]) {
  test(`tirea: an answer that is refused with ${status} fails at once, and the turn runs on`, async (t) => {
    const { turn, live, over } = await talking(t, json({ error: "internal error: disk full" }, status));
    const error = await failure(turn.answer(allow("c1")));
    assert.deepEqual([error.code, error.status, turn.status], ["http", status, "running"]);
    assert.match(error.message, /disk full/);
    await live.write(frames("tirea", [complete(), finish()]));
    assert.equal((await over).error, undefined);
  });
}

test("tirea: an answer to a turn that was cancelled meanwhile is refused, since nothing waits for it", async (t) => {
  const { server, turn, live, over } = await talking(t, json({ error: "bad request: run is not active" }, 400));
  const answered = turn.answer(allow("c1"));
  answered.catch(() => {});
  await live.write(frames("tirea", [finish("cancelled")]));
  assert.equal((await failure(answered)).code, "invalid_input");
  assert.equal(turn.status, "cancelled");
  assert.equal((await over).error, undefined);
  assert.equal(server.count(START), 1);
});
