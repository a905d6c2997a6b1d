// How a session and its first turn begin: what is sent, and which ids it has.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../../dist/index.js";
import { answer, begin, complete, finish, frames, items, recordOf, replay, RUN, runOf, RUNS, say, serveAgent, serveRun, START, step } from "../support/agent-event.mjs";
import { collect, failure, textOf } from "../support/collect.mjs";
import { body, json, LiveStream, serve } from "../support/server.mjs";

const HEX = /^[0-9a-f]{32}$/;

for (const protocol of ["tirea", "awaken"]) {
  test(`${protocol}: a session is made without a request, under an id of its own`, async (t) => {
    const { server, client, session } = await serveAgent(t, protocol);
    const other = await client.agents.createSession("assistant");
    assert.deepEqual(server.asked, []);
    assert.match(session.id, HEX);
    assert.notEqual(other.id, session.id);
    assert.deepEqual([other.agentName, other.title, other.type, other.createdAt], ["assistant", null, "session", null]);
  });

  test(`${protocol}: ids do not need crypto.randomUUID, which pages without TLS lack`, async (t) => {
    const { randomUUID } = crypto;
    Object.defineProperty(crypto, "randomUUID", { value: undefined, configurable: true, writable: true });
    t.after(() => Object.defineProperty(crypto, "randomUUID", { value: randomUUID, configurable: true, writable: true }));
    const { turn, session } = await serveRun(t, protocol, runOf(protocol, answer("Hi")));
    assert.match(session.id, HEX);
    assert.equal((await collect(turn.stream())).error, undefined);
    assert.equal(turn.status, "done");
  });

  test(`${protocol}: a turn is not sent before it is used, and then once`, async (t) => {
    const { server, turn } = await serveRun(t, protocol, runOf(protocol, answer("Hi")));
    assert.deepEqual([turn.status, turn.id, turn.snapshot().status], ["unstarted", null, "unstarted"]);
    assert.deepEqual(server.asked, []);
    await collect(turn.stream());
    assert.deepEqual(server.asked, [START]);
  });

  test(`${protocol}: several messages are sent in their order`, async (t) => {
    const { server, session } = await serveAgent(t, protocol, { [START]: runOf(protocol, answer("Hi")) });
    const parts = [{ type: "text", text: "one" }, { type: "text", text: "two" }];
    const input = [{ type: "user.message", content: "zero" }, { type: "user.message", content: parts }];
    await collect(session.createTurn({ input }).stream());
    const { messages } = server.requests[0].body;
    assert.deepEqual(messages.map(({ role, content }) => [role, content]), [["user", "zero"], ["user", "one\n\ntwo"]]);
  });

  test(`${protocol}: files are refused before anything is sent`, async (t) => {
    const { server, session } = await serveAgent(t, protocol);
    const file = { type: "file", file: { name: "a.txt", data: "data:text/plain;base64,QQ==" } };
    const error = await failure(() => session.createTurn({ input: { type: "user.message", content: [{ type: "text", text: "see" }, file] } }));
    assert.equal(error.code, "invalid_input");
    assert.match(error.message, /text only|file/);
    assert.deepEqual(server.asked, []);
  });

  test(`${protocol}: an unknown agent is the server's own error, and the turn can be tried again`, async (t) => {
    const refused = json({ error: "agent not found: assistant" }, 404);
    const { server, turn } = await serveRun(t, protocol, [refused, runOf(protocol, answer("Hi"))]);
    const { error } = await collect(turn.stream());
    assert.deepEqual([error.code, error.status], ["http", 404]);
    assert.match(error.message, /agent not found: assistant/);
    assert.deepEqual(error.body, { error: "agent not found: assistant" });
    assert.equal((await collect(turn.stream())).error, undefined);
    assert.equal(textOf(turn), "Hi");
    assert.equal(server.count(START), 2);
    assert.equal(server.requests[0].body.runId, server.requests[1].body.runId);
  });

  test(`${protocol}: a request that the server cannot read is an error in plain text`, async (t) => {
    const text = "Failed to deserialize the JSON body into the target type: missing field `agentId` at line 1 column 2";
    const { turn } = await serveRun(t, protocol, body(text, { status: 422, type: "text/plain; charset=utf-8" }));
    const { error } = await collect(turn.stream());
    assert.deepEqual([error.code, error.status, error.body], ["http", 422, text]);
    assert.match(error.message, /missing field `agentId`/);
  });

  for (const status of [425, 429, 503]) {
    test(`${protocol}: a start that is answered with ${status} is sent again, with the same ids`, async (t) => {
      const later = json({ error: "later" }, status);
      const absent = { [RUN]: json({ error: "run not found" }, 404), [RUNS[protocol]]: items([]) };
      const { server, turn } = await serveRun(t, protocol, [later, runOf(protocol, answer("Hi"))], absent);
      assert.equal((await collect(turn.stream())).error, undefined);
      const [one, two] = server.requests.filter(({ method }) => method === "POST");
      assert.deepEqual(one.body, two.body);
      assert.equal(server.count(START), 2);
    });
  }

  test(`${protocol}: waiting for the end reads the stream, as there is no other way to learn it`, async (t) => {
    const { server, turn } = await serveRun(t, protocol, runOf(protocol, answer("He", "llo")));
    const state = await turn.waitForCompletion();
    assert.equal(state.status, "done");
    assert.equal(state.output.content, "Hello");
    assert.equal(textOf(turn), "Hello");
    assert.deepEqual(server.asked, [START]);
  });
}

