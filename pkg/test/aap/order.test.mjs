// One turn at a time; what a page has to know before the next one, and after a reload.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assistant, call, frame, HISTORY, history, result, saying, sent, serveAap, serveSession, SESSION, start, stop, turn, TURNS, use, user } from "../support/aap.mjs";
import { collect, eventually, failure, textOf } from "../support/collect.mjs";
import { json, LiveStream } from "../support/server.mjs";

const whole = frame("text_delta", { delta: "First" }) + frame("turn_stop", { stopReason: "end_turn" });

test("a second turn waits for the first", async (t) => {
  const live = new LiveStream();
  const { session, server } = await serveSession(t, { [TURNS]: [live.reply, saying("Second"), saying("Third")] });
  const turns = ["One", "Two", "Three"].map((input) => session.createTurn({ input }));
  const reading = turns.map((one) => collect(one.stream()));
  await live.write(frame("turn_start"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(server.count(TURNS), 1);
  assert.equal(turns[1].status, "unstarted");
  await live.write(whole);
  await live.end();
  await Promise.all(reading);
  assert.deepEqual(turns.map(textOf), ["First", "Second", "Third"]);
  assert.deepEqual(sent(server).map(({ messages: [{ content }] }) => content), ["One", "Two", "Three"]);
});

test("or fails, if the option says so", async (t) => {
  const live = new LiveStream();
  const { session, server } = await serveSession(t, { [TURNS]: [live.reply, saying("Second")] });
  const first = session.createTurn({ input: "One" });
  const reading = collect(first.stream());
  await live.write(frame("turn_start"));
  const second = session.createTurn({ input: "Two", whenBusy: "fail" });
  const error = await failure(() => second.stream());
  assert.deepEqual([error.name, error.code], ["StateError", "session_busy"]);
  await live.write(whole);
  await live.end();
  await reading;
  await collect(second.stream());
  assert.equal(textOf(second), "Second");
  assert.equal(server.count(TURNS), 2);
});

test("a waiting turn can leave the queue, and those behind it move up", async (t) => {
  const live = new LiveStream();
  const { session, server } = await serveSession(t, { [TURNS]: [live.reply, saying("Third")] });
  const [first, second, third] = ["One", "Two", "Three"].map((input) => session.createTurn({ input }));
  const reading = collect(first.stream());
  const controller = new AbortController();
  const left = collect(second.stream({ signal: controller.signal }));
  const last = collect(third.stream());
  await live.write(frame("turn_start"));
  controller.abort();
  assert.equal((await left).error.code, "aborted");
  assert.equal(second.status, "unstarted");
  await live.write(whole);
  await live.end();
  await Promise.all([reading, last]);
  assert.equal(textOf(third), "Third");
  assert.equal(server.count(TURNS), 2);
});

test("a turn that waits is not started twice", async (t) => {
  const live = new LiveStream();
  const { session, server } = await serveSession(t, { [TURNS]: [live.reply, saying("Second")] });
  const reading = collect(session.createTurn({ input: "One" }).stream());
  const second = session.createTurn({ input: "Two" });
  const stream = collect(second.stream());
  assert.equal((await failure(() => second.stream())).code, "turn_already_streamed");
  await live.write(frame("turn_start") + whole);
  await live.end();
  await Promise.all([reading, stream]);
  assert.equal(server.count(TURNS), 2);
});

test("a start that fails lets the next one in", async (t) => {
  const { session } = await serveSession(t, { [TURNS]: [json({ error: "no" }, 401), saying("Second")] }, { reconnect: false });
  const [first, second] = ["One", "Two"].map((input) => session.createTurn({ input }));
  const [{ error }] = await Promise.all([collect(first.stream()), collect(second.stream())]);
  assert.equal(error.status, 401);
  assert.equal(textOf(second), "Second");
});

test("after an abort the history is read before the next turn, and decides", async (t) => {
  const live = new LiveStream();
  const { session, server } = await serveSession(t, {
    [TURNS]: [live.reply, turn(start, "Done.", stop())],
    [HISTORY]: history(user("One"), assistant("May I?", use("c1", "restart"))),
  });
  const controller = new AbortController();
  const first = session.createTurn({ input: "One" });
  const reading = collect(first.stream({ signal: controller.signal }));
  await live.write(frame("turn_start") + frame("text_delta", { delta: "May" }));
  await eventually(() => textOf(first) === "May");
  controller.abort();
  assert.equal((await reading).error.code, "aborted");
  const { error } = await collect(session.createTurn({ input: "Two" }).stream());
  assert.equal(error.code, "invalid_input");
  assert.equal(server.count(TURNS), 1);
  const answer = session.createTurn({ input: { type: "user.tool_approval", thread_id: "main", tool_call_id: "c1", approval: { status: "allow" } } });
  await collect(answer.stream());
  assert.equal(textOf(answer), "Done.");
  assert.deepEqual(sent(server).at(-1).messages, [{ role: "tool_permission", toolCallId: "c1", granted: true }]);
});

test("after a whole turn no history is read", async (t) => {
  const { session, server } = await serveSession(t, { [TURNS]: [saying("a"), saying("b")] });
  await collect(session.createTurn({ input: "One" }).stream());
  await collect(session.createTurn({ input: "Two" }).stream());
  assert.equal(server.count(HISTORY), 0);
});

test("cancel leaves the stream; the turn is cancelled here, and the next one waits for the history", async (t) => {
  const live = new LiveStream();
  const { session, server } = await serveSession(t, { [TURNS]: [live.reply, saying("Second")], [HISTORY]: history(user("One"), assistant("First")) });
  const first = session.createTurn({ input: "One" });
  const reading = collect(first.stream());
  await live.write(frame("turn_start") + frame("text_delta", { delta: "Fir" }));
  await eventually(() => textOf(first) === "Fir");
  await first.cancel();
  assert.equal(await live.closed, true);
  const { error, events } = await reading;
  assert.equal(error, undefined);
  assert.equal(events.at(-1).type, "turn.done");
  assert.equal(first.status, "cancelled");
  assert.equal(textOf(first), "Fir");
  const second = session.createTurn({ input: "Two" });
  await collect(second.stream());
  assert.equal(textOf(second), "Second");
  assert.equal(server.count(HISTORY), 1);
});

test("a turn is cancelled while it waits for its answer", async (t) => {
  const { session } = await serveSession(t, { [TURNS]: () => {}, [HISTORY]: history() }, { session: { stream: "none" } });
  const first = session.createTurn({ input: "One" });
  const reading = collect(first.stream());
  await new Promise((resolve) => setTimeout(resolve, 50));
  await first.cancel();
  assert.equal((await reading).error, undefined);
  assert.equal(first.status, "cancelled");
});

/** A session to which a page returns. */
async function comeBack(t, past, routes = {}) {
  const world = await serveAap(t, { [SESSION]: json({ sessionId: "s1", agent: { name: "assistant", tools: [{ name: "lookup" }] }, tools: [{ name: "clock", description: "", parameters: {} }] }), [HISTORY]: past, ...routes });
  return { ...world, session: await world.client.agents.getSession("s1") };
}

const PAST = history(
  user("One"),
  assistant("First"),
  user("Two"),
  assistant({ type: "thinking", thinking: "Hm" }, "Let me see", use("c1", "lookup", { q: 1 })),
  result("c1", "found"),
  assistant("And", use("c2", "clock", { zone: "UTC" }), use("c3", "restart")),
);

test("a conversation is read after a reload, with the calls that wait", async (t) => {
  const { session, server } = await comeBack(t, PAST, { [TURNS]: saying("Done.") });
  const turns = await session.resume();
  assert.deepEqual(turns.map(({ input }) => input[0].content), ["One", "Two"]);
  assert.deepEqual(turns.map((one) => one.status), ["done", "done"]);
  assert.equal(textOf(turns[0]), "First");
  const { threads, state } = turns[1].snapshot();
  assert.deepEqual(threads[0].messages.map(({ content }) => content), ["Let me see", "And"]);
  assert.equal(threads[0].messages[0].tool_calls[0].response.content, "found");
  assert.deepEqual(state.required_actions.map(({ type, tool_calls: [one] }) => [type, one.id]), [["tool.response_required", "c2"], ["tool.approval_required", "c3"]]);
  const before = server.requests.length;
  assert.equal((await failure(() => session.createTurn({ input: "Three" }))).code, "invalid_input");
  const part = await failure(() => session.createTurn({ input: { type: "user.tool_response", thread_id: "main", tool_call_id: "c2", content: "noon" } }));
  assert.match(part.message, /c3/);
  const answer = session.createTurn({
    input: [
      { type: "user.tool_response", thread_id: "main", tool_call_id: "c2", content: "noon" },
      { type: "user.tool_approval", thread_id: "main", tool_call_id: "c3", approval: { status: "deny", reason: "not now" } },
    ],
  });
  await collect(answer.stream());
  assert.equal(textOf(answer), "Done.");
  assert.deepEqual(sent(server)[0].messages, [
    { role: "tool", toolCallId: "c2", content: "noon" },
    { role: "tool_permission", toolCallId: "c3", granted: false, reason: "not now" },
  ]);
  assert.equal(server.requests.length, before + 1);
});

test("without history() pending calls are found before the first turn", async (t) => {
  const { session, server } = await comeBack(t, PAST);
  const { error } = await collect(session.createTurn({ input: "Three" }).stream());
  assert.equal(error.code, "invalid_input");
  assert.equal(server.count(TURNS), 0);
});

test("a turn whose end the history lacks goes on after a reload", async (t) => {
  const open = history(user("One"));
  const done = history(user("One"), assistant("At last"));
  const { session } = await comeBack(t, [open, open, open, done, done, done]);
  const [last] = await session.resume();
  assert.equal(last.status, "running");
  await last.waitForCompletion();
  assert.equal(textOf(last), "At last");
});

test("a turn is found again by its id, and lists its events", async (t) => {
  const { session } = await comeBack(t, PAST);
  const ids = [];
  for await (const { id } of session.listTurns()) ids.push(id);
  const again = await session.getTurn(ids[0]);
  assert.equal(again.id, ids[0]);
  assert.equal((await failure(session.getTurn("nothing"))).code, "invalid_input");
  const messages = [];
  for await (const message of session.listMessages()) messages.push(message.role);
  assert.deepEqual(messages, ["user", "assistant", "user", "assistant", "tool", "assistant"]);
});

test("remember: the tool is trusted from then on, in the same request", async (t) => {
  const { session, server } = await serveSession(t, {
    [TURNS]: [turn(start, call("c1", "restart"), call("c2", "lookup"), stop("tool_use")), saying("Done."), saying("More.")],
  });
  await collect(session.createTurn({ input: "One" }).stream());
  const approve = (id, status) => ({ type: "user.tool_approval", thread_id: "main", tool_call_id: id, approval: { status, remember: true } });
  await collect(session.createTurn({ input: [approve("c1", "allow"), approve("c2", "deny")] }).stream());
  await collect(session.createTurn({ input: "Two" }).stream());
  const [, second, third] = sent(server);
  assert.deepEqual(second.agent, { tools: [{ name: "restart", trust: true }] });
  assert.equal(third.agent, undefined);
});

test("remember is refused for a tool whose name the session does not have", async (t) => {
  const { session, server } = await serveSession(t, { [TURNS]: turn(start, call("c1", "mystery"), stop("tool_use")) });
  await collect(session.createTurn({ input: "One" }).stream());
  const item = { type: "user.tool_approval", thread_id: "main", tool_call_id: "c1", approval: { status: "allow", remember: true } };
  assert.equal((await failure(() => session.createTurn({ input: item }).stream())).code, "invalid_input");
  assert.equal(server.count(TURNS), 1);
});

test("a granted call is settled by the turn's going on, though no result comes", async (t) => {
  const { session } = await serveSession(t, { [TURNS]: [turn(start, "May I?", call("c1", "restart"), stop("tool_use")), turn(start, "Restarted.", stop())] });
  const first = session.createTurn({ input: "One" });
  await collect(first.stream());
  assert.equal(first.snapshot().threads[0].messages[0].tool_calls[0].required_action !== null, true);
  const second = session.createTurn({ input: { type: "user.tool_approval", thread_id: "main", tool_call_id: "c1", approval: { status: "allow" } } });
  const { events } = await collect(second.stream());
  assert.ok(events.some(({ type }) => type === "tool.resumed"));
  assert.equal(textOf(second), "Restarted.");
  assert.deepEqual(first.snapshot().required_actions ?? [], []);
});

test("history() while a turn runs here changes nothing of it", async (t) => {
  const live = new LiveStream();
  const asking = assistant("Let me see", use("c1", "lookup"));
  const { session } = await serveSession(t, { [TURNS]: [live.reply, saying("Two")], [HISTORY]: history(user("One"), asking) });
  const first = session.createTurn({ input: "One" });
  const reading = collect(first.stream());
  await live.write(frame("turn_start") + frame("text_delta", { delta: "Let me see" }) + frame("tool_call", { toolCallId: "c1", name: "lookup", input: {} }));
  const turns = await session.resume();
  assert.equal(turns.length, 1);
  assert.equal(turns[0], first);
  await live.write(frame("tool_result", { toolCallId: "c1", content: "found" }) + frame("text_delta", { delta: "So." }) + frame("turn_stop", { stopReason: "end_turn" }));
  await live.end();
  assert.equal((await reading).error, undefined);
  assert.equal(await session.getTurn(first.id), first);
  const { error } = await collect(session.createTurn({ input: "Two" }).stream());
  assert.equal(error, undefined);
});

test("a turn that waits is cancelled before it is sent, and can be started later", async (t) => {
  const live = new LiveStream();
  const { session, server } = await serveSession(t, { [TURNS]: [live.reply, saying("Second")] });
  const first = collect(session.createTurn({ input: "One" }).stream());
  const second = session.createTurn({ input: "Two" });
  const waiting = collect(second.stream());
  await second.cancel();
  const { error } = await waiting;
  assert.equal(error.code, "aborted");
  assert.match(error.message, /cancelled before it was sent/);
  assert.equal(second.status, "unstarted");
  await live.write(frame("turn_start") + frame("turn_stop", { stopReason: "end_turn" }));
  await live.end();
  await first;
  assert.equal(server.count(TURNS), 1);
  assert.equal((await collect(second.stream())).error, undefined);
  assert.equal(textOf(second), "Second");
});

for (const [name, wait] of [["waitForCompletion()", (turn, options) => turn.waitForCompletion(options)], ["state()", (turn, options) => turn.state(options)]]) {
  test(`a turn without remaining callers is not sent: ${name}`, async (t) => {
    const live = new LiveStream();
    const { session, server } = await serveSession(t, { [TURNS]: [live.reply, saying("Second"), saying("Third")] });
    const first = collect(session.createTurn({ input: "One" }).stream());
    const second = session.createTurn({ input: "Two" });
    const abort = new AbortController();
    const waiting = failure(wait(second, { signal: abort.signal }));
    // Other callers may wait as well.
    const third = session.createTurn({ input: "Three" });
    const others = [failure(wait(third, { signal: abort.signal })), third.waitForCompletion()];
    setTimeout(() => abort.abort(), 20);
    assert.equal((await waiting).code, "aborted");
    assert.equal((await others[0]).code, "aborted");
    assert.equal(second.status, "unstarted");
    await live.write(frame("turn_start") + frame("turn_stop", { stopReason: "end_turn" }));
    await live.end();
    await first;
    await others[1];
    assert.deepEqual(sent(server).map(({ messages }) => messages[0].content), ["One", "Three"]);
  });
}
