// Snapshots: what a page renders. Immutable, complete, and with the same objects for unchanged parts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, until } from "./support/collect.mjs";
import { deferred, events, LiveStream, serveTurn, stream, SUBSCRIBE } from "./support/server.mjs";
import {
  answer, args, call, created, delta, done, finished, frames, message, required, text, TIME, toolResponse,
} from "./support/wire.mjs";

/** Sends events and waits until the snapshot has them. */
async function feed(live, iterator, ...list) {
  await live.send(...list);
  for (let count = 0; count < list.length; count += 1) await iterator.next();
}

async function liveTurn(t) {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  return { live, turn, iterator: turn.stream() };
}

/** The last snapshot of a turn of these events. */
async function finalSnapshot(t, ...list) {
  const { turn } = await serveTurn(t, events(created(), ...list, done()));
  assert.equal((await collect(turn.stream())).error, undefined);
  return turn.snapshot();
}

const EMPTY_MAIN = {
  id: "main", title: null, parent: null, agent_info: null, status: "running", error: null, messages: [], tool_responses: [],
};

test("before anything came there is the main thread, and nothing in it", async (t) => {
  const { turn } = await serveTurn(t, events());
  assert.deepEqual(turn.snapshot(), {
    turn_id: null,
    status: "unstarted",
    state: null,
    error: null,
    reconnecting: null,
    waiting: null,
    last_sequence_number: 0,
    input: [{ type: "user.message", content: "Hello" }],
    threads: [EMPTY_MAIN],
    required_actions: [],
    mcp_servers: [],
    sandbox_id: null,
    agent_state: null,
    agent_state_problem: null,
    activities: [],
    notices: [],
  });
  assert.equal(turn.snapshot(), turn.snapshot());
});

test("a whole turn", async (t) => {
  const usage = { input_tokens: 3, output_tokens: 2 };
  const snapshot = await finalSnapshot(
    t,
    { type: "mcp.initialize", id: "e", thread_id: "main", created_at: TIME, mcp_servers: [{ id: "srv", name: "Server" }] },
    { type: "sandbox.created", id: "e2", thread_id: null, created_at: TIME, sandbox_id: "sbx" },
    message(),
    delta({ reasoning_content: "Hm, " }),
    delta({ reasoning_content: "yes" }),
    text("Let me "),
    text("see."),
    call("c1", "find"),
    args('{"q":'),
    args("1}"),
    delta({ finish_reason: "tool_calls", usage }),
    toolResponse("c1", "42"),
    message("m2"),
    text("It is 42. 🎉", "m2"),
    finished("stop", "m2"),
  );
  const response = { ...toolResponse("c1", "42") };
  assert.deepEqual(snapshot, {
    turn_id: "t1",
    status: "done",
    state: { status: "done", output: null, required_actions: [], completed_at: TIME },
    error: null,
    reconnecting: null,
    waiting: null,
    last_sequence_number: 17,
    input: [{ type: "user.message", content: "Hello" }],
    threads: [
      {
        ...EMPTY_MAIN,
        messages: [
          {
            id: "m1", thread_id: "main", created_at: TIME, name: null, content: "Let me see.", reasoning_content: "Hm, yes", refusal: "",
            tool_calls: [
              {
                id: "c1", index: 0, name: "find", arguments: '{"q":1}', status: "done", thread_id: null,
                tool_info: {
                  type: "mcp", server_id: "srv", server_name: "Server", mcp_server_id: "srv", mcp_server_name: "Server", name: "find",
                },
                response,
              },
            ],
            finish_reason: "tool_calls", usage,
          },
          {
            id: "m2", thread_id: "main", created_at: TIME, name: null, content: "It is 42. 🎉", reasoning_content: "", refusal: "",
            tool_calls: [], finish_reason: "stop", usage: null,
          },
        ],
      },
    ],
    required_actions: [],
    mcp_servers: [{ id: "srv", name: "Server", mcp_server_name: "Server" }],
    sandbox_id: "sbx",
    agent_state: null,
    agent_state_problem: null,
    activities: [],
    notices: [],
  });
});

