// Tools that run in the page, with agents of the Agent Application Protocol: declared, called, and answered in one request.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assistant, call, declaring, HISTORY, history, result, saying, sent, serveAap, serveSession, SESSION, start, stop, told, turn, TURNS, use, user } from "../support/aap.mjs";
import { collect, failure, textOf } from "../support/collect.mjs";
import { json } from "../support/server.mjs";
import { follow, tool } from "../support/tools.mjs";

const NONE = { type: "object", properties: {} };
const clock = tool(({ zone }) => `noon in ${zone}`, { title: "Clock", description: "The time", parameters: { type: "object", properties: { zone: { type: "string" } } } });
const calculator = tool(({ expression }) => ({ expression, value: 42 }));
const asks = (...calls) => turn(start, "Let me see", ...calls, stop("tool_use"));
const toolAnswer = (toolCallId, content) => ({ role: "tool", toolCallId, content });

/** A session with tools, whose turns get these answers. */
async function serveTools(t, tools, ...replies) {
  const world = await serveSession(t, { [TURNS]: replies });
  world.session.tools(tools);
  return world;
}

test("tools are declared with the next turn, once, and again when they change", async (t) => {
  const { session, server } = await serveTools(t, { clock, calculator }, saying("One"), saying("Two"), saying("Three"));
  await collect(session.createTurn({ input: "A" }).stream());
  await collect(session.createTurn({ input: "B" }).stream());
  session.tools({ calculator });
  await collect(session.createTurn({ input: "C" }).stream());
  const [one, two, three] = sent(server);
  assert.deepEqual(one.tools, [
    { name: "clock", title: "Clock", description: "The time", parameters: clock.parameters },
    { name: "calculator", description: "A tool", parameters: NONE },
  ]);
  assert.equal("tools" in two, false);
  assert.deepEqual(three.tools, [{ name: "calculator", description: "A tool", parameters: NONE }]);
});

test("a declaration that did not arrive is made again", async (t) => {
  const { session, server } = await serveTools(t, { clock }, json({ error: { message: "no" } }, 400), saying("One"));
  await collect(session.createTurn({ input: "A" }).stream());
  await collect(session.createTurn({ input: "A" }).stream());
  assert.deepEqual(sent(server).map(({ tools }) => tools?.length), [1, 1]);
});

test("an agent that accepts no tools of the page is not sent any", async (t) => {
  const { session } = await serveSession(t, {}, { agent: declaring({ stream: { delta: {} } }) });
  const error = await failure(() => session.tools({ clock }));
  assert.equal(error.code, "invalid_option");
  assert.match(error.message, /application\.tools/);
  assert.deepEqual(session.tools(), []);
});

for (const mode of ["delta", "message", "none"]) {
  test(`all calls run side by side, and their results are sent in one request: ${mode}`, async (t) => {
    const calls = [["c1", "clock", { zone: "UTC" }], ["c2", "calculator", { expression: "6*7" }]];
    const reply = {
      delta: [asks(...calls.map((one) => call(...one))), turn(start, "It is ", "noon.", stop())],
      message: [turn(start, ["text", { text: "Let me see" }], ...calls.map((one) => call(...one)), stop("tool_use")), turn(start, ["text", { text: "It is noon." }], stop())],
      none: [
        json({ stopReason: "tool_use", messages: [assistant("Let me see", ...calls.map((one) => use(...one)))] }),
        json({ stopReason: "end_turn", messages: [assistant("It is noon.")] }),
      ],
    }[mode];
    const { session, server } = await serveSession(t, { [TURNS]: reply }, { session: { stream: mode } });
    let running = 0;
    let most = 0;
    const slow = (run) => async (input) => {
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      return run(input);
    };
    session.tools({ clock: { ...clock, run: slow(clock.run) }, calculator: { ...calculator, run: slow(calculator.run) } });
    const run = session.run("What time is it?");
    const { turns, error } = await follow(run);
    assert.equal(error, undefined);
    assert.equal(run.reason, "done");
    assert.equal(most, 2);
    assert.equal(turns.length, 2);
    assert.equal(textOf(turns[1]), "It is noon.");
    assert.deepEqual(sent(server)[1].messages, [
      toolAnswer("c1", "noon in UTC"),
      toolAnswer("c2", '{"expression":"6*7","value":42}'),
    ]);
    // The next turn sends the results.
    assert.deepEqual(turns[0].snapshot().threads[0].messages[0].tool_calls.map(({ response }) => response?.content), ["noon in UTC", '{"expression":"6*7","value":42}']);
  });
}

