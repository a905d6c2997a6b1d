// Tools that run in the page: which are allowed, what they receive, what happens with their results, and the run that
// continues with them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AbortError, ApiError, InputError, Run } from "../dist/index.js";
import { collect, eventually, failure, textOf } from "./support/collect.mjs";
import {
  deferred, events, GET_TURN, json, LIST_TURNS, LiveStream, page, refusal, SESSION_EVENTS, serveSession, silence, START, SUBSCRIBE, TURN_EVENTS,
} from "./support/server.mjs";
import { allow, calling, follow, give, pauses, pausing, says, saying, tool } from "./support/tools.mjs";
import { call, created, done, DONE, message, record, required } from "./support/wire.mjs";

/** The inputs of turns, in order. */
const inputs = (server) => server.requests.filter(({ method, path }) => `${method} ${path}` === START).map(({ body }) => body.input);

/** A session whose turns the server starts with these replies. */
const serveTurns = (t, ...starts) => serveSession(t, { [START]: starts });

/** A tool that notes how it was called, and returns this. */
function noted(result = "ok") {
  const calls = [];
  return { calls, tool: tool((input, context) => (calls.push({ input, ...context }), result)) };
}

// The registry.

test("tools are known by their names, until they are replaced", async (t) => {
  const { session } = await serveSession(t);
  assert.deepEqual(session.tools(), []);
  assert.deepEqual(session.tools({ clock: tool(() => 1), calculator: tool(() => 2) }), ["clock", "calculator"]);
  assert.deepEqual(session.tools(), ["clock", "calculator"]);
  assert.deepEqual(session.tools({ dice: tool(() => 3) }), ["dice"]);
  assert.deepEqual(session.tools({}), []);
});

test("a tool that is declared only waits for its answer, and others run beside it", async (t) => {
  const calls = [calling("c1", "clock"), calling("c2", "ask")];
  const { session, server } = await serveTurns(t, pauses(calls), says("Thanks"));
  const clock = noted("noon");
  assert.deepEqual(session.tools({ clock: clock.tool, ask: tool(null) }), ["clock", "ask"]);
  const run = session.run("Go");
  assert.equal((await follow(run)).error, undefined);
  assert.equal(run.reason, "waiting");
  assert.equal((await follow(session.run(give("c2", "blue")))).error, undefined);
  assert.deepEqual(inputs(server)[1], [give("c2", "blue"), give("c1", "noon")]);
  assert.equal(clock.calls.length, 1);
});

const RUN = () => 1;
const WRONG = {
  "no object": [5, /object/],
  "null": [null, /object/],
  "a list": [[tool(RUN)], /object/],
  "a map": [new Map([["clock", tool(RUN)]]), /object/],
  "a tool without a name": [{ "": tool(RUN) }, /name/],
  "a tool that is a function": [{ clock: RUN }, /clock/],
  "a tool that is null": [{ clock: null }, /clock/],
  "a tool that cannot run": [{ clock: { description: "The time" } }, /clock.*run/],
  "a tool without a description": [{ clock: { run: RUN } }, /clock.*description/],
  "a description that is no text": [{ clock: { description: 5, run: RUN } }, /clock.*description/],
  "a title that is no text": [{ clock: tool(RUN, { title: 5 }) }, /clock.*title/],
  "parameters that are a text": [{ clock: tool(RUN, { parameters: "{}" }) }, /clock.*parameters/],
  "parameters that are a list": [{ clock: tool(RUN, { parameters: [] }) }, /clock.*parameters/],
  "parameters that are no object's": [{ clock: tool(RUN, { parameters: { type: "string" } }) }, /clock.*parameters/],
  "a timeout below zero": [{ clock: tool(RUN, { timeout: -1 }) }, /clock.*timeout/],
  "a timeout that is no number": [{ clock: tool(RUN, { timeout: "5" }) }, /clock.*timeout/],
  "an option that there is not": [{ clock: tool(RUN, { timeOut: 5 }) }, /timeOut.*clock/],
  "a wrong common timeout": [{ clock: tool(RUN) }, /timeout/, { timeout: NaN }],
  "a wrong common option": [{ clock: tool(RUN) }, /retries/, { retries: 1 }],
};

for (const [name, [tools, message, options]] of Object.entries(WRONG)) {
  test(`refused as tools, which stay as they were: ${name}`, async (t) => {
    const { session } = await serveSession(t);
    session.tools({ dice: tool(RUN) });
    const error = await failure(() => session.tools(tools, options));
    assert.ok(error instanceof InputError, String(error));
    assert.equal(error.code, "invalid_option");
    assert.match(error.message, message);
    assert.deepEqual(session.tools(), ["dice"]);
  });
}

test("with one wrong tool none is accepted", async (t) => {
  const { session } = await serveSession(t);
  await failure(() => session.tools({ clock: tool(RUN), dice: {} }));
  assert.deepEqual(session.tools(), []);
});

for (const [name, options] of Object.entries({
  "an unknown option": { rounds: 1 },
  "an input among the options": { input: "Hello" },
  "rounds below zero": { maxRounds: -1 },
  "rounds that are no number": { maxRounds: "1" },
  "a signal that is none": { signal: {} },
  "no object": 5,
})) {
  test(`a run is refused with ${name}`, async (t) => {
    const { session } = await serveSession(t);
    const error = await failure(() => session.run("Hello", options));
    assert.ok(error instanceof InputError, String(error));
    assert.equal(error.code, "invalid_option");
  });
}