test("a snapshot is deeply frozen", async (t) => {
  const snapshot = await finalSnapshot(
    t,
    { type: "mcp.initialize", id: "e", thread_id: "main", mcp_servers: [{ id: "srv", name: "Server" }] },
    message("m1", { content: [{ type: "text", text: "a" }] }),
    text("b"),
    call("c1", "find"),
    args("{}"),
    delta({ finish_reason: "tool_calls", usage: { input_tokens: 1, output_tokens: 1 } }),
    toolResponse("c1", "42"),
    { type: "thread.created", id: "t", thread_id: "th", title: "T", parent: { thread_id: "main", tool_call_id: "c1" } },
    required(["c1"]),
  );
  const open = [];
  const visit = (value, path) => {
    if (typeof value !== "object" || value === null) return;
    if (!Object.isFrozen(value)) open.push(path);
    for (const [name, member] of Object.entries(value)) visit(member, `${path}.${name}`);
  };
  visit(snapshot, "snapshot");
  assert.deepEqual(open, []);
});

test("a snapshot that was taken does not change", async (t) => {
  const { live, turn, iterator } = await liveTurn(t);
  await feed(live, iterator, created(), message(), text("Hel"), call("c1", "find"));
  const before = turn.snapshot();
  const copy = structuredClone(before);
  await feed(live, iterator, text("lo"), args("{}"), finished("tool_calls"), toolResponse("c1", "x"), done());
  assert.deepEqual(structuredClone(before), copy);
  assert.notEqual(turn.snapshot(), before);
});

test("nothing new, no new snapshot", async (t) => {
  const { live, turn, iterator } = await liveTurn(t);
  const seen = [turn.snapshot()];
  for (const event of answer("a", "b")) {
    await feed(live, iterator, event);
    const next = turn.snapshot();
    assert.equal(turn.snapshot(), next);
    assert.ok(!seen.includes(next), event.type);
    seen.push(next);
  }
});

test("what did not change keeps its identity while other parts change", async (t) => {
  const { live, turn, iterator } = await liveTurn(t);
  const child = (id, messageId) => [
    { type: "thread.created", id: `e-${id}`, thread_id: id, title: id, parent: { thread_id: "main", tool_call_id: `c-${id}` } },
    message(messageId, { thread_id: id }),
  ];
  await feed(
    live, iterator, created(), message(), text("first"), call("c-a", "sub"), call("c-b", "sub", { index: 1 }), finished("tool_calls"),
    ...child("a", "ma"), ...child("b", "mb"), message("m2"),
  );
  const before = turn.snapshot();
  await feed(live, iterator, { ...text("x", "ma"), thread_id: "a" });
  const after = turn.snapshot();
  const [main, a, b] = after.threads;
  assert.notEqual(a, before.threads[1]);
  assert.equal(main, before.threads[0]);
  assert.equal(b, before.threads[2]);
  assert.equal(after.required_actions, before.required_actions);
  assert.equal(after.mcp_servers, before.mcp_servers);
  assert.equal(after.input, before.input);

  await feed(live, iterator, text("more", "m2"));
  const later = turn.snapshot();
  assert.equal(later.threads[1], a);
  assert.equal(later.threads[0].messages[0], main.messages[0]);
  assert.notEqual(later.threads[0].messages[1], main.messages[1]);

  await feed(live, iterator, toolResponse("c-a", ""));
  const answered = turn.snapshot().threads[0].messages[0];
  assert.notEqual(answered, main.messages[0]);
  assert.notEqual(answered.tool_calls[0], main.messages[0].tool_calls[0]);
  assert.equal(answered.tool_calls[1], main.messages[0].tool_calls[1]);
});

test("a new delta for one call leaves the others alone", async (t) => {
  const { live, turn, iterator } = await liveTurn(t);
  await feed(live, iterator, created(), message(), call("c1", "f"), call("c2", "g", { index: 1 }), args("1"), args("2", { index: 1 }));
  const [before] = turn.snapshot().threads[0].messages;
  await feed(live, iterator, args("22", { index: 1 }));
  const [after] = turn.snapshot().threads[0].messages;
  assert.equal(after.tool_calls[0], before.tool_calls[0]);
  assert.deepEqual(after.tool_calls.map((known) => known.arguments), ["1", "222"]);
});

