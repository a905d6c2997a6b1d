// Frontend tools: calls that wait for a result of the page, answered by a run; at once where the turn still runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, begin, complete, DECISION, EVENTS, finish, frames, INPUTS, items, messagePage, MESSAGES, pausing, recordOf, RUN, runOf, runRecord, RUNS, say, serveAgent, START, step, stored, STREAM, suspended, waitingState } from "../support/agent-event.mjs";
import { collect, eventually, failure, textOf } from "../support/collect.mjs";
import { deferred, json, LiveStream } from "../support/server.mjs";
import { allow, follow, give, tool } from "../support/tools.mjs";

/** A call of a frontend tool. */
const asked = (id, name, args = {}) => suspended(id, name, "use_decision_as_tool_result", args);

const CLOCK = asked("c1", "clock", { zone: "UTC" });
const DICE = asked("c2", "dice");
const SHELL = suspended("c3", "shell");

const SENT = { tirea: INPUTS, awaken: DECISION };
const TAKEN = { tirea: json({ status: "decision_forwarded", run_id: "r1", thread_id: "s1" }, 202), awaken: json({ status: "accepted" }, 202) };
const PAUSED = json({ error: "bad request: run is not active" }, 400);

/** What a run says of calls whose results it was given. */
function results(...calls) {
  return calls.flatMap(([id, name, result]) => [
    ["tool_call_resumed", { target_id: id, result }],
    ["tool_call_done", { id, message_id: `d${id}`, outcome: "succeeded", result: { tool_name: name, status: "success", data: result } }],
  ]);
}

/** A run that goes on with these results, and says thanks. */
const thanks = (...calls) => [begin(), ...results(...calls), ["state_snapshot", { snapshot: {} }], step("m2"), say("Thanks."), complete(), ["step_end"], finish()];

/** The results that a server was given, in one request or in several. */
function given(server) {
  const decisions = server.requests.filter(({ method }) => method === "POST").map(({ body }) => body.decisions ?? (body.toolCallId ? [body] : []));
  return decisions.filter((list) => list.length > 0).map((list) => list.map((one) => [one.target_id ?? one.toolCallId, one.result ?? one.payload]));
}

/** Tools that note how often they ran. */
function counted(tools) {
  const ran = [];
  const entries = Object.entries(tools).map(([name, run]) => [name, tool((input, context) => (ran.push(name), run(input, context)))]);
  return { ran, tools: Object.fromEntries(entries) };
}

/** A run whose turn continues while these calls wait. */
async function talking(t, protocol, calls, tools, { routes = {}, options = {}, connection } = {}) {
  const live = new LiveStream();
  const { [START]: starts = [], ...others } = routes;
  const world = await serveAgent(t, protocol, { [START]: [live.reply, ...starts], [SENT[protocol]]: TAKEN[protocol], ...others }, connection);
  world.session.tools(tools);
  const run = world.session.run("Hello", options);
  const followed = follow(run);
  await eventually(() => run.turns.length === 1);
  const [turn] = run.turns;
  await live.write(frames(protocol, [...pausing(protocol, ...calls).slice(0, -1), step("m2"), say("Meanwhile")]));
  return { ...world, live, run, turn, followed };
}

/** The server's record of these frames. */
function kept(list) {
  const payloads = frames("awaken", list).trim().split("\n\n").map((line) => JSON.parse(line.slice(5)));
  return items(payloads.map((payload, at) => ({ payload, cursors_by_scope: [{ scope: { scope_type: "run" }, cursor: `k${at + 1}` }] })), { next_cursor: null });
}

/** What a run's record says while it waits for these calls. */
function since(calls) {
  const tickets = calls.map(({ call_id, tool_name, arguments: args, pending, resume_mode, suspension }) => {
    return { ticket_id: pending.id, tool_call_id: call_id, tool_name, arguments: args, resume_mode, reason: suspension.action, updated_at: 1_795_255_000_000 };
  });
  return { status: "waiting", waiting: { reason: "suspended", tickets } };
}

