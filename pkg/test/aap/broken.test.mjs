// Streams that break and are completed from the session's history: nothing is lost, doubled, or sent twice.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assistant, call, declaring, frame, HISTORY, history, result, saying, sent, serveSession, start, stop, told, turn, TURNS, use, user } from "../support/aap.mjs";
import { collect, failure, textOf } from "../support/collect.mjs";
import { body, json, reset, silence } from "../support/server.mjs";

/** Plays a turn that says "Hello", on a server with these answers. */
async function play(t, reply, past, options) {
  const world = await serveSession(t, { [TURNS]: reply, ...(past && { [HISTORY]: past }) }, options);
  const played = world.session.createTurn({ input: "Hello" });
  return { ...world, played, ...(await collect(played.stream())) };
}

const cut = (...list) => ({ request, response }) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const text = list.map((one) => (typeof one === "string" ? frame("text_delta", { delta: one }) : frame(...one))).join("");
  response.write(text, () => setTimeout(() => response.socket.resetAndDestroy(), 10));
};
const ids = (events) => events.map(({ id }) => id);

for (const [name, reply] of [["an end without turn_stop", turn(start, "Hel", "lo")], ["a broken connection", cut(start, "Hel", "lo")]]) {
  test(`${name}: the history has the whole answer`, async (t) => {
    const { played, events, error, server } = await play(t, reply, history(user("Hello"), assistant("Hello there")));
    assert.equal(error, undefined);
    assert.equal(played.status, "done");
    assert.equal(textOf(played), "Hello there");
    assert.equal(played.snapshot().threads[0].messages.length, 1);
    assert.equal(events.filter(({ type }) => type === "turn.done").length, 1);
    assert.equal(server.count(TURNS), 1);
  });

  test(`${name}: the history is read for a while until it has the answer`, async (t) => {
    const none = history(user("Hello"));
    const { played, error, server } = await play(t, reply, [none, none, history(user("Hello"), assistant("Hello you"))]);
    assert.equal(error, undefined);
    assert.equal(textOf(played), "Hello you");
    assert.equal(server.count(HISTORY), 3);
  });

  test(`${name}: an agent without a history: incomplete at once`, async (t) => {
    const { played, error, server } = await play(t, reply, undefined, { agent: declaring({ stream: { delta: {} } }) });
    assert.equal(error.name, "IncompleteError");
    assert.match(error.message, /keeps no history/);
    assert.equal(textOf(played), "Hello");
    assert.equal(server.count(TURNS), 1);
  });
}

test("what was streamed is not delivered again from the history, calls and results neither", async (t) => {
  const { played, events, error } = await play(
    t,
    turn(start, "Look", call("c1", "lookup", { q: 1 }), told("c1", "found"), "It"),
    history(user("Hello"), assistant("Look", use("c1", "lookup", { q: 1 })), result("c1", "found"), result("c1", "found"), assistant("It is so.")),
  );
  assert.equal(error, undefined);
  assert.equal(events.filter(({ type }) => type === "tool.response").length, 1);
  const { messages } = played.snapshot().threads[0];
  assert.deepEqual(messages.map(({ content }) => content), ["Look", "It is so."]);
  assert.equal(messages[0].tool_calls[0].response.content, "found");
  assert.equal(new Set(ids(events.filter(({ type }) => type !== "model.message.delta" && type !== "model.message"))).size, events.filter(({ type }) => type !== "model.message.delta" && type !== "model.message").length);
});

test("calls that wait by the history become pending", async (t) => {
  const { played, error, session, server } = await play(t, turn(start, "May I"), history(user("Hello"), assistant("May I?", use("c1", "restart", { now: true }))));
  assert.equal(error, undefined);
  const [action] = played.snapshot().state.required_actions;
  assert.equal(action.type, "tool.approval_required");
  assert.equal(action.tool_calls[0].name, "restart");
  assert.equal((await failure(() => session.createTurn({ input: "Never mind" }))).code, "invalid_input");
  assert.equal(server.count(TURNS), 1);
});

test("a lost start is found by its input", async (t) => {
  const whole = history(user("Hello"), assistant("Found"));
  const { played, error, server } = await play(t, reset, [whole, whole, whole]);
  assert.equal(error, undefined);
  assert.equal(textOf(played), "Found");
  assert.equal(server.count(TURNS), 1);
});

