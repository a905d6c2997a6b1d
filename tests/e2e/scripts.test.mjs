// Every scripted agent of the development gateway, through the package in a real page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { useWorld } from "./harness.mjs";
import { openKit } from "./kit.mjs";

const world = useWorld();

/** Plays one turn in a page of its own, and checks what holds for every turn. */
async function play(input) {
  const page = await openKit(world);
  const report = await page.evaluate(async (given) => kit.report(await kit.play(await kit.session(), given)), input);
  assert.equal(report.types[0], "turn.created");
  assert.equal(report.types.at(-1), "turn.done");
  assert.ok(report.dense, "the sequence numbers have a gap");
  assert.ok(report.agrees, "events that are merged by hand differ from the snapshot");
  assert.ok(!report.types.includes("unknown"));
  assert.equal(report.snapshot.last_sequence_number, report.types.length);
  assert.deepEqual(page.failures, []);
  return report;
}

test("plain", async () => {
  const { status, text, types, snapshot } = await play("plain");
  assert.equal(status, "done");
  assert.match(text, /^Here is a plain answer: .* said twice\.$/s);
  assert.ok(types.includes("mcp.initialize"));
  assert.deepEqual(snapshot.mcp_servers.map((server) => server.id), ["mcp-console", "mcp-helpdesk"]);
  const [message] = snapshot.threads[0].messages;
  assert.equal(message.finish_reason, "stop");
  assert.ok(message.usage.output_tokens > 0);
  assert.equal(snapshot.state.output.content, text);
});

test("reasoning", async () => {
  const { snapshot } = await play("reasoning");
  const [message] = snapshot.threads[0].messages;
  assert.match(message.reasoning_content, /^The question is which day .* half past three, though/);
  assert.match(message.content, /^\*\*Tuesday, 02:45 to 03:25\.\*\*/);
});

test("tools", async () => {
  const { snapshot } = await play("tools");
  const { messages } = snapshot.threads[0];
  const calls = messages.flatMap((message) => message.tool_calls);
  assert.deepEqual(messages.map((message) => message.finish_reason), ["tool_calls", "tool_calls", "stop"]);
  assert.deepEqual(calls.map(({ name, status }) => [name, status]), [["list_services", "done"], ["read_log", "done"]]);
  assert.deepEqual(JSON.parse(calls[1].arguments), { service: "shop-web", lines: 50 });
  assert.match(calls[1].response.content, /out of memory/);
});

test("parallel", async () => {
  const { snapshot } = await play("parallel");
  const calls = snapshot.threads[0].messages[0].tool_calls;
  assert.deepEqual(calls.map((call) => JSON.parse(call.arguments).city), ["Lisbon", "Montréal", "Ōsaka"]);
  assert.deepEqual(calls.map((call) => JSON.parse(call.response.content).latency_ms), [24, 31, 212]);
});

test("unicode", async () => {
  const { text } = await play("unicode");
  const pieces = ["👩‍👩‍👧‍👦", "🏳️‍🌈", "你好，世界", "مرحبا بالعالم", "𝕏𝕐 𠮷野家 𐍈", "[\u2028] [\u2029] [\u0085]", "\u0007", "\uFEFF", "\ndata: not an event\nid: 999\n"];
  for (const piece of pieces) assert.ok(text.includes(piece), JSON.stringify(piece));
  assert.ok(!text.includes("\uFFFD"));
});

test("error", async () => {
  const { status, text, snapshot } = await play("error");
  assert.equal(status, "error");
  assert.match(snapshot.state.message, /502 Bad Gateway/);
  assert.match(text, /and the renew$/);
  assert.deepEqual([snapshot.error.code, snapshot.error.body], ["turn_failed", snapshot.state]);
});

test("length", async () => {
  const { status, snapshot } = await play("length");
  assert.equal(status, "error");
  assert.equal(snapshot.threads[0].messages[0].finish_reason, "length");
});

test("long: 20,000 deltas", async () => {
  const { types, text } = await play("long 20000");
  assert.equal(types.filter((type) => type === "model.message.delta").length, 20_001);
  assert.ok(text.startsWith("## Chapter 1\n\n"));
  assert.ok(text.length > 80_000);
});

test("file", async () => {
  const data = `data:text/plain;base64,${Buffer.from("hello").toString("base64")}`;
  const content = [{ type: "text", text: "file" }, { type: "file", name: "héllo.txt", data }];
  const { text } = await play({ type: "user.message", content });
  assert.match(text, /`héllo\.txt`, type `text\/plain`, 5 bytes/);
});

test("sub-agents", async () => {
  const { snapshot } = await play("subagents");
  const [main, ...children] = snapshot.threads;
  assert.deepEqual(children.map(({ title, status }) => [title, status]), [
    ["Read the logs", "done"], ["Probe the site", "error"], ["Compare with yesterday", "done"],
  ]);
  assert.match(children[1].error, /connection refused/);
  const calls = main.messages[0].tool_calls;
  assert.deepEqual(calls.map((call) => call.thread_id), children.map((thread) => thread.id));
  assert.deepEqual(children.map((thread) => thread.parent.tool_call_id), calls.map((call) => call.id));
  assert.match(children[0].messages.at(-1).content, /13:58:02: out of memory/);
});