/** Routes of an awaken server whose run goes on after it has paused. */
function goesOn(before, after) {
  const tail = ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const [at, item] of after.entries()) response.write(`id: k${before.length + at + 1}\n${frames("awaken", [item])}`);
    response.end();
  };
  return { [EVENTS]: kept(before), [DECISION]: TAKEN.awaken, [STREAM]: tail };
}

// Calls that come with the end of their run.

test("tirea: the results of all calls are one next run's decisions, and what is an object is sent as one", async (t) => {
  const { server, session } = await serveAgent(t, "tirea", {
    [START]: [runOf("tirea", pausing("tirea", CLOCK, DICE)), runOf("tirea", thanks(["c1", "clock", { zone: "UTC" }], ["c2", "dice", "6"]))],
  });
  const { ran, tools } = counted({ clock: (input) => input, dice: () => 6 });
  session.tools(tools);
  const run = session.run("Hello");
  const { turns, error } = await follow(run);
  assert.equal(error, undefined);
  assert.deepEqual(given(server), [[["c1", { zone: "UTC" }], ["c2", "6"]]]);
  assert.deepEqual([run.reason, turns.length, textOf(turns[1]), ran], ["done", 2, "Thanks.", ["clock", "dice"]]);
  assert.deepEqual([server.count(START), server.requests.at(-1).body.parentRunId], [2, turns[0].id]);
});

test("awaken: each result is a request, and the same run goes on", async (t) => {
  const before = pausing("awaken", CLOCK, DICE);
  const { server, session } = await serveAgent(t, "awaken", {
    [START]: runOf("awaken", before), [RUN]: recordOf(since([CLOCK, DICE])), ...goesOn(before, thanks(["c1", "clock", "12:00"], ["c2", "dice", "6"])),
  });
  const { ran, tools } = counted({ clock: () => "12:00", dice: () => 6 });
  session.tools(tools);
  const run = session.run("Hello");
  const { turns, error } = await follow(run);
  assert.equal(error, undefined);
  assert.deepEqual(given(server), [[["c1", "12:00"]], [["c2", "6"]]]);
  assert.deepEqual([run.reason, turns.length, textOf(turns[1]), ran], ["done", 2, "Thanks.", ["clock", "dice"]]);
  assert.equal(turns[0].id, turns[1].id);
});

test("tirea: a tool that throws is a result that says so", async (t) => {
  const { server, session } = await serveAgent(t, "tirea", { [START]: [runOf("tirea", pausing("tirea", CLOCK)), runOf("tirea", answer("I see."))] });
  session.tools({ clock: tool(() => { throw new Error("no such zone"); }) });
  assert.equal((await follow(session.run("Hello"))).error, undefined);
  assert.deepEqual(given(server), [[["c1", "Tool execution failed: no such zone"]]]);
});

test("tirea: a call that asks for permission is for people, even if its name is a tool's; results wait for it", async (t) => {
  const { server, session } = await serveAgent(t, "tirea", {
    [START]: [runOf("tirea", pausing("tirea", CLOCK, SHELL)), runOf("tirea", thanks(["c1", "clock", "12:00"], ["c3", "shell", 1]))],
  });
  const { ran, tools } = counted({ clock: () => "12:00", shell: () => assert.fail("it ran in the page") });
  session.tools(tools);
  const run = session.run("Hello");
  await follow(run);
  assert.deepEqual([run.reason, given(server)], ["waiting", []]);
  const next = session.run(allow("c3"));
  assert.equal((await follow(next)).error, undefined);
  assert.deepEqual(given(server), [[["c3", { approved: true }], ["c1", "12:00"]]]);
  assert.deepEqual([next.reason, ran], ["done", ["clock"]]);
});