// Some servers store a turn when it has ended.
for (const [name, reply] of [["was cut", reset], ["was refused for a while", body("Unavailable", { status: 503, type: "text/plain" })]]) {
  test(`a start that ${name}, and that the history does not have, is looked for and not sent again`, async (t) => {
    const none = history();
    const whole = history(user("Hello"), assistant("At last"));
    const { played, error, server } = await play(t, [reply, saying("Twice")], [none, none, none, whole, whole]);
    assert.equal(error.name, "IncompleteError");
    assert.match(error.message, /the turn may have begun.*looks for it again/);
    assert.equal(played.status, "incomplete");
    const { error: second } = await collect(played.stream());
    assert.equal(second, undefined);
    assert.equal(textOf(played), "At last");
    assert.equal(server.count(TURNS), 1);
  });
}

test("a start that the server asks to retry later is sent again", async (t) => {
  const soon = ({ response }) => response.writeHead(429, { "retry-after": "1" }).end();
  const { played, error, server } = await play(t, [soon, saying("Now")], history());
  assert.equal(error, undefined);
  assert.equal(textOf(played), "Now");
  assert.equal(server.count(TURNS), 2);
});

test("while a tool runs that asks nothing, the turn continues", async (t) => {
  const asking = assistant("Let me see", use("c1", "lookup", { q: 1 }));
  const running = history(user("Hello"), asking);
  const whole = history(user("Hello"), asking, result("c1", "found"), assistant("It is so."));
  const { played, error, events } = await play(
    t,
    turn(start, "Let me see", call("c1", "lookup", { q: 1 })),
    [running, running, whole],
    { session: { agentTools: [{ name: "lookup", trust: true }, { name: "restart" }] } },
  );
  assert.equal(error, undefined);
  assert.deepEqual(played.snapshot().required_actions, []);
  assert.deepEqual(played.snapshot().threads[0].messages.map(({ content }) => content), ["Let me see", "It is so."]);
  assert.equal(events.some(({ type }) => type === "tool.approval_required"), false);
});

test("the answer to an earlier, equal message is not taken for this turn's", async (t) => {
  const past = history(user("Hello"), assistant("First"));
  const { session, server } = await serveSession(t, { [TURNS]: [saying("First"), reset], [HISTORY]: past });
  await session.createTurn({ input: "Hello" }).waitForCompletion();
  const second = session.createTurn({ input: "Hello" });
  const { error } = await collect(second.stream());
  assert.equal(error.name, "IncompleteError");
  assert.equal(second.status, "incomplete");
  assert.equal(textOf(second), "");
  assert.equal(server.count(TURNS), 2);
});

test("without a history it is unknown whether a lost start arrived", async (t) => {
  const { played, error, server } = await play(t, reset, undefined, { agent: declaring({ stream: { delta: {} } }) });
  assert.equal(error.name, "IncompleteError");
  assert.match(error.message, /may have begun/);
  assert.equal(played.status, "incomplete");
  assert.equal(server.count(TURNS), 1);
});

test("a stream without any event may have begun nothing: the history decides", async (t) => {
  const nothing = turn();
  const absent = await play(t, nothing, history());
  assert.equal(absent.played.status, "unstarted");
  assert.ok(absent.error);
  const whole = history(user("Hello"), assistant("There"));
  const present = await play(t, nothing, whole);
  assert.equal(textOf(present.played), "There");
});

test("an error that comes as HTTP 500 in the mode none is checked in the history", async (t) => {
  const { played, error } = await play(t, body("Internal Server Error", { status: 500, type: "text/plain" }), history(), { session: { stream: "none" } });
  assert.equal(error.status, 500);
  assert.equal(played.status, "incomplete");
});

test("endless silence ends the stream, and the history is read", async (t) => {
  const whole = history(user("Hello"), assistant("Said"));
  const { played, error } = await play(t, ({ response }) => response.writeHead(200, { "content-type": "text/event-stream" }).write(frame("turn_start")), whole, { idleTimeout: 80 });
  assert.equal(error, undefined);
  assert.equal(textOf(played), "Said");
});

test("the wait for a head that never comes ends, too", async (t) => {
  const { error, played } = await play(t, silence, history(), { connectTimeout: 60 });
  assert.match(error.message, /may have begun.*connectTimeout/);
  assert.equal(played.status, "incomplete");
});

test("a history that is refused for good ends the search", async (t) => {
  const { error, played } = await play(t, turn(start, "Hi"), json({ error: "Session not found" }, 404));
  assert.deepEqual([error.name, error.status, played.status], ["ApiError", 404, "incomplete"]);
  assert.equal(textOf(played), "Hi");
});