test("a run is refused with an input that no turn accepts", async (t) => {
  const { session } = await serveSession(t);
  assert.equal((await failure(() => session.run("  "))).code, "invalid_input");
});

// The run.

test("a run is one turn if nothing is called, and sends nothing before it is iterated", async (t) => {
  const { session, server } = await serveTurns(t, says("Hi", { id: "t1", previous: null }));
  session.tools({ clock: tool(() => assert.fail("it was not called")) });
  const run = session.run("Hello");
  assert.ok(run instanceof Run);
  const { value: turn } = await run.next();
  assert.deepEqual([turn.status, run.reason, server.asked], ["unstarted", undefined, []]);
  await collect(turn.stream());
  assert.deepEqual(await run.next(), { done: true, value: undefined });
  assert.equal(run.reason, "done");
  assert.deepEqual(run.turns, [turn]);
  assert.deepEqual(inputs(server), [[{ type: "user.message", content: "Hello" }]]);
});

test("a tool receives its input and its call, and its result is the next turn's input", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock", { zone: "Asia/Tokyo" })]), says("It is noon."));
  const { calls, tool: clock } = noted("12:00");
  session.tools({ clock });
  const run = session.run("What time is it?");
  const { turns, error } = await follow(run);
  assert.equal(error, undefined);
  const [{ input, signal, ...context }, ...others] = calls;
  assert.deepEqual([input, context, others], [{ zone: "Asia/Tokyo" }, { callId: "c1", name: "clock" }, []]);
  assert.ok(signal instanceof AbortSignal && !signal.aborted);
  assert.deepEqual(inputs(server)[1], [give("c1", "12:00")]);
  assert.deepEqual([run.reason, run.turns, turns.map(({ id }) => id)], ["done", turns, ["t1", "t2"]]);
  assert.equal(textOf(turns[1]), "It is noon.");
  assert.deepEqual(turns[0].snapshot().required_actions, []);
});

test("waitForCompletion() alone goes on to the end of the last turn, and streams each", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")]), pauses([calling("c2", "clock")], { id: "t2", previous: "t1" }), says("Noon.", { id: "t3", previous: "t2" }));
  session.tools({ clock: tool(() => "12:00") });
  const run = session.run("What time is it?");
  const state = await run.waitForCompletion();
  assert.equal(state.status, "done");
  assert.deepEqual([run.reason, run.turns.length, textOf(run.turns[2])], ["done", 3, "Noon."]);
  assert.deepEqual(server.asked, [START, START, START]);
  assert.deepEqual(await run.waitForCompletion(), state);
});

test("tools of one turn run at the same time, and their answers are in the order of the calls", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "first"), calling("c2", "second")]), says("Both."));
  const [one, two] = [deferred(), deferred()];
  // Each returns its result only after the other one has begun.
  session.tools({
    first: tool(async () => (one.resolve(), await two.promise, "1")),
    second: tool(async () => (two.resolve(), await one.promise, "2")),
  });
  assert.equal((await follow(session.run("Go"))).error, undefined);
  assert.deepEqual(inputs(server)[1], [give("c1", "1"), give("c2", "2")]);
});

const THROWN = {
  "an error": [new TypeError("no such zone"), "Tool execution failed: no such zone"],
  "a text": ["oh dear", "Tool execution failed: oh dear"],
  "nothing": [undefined, "Tool execution failed: undefined"],
  "what has no text": [Object.create(null), "Tool execution failed"],
  "an abort that is its own": [new DOMException("enough", "AbortError"), "Tool execution failed: enough"],
};

for (const [name, [thrown, content]] of Object.entries(THROWN)) {
  for (const [how, run] of [["throws", () => { throw thrown; }], ["rejects with", async () => { throw thrown; }]]) {
    test(`a tool that ${how} ${name} is answered with the message, without a stack`, async (t) => {
      const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")]), says("Hm."));
      session.tools({ clock: tool(run) });
      assert.equal((await follow(session.run("Go"))).error, undefined);
      assert.deepEqual(inputs(server)[1], [give("c1", content)]);
    });
  }
}

const cycle = {};
cycle.self = cycle;
const RESULTS = [
  ["a text", "as it is", "as it is"],
  ["an empty text", "", '""'],
  ["nothing", undefined, "null"],
  ["null", null, "null"],
  ["a number", 0, "0"],
  ["false", false, "false"],
  ["a list", [1, "2"], '[1,"2"]'],
  ["an object", { a: { b: [] } }, '{"a":{"b":[]}}'],
  ["a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ["a function", () => 1, "null"],
  ["what is no number", NaN, "null"],
  ["a big integer", 1n, /^Tool execution failed: .*BigInt/],
  ["a cycle", cycle, /^Tool execution failed: [^\n]*circular/],
];

for (const [name, result, content] of RESULTS) {
  test(`a tool's result is sent as text: ${name}`, async (t) => {
    const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")]), says("Hm."));
    session.tools({ clock: tool(async () => result) });
    assert.equal((await follow(session.run("Go"))).error, undefined);
    const [{ content: sent, ...answer }] = inputs(server)[1];
    assert.deepEqual(answer, { type: "user.tool_response", thread_id: "main", tool_call_id: "c1" });
    if (typeof content === "string") assert.equal(sent, content);
    else assert.match(sent, content);
  });
}

for (const args of ["[1]", '"text"', "5", "null", "true", '{"a":', "nonsense"]) {
  test(`the arguments ${args} are not an object: the tool does not run, and the answer says so`, async (t) => {
    const { session, server } = await serveTurns(t, pauses([calling("c1", "clock", args)]), says("Hm."));
    session.tools({ clock: tool(() => assert.fail("it ran")) });
    assert.equal((await follow(session.run("Go"))).error, undefined);
    assert.deepEqual(inputs(server)[1], [give("c1", "Tool execution failed: the arguments are not a JSON object")]);
  });
}

test("a call without any arguments is one with an empty object", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock", "")]), says("Hm."));
  session.tools({ clock: tool((input) => input) });
  assert.equal((await follow(session.run("Go"))).error, undefined);
  assert.deepEqual(inputs(server)[1], [give("c1", "{}")]);
});

