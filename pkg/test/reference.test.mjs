// A server that follows the vendor's reference pages exactly: their fields and no others, messages as deltas only,
// numbers in the JSON.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect } from "./support/collect.mjs";
import { brokenOff, numbers, range, serveResumed, serveResumedSession } from "./support/connection.mjs";
import { GET_TURN, json, LIST_TURNS, page, refusal, SESSION_EVENTS, START, stream, SUBSCRIBE, TURN_EVENTS } from "./support/server.mjs";
import { frame, TIME } from "./support/wire.mjs";

const event = (type, id, thread_id, fields) => ({ type, id, thread_id, created_at: TIME, ...fields });
const delta = (id, thread_id, fields) => event("model.message.delta", id, thread_id, fields);
const MCP = { type: "mcp", mcp_server_id: "srv", mcp_server_name: "console", name: "restart", is_deferred: false };
const SYSTEM = { type: "truefoundry-system", name: "ask_user_question" };
const parent = { thread_id: "main", tool_call_id: "c0" };

const MESSAGES = {
  m1: { content: "One moment.", tool_calls: [{ id: "c0", type: "function", function: { name: "create_sub_agent", arguments: "{}" }, tool_info: { ...SYSTEM, name: "create_sub_agent" } }], finish_reason: "tool_calls" },
  m2: { content: "Read.", finish_reason: "stop" },
  m3: {
    reasoning_content: "It must restart.",
    tool_calls: [
      { id: "c1", type: "function", function: { name: "restart", arguments: '{"service":"billing"}' }, tool_info: MCP },
      { id: "c2", type: "function", function: { name: "ask", arguments: '{"question":"Why?"}' }, tool_info: SYSTEM },
    ],
    finish_reason: "tool_calls",
  },
};
const whole = (id, thread_id) => event("model.message", id, thread_id, MESSAGES[id]);

const AUTH = event("mcp.auth_required", "e-auth", null, { servers: [{ mcp_server_name: "mail", auth_url: "https://sign.in.example/", thread_ids: ["main"] }] });
const APPROVAL = event("tool.approval_required", "e-approval", "main", { tool_calls: [{ id: "c1", event_id: "m3" }] });
const QUESTION = event("tool.response_required", "e-question", "main", { tool_calls: [{ id: "c2", event_id: "m3" }] });
const STATE = { status: "done", output: null, required_actions: [APPROVAL, QUESTION], completed_at: TIME };

const call = (index, { id, function: { name, arguments: args }, ...rest }) => [
  { index, id, ...rest, function: { name, arguments: "" } },
  { index, function: { arguments: args.slice(0, 5) } },
  { index, function: { arguments: args.slice(5) } },
];

const TURN = [
  event("turn.created", "e1", null, { turn_id: "t1", previous_turn_id: null, created_by: "ada@example.com" }),
  event("mcp.initialize", "e2", "main", { content: [{ mcp_server_name: "console", session_id: "x" }] }),
  delta("m1", "main", { content: "One " }),
  delta("m1", "main", { content: "moment." }),
  ...call(0, MESSAGES.m1.tool_calls[0]).map((piece) => delta("m1", "main", { tool_calls: [piece] })),
  delta("m1", "main", { finish_reason: "tool_calls" }),
  event("thread.created", "e3", "th", { title: "Read", parent, agent_info: { type: "dynamic", name: "reader" } }),
  delta("m2", "th", { content: "Read." }),
  delta("m2", "th", { finish_reason: "stop" }),
  event("sandbox.created", "e4", null, { sandbox_id: "box" }),
  event("thread.done", "e5", "th", { title: "Read", status: "done", output: { id: "m2", thread_id: "th", ...MESSAGES.m2 }, parent }),
  event("tool.response", "e6", "main", { tool_call_id: "c0", content: "done" }),
  delta("m3", "main", { reasoning_content: "It must restart." }),
  ...MESSAGES.m3.tool_calls.flatMap((one, index) => call(index, one)).map((piece) => delta("m3", "main", { tool_calls: [piece] })),
  delta("m3", "main", { finish_reason: "tool_calls" }),
  APPROVAL,
  QUESTION,
  event("turn.done", "e9", null, { state: STATE }),
];
const LAST = TURN.length;
const LISTED = [TURN[1], whole("m1", "main"), ...TURN.filter(({ type }) => /^(thread|sandbox|tool)\./.test(type))];
LISTED.splice(3, 0, whole("m2", "th"));
LISTED.splice(LISTED.indexOf(APPROVAL), 0, whole("m3", "main"));

const said = (from, to) => TURN.slice(from - 1, to).map((one, at) => frame({ ...one, sequence_number: from + at })).join("");
const RECORD = { id: "t1", previous_turn_id: null, created_by: "ada@example.com", created_at: TIME };