test("tirea: after a reload the run goes on with what the thread's state says", async (t) => {
  const thread = json({ id: "s1", messages: [], state: waitingState(CLOCK), metadata: {} });
  const said = [stored(1, "user", "Hello"), stored(2, "assistant", "", { tool_calls: [{ id: "c1", name: "clock", arguments: { zone: "UTC" } }] })];
  const { server, client } = await serveAgent(t, "tirea", {
    "GET threads/*": thread, [RUNS.tirea]: items([runRecord({ status: "waiting" })]), [MESSAGES]: messagePage(said), [START]: runOf("tirea", thanks(["c1", "clock", "UTC"])),
  });
  const session = await client.agents.getSession("s1", { agentName: "assistant" });
  session.tools({ clock: tool(({ zone }) => zone) });
  await session.history();
  const run = session.run();
  const { turns: [turn], error } = await follow(run);
  assert.equal(error, undefined);
  assert.deepEqual([run.reason, textOf(turn), given(server)], ["done", "Thanks.", [[["c1", "UTC"]]]]);
});

test("awaken: after a reload the run goes on with what the run's record says", async (t) => {
  const said = [stored("a1", "user", [{ type: "text", text: "Hello" }], { id: "0-a" }), stored("a2", "assistant", [], { id: "1-b", tool_calls: [{ id: "c1", name: "clock", arguments: { zone: "UTC" } }] })];
  const { server, client } = await serveAgent(t, "awaken", {
    "GET threads/*": json({ id: "s1", metadata: {} }), [RUNS.awaken]: items([runRecord(since([CLOCK]))]), [MESSAGES]: messagePage(said),
    [RUN]: recordOf(since([CLOCK])), ...goesOn(pausing("awaken", CLOCK), thanks(["c1", "clock", "UTC"])),
  });
  const session = await client.agents.getSession("s1", { agentName: "assistant" });
  session.tools({ clock: tool(({ zone }) => zone) });
  await session.history();
  const run = session.run();
  const { turns: [turn], error } = await follow(run);
  assert.equal(error, undefined);
  assert.deepEqual([run.reason, textOf(turn), given(server)], ["done", "Thanks.", [[["c1", "UTC"]]]]);
});

// Calls of a turn that goes on.