for (const [which, own, common] of [["its own", 20, 60_000], ["the common", undefined, 20], ["its own, though shorter than the common", 20, 0]]) {
  test(`a tool that takes longer than ${which} timeout is aborted, and the model is told`, async (t) => {
    const { session, server } = await serveTurns(t, pauses([calling("c1", "slow"), calling("c2", "quick")]), says("Hm."));
    let signal;
    session.tools({ slow: tool((_, context) => ((signal = context.signal), new Promise(() => {})), { timeout: own }), quick: tool(() => "2") }, { timeout: common });
    assert.equal((await follow(session.run("Go"))).error, undefined);
    assert.deepEqual(inputs(server)[1], [give("c1", "Tool execution timed out after 20 ms"), give("c2", "2")]);
    assert.equal(signal.reason.name, "TimeoutError");
  });
}

test("a tool that heeds its signal has timed out as well", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "slow")]), says("Hm."));
  session.tools({ slow: tool((_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))), { timeout: 20 }) });
  assert.equal((await follow(session.run("Go"))).error, undefined);
  assert.deepEqual(inputs(server)[1], [give("c1", "Tool execution timed out after 20 ms")]);
});

test("a timeout of 0 is none", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "slow")]), says("Hm."));
  session.tools({ slow: tool(() => new Promise((resolve) => setTimeout(resolve, 60, "late")), { timeout: 0 }) }, { timeout: 20 });
  assert.equal((await follow(session.run("Go"))).error, undefined);
  assert.deepEqual(inputs(server)[1], [give("c1", "late")]);
});

test("aborting the run in the middle aborts its tools, and sends nothing", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "slow"), calling("c2", "deaf")]));
  const [began, controller] = [deferred(), new AbortController()];
  const signals = [];
  session.tools({
    slow: tool((_, { signal }) => new Promise((_, reject) => (signals.push(signal), signal.addEventListener("abort", () => reject(signal.reason))))),
    deaf: tool((_, { signal }) => (signals.push(signal), began.resolve(), new Promise(() => {}))),
  });
  const run = session.run("Go", { signal: controller.signal });
  const followed = follow(run);
  await began.promise;
  controller.abort("enough");
  const { error, turns } = await followed;
  assert.ok(error instanceof AbortError, String(error));
  assert.deepEqual([error.code, error.cause], ["aborted", "enough"]);
  assert.deepEqual(signals.map(({ aborted, reason }) => [aborted, reason]), [[true, "enough"], [true, "enough"]]);
  assert.equal((await failure(run.waitForCompletion())).code, "aborted");
  assert.deepEqual([run.reason, turns.length, server.asked], [undefined, 1, [START]]);
});

test("an aborted tool has no result: the next run runs it again, but not the tools that had finished", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "slow"), calling("c2", "quick")]), says("At last."));
  const [began, controller] = [deferred(), new AbortController()];
  const ran = [];
  const slow = () => (ran.push("slow"), began.resolve(), ran.includes("again") ? "slow" : new Promise(() => {}));
  session.tools({ slow: tool(slow), quick: tool(() => (ran.push("quick"), "quick")) });
  const aborted = session.run("Go", { signal: controller.signal }).waitForCompletion();
  await began.promise;
  await new Promise((resolve) => setTimeout(resolve));
  controller.abort();
  await failure(aborted);
  ran.push("again");
  assert.equal((await follow(session.run())).error, undefined);
  assert.deepEqual(ran, ["slow", "quick", "again", "slow"]);
  assert.deepEqual(inputs(server)[1], [give("c1", "slow"), give("c2", "quick")]);
});

test("a run that was aborted before it began starts nothing", async (t) => {
  const { session } = await serveTurns(t);
  const { error, turns } = await follow(session.run("Go", { signal: AbortSignal.abort() }));
  assert.deepEqual([error.code, turns], ["aborted", []]);
  assert.equal((await failure(session.run("Go", { signal: AbortSignal.abort() }).waitForCompletion())).code, "aborted");
});

test("aborting a run while its turn streams does not stop the turn", async (t) => {
  const live = new LiveStream();
  const { session } = await serveTurns(t, live.reply);
  const controller = new AbortController();
  const run = session.run("Go", { signal: controller.signal });
  const { value: turn } = await run.next();
  const events = collect(turn.stream());
  const next = failure(run.next());
  await live.send(created(), message());
  controller.abort();
  assert.equal((await next).code, "aborted");
  await live.send(done());
  assert.equal((await events).error, undefined);
});