test("a tool that throws is answered with what it said", async (t) => {
  const broken = tool(() => {
    throw new Error("the clock stands still");
  });
  const { session, server } = await serveTools(t, { clock: broken }, asks(call("c1", "clock")), saying("A pity."));
  const { error } = await follow(session.run("What time is it?"));
  assert.equal(error, undefined);
  assert.deepEqual(sent(server)[1].messages, [toolAnswer("c1", "Tool execution failed: the clock stands still")]);
});

test("beside a call that needs permission, the result waits for the person, and both are sent in one request", async (t) => {
  let runs = 0;
  const counted = { ...clock, run: (input) => ((runs += 1), clock.run(input)) };
  const { session, server } = await serveTools(t, { clock: counted }, asks(call("c1", "clock", { zone: "UTC" }), call("c2", "restart", { service: "billing" })), turn(start, told("c2", "restarted"), "Done.", stop()));
  const run = session.run("Restart it at noon");
  const { turns } = await follow(run);
  assert.equal(run.reason, "waiting");
  assert.equal(sent(server).length, 1);
  assert.deepEqual(turns[0].snapshot().required_actions.map(({ type, name }) => [type, name]), [["tool.response_required", "clock"], ["tool.approval_required", "restart"]]);
  const next = session.run({ type: "user.tool_approval", thread_id: "main", tool_call_id: "c2", approval: { status: "allow" } });
  const { turns: [answered] } = await follow(next);
  assert.equal(next.reason, "done");
  assert.equal(textOf(answered), "Done.");
  assert.equal(runs, 1);
  assert.deepEqual(sent(server)[1].messages, [{ role: "tool_permission", toolCallId: "c2", granted: true }, toolAnswer("c1", "noon in UTC")]);
});

test("a call of an unknown tool asks for permission, and no tool runs", async (t) => {
  const { session } = await serveTools(t, { clock }, asks(call("c1", "who_knows")));
  const run = session.run("Do something");
  const { turns } = await follow(run);
  assert.equal(run.reason, "waiting");
  assert.deepEqual(turns[0].snapshot().required_actions.map(({ type, name }) => [type, name]), [["tool.approval_required", "who_knows"]]);
});

test("a server's tool that ran is not run again by a tool of its name", async (t) => {
  let runs = 0;
  const { session, server } = await serveSession(t, { [TURNS]: turn(start, call("c1", "lookup"), told("c1", "found"), "Found.", stop()) }, { session: { agentTools: [] } });
  session.tools({ lookup: tool(() => (runs += 1)) });
  const run = session.run("Look it up");
  await follow(run);
  assert.equal(run.reason, "done");
  assert.equal(runs, 0);
  assert.equal(sent(server).length, 1);
});

test("after the allowed number of rounds the run stops, and the calls wait", async (t) => {
  const { session, server } = await serveTools(t, { clock }, ...[1, 2, 3, 4].map((round) => asks(call(`c${round}`, "clock"))));
  const run = session.run("Over and over", { maxRounds: 2 });
  const { turns } = await follow(run);
  assert.equal(run.reason, "rounds");
  assert.equal(turns.length, 3);
  assert.equal(sent(server).length, 3);
  assert.equal(turns[2].snapshot().required_actions[0].tool_call_id, "c3");
});

test("after a reload, calls that wait for tools of the page are found in the history, and run", async (t) => {
  const record = json({ sessionId: "s1", agent: { name: "assistant" }, tools: [{ name: "clock", description: "The time", parameters: NONE }] });
  const past = history(user("What time is it?"), assistant("Let me see", use("c1", "clock", { zone: "UTC" }), use("c2", "calculator")), result("c2", "42"));
  const { client, server } = await serveAap(t, { [SESSION]: record, [HISTORY]: past, [TURNS]: saying("It is noon.") });
  const session = await client.agents.getSession("s1");
  session.tools({ clock });
  await session.resume();
  const run = session.run();
  const { turns, error } = await follow(run);
  assert.equal(error, undefined);
  assert.equal(textOf(turns[0]), "It is noon.");
  assert.deepEqual(sent(server)[0].messages, [toolAnswer("c1", "noon in UTC")]);
});

test("a tool's call that an abort interrupts is not answered, and can be run again", async (t) => {
  const { session, server } = await serveTools(t, { clock: tool((_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))) }, asks(call("c1", "clock")), saying("Noon."));
  const abort = new AbortController();
  const run = session.run("What time is it?", { signal: abort.signal });
  setTimeout(() => abort.abort(), 100);
  const { error } = await follow(run);
  assert.equal(error.name, "AbortError");
  assert.equal(sent(server).length, 1);
  session.tools({ clock });
  const { turns, error: second } = await follow(session.run());
  assert.equal(second, undefined);
  assert.equal(textOf(turns[0]), "Noon.");
});