test("tirea: the start has ids of thread, run and messages, and what the run follows", async (t) => {
  const { server, session } = await serveAgent(t, "tirea", { [START]: runOf("tirea", answer("Hi")) });
  const first = session.createTurn({ input: "Hello" });
  await collect(first.stream());
  const second = session.createTurn({ input: "And now?" });
  await collect(second.stream());
  const [one, two] = server.requests.map((request) => request.body);
  assert.match(one.runId, HEX);
  assert.deepEqual(one, { agentId: "assistant", threadId: session.id, runId: first.id, messages: [{ id: `${first.id}:0`, role: "user", content: "Hello" }] });
  assert.deepEqual(two, { agentId: "assistant", threadId: session.id, runId: second.id, parentRunId: first.id, messages: [{ id: `${second.id}:0`, role: "user", content: "And now?" }] });
  assert.notEqual(first.id, second.id);
  assert.equal(second.previousTurnId, first.id);
});

test("awaken: the start has the thread's id, and the run's is the server's", async (t) => {
  const { server, turn, session } = await serveRun(t, "awaken", replay("awaken", "text"));
  await collect(turn.stream());
  assert.deepEqual(server.requests[0].body, { agentId: "assistant", threadId: session.id, messages: [{ role: "user", content: "Hello" }] });
  assert.equal(turn.id, "01a1fd9e-1433-7263-8689-40277eea646a");
});

test("tirea: state() before the start starts and reads the turn", async (t) => {
  const live = new LiveStream();
  const { server, turn } = await serveRun(t, "tirea", live.reply, { [RUN]: recordOf({ status: "running" }) });
  const state = turn.state();
  await live.write(frames("tirea", [begin(), step(), say("Hi")]));
  assert.deepEqual(await state, { status: "running" });
  assert.equal(turn.status, "running");
  assert.deepEqual(server.asked, [START, `GET runs/${turn.id}`]);
  await live.write(frames("tirea", [complete(), finish()]));
  assert.equal((await turn.waitForCompletion()).status, "done");
  assert.equal(server.count(START), 1);
});

test("tirea: eight turns of eight sessions at once have their own texts", async (t) => {
  const echo = ({ request, response }) => runOf("tirea", answer(...`${request.body.messages[0].content} `.repeat(20).split(/(?<= )/)))({ request, response });
  const { client } = await serveAgent(t, "tirea", { [START]: echo });
  await Promise.all(
    Array.from("abcdefgh", async (letter) => {
      const session = await client.agents.createSession("assistant");
      const turn = session.createTurn({ input: letter });
      await collect(turn.stream());
      assert.equal(textOf(turn), `${letter} `.repeat(20));
    }),
  );
});

test("a resumed session needs its agent's name only if no turn has it", async (t) => {
  const thread = json({ id: "s1", messages: [], state: null, metadata: { created_at: 1_795_255_327_046 } });
  const runs = json({ items: [{ run_id: "r1", thread_id: "s1", agent_id: "poet", status: "done", termination_code: "natural", created_at: 1, updated_at: 1 }], total: 1, has_more: false });
  const server = await serve(t, { "GET threads/s1": thread, "GET runs": runs, [START]: runOf("tirea", [begin(), step(), say("Hi"), complete(), finish()]) });
  const client = await connect({ baseUrl: server.baseUrl, protocol: "tirea" });
  const named = await client.agents.getSession("s1", { agentName: "cook" });
  assert.deepEqual([named.agentName, named.createdAt], ["cook", "2026-11-21T10:02:07.046Z"]);
  assert.deepEqual(server.asked, ["GET threads/s1"]);
  const unnamed = await client.agents.getSession("s1");
  assert.equal(unnamed.agentName, "poet");
  await collect(unnamed.createTurn({ input: "Hello" }).stream());
  assert.equal(server.requests.at(-1).body.agentId, "poet");
});

test("without any agent's name no turn is sent, and the error says how to set one", async (t) => {
  const routes = { "GET threads/s1": json({ id: "s1" }), "GET runs": json({ items: [], total: 0, has_more: false }) };
  const server = await serve(t, routes);
  const client = await connect({ baseUrl: server.baseUrl, protocol: "tirea" });
  const session = await client.agents.getSession("s1");
  const { error } = await collect(session.createTurn({ input: "Hello" }).stream());
  assert.match(error.message, /getSession\(id, \{ agentName \}\)/);
  assert.deepEqual(server.asked, ["GET threads/s1", "GET runs"]);
});