test("a call of an unknown tool ends the run, and is left to the page", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")]));
  session.tools({ dice: tool(() => 6) });
  const run = session.run("Go");
  const { turns, error } = await follow(run);
  assert.equal(error, undefined);
  assert.deepEqual([run.reason, turns.length], ["waiting", 1]);
  assert.deepEqual(turns[0].snapshot().required_actions.map(({ name }) => name), ["clock"]);
  assert.deepEqual(server.asked, [START]);
});

for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
  test(`${name} is a name like any other: not known unless it is given`, async (t) => {
    const { session, server } = await serveTurns(t, pauses([calling("c1", name)]), says("Fine."));
    session.tools({ clock: tool(() => 1) });
    const run = session.run("Go");
    await follow(run);
    assert.equal(run.reason, "waiting");
    session.tools(Object.fromEntries([[name, tool(() => "mine")]]));
    assert.deepEqual(session.tools(), [name]);
    assert.equal((await follow(session.run())).error, undefined);
    assert.deepEqual(inputs(server)[1], [give("c1", "mine")]);
  });
}

test("arguments may have a name of Object's own", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "echo", '{"__proto__":{"a":1}}')]), says("Fine."));
  session.tools({ echo: tool((input) => [Object.keys(input), input.a ?? null]) });
  await follow(session.run("Go"));
  assert.deepEqual(inputs(server)[1], [give("c1", '[["__proto__"],null]')]);
});

test("a tool that belongs to an object runs as its method", async (t) => {
  class Clock {
    description = "The time";
    time = "12:00";
    run() {
      return this.time;
    }
  }
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")]), says("Noon."));
  assert.match((await failure(() => session.tools({ clock: new Clock() }))).message, /time/);
  session.tools({ clock: Object.assign(Object.create({ run: Clock.prototype.run, time: "12:00" }), { description: "The time" }) });
  assert.equal((await follow(session.run("Go"))).error, undefined);
  assert.deepEqual(inputs(server)[1], [give("c1", "12:00")]);
});

// Other pending actions beside tools.

test("beside an approval, tools run at once, the run ends, and the next input has all answers, each tool run once", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")], { approvals: [calling("c2", "restart")] }), says("Done."));
  const { calls, tool: clock } = noted("12:00");
  session.tools({ clock });
  const run = session.run("Go");
  const { turns: [turn], error } = await follow(run);
  assert.equal(error, undefined);
  assert.deepEqual([run.reason, calls.length, server.asked], ["waiting", 1, [START]]);
  assert.deepEqual(turn.snapshot().required_actions.map(({ tool_call_id }) => tool_call_id), ["c1", "c2"]);
  const next = session.run([allow("c2")]);
  assert.equal((await follow(next)).error, undefined);
  assert.deepEqual(inputs(server)[1], [allow("c2"), give("c1", "12:00")]);
  assert.deepEqual([next.reason, calls.length, next.turns.length], ["done", 1, 1]);
});

test("beside an approval, the run waits for a tool that still runs", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")], { approvals: [calling("c2", "restart")] }), says("Done."));
  const gate = deferred();
  let ran = 0;
  session.tools({ clock: tool(() => ((ran += 1), gate.promise)) });
  const run = session.run("Go");
  await follow(run);
  assert.equal(run.reason, "waiting");
  const followed = follow(session.run(allow("c2")));
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(server.asked, [START]);
  gate.resolve("12:00");
  assert.equal((await followed).error, undefined);
  assert.deepEqual(inputs(server)[1], [allow("c2"), give("c1", "12:00")]);
  assert.equal(ran, 1);
});

test("beside an approval, aborting the run that waits for a tool aborts the tool", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")], { approvals: [calling("c2", "restart")] }));
  let signal;
  session.tools({ clock: tool((_, context) => ((signal = context.signal), new Promise(() => {}))) });
  await follow(session.run("Go"));
  const controller = new AbortController();
  const followed = follow(session.run(allow("c2"), { signal: controller.signal }));
  await new Promise((resolve) => setTimeout(resolve));
  controller.abort("enough");
  assert.equal((await followed).error.code, "aborted");
  assert.deepEqual([signal.aborted, signal.reason, server.asked], [true, "enough", [START]]);
});

test("a run that waits for a tool of the previous run is not aborted by that run's signal", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")], { approvals: [calling("c2", "restart")] }), says("Done."));
  const gate = deferred();
  const calls = [];
  session.tools({ clock: tool((_, { signal }) => (calls.push(signal), gate.promise)) });
  const controller = new AbortController();
  await follow(session.run("Go", { signal: controller.signal }));
  const followed = follow(session.run(allow("c2")));
  await new Promise((resolve) => setTimeout(resolve));
  controller.abort();
  gate.resolve("12:00");
  assert.equal((await followed).error, undefined);
  assert.deepEqual(inputs(server)[1], [allow("c2"), give("c1", "12:00")]);
  assert.deepEqual(calls.map(({ aborted }) => aborted), [false]);
});