for (const protocol of ["tirea", "awaken"]) {
  test(`${protocol}: a call of a turn that runs is answered at once, by that turn, each call by its own request`, async (t) => {
    const gate = deferred();
    const { ran, tools } = counted({ clock: ({ zone }) => zone, dice: () => gate.promise });
    const { server, live, run, turn, followed } = await talking(t, protocol, [CLOCK, DICE], tools);
    await eventually(() => given(server).length === 1);
    assert.deepEqual([turn.status, given(server), ran], ["running", [[["c1", "UTC"]]], ["clock", "dice"]]);
    await live.write(frames(protocol, results(["c1", "clock", "UTC"])));
    gate.resolve(6);
    await eventually(() => given(server).length === 2);
    await live.write(frames(protocol, [...results(["c2", "dice", "6"]), say("!"), complete(), finish()]));
    const { error } = await followed;
    assert.equal(error, undefined);
    assert.deepEqual(given(server), [[["c1", "UTC"]], [["c2", "6"]]]);
    assert.deepEqual([run.reason, run.turns.length, ran, server.count(START)], ["done", 1, ["clock", "dice"], 1]);
    assert.deepEqual(turn.snapshot().required_actions, []);
  });

  test(`${protocol}: waitForCompletion() alone answers as well`, async (t) => {
    const live = new LiveStream();
    const { server, session } = await serveAgent(t, protocol, { [START]: live.reply, [SENT[protocol]]: TAKEN[protocol] });
    session.tools({ clock: tool(() => "12:00") });
    const over = session.run("Hello").waitForCompletion();
    await live.write(frames(protocol, [...pausing(protocol, CLOCK).slice(0, -1), say("Meanwhile")]));
    await eventually(() => given(server).length === 1);
    await live.write(frames(protocol, [...results(["c1", "clock", "12:00"]), complete(), finish()]));
    assert.equal((await over).status, "done");
  });

  test(`${protocol}: an abort stops the tool, answers nothing, and the next run runs it again`, async (t) => {
    const controller = new AbortController();
    const signals = [];
    const tools = { clock: tool((_, { signal }) => (signals.push(signal), signals.length === 1 ? new Promise(() => {}) : "12:00")) };
    const { server, session, live, run, turn } = await talking(t, protocol, [CLOCK], tools, { options: { signal: controller.signal } });
    await eventually(() => signals.length === 1);
    controller.abort("enough");
    assert.equal((await failure(run.waitForCompletion())).code, "aborted");
    assert.deepEqual([signals[0].reason, given(server), turn.status], ["enough", [], "running"]);
    const over = session.run().waitForCompletion();
    await eventually(() => given(server).length === 1);
    await live.write(frames(protocol, [...results(["c1", "clock", "12:00"]), complete(), finish()]));
    assert.equal((await over).status, "done");
    assert.equal(signals.length, 2);
  });

  test(`${protocol}: an answer that does not arrive fails the run; the next one sends it, and no tool runs again`, async (t) => {
    const { ran, tools } = counted({ clock: () => "12:00" });
    const routes = { [SENT[protocol]]: [json({ error: "internal error: disk full" }, 500), TAKEN[protocol]] };
    const { server, session, live, run, turn } = await talking(t, protocol, [CLOCK], tools, { routes });
    const error = await failure(run.waitForCompletion());
    assert.deepEqual([error.status, turn.status, run.reason], [500, "running", undefined]);
    const next = session.run();
    const over = next.waitForCompletion();
    await eventually(() => given(server).length === 2);
    await live.write(frames(protocol, [...results(["c1", "clock", "12:00"]), complete(), finish()]));
    assert.equal((await over).status, "done");
    assert.deepEqual([next.reason, ran, next.turns], ["done", ["clock"], []]);
  });

  test(`${protocol}: a call that the page has answered meanwhile is not answered again`, async (t) => {
    const gate = deferred();
    const { server, live, run, turn, followed } = await talking(t, protocol, [CLOCK], { clock: tool(() => gate.promise) });
    await eventually(() => turn.snapshot().required_actions.length === 1);
    await turn.answer(give("c1", "mine"));
    gate.resolve("late");
    await new Promise((resolve) => setTimeout(resolve, 5));
    await live.write(frames(protocol, [...results(["c1", "clock", "mine"]), complete(), finish()]));
    assert.equal((await followed).error, undefined);
    assert.deepEqual([given(server), run.reason], [[[["c1", "mine"]]], "done"]);
  });

  test(`${protocol}: a turn that is cancelled while a tool runs ends the run, and nothing is answered`, async (t) => {
    const gate = deferred();
    const { server, live, run, followed } = await talking(t, protocol, [CLOCK], { clock: tool(() => gate.promise) });
    await live.write(frames(protocol, [finish("cancelled")]));
    assert.equal((await followed).error, undefined);
    gate.resolve("late");
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual([given(server), run.reason, (await run.waitForCompletion()).status], [[], "done", "cancelled"]);
  });
}

test("tirea: a result that comes after the turn has paused is sent with the others of the next one, and no tool runs twice", async (t) => {
  const gate = deferred();
  const { ran, tools } = counted({ clock: () => gate.promise, dice: () => 6 });
  const routes = { [START]: [runOf("tirea", thanks(["c1", "clock", "12:00"], ["c2", "dice", "6"]))], [INPUTS]: PAUSED };
  const { server, live, run, turn, followed } = await talking(t, "tirea", [CLOCK, DICE], tools, { routes });
  // It is refused: the turn pauses at this moment.
  await eventually(() => server.requests.at(-1).path.endsWith("/inputs"));
  await live.write(frames("tirea", [complete(), ["step_end"], finish("suspended")]));
  await eventually(() => turn.status === "done");
  gate.resolve("12:00");
  assert.equal((await followed).error, undefined);
  assert.deepEqual(given(server), [[["c2", "6"]], [["c1", "12:00"], ["c2", "6"]]]);
  assert.deepEqual([run.reason, run.turns.length, ran, server.count(START)], ["done", 2, ["clock", "dice"], 2]);
});

