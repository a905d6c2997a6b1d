// A session's settings: checked when set, sent with the next turn, and kept only once that has begun.
import assert from "node:assert/strict";
import { test } from "node:test";
import { call, frame, saying, sent, serveSession, start, stop, turn, TURNS } from "../support/aap.mjs";
import { collect, failure } from "../support/collect.mjs";
import { json, LiveStream } from "../support/server.mjs";
import { tool } from "../support/tools.mjs";

const asks = turn(start, call("c1", "restart"), stop("tool_use"));
const answer = (status) => ({ type: "user.tool_approval", thread_id: "main", tool_call_id: "c1", approval: { status, remember: status === "allow" } });

test("an answer to remember is forgotten if it was never sent", async (t) => {
  const { session, server } = await serveSession(t, { [TURNS]: [asks, json({ error: "no" }, 401), saying("Well.")] });
  await collect(session.createTurn({ input: "Restart" }).stream());
  assert.equal((await collect(session.createTurn({ input: answer("allow") }).stream())).error.status, 401);
  await collect(session.createTurn({ input: answer("deny") }).stream());
  const [, allowing, denying] = sent(server);
  assert.deepEqual(allowing.agent.tools, [{ name: "lookup" }, { name: "restart", trust: true }]);
  assert.equal(denying.agent, undefined);
});

test("of several answers none is remembered if one of them cannot be", async (t) => {
  const both = turn(start, call("c1", "restart"), call("c2", "who_knows"), stop("tool_use"));
  const { session, server } = await serveSession(t, { [TURNS]: [both, saying("Well.")] });
  await collect(session.createTurn({ input: "Restart" }).stream());
  const wrong = session.createTurn({ input: [answer("allow"), { ...answer("allow"), tool_call_id: "c2" }] });
  assert.equal((await failure(() => wrong.stream())).code, "invalid_input");
  const { error } = await collect(session.createTurn({ input: [answer("deny"), { ...answer("deny"), tool_call_id: "c2" }] }).stream());
  assert.equal(error, undefined);
  assert.equal(sent(server)[1].agent, undefined);
});

test("invalid settings are refused at once, by errors without their values", async (t) => {
  const { session } = await serveSession(t);
  const wrong = [
    { agentOptions: "s3cret" }, { agentOptions: ["s3cret"] }, { agentOptions: { key: 5 } }, { agentOptions: { key: 5n } },
    { agentTools: "lookup" }, { agentTools: [null] }, { agentTools: [{ trust: true }] }, { agentTools: [{ name: "lookup", trust: 1 }] },
  ];
  for (const settings of wrong) {
    const error = await failure(session.update(settings));
    assert.equal(error.code, "invalid_option");
    assert.doesNotMatch(error.message, /s3cret/);
    assert.equal((await failure(serveSession(t, {}, { session: settings }))).code, "invalid_option");
  }
});

test("a tool that cannot be declared is refused, and the session goes on", async (t) => {
  const { session } = await serveSession(t, { [TURNS]: saying("Fine") });
  const cyclic = { type: "object" };
  cyclic.self = cyclic;
  for (const parameters of [cyclic, { type: "object", limit: 5n }]) {
    assert.equal((await failure(() => session.tools({ clock: tool(() => 1, { parameters }) }))).code, "invalid_option");
  }
  assert.match((await failure(() => session.tools({ lookup: tool(() => 1) }))).message, /lookup/);
  assert.deepEqual(session.tools(), []);
  assert.equal((await collect(session.createTurn({ input: "Hello" }).stream())).error, undefined);
});

test("given settings do not change afterwards", async (t) => {
  const agentTools = [{ name: "lookup", trust: false }];
  const { session, server } = await serveSession(t, { [TURNS]: saying("Fine") });
  await session.update({ agentTools });
  agentTools[0].trust = true;
  await collect(session.createTurn({ input: "Hello" }).stream());
  assert.deepEqual(sent(server)[0].agent, { tools: [{ name: "lookup", trust: false }] });
});

test("a turn follows the previous one, and no other", async (t) => {
  const { session } = await serveSession(t);
  for (const previousTurnId of ["none", "turn-1"]) {
    assert.equal((await failure(() => session.createTurn({ input: "Hello", previousTurnId }))).code, "invalid_option");
  }
  session.createTurn({ input: "Hello", previousTurnId: "auto" });
});

test("a run takes the options of its turns", async (t) => {
  const { session } = await serveSession(t, { [TURNS]: saying("Fine") });
  const run = session.run("Hello", { whenBusy: "fail" });
  assert.equal((await run.waitForCompletion()).status, "done");
});

test("settings made while a turn runs are for the next one, and the running turn's stay in force", async (t) => {
  const live = new LiveStream();
  const { session, server } = await serveSession(t, { [TURNS]: [asks, live.reply, saying("Two"), saying("Three")] });
  await collect(session.createTurn({ input: "Restart" }).stream());
  session.tools({ clock: tool(() => 1) });
  const allowed = collect(session.createTurn({ input: answer("allow") }).stream());
  await live.write(frame("turn_start"));
  await session.update({ agentOptions: { tone: "warm" } });
  await live.write(frame("turn_stop", { stopReason: "end_turn" }));
  await live.end();
  await allowed;
  await collect(session.createTurn({ input: "Two" }).stream());
  await collect(session.createTurn({ input: "Three" }).stream());
  const trusted = { tools: [{ name: "lookup" }, { name: "restart", trust: true }] };
  assert.deepEqual(sent(server).map(({ agent, tools }) => [agent, tools?.length]), [
    [undefined, undefined],
    [trusted, 1],
    [{ options: { tone: "warm" } }, undefined],
    [undefined, undefined],
  ]);
});
