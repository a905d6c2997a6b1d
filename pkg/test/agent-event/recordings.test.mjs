// Real traffic of both servers, played through the built package: whole, and cut anywhere.
import assert from "node:assert/strict";
import { test } from "node:test";
import { framesOf, own, recording, recordings, replay, serveRun } from "../support/agent-event.mjs";
import { collect } from "../support/collect.mjs";

const kindOf = (frame) => frame.type ?? frame.event_type;
const dataOf = (frame) => frame.data ?? frame;
const messagesOf = (turn) => turn.snapshot().threads[0].messages;
const callsOf = (turn) => messagesOf(turn).flatMap((message) => message.tool_calls);

/** A run of a recording, read to its end, with its results. */
async function played(t, protocol, name, size) {
  const { turn, server } = await serveRun(t, protocol, replay(protocol, name, size), {}, { reconnect: false });
  const native = [];
  turn.on("native", (frame) => native.push(frame));
  const { events, error } = await collect(turn.stream());
  return { turn, server, native, events, error };
}

/** A snapshot with ids that are not the same every time. */
const compared = (snapshot) => JSON.stringify(snapshot).replaceAll(/"[0-9a-f]{32}(?=[":])/g, '"id');

const ENDS = {
  cancelled: "cancelled",
  interrupted: "cancelled",
  "starter-cancel-in-tool": "cancelled",
  "error-401": "error",
  "error-500": "error",
  "error-empty": "error",
  "provider-hang-no-heartbeat-90s": "incomplete",
  "superseded-first": "error",
};

for (const protocol of ["tirea", "awaken"]) {
  for (const name of recordings(protocol)) {
    test(`${protocol} ${name}: every frame is delivered as it came, and the turn ends as the run did`, async (t) => {
      const { turn, native, events, error, server } = await played(t, protocol, name);
      assert.deepEqual(native, framesOf(own(recording(protocol, name), server.requests[0].body)));
      assert.equal(turn.status, ENDS[name] ?? "done");
      assert.equal(error === undefined, turn.status !== "incomplete", String(error));
      assert.deepEqual(events.map((event) => event.sequence_number), events.map((_, at) => at + 1));
      assert.equal(events[0].type, "turn.created");
      assert.equal(events.filter((event) => event.type === "unknown").length, 0);
      assert.equal(server.requests.length, 1);
    });

    test(`${protocol} ${name}: the text is what the server says that it is`, async (t) => {
      const { turn, native } = await played(t, protocol, name);
      const result = dataOf(native.at(-1)).result?.response;
      const deltas = native.filter((frame) => kindOf(frame) === "text_delta").map((frame) => dataOf(frame).delta).join("");
      assert.equal(messagesOf(turn).map((message) => message.content).join(""), deltas);
      if (result !== undefined) {
        assert.ok(deltas.endsWith(result), result);
        if (turn.status !== "done") return;
        assert.equal(turn.snapshot().state.result.response, result);
        assert.equal((await turn.waitForCompletion()).output.content, messagesOf(turn).at(-1).content);
      }
    });

    test(`${protocol} ${name}: all the same however the network cuts it`, async (t) => {
      const whole = await played(t, protocol, name);
      const wanted = compared(whole.turn.snapshot());
      for (const size of recording(protocol, name).length > 30_000 ? [61] : [1, 7, 61]) {
        const cut = await played(t, protocol, name, size);
        assert.equal(compared(cut.turn.snapshot()), wanted, `pieces of ${size} bytes`);
        assert.equal(compared(cut.events), compared(whole.events), `pieces of ${size} bytes`);
      }
    });

    test(`${protocol} ${name}: no snapshot shows the server's own state`, async (t) => {
      const { turn } = await played(t, protocol, name);
      assert.equal(JSON.stringify(turn.snapshot().agent_state ?? null).includes('"__'), false);
    });
  }
}