test("a tool of a run that has ended is aborted by that run's signal, and runs again for the next one", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")], { approvals: [calling("c2", "restart")] }), says("Done."));
  const signals = [];
  session.tools({ clock: tool((_, { signal }) => (signals.push(signal), signals.length === 1 ? new Promise(() => {}) : "12:00")) });
  const controller = new AbortController();
  await follow(session.run("Go", { signal: controller.signal }));
  controller.abort();
  assert.equal((await follow(session.run(allow("c2")))).error, undefined);
  assert.deepEqual(inputs(server)[1], [allow("c2"), give("c1", "12:00")]);
  assert.deepEqual(signals.map(({ aborted }) => aborted), [true, false]);
});

test("the page may answer for a tool, too", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")], { approvals: [calling("c2", "restart")] }), says("Done."));
  session.tools({ clock: tool(() => "12:00") });
  await follow(session.run("Go"));
  assert.equal((await follow(session.run([allow("c2"), give("c1", "never mind")]))).error, undefined);
  assert.deepEqual(inputs(server)[1], [allow("c2"), give("c1", "never mind")]);
});

test("incomplete answers are refused, and the results stay", async (t) => {
  const approvals = [calling("c2", "restart"), calling("c3", "restart")];
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")], { approvals }), says("Done."));
  const { calls, tool: clock } = noted();
  session.tools({ clock });
  await follow(session.run("Go"));
  const { error } = await follow(session.run(allow("c2")));
  assert.equal(error.code, "invalid_input");
  assert.match(error.message, /c3/);
  assert.equal((await follow(session.run([allow("c2"), allow("c3")]))).error, undefined);
  assert.deepEqual(inputs(server)[1], [allow("c2"), allow("c3"), give("c1", "ok")]);
  assert.equal(calls.length, 1);
});

test("results are dropped when their turn is no longer the newest", async (t) => {
  const again = { id: "t2", previous: "t1", approvals: [calling("c2", "restart")] };
  const { session, server } = await serveTurns(
    t, pauses([calling("c1", "clock")], { approvals: [calling("c2", "restart")] }), pauses([calling("c1", "clock")], again), says("Done.", { id: "t3", previous: "t2" }),
  );
  let ran = 0;
  session.tools({ clock: tool(() => `result ${(ran += 1)}`) });
  await follow(session.run("Go"));
  await collect(session.createTurn({ input: [allow("c2"), give("c1", "mine")] }).stream());
  assert.equal((await follow(session.run(allow("c2")))).error, undefined);
  assert.deepEqual(inputs(server)[2], [allow("c2"), give("c1", "result 2")]);
});

test("results are kept when the conversation is read again", async (t) => {
  const list = pausing([calling("c1", "clock")], { approvals: [calling("c2", "restart")] });
  const state = list.at(-1).state;
  const made = [calling("c1", "clock"), calling("c2", "restart")].map(({ id, name, args }) => ({ id, type: "function", function: { name, arguments: args }, tool_info: { type: "truefoundry-system", name } }));
  const said = [message("m-t1", { tool_calls: made, finish_reason: "tool_calls" }), ...state.required_actions].map((event) => ({ turn_id: "t1", event }));
  const { session, server } = await serveSession(t, {
    [START]: [events(...list), says("Done.")], [LIST_TURNS]: page([record(state)]), [SESSION_EVENTS]: page(said.reverse()),
  });
  const { calls, tool: clock } = noted("12:00");
  session.tools({ clock });
  await follow(session.run("Go"));
  await session.history();
  assert.equal((await follow(session.run(allow("c2")))).error, undefined);
  assert.deepEqual(inputs(server)[1], [allow("c2"), give("c1", "12:00")]);
  assert.equal(calls.length, 1);
});

test("an answer to another turn than the newest has no results added", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")]), says("Done.", { previous: "t0" }));
  session.tools({ clock: tool(() => "12:00") });
  await collect(session.createTurn({ input: "Go" }).stream());
  await collect((await session.run(allow("c9"), { previousTurnId: "t0" }).next()).value.stream());
  assert.deepEqual([inputs(server)[1], server.requests[1].body.previous_turn_id], [[allow("c9")], "t0"]);
});

test("a requested authorization is for the page, and results wait for it", async (t) => {
  const auth = { type: "mcp.auth_required", id: "q", thread_id: null, created_at: null, mcp_servers: [{ id: "s", name: "S", auth_url: "https://s.example" }] };
  const calls = pausing([calling("c1", "clock")]);
  const actions = [...calls.at(-1).state.required_actions, auth];
  const { session, server } = await serveTurns(t, events(...calls.slice(0, -1), auth, done({ required_actions: actions })), says("Done."));
  session.tools({ clock: tool(() => "12:00") });
  const run = session.run("Go");
  await follow(run);
  assert.equal(run.reason, "waiting");
  assert.equal((await follow(session.run([]))).error, undefined);
  assert.deepEqual(inputs(server)[1], [give("c1", "12:00")]);
});

test("a call that another client has answered while the tool ran is not answered again", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")]), says("Fine."));
  const [began, gate] = [deferred(), deferred()];
  session.tools({ clock: tool(() => (began.resolve(), gate.promise)) });
  const run = session.run("Go");
  const followed = follow(run);
  await began.promise;
  await collect(session.createTurn({ input: give("c1", "mine") }).stream());
  gate.resolve("late");
  assert.equal((await followed).error, undefined);
  assert.deepEqual([run.reason, run.turns.length, inputs(server).length], ["done", 1, 2]);
});

