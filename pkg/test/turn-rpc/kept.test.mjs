// The gateway's record of a turn agrees with the stream of the turn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect } from "../support/collect.mjs";
import { SILENCE, answer, kept, refuse, saying, serveSession, thread, turn } from "../support/turn-rpc.mjs";

const MANIFEST = { compiler_version: "1", profile: "assistant_full", section_ids: [], diagnostics: [{ code: "capability_rejected", message: "Capability `x` was rejected: no" }], hook_sources: [] };
const TASK = { type: "task", id: "k", taskId: "k1", title: "Research", status: "completed", childThreadId: "c", childTurnId: "cu" };
const CHILD = { kind: "child_turn", taskId: "k1", childThreadId: "c", childTurnId: "cu", lane: "child_agent" };

const call = (id, title) => ({ type: "dynamicToolCall", id, toolName: "look", arguments: {}, status: "completed", success: true, display: { kind: "summary", title, metadata: {}, truncated: false } });
const item = (sequence, item) => kept(sequence, "itemCompleted", { workspaceId: "ws_1", threadId: "s1", turnId: "t1", item });
const woven = (event, origin = { kind: "parent_turn", lane: "parent" }) => ({ id: `i${event.sequence}`, origin, payload: { kind: "turn_item_event", event } });

/** A server with the record of a turn `t1`: these are its items, and those of a task. */
function keeping(own, child = [], more = {}) {
  const ended = kept(99, "turnCompleted", { turn: turn("t1", "Completed", more) });
  return {
    "thread/get": ({ params }) => ({ thread: thread(params.thread_id, [turn("t1", "Completed")]) }),
    "turn/get": ({ params }) => ({ ...params, workspace_id: "ws_1", turn: turn(params.turn_id, "Completed") }),
    "thread/history": ({ params }) => ({ ...params, workspace_id: "ws_1", events: [...own, ended].map((event) => ({ turn_id: "t1", ...event })) }),
    "turn/timeline": ({ params }) => ({ ...params, workspaceId: "ws_1", lastSequence: 9, items: [...own.map((event) => woven(event)), ...child.map((event) => woven(event, CHILD))] }),
  };
}

const ANSWERED = [item(1, answer("m0", "I look.")), item(2, call("call_1", "own")), item(3, answer("m1", "Hello"))];
const OUTPUT = { type: "model.message", id: "m1", thread_id: "main", content: "Hello", finish_reason: "stop" };

test("a turn has the same result while it is read, and for later readers", async (t) => {
  const { server, client, session } = await serveSession(t, { ...keeping([item(1, answer("m1", "Hello"))]), "turn/start": saying("Hel", "lo") });
  const live = session.createTurn({ input: "Hi" });
  const { events } = await collect(live.stream());
  const { output } = events.at(-1).state;
  assert.deepEqual(output, OUTPUT);
  assert.deepEqual((await live.state()).output, OUTPUT);
  assert.deepEqual((await live.waitForCompletion()).output, OUTPUT);
  assert.equal(server.count("turn/timeline"), 0, "it is known");
  const later = await client.agents.getSession("s1");
  const [listed] = await later.history();
  const [resumed] = await later.resume();
  const read = await later.getTurn("t1");
  for (const known of [live, listed, resumed, read]) assert.deepEqual(known.snapshot().state.output, OUTPUT);
  for (const known of [listed, resumed, read]) {
    assert.deepEqual((await known.waitForCompletion()).output, OUTPUT);
    assert.deepEqual((await known.state()).output, OUTPUT);
  }
});

for (const [how, handler] of Object.entries({
  "is refused": refuse(-32601, "method is not supported"),
  "makes no sense": () => null,
  "does not come": () => SILENCE,
})) {
  test(`a turn is read without its messages where that ${how}`, async (t) => {
    const { session } = await serveSession(t, { ...keeping(ANSWERED), "turn/timeline": handler }, { connectTimeout: 200 });
    const read = await session.getTurn("t1");
    assert.deepEqual([read.status, read.snapshot().state.output], ["done", null]);
    await read.cancel();
  });
}

test("an attempt that failed within its text is no output, and neither is text before an answer that is empty", async (t) => {
  const half = kept(9, "itemUpdated", { workspaceId: "ws_1", threadId: "s1", turnId: "t1", item: answer("m9", "Half") });
  const { session } = await serveSession(t, keeping([...ANSWERED, half]));
  assert.deepEqual((await session.getTurn("t1")).snapshot().state.output, OUTPUT);
  const { session: silent } = await serveSession(t, keeping([...ANSWERED, item(9, answer("m9", ""))]));
  assert.equal((await silent.getTurn("t1")).snapshot().state.output, null);
});

test("a history has the results of a task's calls beside those of its parent's, under the same ids", async (t) => {
  const own = [item(1, TASK), ...ANSWERED.map((event, at) => ({ ...event, sequence: at + 2 }))];
  const { session } = await serveSession(t, keeping(own, [item(1, call("call_1", "of the task"))]));
  const [{ snapshot }] = await session.history();
  const results = snapshot().threads.map(({ messages }) => messages.flatMap(({ tool_calls }) => tool_calls.map(({ response }) => response?.content)));
  assert.deepEqual(results, [["own"], ["of the task"]]);
  assert.deepEqual(snapshot().state.output, OUTPUT, "not what a task said");
});

for (const [name, tasks] of [["without tasks", []], ["with tasks", [item(1, TASK)]]]) {
  test(`a history ${name} has the prompt's manifest`, async (t) => {
    const { session } = await serveSession(t, keeping([...tasks, item(2, answer("m1", "Hello"))], [], { prompt_manifest: MANIFEST }));
    const [{ snapshot }] = await session.history();
    const manifests = snapshot().notices.filter(({ code }) => code === "prompt_manifest");
    assert.deepEqual(manifests.map(({ level, details }) => [level, details.diagnostics[0].code]), [["warning", "capability_rejected"]]);
  });
}