test("tirea: a message has the model's cost", async (t) => {
  const { turn } = await played(t, "tirea", "text");
  const [message] = messagesOf(turn);
  assert.equal(message.content, "Hello from the mock, 你好 ☃\nline two.");
  assert.deepEqual([message.id, message.model, message.duration_ms, message.finish_reason], ["01a1fda6-f0ad-76c3-81bd-b9eb1b9f4036", "mock-1", 4, "stop"]);
  assert.deepEqual([message.usage.input_tokens, message.usage.output_tokens, message.usage.cache_read_tokens], [42, 17, 8]);
  assert.deepEqual(turn.snapshot().state.termination, { type: "natural_end" });
});

for (const protocol of ["tirea", "awaken"]) {
  test(`${protocol}: a call shows its arguments, outcome and result`, async (t) => {
    const { turn, native, events } = await played(t, protocol, "tool");
    const [call] = callsOf(turn);
    const done = dataOf(native.find((frame) => kindOf(frame) === "tool_call_done"));
    assert.deepEqual([call.id, call.status, call.arguments], [done.id, "done", call.arguments]);
    assert.deepEqual(JSON.parse(call.arguments), dataOf(native.find((frame) => kindOf(frame) === "tool_call_ready")).arguments);
    assert.equal(call.response.outcome, "succeeded");
    assert.deepEqual(call.response.result, done.result);
    // awaken stores a tool's result, tirea also its message.
    const { metadata: _, ...result } = done.result;
    const { metadata, ...content } = JSON.parse(call.response.content);
    assert.deepEqual(content, protocol === "tirea" ? result : result.data);
    assert.equal(events.find((event) => event.type === "tool.response").outcome, "succeeded");
    assert.equal(callsOf(turn).length, 1);
    assert.equal(messagesOf(turn).length, 2);
    assert.equal(messagesOf(turn)[0].finish_reason, "tool_calls");
  });
}

test("tirea: arguments stream as they come", async (t) => {
  const { turn, events } = await played(t, "tirea", "starter-ask-frontend-tool");
  const pieces = events.flatMap((event) => event.tool_calls ?? []).map((call) => call.function?.arguments).filter(Boolean);
  assert.ok(pieces.length >= 3, String(pieces));
  assert.equal(pieces.join(""), '{"message": "Which colour?"}');
  assert.equal(callsOf(turn)[0].arguments, '{"message": "Which colour?"}');
});

test("tirea: a call that waits for approval becomes pending, with the server's details", async (t) => {
  const { turn, events } = await played(t, "tirea", "suspended");
  const [action, ...others] = turn.snapshot().required_actions;
  assert.deepEqual(others, []);
  assert.deepEqual([action.type, action.thread_id, action.tool_call_id, action.name, action.arguments], ["tool.approval_required", "main", "call_1", "serverInfo", "{}"]);
  const { suspension } = action;
  assert.equal(suspension.message, "Permission required to run tool 'serverInfo'");
  assert.equal(suspension.response_schema.properties.approved.type, "boolean");
  assert.equal(suspension.resume_mode, "replay_tool_call");
  assert.deepEqual(callsOf(turn).map(({ id, status }) => [id, status]), [["call_1", "approval_required"]], "no projection is shown");
  assert.deepEqual(turn.snapshot().state.termination, { type: "suspended" });
  assert.ok(events.some((event) => event.type === "tool.approval_required"));
});

for (const [protocol, name] of [["tirea", "starter-ask-frontend-tool"], ["awaken", "suspended"]]) {
  test(`${protocol}: a call of a page's tool becomes pending, for a response`, async (t) => {
    const { turn } = await played(t, protocol, name);
    const [action] = turn.snapshot().required_actions;
    assert.deepEqual([action.type, action.tool_call_id, action.name], ["tool.response_required", "call_ask1", "askUserQuestion"]);
    assert.deepEqual(action.suspension.parameters, { message: "Which colour?" });
    assert.deepEqual(callsOf(turn).map(({ status, response }) => [status, response]), [["response_required", null]]);
  });
}