// Limits.

for (const maxRounds of [0, 1, 3]) {
  test(`no more than ${maxRounds} turns follow if that is the limit; then the calls wait, and no tool has run for them`, async (t) => {
    const turns = Array.from({ length: maxRounds + 1 }, (_, at) => pauses([calling(`c${at}`, "clock")], { id: `t${at + 1}`, previous: at === 0 ? null : `t${at}` }));
    const { session, server } = await serveTurns(t, ...turns, says("At last.", { id: "end", previous: `t${maxRounds + 1}` }));
    const { calls, tool: clock } = noted();
    session.tools({ clock });
    const run = session.run("Go", { maxRounds });
    const state = await run.waitForCompletion();
    assert.deepEqual([run.reason, calls.length, server.count(START), run.turns.length], ["rounds", maxRounds, maxRounds + 1, maxRounds + 1]);
    assert.equal(state.required_actions.length, 1);
    assert.deepEqual(run.turns.at(-1).snapshot().required_actions.map(({ tool_call_id }) => tool_call_id), [`c${maxRounds}`]);
    const more = session.run();
    assert.equal((await follow(more)).error, undefined);
    assert.deepEqual([more.reason, calls.length], ["done", maxRounds + 1]);
  });
}

test("ten turns may follow by default", async (t) => {
  const turns = Array.from({ length: 11 }, (_, at) => pauses([calling("c1", "clock")], { id: `t${at + 1}`, previous: at === 0 ? null : `t${at}` }));
  const { session } = await serveTurns(t, ...turns);
  const { calls, tool: clock } = noted();
  session.tools({ clock });
  const run = session.run("Go");
  await run.waitForCompletion();
  assert.deepEqual([run.reason, run.turns.length, calls.length], ["rounds", 11, 10]);
});

test("waitForCompletion() continues an abandoned loop", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")]), pauses([calling("c2", "clock")], { id: "t2", previous: "t1" }), says("Done.", { id: "t3", previous: "t2" }));
  const { calls, tool: clock } = noted();
  session.tools({ clock });
  const run = session.run("Go");
  for await (const turn of run) {
    await collect(turn.stream());
    break;
  }
  assert.deepEqual([run.reason, calls.length, server.asked], [undefined, 0, [START]]);
  assert.equal((await run.waitForCompletion()).status, "done");
  assert.deepEqual([run.reason, calls.length, run.turns.length], ["done", 2, 3]);
  // It is iterated once.
  assert.deepEqual((await follow(run)).turns, []);
});

test("a stream that was left in the middle of a call is read to its end before the tool runs", async (t) => {
  const list = pausing([calling("c1", "clock", { zone: "UTC" })]);
  const first = new LiveStream();
  const { session, server } = await serveSession(t, { [START]: [first.reply, says("Done.")], [SUBSCRIBE]: ({ response }) => {
    events(...list)({ response });
  } }, { reconnect: { maxAttempts: 1, baseDelay: 1, maxDelay: 1 } });
  session.tools({ clock: tool((input) => input) });
  const run = session.run("Go");
  for await (const turn of run) {
    if (run.turns.length > 1) {
      await collect(turn.stream());
      continue;
    }
    const stream = turn.stream();
    await first.send(...list.slice(0, 2));
    for await (const event of stream) if (event.type === "model.message") break;
  }
  assert.equal(run.reason, "done");
  assert.deepEqual(inputs(server)[1], [give("c1", '{"zone":"UTC"}')]);
});

test("waiting beside a loop takes no turn from it", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")]), says("Done."));
  session.tools({ clock: tool(() => 1) });
  const run = session.run("Go");
  const waiting = run.waitForCompletion();
  const turns = [];
  for await (const turn of run) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    turns.push((await collect(turn.stream())).events.at(-1).type);
  }
  assert.deepEqual(turns, ["turn.done", "turn.done"]);
  assert.equal((await waiting).status, "done");
  assert.deepEqual(server.asked, [START, START]);
});

test("waiting beside a loop continues when the loop is left", async (t) => {
  const { session } = await serveTurns(t, pauses([calling("c1", "clock")]), says("Done."));
  session.tools({ clock: tool(() => 1) });
  const run = session.run("Go");
  const waiting = run.waitForCompletion();
  for await (const _ of run) break;
  assert.equal((await waiting).status, "done");
  assert.deepEqual([run.reason, run.turns.length], ["done", 2]);
});

test("a second loop gets nothing, and ends at once", async (t) => {
  const { session } = await serveTurns(t, pauses([calling("c1", "clock")]), says("Done."));
  session.tools({ clock: tool(() => 1) });
  const run = session.run("Go");
  for await (const _ of run) break;
  assert.deepEqual((await follow(run)).turns, []);
  assert.equal((await run.waitForCompletion()).status, "done");
});

test("a wait beside a loop fails on an abort, though the loop still reads a turn", async (t) => {
  const live = new LiveStream();
  const { session } = await serveTurns(t, live.reply);
  const controller = new AbortController();
  const run = session.run("Go", { signal: controller.signal });
  const followed = follow(run);
  const waiting = failure(run.waitForCompletion());
  await live.send(created(), message());
  controller.abort();
  assert.equal((await waiting).code, "aborted");
  await live.send(done());
  assert.equal((await followed).error.code, "aborted");
});