test("sandbox: its file can be downloaded", async () => {
  const page = await openKit(world);
  const { file, type, missing, kept } = await page.evaluate(async () => {
    const client = await kit.client();
    const session = await client.agents.createSession("support-bot");
    const first = await kit.play(session, "sandbox");
    const { sandbox_id } = first.turn.snapshot();
    const blob = await client.agents.downloadSandboxFile(sandbox_id, "/workspace/uptime.csv");
    const error = await client.agents.downloadSandboxFile(sandbox_id, "/workspace/none").catch(kit.told);
    const again = await kit.play(session, "sandbox");
    const made = again.events.some((event) => event.type === "sandbox.created");
    return { file: await blob.text(), type: blob.type, missing: error, kept: !made };
  });
  assert.match(file, /^month,uptime_percent,incidents\n2026-06,99\.98,1\n/);
  assert.equal(type, "text/csv");
  assert.deepEqual([missing.name, missing.code, missing.status], ["ApiError", "http", 404]);
  assert.ok(kept);
});

for (const [verdict, expected] of [["allow", /back after \*\*nine seconds\*\*/], ["deny", /left it alone.*“not now”/s]]) {
  test(`approval: ${verdict}`, async () => {
    const page = await openKit(world);
    const { paused, refused, answered, text } = await page.evaluate(async (how) => {
      const session = await kit.session();
      const first = await kit.play(session, "approval");
      const { required_actions, threads } = first.turn.snapshot();
      const [call] = threads[0].messages[0].tool_calls;
      let refused;
      try {
        session.createTurn({ input: "never mind" });
      } catch (error) {
        refused = kit.told(error);
      }
      const [action] = required_actions;
      const input = how === "allow" ? kit.allow(action) : kit.deny(action, "not now");
      const second = await kit.play(session, input);
      const [response] = second.turn.snapshot().threads[0].tool_responses;
      return { paused: { required_actions, status: call.status }, refused, answered: { ...response, waited: call.id }, text: kit.text(second.turn) };
    }, verdict);
    const [action] = paused.required_actions;
    assert.equal(paused.required_actions.length, 1);
    assert.deepEqual([action.type, action.name, paused.status], ["tool.approval_required", "restart_service", "approval_required"]);
    assert.equal(JSON.parse(action.arguments).service, "billing");
    assert.deepEqual([refused.name, refused.code], ["InputError", "invalid_input"]);
    assert.equal(answered.tool_call_id, answered.waited);
    assert.match(text, expected);
  });
}

test("question", async () => {
  const page = await openKit(world);
  const { action, text } = await page.evaluate(async () => {
    const session = await kit.session();
    const { turn } = await kit.play(session, "question");
    const [asked] = turn.snapshot().required_actions;
    const { options } = JSON.parse(asked.arguments);
    const second = await kit.play(session, kit.respond(asked, options[0]));
    return { action: asked, text: kit.text(second.turn) };
  });
  assert.deepEqual([action.type, action.name], ["tool.response_required", "ask_user_question"]);
  assert.match(text, /\*\*Amsterdam\*\* it is/);
});

test("mixed: one turn answers all pending calls, and not fewer", async () => {
  const page = await openKit(world);
  const { actions, partial, text, statuses } = await page.evaluate(async () => {
    const session = await kit.session();
    const { turn } = await kit.play(session, "mixed");
    const { required_actions, threads } = turn.snapshot();
    const answers = required_actions.map((action) =>
      action.type === "tool.approval_required" ? kit.allow(action) : kit.respond(action, "Nobody"),
    );
    let partial;
    try {
      session.createTurn({ input: answers.slice(1) });
    } catch (error) {
      partial = kit.told(error).message;
    }
    const second = await kit.play(session, answers);
    return {
      actions: required_actions.map((action) => action.type),
      statuses: threads[0].messages[0].tool_calls.map((call) => call.status),
      partial: partial.includes(required_actions[0].tool_call_id),
      text: kit.text(second.turn),
    };
  });
  assert.deepEqual(actions, ["tool.response_required", "tool.approval_required"]);
  assert.deepEqual(statuses, ["approval_required", "response_required", "running"]);
  assert.ok(partial, "the error does not name the call that was left out");
  assert.match(text, /four instances.*“Nobody”/);
});

test("a sub-agent's question is answered in its own thread", async () => {
  const page = await openKit(world);
  const { action, child, text } = await page.evaluate(async () => {
    const session = await kit.session();
    const { turn } = await kit.play(session, "subagents approval");
    const { required_actions, threads } = turn.snapshot();
    const second = await kit.play(session, kit.allow(required_actions[0]));
    const own = second.turn.snapshot().threads.find((thread) => thread.id === required_actions[0].thread_id);
    return { action: required_actions[0], child: { status: own.status, known: threads.some((thread) => thread.id === own.id) }, text: kit.text(second.turn) };
  });
  assert.equal(action.name, "roll_back");
  assert.notEqual(action.thread_id, "main");
  assert.deepEqual(child, { status: "done", known: true });
  assert.match(text, /Version 2\.13 is running again/);
});

test("mcp-auth: after the sign-in a turn without input goes on", async () => {
  const page = await openKit(world);
  const { action, left, text, origin } = await page.evaluate(async () => {
    const session = await kit.session();
    const { turn } = await kit.play(session, "mcp-auth");
    const [action] = turn.snapshot().required_actions;
    const second = await kit.play(session, undefined);
    return { action, left: turn.snapshot().required_actions.length, text: kit.text(second.turn), origin: location.origin };
  });
  assert.equal(action.type, "mcp.auth_required");
  assert.equal(left, 0, "nothing waits once the next turn has gone on");
  assert.deepEqual([action.server.id, action.server.auth_url], ["mcp-calendar", `${origin}/authorize/calendar`]);
  assert.match(text, /10:00 to 14:00/);
});
