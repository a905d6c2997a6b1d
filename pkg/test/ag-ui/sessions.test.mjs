// Sessions whose conversation the client keeps: what each run is sent, what is stored, and how a page continues after a reload.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as settled } from "node:timers/promises";
import { allow, connect, respond } from "../../dist/index.js";
import { calls, finished, run, says, serveRuns, started, stream } from "../support/ag-ui.mjs";
import { failure, textOf } from "../support/collect.mjs";

const rolesOf = ({ messages }) => messages.map(({ role }) => role);
const inputOf = ({ input }) => input.map(({ content }) => content);

test("each run is sent the whole conversation, to the address of the agent itself", async () => {
  const { client, sent, requests, base } = await serveRuns([run(...says("m1", "One")), run(...says("m2", "Two"))]);
  const session = await client.agents.createSession("any");
  assert.equal(session.messages(), "");
  await session.createTurn("Hi").waitForCompletion();
  await session.createTurn("Again").waitForCompletion();
  assert.deepEqual(requests.map(({ url, init }) => [url, init.method]), [[base, "POST"], [base, "POST"]]);
  assert.equal(requests[0].init.headers.get("accept"), "text/event-stream");
  assert.deepEqual(sent.map(rolesOf), [["user"], ["user", "assistant", "user"]]);
  assert.deepEqual(sent.map(({ threadId }) => threadId), [session.id, session.id]);
  assert.notEqual(sent[0].runId, sent[1].runId);
  assert.deepEqual(rolesOf(JSON.parse(session.messages())), ["user", "assistant", "user", "assistant"]);
});

test("a page that reloads goes on: with the same history, and with the same next request", async () => {
  const runs = () => [run(...says("m1", "One")), run({ type: "STATE_SNAPSHOT", snapshot: { big: 1 } }, ...says("m2", "Two")), run(...says("m3", "Three"))];
  const served = await serveRuns(runs());
  const session = await served.client.agents.createSession("any");
  for (const text of ["Hi", "Again"]) await session.createTurn(text).waitForCompletion();
  const before = await session.history();

  const again = await (await served.reconnected()).agents.getSession(session.id);
  assert.equal(again.messages(), session.messages());
  const turns = await again.history();
  assert.deepEqual(turns.map(inputOf), [["Hi"], ["Again"]]);
  assert.deepEqual(turns.map(textOf), ["One", "Two"]);
  assert.deepEqual(turns.map(({ id }) => id), before.map(({ id }) => id));
  assert.deepEqual(turns.last.snapshot().agent_state, { big: 1 });
  const next = again.createTurn("More");
  await next.waitForCompletion();
  assert.deepEqual(rolesOf(served.sent[2]), ["user", "assistant", "user", "assistant", "user"]);
  assert.deepEqual(served.sent[2].state, { big: 1 });
  assert.deepEqual((await again.history()).map(textOf), ["One", "Two", "Three"]);
});

test("a session is found again before its first run, and after one that was refused", async () => {
  const served = await serveRuns([new Response('{"detail":"no"}', { status: 422, headers: { "content-type": "application/json" } }), run(...says("m1", "One"))]);
  const session = await served.client.agents.createSession("any");
  const reloaded = async () => (await served.reconnected()).agents.getSession(session.id);
  assert.deepEqual([...(await (await reloaded()).history())], []);
  const refused = session.createTurn("Hi");
  assert.equal((await failure(refused.waitForCompletion())).status, 422);
  const again = await reloaded();
  assert.deepEqual([...(await again.history())], []);
  await again.createTurn("Hi").waitForCompletion();
  assert.deepEqual((await (await reloaded()).history()).map(textOf), ["One"]);
});

test("numbers beyond those of JavaScript survive a reload in the state", async () => {
  const served = await serveRuns([stream(started, '{"type":"STATE_SNAPSHOT","snapshot":{"n":12345678901234567890.125}}', finished()), run()]);
  const session = await served.client.agents.createSession("any");
  await session.createTurn("Hi").waitForCompletion();
  const again = await (await served.reconnected()).agents.getSession(session.id);
  await again.createTurn("More").waitForCompletion();
  assert.match(served.requests[1].init.body, /"n":12345678901234567890\.125/);
});