test("tirea: state is shown without the server's own names", async (t) => {
  const { turn, events } = await played(t, "tirea", "starter-note-state-patch");
  assert.deepEqual(turn.snapshot().agent_state, { notes: ["buy milk"], theme_color: "", todos: [] });
  const { patch } = events.find((event) => event.type === "tool.response");
  assert.deepEqual(patch.patch.ops[0], { op: "set", path: [], value: { notes: ["buy milk"], theme_color: "", todos: [] } });
  const { snapshot } = events.find((event) => event.type === "state.snapshot");
  assert.ok("__tool_call_scope" in snapshot, "the event has all");
});

for (const [protocol, name] of [["tirea", "starter-progress"], ["awaken", "progress"]]) {
  test(`${protocol}: progress is at its call, and an event for each report`, async (t) => {
    const { turn, events, native } = await played(t, protocol, name);
    const call = callsOf(turn).find((call) => call.progress);
    assert.ok(call, "no call has progress");
    assert.equal(typeof call.progress.progress, "number");
    const [activity] = turn.snapshot().activities;
    assert.deepEqual([activity.activity_type, activity.tool_call_id], ["tool-call-progress", call.id]);
    assert.deepEqual(activity.content, call.progress);
    const reports = events.filter((event) => event.type.startsWith("activity."));
    const frames = native.filter((frame) => kindOf(frame) === "activity_snapshot");
    assert.ok(reports.length <= 14 && reports.length >= 10, `${reports.length} events of ${frames.length} frames`);
    const steps = reports.map((event) => event.content.progress);
    assert.deepEqual(steps, [...steps].sort((a, b) => a - b));
    assert.equal(steps.at(-1), 1);
  });
}

test("tirea: a wrong envelope changes nothing", async (t) => {
  const { turn, events } = await played(t, "tirea", "leaking-envelope");
  assert.equal(turn.snapshot().threads.length, 1);
  const ids = new Set(framesOf(recording("tirea", "leaking-envelope")).map((frame) => frame.run_id));
  assert.ok(ids.size > 1, "the recording has none");
  assert.equal(events.at(-1).type, "turn.done");
  assert.match(turn.id, /^[0-9a-f]{32}$/);
});

test("tirea: a retried step continues the same message", async (t) => {
  const { turn, events } = await played(t, "tirea", "error-midstream-cut");
  assert.equal(messagesOf(turn).length, 1);
  assert.equal(messagesOf(turn)[0].content, "partial text Hello from the mock, 你好 ☃\nline two.");
  const [first, second] = events.filter((event) => event.type === "model.message");
  assert.equal(second.continues, first.id);
  assert.equal(messagesOf(turn)[0].id, second.id);
});

test("tirea: a run that a newer message superseded is an error, without run_finish", async (t) => {
  const { turn, events } = await played(t, "tirea", "superseded-first");
  assert.equal(turn.status, "error");
  const error = events.find((event) => event.type === "server.error");
  assert.equal(error.code, "STATE_ERROR");
  const done = events.at(-1);
  assert.equal(done.type, "turn.done");
  assert.match(done.state.message, /Version conflict/);
  assert.match((await turn.waitForCompletion()).message, /Version conflict/);
  assert.equal(messagesOf(turn)[0].content, "tok00 tok01 tok02 tok03 tok04 tok05 ");
});

test("tirea: an error and the end of the run are one failure", async (t) => {
  const { events, turn } = await played(t, "tirea", "error-401");
  assert.deepEqual(events.filter((event) => event.type === "turn.done").length, 1);
  const { state, error } = turn.snapshot();
  assert.equal(state.status, "error");
  assert.deepEqual([error.code, error.message], ["turn_failed", state.message], "the turn failed, not its stream");
});

test("tirea: stopped runs are done, and say what stopped them", async (t) => {
  const { turn } = await played(t, "tirea", "stopped");
  const { state } = turn.snapshot();
  assert.equal(state.status, "done");
  assert.deepEqual(state.termination, dataOf(framesOf(recording("tirea", "stopped")).at(-1)).termination);
  assert.equal(state.termination.type, "stopped");
});
