// Servers and proxies with arbitrary answers: each is a typed error, and never breaks a page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, TurnwireError } from "../../dist/index.js";
import { answer, begin, calling, complete, finish, frame, frames, items, messagePage, QUICK, runOf, runRecord, say, serveAgent, step, START, stored, suspended, waitingState } from "../support/agent-event.mjs";
import { collect, failure, textOf } from "../support/collect.mjs";
import { LiveStream, stream } from "../support/server.mjs";

const PROTOCOLS = ["tirea", "awaken"];
const DEEP = "[".repeat(100_000);
const BODIES = {
  nothing: "",
  HTML: "<!doctype html><html><body>Sign in</body></html>",
  null: "null",
  "a number": "7",
  "a text": '"ok"',
  "an empty list": "[]",
  "an empty object": "{}",
  "a list of nulls": "[null,null]",
  "nulls everywhere": JSON.stringify({ id: null, run_id: null, thread_id: null, status: null, items: [null], messages: [null], has_more: null, next_cursor: null, state: null, metadata: null }),
  "wrong shapes": JSON.stringify({ id: 7, run_id: [], status: {}, items: {}, messages: "x", has_more: "yes", state: [], metadata: 3, waiting: 7 }),
  "lists of wrong things": JSON.stringify({ id: "s1", run_id: "r1", status: "done", items: [7, "x", []], messages: [7, "x", []], state: { __tool_call_scope: [1] } }),
  "items of nulls": JSON.stringify({ items: [Object.fromEntries(Object.keys(runRecord()).map((key) => [key, null]))], messages: [{ id: null, role: null, content: null, cursor: null, tool_calls: null, metadata: null }] }),
  "half an object": '{"id":"s1","items":[',
  "lists in lists": DEEP,
  "a lone surrogate": '{"id":"\\ud800","run_id":"\\ud800","status":"done","items":[],"messages":[]}',
  "a great name": JSON.stringify({ id: "s".repeat(1_000_000), items: [], messages: [] }),
  "names of objects": '{"__proto__":{"polluted":1},"id":"__proto__","run_id":"constructor","status":"done","items":[{"run_id":"__proto__","status":"done"}],"messages":[],"state":{"__proto__":{"polluted":2}}}',
};

const CALLS = {
  getSession: ({ client }) => client.agents.getSession("s1"),
  listSessions: async ({ client }) => collected(client.agents.listSessions("a")),
  listTurns: async ({ session }) => collected(session.listTurns()),
  listEvents: async ({ session }) => collected(session.listEvents()),
  listMessages: async ({ session }) => collected(session.listMessages()),
  history: ({ session }) => session.history(),
  getTurn: ({ session }) => session.getTurn("r1"),
  state: ({ session }) => session.state(),
  refresh: ({ session }) => session.refresh(),
  rename: ({ session }) => session.rename("x"),
  interrupt: ({ session }) => session.interrupt(),
  delete: ({ session }) => session.delete(),
};

/** All that is listed, or the error. */
async function collected(list) {
  const { events, error } = await collect(list);
  if (error) throw error;
  return events;
}

/** A client whose server answers everything like this. */
async function answered(protocol, respond) {
  const asked = [];
  const fetch = async (url, { method }) => {
    asked.push(`${method} ${url}`);
    if (asked.length > 1000) throw new Error("it asks forever");
    return respond(url, asked.length);
  };
  const client = await connect({ baseUrl: "http://server", protocol, fetch, reconnect: false });
  return { client, asked, session: await client.agents.createSession("assistant") };
}