test("what the user said is stored while the answer streams, and a run whose connection breaks is incomplete", async () => {
  let push;
  const body = new ReadableStream({ start: (control) => void (push = control) });
  const live = new Response(body, { headers: { "content-type": "text/event-stream" } });
  const { client, store, sent } = await serveRuns([live, run(...says("m2", "Better"))]);
  const session = await client.agents.createSession("any");
  const turn = session.createTurn("Hi");
  const over = failure(turn.waitForCompletion());
  const frames = [started, ...says("m1", "Half").slice(0, 2)];
  push.enqueue(new TextEncoder().encode(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("")));
  while (textOf(turn) !== "Half") await new Promise((resolve) => setTimeout(resolve, 1));
  assert.match([...store.texts.values()][0], /"content":"Hi"/);
  push.error(new TypeError("gone"));
  assert.equal((await over).code, "incomplete");
  assert.equal(sent.length, 1, "nothing is sent again");
  await session.createTurn("Again").waitForCompletion();
  assert.deepEqual(rolesOf(sent[1]), ["user", "assistant", "user"]);
});

/** A response that is pushed piece by piece: `send` takes frames, and `fail` breaks it. */
function live() {
  let control;
  let isLeft = false;
  const body = new ReadableStream({ start: (given) => void (control = given), cancel: () => void (isLeft = true) });
  const response = new Response(body, { headers: { "content-type": "text/event-stream" } });
  const send = (...frames) => control.enqueue(new TextEncoder().encode(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("")));
  return { response, send, isLeft: () => isLeft };
}

test("a connection that stays open after the end of a run is left a second later, and the turn is done", async () => {
  const { response, send, isLeft } = live();
  const { client } = await serveRuns([response]);
  const turn = (await client.agents.createSession("any")).createTurn("Hi");
  const over = turn.waitForCompletion();
  const began = performance.now();
  send(started, ...says("m1", "One"), finished());
  await over;
  const took = performance.now() - began;
  assert.ok(took > 900 && took < 10_000, `it took ${took} ms`);
  assert.deepEqual([turn.status, textOf(turn), turn.snapshot().error, isLeft()], ["done", "One", null, true]);
});

test("until then another run goes on, and an error may still come", async () => {
  const another = live();
  const late = live();
  const { client } = await serveRuns([another.response, late.response]);
  const session = await client.agents.createSession("any");
  const turn = session.createTurn("Hi");
  const over = turn.waitForCompletion();
  another.send(started, ...says("m1", "One"), finished());
  await new Promise((resolve) => setTimeout(resolve, 400));
  another.send(started);
  // Longer than the end of the first run would have counted.
  await new Promise((resolve) => setTimeout(resolve, 1200));
  assert.equal(turn.status, "running");
  another.send(...says("m2", "Two"), finished());
  await over;
  assert.deepEqual([turn.status, textOf(turn)], ["done", "OneTwo"]);
  const failed = session.createTurn("Again");
  const ended = failed.waitForCompletion();
  late.send(started, ...says("m3", "Three"), finished());
  await new Promise((resolve) => setTimeout(resolve, 400));
  late.send({ type: "RUN_ERROR", message: "it was not stored" });
  assert.equal((await ended).status, "error");
});

test("a session begins with messages and a state, and sends its settings with each run", async () => {
  const { client, sent } = await serveRuns([run(), run(), run()]);
  const messages = [{ role: "system", content: "Be brief" }, { id: "u0", role: "user", content: "Earlier" }];
  const context = [{ description: "The page", value: "Orders" }];
  const session = await client.agents.createSession("any", { messages, state: { count: 1 }, context, forwardedProps: { node: "plan" } });
  assert.deepEqual((await session.history()).map(inputOf), [["Earlier"]]);
  await session.createTurn("Hi").waitForCompletion();
  await session.update({ state: { count: 2 }, context: [] });
  await session.createTurn("More").waitForCompletion();
  assert.deepEqual(rolesOf(sent[0]), ["system", "user", "user"]);
  assert.ok(sent[0].messages.every(({ id }) => id));
  assert.deepEqual(sent.slice(0, 2).map(({ state, context, forwardedProps }) => [state, context, forwardedProps]), [
    [{ count: 1 }, context, { node: "plan" }],
    [{ count: 2 }, [], { node: "plan" }],
  ]);
  const other = await client.agents.createSession("any", { messages: session.messages() });
  await other.createTurn("There").waitForCompletion();
  assert.deepEqual(sent[2].messages.slice(0, -1), JSON.parse(session.messages()).messages);
  assert.notEqual(sent[2].threadId, sent[0].threadId);
});