test("a turn that was not started is started when the next one is requested", async (t) => {
  const { session } = await serveTurns(t, pauses([calling("c1", "clock")]), says("Done."));
  session.tools({ clock: tool(() => 1) });
  const statuses = [];
  for await (const turn of session.run("Go")) statuses.push(turn.status);
  assert.deepEqual(statuses, ["unstarted", "unstarted"]);
});

test("next() may be called twice at once", async (t) => {
  const { session } = await serveTurns(t, pauses([calling("c1", "clock")]), says("Done."));
  session.tools({ clock: tool(() => 1) });
  const run = session.run("Go");
  const [one, two, three] = await Promise.all([run.next(), run.next(), run.next()]);
  assert.deepEqual([one.value.id, two.value.id, three], ["t1", "t2", { done: true, value: undefined }]);
});

test("the calls of a sub-agent are answered in its thread", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")], { thread_id: "th9" }), says("Done."));
  session.tools({ clock: tool(() => "12:00") });
  assert.equal((await follow(session.run("Go"))).error, undefined);
  assert.deepEqual(inputs(server)[1], [give("c1", "12:00", "th9")]);
});

test("calls with the same id in two threads are two calls", async (t) => {
  const [one, two] = [pausing([calling("c1", "clock", { n: 1 })]), pausing([calling("c1", "clock", { n: 2 })], { id: "t1b", thread_id: "th9" })];
  const actions = [...one.at(-1).state.required_actions, ...two.at(-1).state.required_actions];
  const { session, server } = await serveTurns(t, events(...one.slice(0, -1), ...two.slice(1, -1), done({ required_actions: actions })), says("Done."));
  session.tools({ clock: tool(({ n }) => n) });
  assert.equal((await follow(session.run("Go"))).error, undefined);
  assert.deepEqual(inputs(server)[1], [give("c1", "1"), give("c1", "2", "th9")]);
});

// After a reload.

/** A session that has paused for a call of `clock`, as a reloaded page finds it. */
function reloaded(t, routes = {}) {
  const list = pausing([calling("c1", "clock", { zone: "UTC" })]);
  const { state } = list.at(-1);
  const made = { id: "c1", type: "function", function: { name: "clock", arguments: '{"zone":"UTC"}' }, tool_info: { type: "truefoundry-system", name: "clock" } };
  const said = [message("m-t1", { tool_calls: [made], finish_reason: "tool_calls" }), state.required_actions[0]];
  return serveSession(t, {
    [LIST_TURNS]: page([record(state)]),
    [SESSION_EVENTS]: page(said.map((event) => ({ turn_id: "t1", event })).reverse()),
    [GET_TURN]: json({ data: record(state) }),
    [TURN_EVENTS]: page(said),
    [START]: [says("Done.")],
    ...routes,
  });
}

for (const [how, come] of Object.entries({
  "history()": (session) => session.history(),
  "resume()": (session) => session.resume(),
  "getTurn()": (session) => session.getTurn("t1"),
})) {
  test(`after a reload and ${how}, run() goes on with the pending calls`, async (t) => {
    const { session, server } = await reloaded(t);
    session.tools({ clock: tool((input) => input) });
    await come(session);
    const run = session.run();
    assert.deepEqual(run.turns, []);
    const { turns, error } = await follow(run);
    assert.equal(error, undefined);
    assert.deepEqual([run.reason, turns.map(textOf)], ["done", ["Done."]]);
    assert.deepEqual(inputs(server), [[give("c1", '{"zone":"UTC"}')]]);
  });
}

test("after a reload, run() waits for a turn that still runs", async (t) => {
  const live = new LiveStream();
  const { session, server } = await reloaded(t, { [LIST_TURNS]: page([record()]), [SUBSCRIBE]: live.reply, [SESSION_EVENTS]: page([]) });
  session.tools({ clock: tool((input) => input) });
  await session.resume();
  const run = session.run();
  const waiting = run.waitForCompletion();
  await live.send(...pausing([calling("c1", "clock", { zone: "UTC" })]));
  assert.equal((await waiting).status, "done");
  assert.deepEqual([run.reason, run.turns.length, inputs(server)], ["done", 1, [[give("c1", '{"zone":"UTC"}')]]]);
});

test("run() without a tool for the pending calls ends at once, and says so", async (t) => {
  const { session } = await reloaded(t);
  await session.history();
  const run = session.run();
  const state = await run.waitForCompletion();
  assert.deepEqual([run.reason, run.turns, state.required_actions.length], ["waiting", [], 1]);
});

for (const [name, prepare] of Object.entries({
  "before there is a turn": async () => {},
  "after a turn that waits for nothing": async (session) => collect(session.createTurn({ input: "Hello" }).stream()),
})) {
  test(`run() without an input is refused ${name}`, async (t) => {
    const { session } = await serveTurns(t, says("Hi", { id: "t1", previous: null }));
    session.tools({ clock: tool(RUN) });
    await prepare(session);
    const error = await failure(() => session.run());
    assert.ok(error instanceof InputError, String(error));
    assert.match(error.message, /nothing waits/);
  });
}

// Other turns, and failures.