test("tirea: while an answer to the turn is in flight, nothing is sent for the next one", async (t) => {
  const gate = deferred();
  const routes = { [START]: [runOf("tirea", thanks(["c1", "clock", "12:00"]))], [INPUTS]: async (exchange) => (await gate.promise, PAUSED(exchange)) };
  const { server, live, run, turn, followed } = await talking(t, "tirea", [CLOCK], { clock: tool(() => "12:00") }, { routes });
  await eventually(() => server.requests.at(-1).path.endsWith("/inputs"));
  await live.write(frames("tirea", [complete(), ["step_end"], finish("suspended")]));
  await eventually(() => turn.status === "done");
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(server.count(START), 1);
  gate.resolve();
  assert.equal((await followed).error, undefined);
  assert.deepEqual([given(server), run.reason, run.turns.length], [[[["c1", "12:00"]], [["c1", "12:00"]]], "done", 2]);
});

for (const [name, reply, sent, turns] of [
  ["taken just as the turn pauses is not sent again: the turn goes on", TAKEN.awaken, 1, 1],
  ["refused as the turn pauses is sent once more, with the next turn", [PAUSED, TAKEN.awaken], 2, 2],
]) {
  test(`awaken: a result that is ${name}`, async (t) => {
    const gate = deferred();
    const replies = [reply].flat();
    const said = [...pausing("awaken", CLOCK).slice(0, -1), step("m2"), say("Meanwhile")];
    const pause = [complete(), ["step_end"], finish("suspended")];
    const routes = {
      ...goesOn([...said, ...pause], [begin(), ...results(["c1", "clock", "12:00"]), step("m3"), say("Thanks."), complete(), ["step_end"], finish()]),
      [RUN]: recordOf(since([CLOCK])),
      [DECISION]: async (exchange) => (await gate.promise, replies.shift()(exchange)),
    };
    const { server, live, run, turn, followed } = await talking(t, "awaken", [CLOCK], { clock: tool(() => "12:00") }, { routes, connection: { reconnect: { baseDelay: 2000, maxDelay: 2000 } } });
    await eventually(() => given(server).length === 1);
    await live.write(frames("awaken", pause));
    await live.end();
    await new Promise((resolve) => setTimeout(resolve, 20));
    gate.resolve();
    const { error } = await followed;
    assert.equal(error, undefined);
    assert.deepEqual([given(server), run.reason, run.turns.length], [Array(sent).fill([["c1", "12:00"]]), "done", turns]);
    assert.match(textOf(run.turns.at(-1)), /Thanks\.$/);
    assert.equal(run.turns.at(-1).snapshot().required_actions.length, 0);
    assert.equal(run.turns[0].id, turn.id);
  });
}

test("tirea: a call that waits once more after it was answered runs once more", async (t) => {
  let ran = 0;
  const routes = { [START]: [runOf("tirea", thanks(["c1", "clock", "2"]))] };
  const { server, live, run, turn, followed } = await talking(t, "tirea", [CLOCK], { clock: tool(() => (ran += 1)) }, { routes });
  await eventually(() => given(server).length === 1);
  await live.write(frames("tirea", results(["c1", "clock", "1"])));
  await eventually(() => turn.snapshot().required_actions.length === 0);
  await live.write(frames("tirea", [complete(), ["step_end"], ["state_snapshot", { snapshot: waitingState(CLOCK) }], finish("suspended")]));
  assert.equal((await followed).error, undefined);
  assert.deepEqual([given(server), run.reason, ran], [[[["c1", "1"]], [["c1", "2"]]], "done", 2]);
});

test("tirea: beside a call that asks for permission a tool is answered at once, and the run ends when the turn pauses", async (t) => {
  const { ran, tools } = counted({ clock: () => "12:00" });
  const routes = { [START]: [runOf("tirea", thanks(["c3", "shell", 1]))] };
  const { server, session, live, run, followed } = await talking(t, "tirea", [CLOCK, SHELL], tools, { routes });
  await eventually(() => given(server).length === 1);
  const pause = [...results(["c1", "clock", "12:00"]), complete(), ["step_end"], ["state_snapshot", { snapshot: waitingState(SHELL) }], finish("suspended")];
  await live.write(frames("tirea", pause));
  assert.equal((await followed).error, undefined);
  assert.equal(run.reason, "waiting");
  assert.equal((await follow(session.run(allow("c3")))).error, undefined);
  assert.deepEqual([given(server), ran], [[[["c1", "12:00"]], [["c3", { approved: true }]]], ["clock"]]);
});