test("tools of the page are declared, their results continue the run, and calls of other tools are not answered", async () => {
  const { client, sent } = await serveRuns([
    run(...says("m1", ""), ...calls("c1", "clock", { zone: "UTC" }, "m1"), ...calls("c2", "server_tool", {}, "m1")),
    run(...says("m2", "Noon")),
  ]);
  const session = await client.agents.createSession("any");
  session.tools({ clock: { description: "The time", run: ({ zone }) => `noon in ${zone}` } });
  const played = session.run("What time is it?");
  await played.waitForCompletion();
  assert.equal(played.turns.length, 2);
  assert.deepEqual(sent[0].tools.map(({ name }) => name), ["clock"]);
  const { role, toolCallId, content } = sent[1].messages.at(-1);
  assert.deepEqual([role, toolCallId, content], ["tool", "c1", "noon in UTC"]);
  assert.equal(sent[1].messages.filter(({ toolCallId }) => toolCallId === "c2").length, 0);
});

test("an interrupt is answered after a reload, and a message in its place is refused before it is sent", async () => {
  const interrupts = [{ id: "i1", reason: "tool_call", toolCallId: "c1" }, { id: "i2", reason: "input_required", message: "Which?", responseSchema: { type: "string" } }];
  const served = await serveRuns([
    stream(started, ...says("m1", "May I?"), ...calls("c1", "restart", {}, "m1"), finished({ type: "interrupt", interrupts })),
    run(...says("m2", "Done")),
  ]);
  const session = await served.client.agents.createSession("any");
  await session.createTurn("Hi").waitForCompletion();
  const again = await (await served.reconnected()).agents.getSession(session.id);
  assert.equal((await failure(async () => again.createTurn("Never mind"))).code, "invalid_input");
  const { last } = await again.history();
  const [approval, question] = last.snapshot().required_actions;
  assert.deepEqual([approval.type, question.type, question.suspension.message], ["tool.approval_required", "tool.response_required", "Which?"]);
  const turn = again.createTurn([allow(approval), respond(question, "blue")]);
  await turn.waitForCompletion();
  assert.deepEqual(served.sent[1].resume, [
    { interruptId: "i1", status: "resolved", payload: { approved: true } },
    { interruptId: "i2", status: "resolved", payload: "blue" },
  ]);
  assert.deepEqual(last.snapshot().required_actions, []);
});

test("the server's own tools whose calls may be answered are named", async () => {
  const { client, sent } = await serveRuns([run(...calls("c1", "delete_file", { path: "/a" })), run(...says("m2", "Deleted"))]);
  const session = await client.agents.createSession("any", { answerableTools: ["delete_file"] });
  const turn = session.createTurn("Clean up");
  await turn.waitForCompletion();
  const [action] = turn.snapshot().required_actions;
  assert.equal(action.name, "delete_file");
  await session.createTurn([respond(action, '{"accepted":true}')]).waitForCompletion();
  assert.equal(sent[1].messages.at(-1).content, '{"accepted":true}');
});

test("a session has one run at a time", async () => {
  const { client, sent } = await serveRuns([run(...says("m1", "One")), run(...says("m2", "Two"))]);
  const session = await client.agents.createSession("any");
  const [first, second, refused] = [session.createTurn("1"), session.createTurn("2"), session.createTurn("3", { whenBusy: "fail" })];
  const all = [first.waitForCompletion(), second.waitForCompletion()];
  assert.equal((await failure(refused.waitForCompletion())).code, "session_busy");
  await Promise.all(all);
  assert.deepEqual(rolesOf(sent[1]), ["user", "assistant", "user"]);
});

