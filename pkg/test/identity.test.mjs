// Changes of snapshots: equal parts stay the same objects, and no change is missed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LiveStream, serveTurn } from "./support/server.mjs";
import { call, created, delta, done, finished, message, required, text, TIME, toolResponse } from "./support/wire.mjs";

/** A turn that has had these events, and a function that adds events and returns the snapshot. */
async function turnWith(t, ...list) {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  const iterator = turn.stream();
  const feed = async (...more) => {
    await live.send(...more);
    for (let count = 0; count < more.length; count += 1) await iterator.next();
    return turn.snapshot();
  };
  return { turn, feed, first: await feed(created(), ...list) };
}

const SERVERS = { type: "mcp.initialize", id: "i", thread_id: "main", created_at: TIME, mcp_servers: [{ id: "a", name: "A" }] };

test("pending actions and servers stay the same objects when a call gets its result", async (t) => {
  const calls = [message(), call("c1", "f"), call("c2", "g", { index: 1 }), finished("tool_calls")];
  const { feed, first } = await turnWith(t, SERVERS, ...calls, required(["c2"]));
  assert.equal(first.required_actions.length, 1);
  assert.equal(first.mcp_servers.length, 1);
  const next = await feed(toolResponse("c1", "ok"));
  assert.notEqual(next, first);
  assert.equal(next.threads[0].messages[0].tool_calls[0].response.content, "ok");
  assert.equal(next.required_actions, first.required_actions);
  assert.equal(next.mcp_servers, first.mcp_servers);
  // Nor do repeated values change anything.
  const again = await feed(SERVERS, required(["c2"]));
  assert.equal(again.required_actions, first.required_actions);
  assert.equal(again.mcp_servers, first.mcp_servers);
  // An answer does.
  const answered = await feed(toolResponse("c2", "ok"));
  assert.deepEqual(answered.required_actions, []);
  assert.equal(answered.mcp_servers, first.mcp_servers);
});

test("empty lists of pending actions and servers stay the same objects, too", async (t) => {
  const { feed, first } = await turnWith(t, message(), call("c1", "f"), finished("tool_calls"));
  const next = await feed(toolResponse("c1", "ok"), text("x", "m2"));
  assert.equal(next.required_actions, first.required_actions);
  assert.equal(next.mcp_servers, first.mcp_servers);
});

test("a call's new tool info is shown, whichever member of it is new", async (t) => {
  const known = { type: "mcp", server_id: "srv", server_name: "Server", name: "find" };
  const { feed, first } = await turnWith(t, message(), call("c1", "find"));
  const infoOf = (snapshot) => snapshot.threads[0].messages[0].tool_calls[0].tool_info;
  let before = first;
  assert.equal(infoOf(before).server_name, "Server");
  for (const change of [{ server_id: "other" }, { server_name: "Other" }, { name: "seek" }]) {
    Object.assign(known, change);
    const next = await feed(delta({ tool_calls: [{ index: 0, tool_info: { ...known } }] }));
    assert.notEqual(next.threads[0].messages[0], before.threads[0].messages[0]);
    const [[name, value]] = Object.entries(change);
    assert.equal(infoOf(next)[name], value);
    before = next;
  }
});

test("a later response to an earlier turn's call is shown", async (t) => {
  const { feed, first } = await turnWith(t, toolResponse("old", "first"));
  const shown = (snapshot) => snapshot.threads[0].tool_responses.map((response) => response.content);
  assert.deepEqual(shown(first), ["first"]);
  const next = await feed(toolResponse("old", "second", { id: "r2" }));
  assert.equal(shown(next).at(-1), "second");
  assert.notEqual(next.threads[0], first.threads[0]);
});

test("a later response to a call of this turn is shown", async (t) => {
  const { feed, first } = await turnWith(t, message(), call("c1", "f"), finished("tool_calls"), toolResponse("c1", "first"));
  const shown = (snapshot) => snapshot.threads[0].messages[0].tool_calls[0].response.content;
  assert.equal(shown(first), "first");
  assert.equal(shown(await feed(toolResponse("c1", "second", { id: "r2" }))), "second");
});

test("a thread's new agent info is shown, whichever member of it is new", async (t) => {
  const thread = (agent_info, title = "Sub") =>
    ({ type: "thread.created", id: "e", thread_id: "sub", title, parent: { thread_id: "main", tool_call_id: "c1" }, agent_info });
  const { feed, first } = await turnWith(t, message(), call("c1", "sub"), thread({ type: "dynamic", name: "one" }));
  assert.equal(first.threads[1].agent_info.name, "one");
  const renamed = await feed(thread({ type: "dynamic", name: "two" }));
  assert.equal(renamed.threads[1].agent_info.name, "two");
  assert.notEqual(renamed.threads[1], first.threads[1]);
  assert.equal(renamed.threads[0], first.threads[0]);
  const typed = await feed(thread({ type: "saved", name: "two" }));
  assert.equal(typed.threads[1].agent_info.type, "saved");
  const same = await feed(thread({ type: "saved", name: "two" }));
  assert.equal(same.threads[1], typed.threads[1]);
});

test("after the end only what the end names waits", async (t) => {
  const { feed, first } = await turnWith(t, message(), call("c1", "f"), finished("tool_calls"), required(["c1"]));
  const ended = await feed(done({ required_actions: [required(["c1"])] }));
  assert.equal(ended.required_actions, first.required_actions);
  assert.equal(ended.status, "done");
});