function checkShown(turn) {
  const { threads, required_actions, mcp_servers, sandbox_id } = turn.snapshot();
  assert.equal(turn.createdBy, "ada@example.com");
  assert.deepEqual(threads.map(({ id, status }) => [id, status]), [["main", "running"], ["th", "done"]]);
  assert.deepEqual(threads.map(({ messages }) => messages.map(({ content }) => content)), [["One moment.", ""], ["Read."]]);
  const [first, second] = threads[0].messages;
  assert.equal(first.tool_calls[0].response?.content, "done");
  assert.equal(second.reasoning_content, "It must restart.");
  assert.deepEqual(second.tool_calls.map((one) => [one.id, one.name, one.arguments, one.tool_info.type]), [
    ["c1", "restart", '{"service":"billing"}', "mcp"], ["c2", "ask_user_question", '{"question":"Why?"}', "truefoundry-system"],
  ]);
  assert.deepEqual(required_actions.map(({ type, tool_call_id, name }) => [type, tool_call_id, name]), [
    ["tool.approval_required", "c1", "restart"], ["tool.response_required", "c2", "ask_user_question"],
  ]);
  assert.deepEqual([mcp_servers.map(({ name }) => name), sandbox_id], [["console"], "box"]);
}

test("its stream is read as that of the vendor's servers", async (t) => {
  const { turn, server, told } = await serveResumed(t, stream(said(1, LAST)));
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual(numbers(got), range(1, LAST));
  assert.ok(got.every(({ type }) => type !== "unknown"));
  assert.deepEqual([turn.status, server.asked, told], ["done", [START], []]);
  checkShown(turn);
});

test("cut anywhere, each event comes once", async (t) => {
  for (let cut = 1; cut < LAST; cut += 4) {
    const { turn, server } = await serveResumed(t, brokenOff(said(1, cut)), { [SUBSCRIBE]: stream(said(cut + 1, LAST)), [GET_TURN]: json({ data: RECORD }) });
    const { events: got, error } = await collect(turn.stream());
    assert.equal(error, undefined);
    assert.deepEqual(numbers(got), range(1, LAST));
    assert.deepEqual(server.requests.at(-1).body, { after_sequence_number: cut });
    checkShown(turn);
  }
});

test("where its stream is gone, the list makes the turn whole", async (t) => {
  for (const cut of [1, 4, 9, 14, LAST - 1]) {
    const { turn } = await serveResumed(t, brokenOff(said(1, cut)), {
      [SUBSCRIBE]: refusal(412), [GET_TURN]: json({ data: { ...RECORD, state: STATE } }), [TURN_EVENTS]: page(LISTED),
    });
    const { events: got, error } = await collect(turn.stream());
    assert.equal(error, undefined);
    const single = got.filter(({ type }) => !type.startsWith("model.")).map(({ id }) => id);
    assert.equal(new Set(single).size, single.length, `after ${cut} each comes once: ${single}`);
    checkShown(turn);
  }
});

/** "The stream ends after this event": the pages say that of pauses, and that `turn.done` is the last event of every stream. */
test("a pause that is the last event of its stream ends the turn, too", async (t) => {
  const { turn, server } = await serveResumed(t, stream(said(1, LAST - 1)), {
    [SUBSCRIBE]: stream(""), [GET_TURN]: json({ data: { ...RECORD, state: STATE } }), [TURN_EVENTS]: page(LISTED),
  });
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.equal(got.at(-1).type, "turn.done");
  assert.deepEqual([turn.status, server.count(START)], ["done", 1]);
  checkShown(turn);
});

test("its lists rebuild the conversation", async (t) => {
  const { session } = await serveResumedSession(t, {
    [LIST_TURNS]: page([{ ...RECORD, state: STATE }]),
    [SESSION_EVENTS]: page(LISTED.map((one) => ({ turn_id: "t1", event: one })).reverse()),
  });
  const [turn] = await session.history();
  assert.equal(turn.status, "done");
  checkShown(turn);
});

test("a pause for a sign-in goes on without input", async (t) => {
  const state = { status: "done", required_actions: [AUTH], completed_at: TIME };
  const frames = [TURN[0], AUTH, event("turn.done", "e9", null, { state })].map((one, at) => frame({ ...one, sequence_number: at + 1 }));
  const { turn, session, server } = await serveResumed(t, [stream(frames.join("")), stream(said(1, LAST).replaceAll('"t1"', '"t2"'))]);
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual([got[1].mcp_servers[0].name, got[1].servers[0].thread_ids], ["mail", ["main"]]);
  assert.deepEqual(turn.snapshot().required_actions.map(({ type }) => type), ["mcp.auth_required"]);
  const next = session.createTurn();
  await collect(next.stream());
  assert.ok(!("input" in server.requests.at(-1).body));
  checkShown(next);
});