test("an invalid option is refused by its name, and nothing is sent", async () => {
  const { client: { agents }, sent } = await serveRuns([]);
  const wrong = {
    messages: ["not JSON", [{ content: "no role" }], 7],
    context: [[{ description: "no value" }], {}],
    forwardedProps: [[], 7],
    answerableTools: ["name", [7]],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      const error = await failure(agents.createSession("any", { [name]: value }));
      assert.equal(error.code, "invalid_option", `${name}: ${error}`);
      assert.match(error.message, new RegExp(name === "messages" ? "messages|conversation" : name));
    }
  }
  assert.equal((await failure(agents.getSession("gone"))).code, "invalid_input");
  assert.equal((await failure(agents.list())).code, "unsupported");
  assert.equal((await failure(agents.listSessions("any").next())).code, "unsupported");
  assert.deepEqual(sent, []);
});

test("a repeated message is not taken for the earlier turn with the same text", async () => {
  let answer;
  const late = new Promise((resolve) => (answer = resolve));
  const { client } = await serveRuns([run(...says("m1", "One")), () => late]);
  const session = await client.agents.createSession("any");
  await session.createTurn("Hi").waitForCompletion();
  const again = session.createTurn("Hi");
  const ended = again.waitForCompletion();
  assert.deepEqual((await session.history()).map(textOf), ["One"]);
  answer(run(...says("m2", "Two")));
  await ended;
  assert.deepEqual((await session.history()).map(textOf), ["One", "Two"]);
});

for (const [how, fail] of [["throws", () => { throw new Error("full"); }], ["rejects", () => Promise.reject(new Error("full"))]]) {
  test(`a store that ${how} is reported to the session's listeners once until it works again, and stops nothing`, async (t) => {
    const uncaught = [];
    const before = globalThis.reportError;
    globalThis.reportError = (error) => uncaught.push(error);
    t.after(() => (globalThis.reportError = before));
    const texts = [];
    let room = 0;
    const store = { get: () => null, set: (_, text) => (room > 0 ? void texts.push(text) : fail()), remove: () => {} };
    const { client } = await serveRuns(["One", "Two", "Three", "Four", "Five"].map((text, at) => run(...says(`m${at}`, text))), { store });
    const session = await client.agents.createSession("any");
    const told = [];
    const stop = session.on("error", (error) => told.push(error));
    const play = async (text) => {
      const turn = session.createTurn("Hi");
      await turn.waitForCompletion();
      await settled(20);
      assert.deepEqual([turn.status, textOf(turn)], ["done", text]);
    };
    await play("One");
    assert.deepEqual(told.map(({ name, code, message, cause }) => [name, code, message, cause.message]), [["InputError", "invalid_option", "`store` failed: full", "full"]]);
    await play("Two");
    assert.equal(told.length, 1);
    // It takes a text, and is full again.
    room = 1;
    await play("Three");
    assert.equal(told.length, 1);
    room = 0;
    await play("Four");
    assert.deepEqual([texts.length, told.length, uncaught], [1, 2, []]);
    stop();
    room = 1;
    await play("Five");
    room = 0;
    await session.update({ context: [], state: { n: 1 } });
    await settled(20);
    assert.deepEqual([texts.length, told.length, uncaught.map(({ code }) => code)], [2, 2, ["invalid_option"]], "without a listener it is uncaught");
  });
}

test("a store that cannot be read is reported; one that never answers is abandoned; without a store nothing is kept", async (t) => {
  const unreadable = { get: () => { throw new Error("locked"); }, set: () => {}, remove: () => {} };
  const { client: locked } = await serveRuns([], { store: unreadable });
  const { code, message } = await failure(locked.agents.getSession("any"));
  assert.deepEqual([code, /`store`.*locked/.test(message)], ["invalid_option", true]);
  const { client: silent } = await serveRuns([], { store: { ...unreadable, get: () => new Promise(() => {}) } });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const given = failure(silent.agents.getSession("any"));
  t.mock.timers.tick(10_000);
  assert.match((await given).message, /`store`.*10000 ms/);
  t.mock.timers.reset();
  assert.equal((await failure(connect({ baseUrl: "https://agents.test/run", protocol: "ag-ui", store: {} }))).code, "invalid_option");
  const without = await connect({ baseUrl: "https://agents.test/run", protocol: "ag-ui", store: null, fetch: async () => run() });
  const session = await without.agents.createSession("any");
  await session.createTurn("Hi").waitForCompletion();
  assert.equal((await failure(without.agents.getSession(session.id))).code, "invalid_input");
});