test("a tool call goes from streaming to done", async (t) => {
  const { live, turn, iterator } = await liveTurn(t);
  const status = () => turn.snapshot().threads[0].messages[0].tool_calls.map((known) => known.status);
  await feed(live, iterator, created(), message(), call("c1", "f"), call("c2", "g", { index: 1 }), call("c3", "h", { index: 2 }));
  assert.deepEqual(status(), ["streaming", "streaming", "streaming"]);
  await feed(live, iterator, finished("tool_calls"));
  assert.deepEqual(status(), ["running", "running", "running"]);
  await feed(live, iterator, required(["c1"]), required(["c2"], { kind: "response" }));
  assert.deepEqual(status(), ["approval_required", "response_required", "running"]);
  await feed(live, iterator, toolResponse("c3", "x"));
  assert.deepEqual(status(), ["approval_required", "response_required", "done"]);
});

test("pending calls are listed over all threads, until it is answered", async (t) => {
  const { live, turn, iterator } = await liveTurn(t);
  const ask = (id, messageId, thread_id) => ({ ...call(id, `tool-${id}`, { args: "{}", message: messageId }), thread_id });
  await feed(
    live, iterator, created(), message(), ask("c1", "m1", "main"), finished("tool_calls"),
    message("m2", { thread_id: "th" }), ask("c2", "m2", "th"),
    required(["c1"]), required(["c2"], { kind: "response", thread_id: "th", source_event_id: "m2" }),
  );
  const actions = () => turn.snapshot().required_actions.map((action) => [action.type, action.thread_id, action.tool_call_id, action.name, action.arguments]);
  assert.deepEqual(actions(), [
    ["tool.approval_required", "main", "c1", "tool-c1", "{}"],
    ["tool.response_required", "th", "c2", "tool-c2", "{}"],
  ]);
  // The end of the turn repeats it.
  await feed(live, iterator, done({ required_actions: [required(["c1"]), required(["c2"], { kind: "response", thread_id: "th", source_event_id: "m2" })] }));
  assert.equal(actions().length, 2);
});

test("an authorization waits with its server", async (t) => {
  const asked = {
    type: "mcp.auth_required", id: "e", thread_id: null, created_at: TIME,
    mcp_servers: [{ id: "srv", name: "Calendar", auth_url: "https://auth.example/x" }],
  };
  const { required_actions } = await finalSnapshot(t, asked);
  assert.deepEqual(required_actions, [
    {
      type: "mcp.auth_required",
      server: { id: "srv", name: "Calendar", mcp_server_name: "Calendar", auth_url: "https://auth.example/x", thread_ids: [] },
    },
  ]);
});

for (const status of ["cancelled", "error"]) {
  test(`nothing is pending when the turn ends as ${status}`, async (t) => {
    const end = done();
    end.state = { status, message: "x", reason: "x", completed_at: TIME };
    const { turn } = await serveTurn(t, events(created(), message(), call("c1", "f"), finished("tool_calls"), required(["c1"]), end));
    await collect(turn.stream());
    const snapshot = turn.snapshot();
    assert.deepEqual(snapshot.required_actions, []);
    assert.equal(snapshot.threads[0].messages[0].tool_calls[0].status, "running");
  });
}

test("sub-agents are threads of their own, tied to the calls that started them", async (t) => {
  const info = { type: "dynamic", name: "reader", input: "Read." };
  const parent = { thread_id: "main", tool_call_id: "c1" };
  const started = { type: "thread.created", id: "e1", thread_id: "th", created_at: TIME, title: "Logs", parent, agent_info: info };
  const ended = (state, id = "th") => ({ type: "thread.done", id: "e2", thread_id: id, created_at: TIME, title: "Logs", parent, state });
  const { threads } = await finalSnapshot(
    t, message(), call("c1", "create_sub_agent"), finished("tool_calls"), started, message("ms", { thread_id: "th" }),
    { ...text("Found it.", "ms"), thread_id: "th" }, toolResponse("c1", ""), ended({ status: "done", output: null }),
    { ...started, thread_id: "th2" }, ended({ status: "error", error: "it broke" }, "th2"),
  );
  const [main, first, second] = threads;
  assert.deepEqual(threads.map(({ id, status, error }) => [id, status, error]), [
    ["main", "running", null], ["th", "done", null], ["th2", "error", "it broke"],
  ]);
  assert.deepEqual([first.title, first.parent, first.agent_info, second.messages], ["Logs", parent, info, []]);
  assert.deepEqual(first.messages.map(({ id, thread_id, content }) => [id, thread_id, content]), [["ms", "th", "Found it."]]);
  assert.deepEqual([main.messages[0].tool_calls[0].thread_id, main.messages[0].tool_calls[0].status], ["th2", "done"]);
});