test("createTurn never runs a tool, and adds nothing", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")]), pauses([calling("c1", "clock")], { id: "t2", previous: "t1", approvals: [calling("c2", "restart")] }));
  session.tools({ clock: tool(() => assert.fail("it ran")) });
  const turn = session.createTurn({ input: "Go" });
  await collect(turn.stream());
  await turn.waitForCompletion();
  assert.equal(turn.snapshot().required_actions.length, 1);
  await collect(session.createTurn({ input: give("c1", "mine") }).stream());
  assert.match((await failure(() => session.createTurn({ input: allow("c2") }))).message, /missing: c1/);
  assert.deepEqual(inputs(server), [[{ type: "user.message", content: "Go" }], [give("c1", "mine")]]);
});

test("createTurn does not add what a run has kept", async (t) => {
  const { session } = await serveTurns(t, pauses([calling("c1", "clock")], { approvals: [calling("c2", "restart")] }));
  session.tools({ clock: tool(() => 1) });
  await follow(session.run("Go"));
  assert.match((await failure(() => session.createTurn({ input: allow("c2") }))).message, /missing: c1/);
});

for (const [name, state] of Object.entries({
  "was cancelled": { status: "cancelled", reason: "user" },
  "failed on the server": { status: "error", message: "no" },
})) {
  test(`a turn that ${name} ends the run`, async (t) => {
    const list = pausing([calling("c1", "clock")]);
    const end = { ...done(), state };
    const { session } = await serveTurns(t, events(...list.slice(0, -1), end));
    session.tools({ clock: tool(() => assert.fail("it ran")) });
    const run = session.run("Go");
    assert.equal((await run.waitForCompletion()).status, state.status);
    assert.equal(run.reason, "done");
  });
}

test("a refused start is thrown by the loop, and by every wait", async (t) => {
  const { session } = await serveTurns(t, refusal(403));
  const run = session.run("Go");
  const error = await failure(async () => { for await (const _ of run); });
  assert.ok(error instanceof ApiError, String(error));
  assert.deepEqual([error.status, run.reason], [403, undefined]);
  assert.equal(await failure(run.waitForCompletion()), error);
});

test("a stream that breaks off is thrown by the loop", async (t) => {
  const { session } = await serveTurns(t, events(...pausing([calling("c1", "clock")]).slice(0, -1)));
  session.tools({ clock: tool(() => assert.fail("it ran")) });
  const error = await failure(session.run("Go").waitForCompletion());
  assert.equal(error.code, "incomplete");
});

test("a clock of the run applies to its turns, and not to tools", async (t) => {
  const { session } = await serveSession(t, { [START]: silence, [LIST_TURNS]: page([]) });
  assert.equal((await failure(session.run("Go", { connectTimeout: 20, reconnect: false }).waitForCompletion())).code, "timeout");
  const { session: other } = await serveTurns(t, pauses([calling("c1", "clock")]), says("Done."));
  other.tools({ clock: tool(() => new Promise((resolve) => setTimeout(resolve, 600, 1))) });
  assert.equal((await other.run("Go", { deadline: 500 }).waitForCompletion()).status, "done");
});

test("results whose turn did not start are kept: the next run sends them, and no tool runs again", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")]), refusal(403), says("Done."));
  const { calls, tool: clock } = noted("12:00");
  session.tools({ clock });
  assert.equal((await failure(session.run("Go").waitForCompletion())).status, 403);
  assert.equal((await follow(session.run())).error, undefined);
  assert.deepEqual(inputs(server).slice(1), [[give("c1", "12:00")], [give("c1", "12:00")]]);
  assert.equal(calls.length, 1);
});

test("a call that is repeated with its id runs again", async (t) => {
  const { session, server } = await serveTurns(t, pauses([calling("c1", "clock")]), pauses([calling("c1", "clock")], { id: "t2", previous: "t1" }), says("Done.", { id: "t3", previous: "t2" }));
  let ran = 0;
  session.tools({ clock: tool(() => (ran += 1)) });
  assert.equal((await follow(session.run("Go"))).error, undefined);
  assert.deepEqual(inputs(server).slice(1), [[give("c1", "1")], [give("c1", "2")]]);
});

test("a turn whose stream was left for its record has its calls listed before a tool runs", async (t) => {
  const list = pausing([calling("c1", "clock", { zone: "UTC" })]);
  const live = new LiveStream();
  const { session, server } = await reloaded(t, { [START]: [live.reply, says("Done.")] });
  session.tools({ clock: tool((input) => input) });
  const run = session.run("Go");
  const { value: turn } = await run.next();
  const stream = turn.stream();
  await live.send(...list.slice(0, 2), call("c1", "clock", { args: '{"zone"', message: "m-t1" }));
  for await (const event of stream) if (event.tool_calls) break;
  const seen = [];
  turn.subscribe(() => seen.push(...turn.snapshot().required_actions));
  await turn.state();
  assert.equal(turn.status, "done");
  assert.deepEqual(turn.snapshot().required_actions.map(({ arguments: json }) => json), ['{"zone":"UTC"}']);
  assert.ok(seen.every(({ arguments: json }) => json === '{"zone":"UTC"}'));
  assert.equal((await run.waitForCompletion()).status, "done");
  assert.deepEqual(inputs(server)[1], [give("c1", '{"zone":"UTC"}')]);
});