for (const protocol of PROTOCOLS) {
  for (const [name, text] of Object.entries(BODIES)) {
    test(`${protocol}: an answer of ${name} is an error, or empty`, async () => {
      for (const status of [200, 404, 500]) {
        for (const [call, attempt] of Object.entries(CALLS)) {
          const world = await answered(protocol, () => new Response(text, { status, headers: { "content-type": "application/json" } }));
          try {
            const given = await attempt(world);
            assert.equal(status, 200, `${call}: ${status}`);
            for (const turn of call === "history" || call === "listTurns" ? given : []) turn.snapshot();
          } catch (error) {
            assert.ok(error instanceof TurnwireError, `${call}, ${status}: ${error?.stack}`);
            assert.notEqual(error.code, "internal", `${call}, ${status}: ${error.message}`);
            assert.ok(error.message.length < 2000, `${call}: a message of ${error.message.length}`);
            if (status !== 200) assert.equal(error.status, status, `${call}: ${error}`);
          }
          assert.ok(world.asked.length < 20, `${call}: ${world.asked.length} requests`);
          assert.equal({}.polluted, undefined);
        }
      }
    });

    test(`${protocol}: a turn whose stream is ${name} ends, with one POST`, async () => {
      for (const type of ["text/event-stream", "application/json", ""]) {
        const { session, asked } = await answered(protocol, () => new Response(text, { headers: { "content-type": type } }));
        const turn = session.createTurn({ input: "Hello" });
        const { error } = await collect(turn.stream());
        assert.ok(error instanceof TurnwireError && error.code !== "internal", String(error?.stack));
        assert.equal(asked.length, 1);
        turn.snapshot();
      }
    });
  }

  for (const [call, page] of Object.entries({
    listTurns: () => items([runRecord()], { total: 9, has_more: true }),
    listMessages: () => messagePage([stored(1, "user", "x")], { has_more: true, next_cursor: 1 }),
    listEvents: () => messagePage([stored(1, "user", "x")], { has_more: true, next_cursor: 1 }),
    listSessions: () => items(["s1"], { total: 9, has_more: true, ...(protocol === "awaken" && { next_cursor: "c" }) }),
  })) {
    test(`${protocol}: ${call} of a list whose pages form a circle ends`, async () => {
      let count = 0;
      const respond = () => {
        count += 1;
        let text;
        page()({ response: { writeHead() {}, end: (body) => (text = body) } });
        return new Response(count > 300 ? JSON.stringify({ items: [], messages: [], has_more: false }) : text);
      };
      const { session, client } = await answered(protocol, respond);
      const { error } = await collect(call === "listSessions" ? client.agents.listSessions("a") : session[call]());
      // Lists with positions have no token that could repeat.
      if (error) assert.equal(error.code, "unexpected_response");
      else assert.ok(["listTurns", "listSessions"].includes(call) && count > 300, `${count} pages`);
    });
  }

  test(`${protocol}: frames of nothing but nulls and wrong types break no turn`, async (t) => {
    const types = [
      "text_delta", "reasoning_delta", "reasoning_encrypted_value", "tool_call_start", "tool_call_delta", "tool_call_ready", "tool_call_done",
      "tool_call_resumed", "tool_call_cancel", "tool_call_stream_delta", "state_snapshot", "state_delta", "messages_snapshot", "stream_reset",
      "activity_snapshot", "activity_delta", "inference_complete", "step_start", "step_end", "error",
    ];
    const keys = [
      "id", "delta", "args_delta", "name", "arguments", "result", "outcome", "snapshot", "message_id", "activity_type", "content", "patch",
      "target_id", "messages", "usage", "message", "code", "encrypted_value", "reason",
    ];
    const values = [null, 7, "x", [], {}, [null], { id: null }, true];
    const list = [begin(), step()];
    for (const type of types) {
      list.push([type, null], [type, undefined], [type, 7], [type, []]);
      for (const value of values) list.push([type, Object.fromEntries(keys.map((key) => [key, value]))]);
    }
    const texts = list.map(([type, data]) => (data === undefined || (protocol === "awaken" && typeof data !== "object") ? frame(protocol, type) : frame(protocol, type, data)));
    const { turn } = await runTurn(t, protocol, stream(frames(protocol, [begin(), step("m0"), say("whole")]), ...texts, frames(protocol, [step("m9"), say("end"), complete(), finish()])));
    const { error } = await collect(turn.stream());
    assert.equal(error, undefined, String(error?.stack));
    assert.equal(turn.status, "done");
    const { messages } = turn.snapshot().threads[0];
    assert.equal(messages.at(-1).content, "end");
    assert.ok(JSON.stringify(turn.snapshot()).length > 0);
  });

  test(`${protocol}: a run that begins twice, or goes on after its end, is the same turn`, async (t) => {
    const list = [...answer("Hi").slice(0, -1), begin(), finish(), say("late"), begin(), finish("error")];
    const { turn } = await runTurn(t, protocol, runOf(protocol, list));
    const { events, error } = await collect(turn.stream());
    assert.equal(error, undefined);
    assert.equal(turn.status, "done");
    assert.equal(events.filter((event) => event.type === "turn.done").length, 1);
    assert.equal(events.filter((event) => event.type === "turn.created").length, 1);
    assert.equal(textOf(turn), "Hi");
  });

  test(`${protocol}: deltas of no message, and results of no call, are kept where they can be`, async (t) => {
    const result = { tool_name: "x", status: "success", data: 1, message: null, metadata: {} };
    const list = [begin(), say("early"), ["tool_call_delta", { id: "c0", args_delta: "{}" }], ["tool_call_done", { id: "c9", message_id: "d", outcome: "succeeded", result }], ...calling("c1", "x"), finish()];
    const { turn } = await runTurn(t, protocol, runOf(protocol, list));
    const { error } = await collect(turn.stream());
    assert.equal(error, undefined);
    assert.equal(turn.status, "done");
    assert.equal(textOf(turn), "early");
    assert.ok(turn.snapshot().threads[0].tool_responses.some((response) => response.tool_call_id === "c9"));
  });
}