test("deltas that come before their message, and after its finish, are still shown", async (t) => {
  const { threads } = await finalSnapshot(t, text("Hel"), finished(), text("lo"), message());
  assert.deepEqual(threads[0].messages.map(({ content, finish_reason, created_at }) => [content, finish_reason, created_at]), [["Hello", "stop", TIME]]);
});

test("the output of the turn completes a message whose events never came", async (t) => {
  const { turn } = await serveTurn(t, events(created(), done({ output: message("m9", { content: "All of it", finish_reason: "stop" }) })));
  await collect(turn.stream());
  assert.deepEqual(turn.snapshot().threads[0].messages.map((known) => known.content), ["All of it"]);
});

/** Counts calls; `called(n)` resolves with the n-th one. */
function counter() {
  const waiting = [];
  const listener = () => {
    listener.count += 1;
    for (const { at, resolve } of waiting) if (listener.count >= at) resolve();
  };
  listener.count = 0;
  listener.called = (at) => {
    const { promise, resolve } = deferred();
    waiting.push({ at, resolve });
    if (listener.count >= at) resolve();
    return promise;
  };
  return listener;
}

test("without frames, subscribers are notified by a timer: once for many events, and after the last one", async (t) => {
  const listener = counter();
  const { live, turn, iterator } = await liveTurn(t);
  turn.subscribe(listener);
  const pieces = Array.from({ length: 200 }, () => text("x"));
  await feed(live, iterator, created(), message(), ...pieces);
  assert.equal(listener.count, 0);
  await listener.called(1);
  assert.equal(turn.snapshot().threads[0].messages[0].content.length, 200);
  await feed(live, iterator, done());
  await listener.called(2);
  assert.equal(turn.snapshot().status, "done");
  assert.equal(listener.count, 2);
});

test("with frames, subscribers are notified in the next one, at most once in each", async (t) => {
  const frame = { tasks: [], cancelled: [] };
  const { requestAnimationFrame, cancelAnimationFrame } = globalThis;
  globalThis.requestAnimationFrame = (task) => frame.tasks.push(task);
  globalThis.cancelAnimationFrame = (id) => frame.cancelled.push(id);
  t.after(() => Object.assign(globalThis, { requestAnimationFrame, cancelAnimationFrame }));
  const listener = counter();
  const { live, turn, iterator } = await liveTurn(t);
  turn.subscribe(listener);
  await feed(live, iterator, created(), message(), text("a"), text("b"));
  assert.equal(frame.tasks.length, 1);
  assert.equal(listener.count, 0);
  frame.tasks[0]();
  assert.equal(listener.count, 1);
  await feed(live, iterator, text("c"));
  assert.equal(frame.tasks.length, 2);
  frame.tasks[1]();
  assert.equal(listener.count, 2);
});

test("a subscriber that left is not notified, and no timer remains", async (t) => {
  const [first, second] = [counter(), counter()];
  const { live, turn, iterator } = await liveTurn(t);
  const off = turn.subscribe(first);
  turn.subscribe(second);
  await feed(live, iterator, created());
  off();
  off();
  await second.called(1);
  assert.equal(first.count, 0);
});

test("snapshot and subscribe can be passed on as they are", async (t) => {
  const { turn } = await serveTurn(t, events(...answer("Hi")));
  const { snapshot, subscribe } = turn;
  const listener = counter();
  const off = subscribe(listener);
  await collect(turn.stream());
  await listener.called(1);
  off();
  assert.equal(snapshot().status, "done");
  assert.equal(snapshot, turn.snapshot);
  assert.equal(subscribe, turn.subscribe);
});

test("subscribers are notified of an end that is an error", async (t) => {
  const { turn } = await serveTurn(t, events(created(), message(), text("Hi")), {
    routes: { [SUBSCRIBE]: stream(frames([done()], 4)) },
  });
  const listener = counter();
  turn.subscribe(listener);
  const { error } = await collect(turn.stream());
  await listener.called(1);
  assert.equal(turn.snapshot().error, error);
  const told = listener.count;
  await until(turn.stream(), "turn.done");
  await listener.called(told + 1);
  assert.deepEqual([turn.snapshot().error, turn.snapshot().status], [null, "done"]);
});