/** A turn whose start is answered like this. */
async function runTurn(t, protocol, reply) {
  const world = await serveAgent(t, protocol, { [START]: reply }, { reconnect: false });
  return { ...world, turn: world.session.createTurn({ input: "Hello" }) };
}

test("tirea: a frame that is too large ends the stream, and what came is kept", async (t) => {
  const { session } = await serveAgent(t, "tirea", { [START]: runOf("tirea", [begin(), step(), say("kept"), say("x".repeat(4000))]) }, { maxFrameBytes: 2000 });
  const turn = session.createTurn({ input: "Hello" });
  const { error } = await collect(turn.stream());
  assert.equal(error.code, "frame_too_large");
  assert.equal(textOf(turn), "kept");
});

test("tirea: a state of a hundred thousand names is shown, and replaced by the next", async (t) => {
  const big = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`n${at}`, at]));
  const { session } = await serveAgent(t, "tirea", { [START]: runOf("tirea", [begin(), ["state_snapshot", { snapshot: big }], ["state_snapshot", { snapshot: { one: 1 } }], finish()]) });
  const turn = session.createTurn({ input: "Hello" });
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.deepEqual(turn.snapshot().agent_state, { one: 1 });
});

test("tirea: two turns of one session at once are two runs, however the first one ends", async (t) => {
  const [one, two] = [new LiveStream(), new LiveStream()];
  const { server, session } = await serveAgent(t, "tirea", { [START]: [one.reply, two.reply] });
  const first = session.createTurn({ input: "one" });
  const overs = [collect(first.stream())];
  await one.write(frames("tirea", [begin(), step(), say("1")], { runId: "r1" }));
  const second = session.createTurn({ input: "two" });
  overs.push(collect(second.stream()));
  await two.write(frames("tirea", [begin(), step(), say("2")], { runId: "r2" }));
  await one.write(frames("tirea", [["error", { code: "STATE_ERROR", message: "Version conflict" }]]));
  await one.end();
  await two.write(frames("tirea", [complete(), finish()], { runId: "r2" }));
  for (const over of overs) assert.equal((await over).error, undefined);
  assert.deepEqual([first.status, textOf(first), second.status, textOf(second)], ["error", "1", "done", "2"]);
  assert.equal(server.count(START), 2);
});

const CALL = suspended("c1", "shell");
const allow = { type: "user.tool_approval", thread_id: "main", tool_call_id: "c1", approval: { status: "allow" } };

test("tirea: a turn that was cancelled waits for nothing, and an answer to it is refused", async (t) => {
  const live = new LiveStream();
  const { server, session } = await serveAgent(t, "tirea", { [START]: live.reply });
  const turn = session.createTurn({ input: "Hello" });
  const over = collect(turn.stream());
  await live.write(frames("tirea", [begin(), step(), ...calling("c1", "shell"), ["state_snapshot", { snapshot: waitingState(CALL) }], finish("cancelled")]));
  assert.equal((await over).error, undefined);
  assert.equal(turn.status, "cancelled");
  assert.deepEqual(turn.snapshot().required_actions, []);
  assert.equal((await failure(turn.answer(allow))).code, "invalid_input");
  assert.equal(server.count(START), 1);
});

test("tirea: a turn without references is read to its end, and notifies its listeners", async (t) => {
  const live = new LiveStream();
  const { session } = await serveAgent(t, "tirea", { [START]: live.reply }, { reconnect: QUICK });
  let done;
  const ended = new Promise((resolve) => (done = resolve));
  const turn = session.createTurn({ input: "Hello" });
  turn.on("turn.done", done);
  void turn.waitForCompletion();
  await live.write(frames("tirea", answer("Hi")));
  assert.equal((await ended).state.status, "done");
});
