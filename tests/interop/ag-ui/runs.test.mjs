// The official client against the gateway, on the streams that the specification allows; and what it refuses.
//
// `cargo xtask interop ag-ui` installs what it needs, and names the gateway by TURNWIRE_GATEWAY.
import { HttpAgent } from "@ag-ui/client";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { agentAt, flaw, frames, lastText, say, useGateway } from "./world.mjs";

const world = useGateway();
const plain = (fault) => agentAt(`${world.url}/ag-ui${fault ? `?fault=${fault}` : ""}`);
const tool = (name) => ({ name, description: "A tool of the page.", parameters: { type: "object" } });
const results = (agent) => agent.messages.filter(({ role }) => role === "tool");

/** Runs a message under a fault, and checks each frame by the schema. */
async function accepted(agent, words, parameters) {
  const result = await say(agent, words, parameters);
  assert.equal(result.error, undefined);
  for (const event of agent.seen.frames) assert.equal(flaw(event), undefined, JSON.stringify(event));
  assert.deepEqual(agent.seen.warnings, []);
  return result;
}

describe("scripts", () => {
  const scripts = [
    "plain", "reasoning", "markdown", "unicode", "tools", "parallel", "approval", "question", "mixed", "page", "page rounds 1", "page mixed",
    "subagents", "subagents approval", "mcp-auth", "sandbox", "file", "long 300", "refusal", "refusal late", "state", "activity", "parts",
    "custom", "roles", "input", "hello", "file a ticket",
  ];
  for (const words of scripts) {
    test(words, async () => {
      const agent = plain();
      const { outcome, runError } = await accepted(agent, words);
      assert.ok(["success", "interrupt"].includes(outcome), outcome);
      assert.equal(runError, undefined);
    });
  }

  test("error, length: the text stays", async () => {
    for (const words of ["error", "length"]) {
      const agent = plain();
      const { runError } = await accepted(agent, words);
      assert.equal(runError.code, "MODEL_ERROR");
      assert.ok(lastText(agent).length > 20);
    }
  });

  test("unicode and 2,000 deltas arrive whole", async () => {
    const agent = plain();
    await accepted(agent, "unicode");
    assert.match(lastText(agent), /\u2028.*\u2029.*\u0085/);
    await accepted(agent, "long 2000");
    assert.equal(agent.seen.frames.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").length, 2000);
  });

  test("sub-agents: each has its own stream, one fails", async () => {
    const agent = plain();
    await accepted(agent, "subagents");
    const ends = agent.seen.frames.filter(({ type }) => /SUBAGENT_(FINISHED|ERROR)/.test(type)).map(({ type }) => type).sort();
    assert.deepEqual(ends, ["SUBAGENT_ERROR", "SUBAGENT_FINISHED", "SUBAGENT_FINISHED"]);
    assert.equal(results(agent).length, 5);
  });
});

describe("pending calls", () => {
  test("page tools: pending calls, answered by tool messages, in rounds", async () => {
    const agent = plain();
    const tools = [tool("calculator"), tool("clock")];
    let { pending, outcome } = await accepted(agent, "page rounds 3", { tools });
    for (const round of [1, 2, 3]) {
      assert.equal(outcome, "success");
      assert.equal(pending.length, 1);
      agent.addMessage({ id: crypto.randomUUID(), role: "tool", toolCallId: pending[0], content: String(6 * round) });
      ({ pending, outcome } = await accepted(agent, undefined, { tools }));
    }
    assert.equal(lastText(agent), "Your page calculated: 6, 12, 18.");
    assert.deepEqual(pending, []);
  });

  test("tools that the page does not have: the server runs them", async () => {
    const agent = plain();
    const { pending } = await accepted(agent, "page");
    assert.deepEqual(pending, []);
    assert.deepEqual(results(agent).map(({ content }) => content), ["09:30 (Asia/Tokyo)", "42"]);
  });

  const answer = (interrupts, payload) =>
    interrupts.map(({ id }) => (payload === undefined ? { interruptId: id, status: "cancelled" } : { interruptId: id, status: "resolved", payload }));

  for (const [name, payload, said, result] of [
    ["granted", { approved: true }, /is running again/, /took_seconds/],
    ["denied", { approved: false, reason: "Not now." }, /You wrote: “Not now.”/, /Reason: Not now\./],
    ["edited", { approved: true, editedArgs: { service: "shop" } }, /is running again/, /"arguments":\{"service":"shop"\}/],
    ["cancelled", undefined, /left it alone/, /denied/],
  ]) {
    test(`an approval is ${name}`, async () => {
      const agent = plain();
      const { outcome, interrupts } = await accepted(agent, "approval");
      assert.equal(outcome, "interrupt");
      assert.deepEqual(interrupts.map(({ reason, toolCallId }) => [reason, typeof toolCallId]), [["tool_call", "string"]]);
      assert.equal((await accepted(agent, undefined, { resume: answer(interrupts, payload) })).outcome, "success");
      assert.match(lastText(agent), said);
      assert.match(results(agent)[0].content, result);
    });
  }

  test("a question, with and without the page's own tool", async () => {
    const agent = plain();
    const { interrupts } = await accepted(agent, "question");
    assert.equal(interrupts[0].reason, "input_required");
    await accepted(agent, undefined, { resume: answer(interrupts, "Virginia") });
    assert.match(lastText(agent), /^\*\*Virginia\*\* it is/);
    const { pending } = await accepted(agent, "question", { tools: [tool("ask_user_question")] });
    agent.addMessage({ id: "answer", role: "tool", toolCallId: pending[0], content: "Singapore" });
    await accepted(agent, undefined, { tools: [tool("ask_user_question")] });
    assert.match(lastText(agent), /^\*\*Singapore\*\* it is/);
  });

  test("a page's tool and an approval are answered in one run", async () => {
    const agent = plain();
    const tools = [tool("clock")];
    const { outcome, interrupts } = await accepted(agent, "page mixed", { tools });
    assert.equal(outcome, "interrupt");
    const clock = agent.messages.flatMap(({ toolCalls = [] }) => toolCalls).find((call) => call.function.name === "clock");
    agent.addMessage({ id: "time", role: "tool", toolCallId: clock.id, content: "23:10" });
    await accepted(agent, undefined, { tools, resume: answer(interrupts, { approved: true }) });
    assert.match(lastText(agent), /23:10 on your page’s clock, and the billing service is running again/);
  });

  test("two interrupts and a call that does not wait", async () => {
    const agent = plain();
    const { interrupts } = await accepted(agent, "mixed");
    assert.equal(interrupts.length, 2);
    assert.equal(results(agent).length, 1, "the plain call has run");
    const resume = interrupts.map(({ id, toolCallId }) => ({
      interruptId: id, status: "resolved", payload: toolCallId ? { approved: true } : "Nobody",
    }));
    await accepted(agent, undefined, { resume });
    assert.match(lastText(agent), /has four instances.*“Nobody”/s);
    assert.equal(results(agent).length, 3);
  });

  test("a sub-agent is suspended, and goes on", async () => {
    const agent = plain();
    const { interrupts } = await accepted(agent, "subagents approval");
    const suspended = agent.seen.frames.find(({ type, outcome }) => type === "SUBAGENT_FINISHED" && outcome.type === "suspended");
    assert.deepEqual(suspended.outcome.interruptIds, [interrupts[0].id]);
    assert.equal(suspended.subagentRunId, interrupts[0].subagentRunId);
    await accepted(agent, undefined, { resume: answer(interrupts, { approved: true }) });
    assert.ok(agent.seen.frames.some(({ type, subagentRunId }) => type === "SUBAGENT_STARTED" && subagentRunId === suspended.subagentRunId));
    assert.match(lastText(agent), /Version 2.13 is running again/);
  });

  test("a sign-in has a reason of its own and no schema", async () => {
    const agent = plain();
    const { interrupts } = await accepted(agent, "mcp-auth");
    assert.equal(interrupts[0].reason, "turnwire:authorization");
    assert.equal(interrupts[0].responseSchema, undefined);
    await accepted(agent, undefined, { resume: answer(interrupts, {}) });
    assert.match(lastText(agent), /Tomorrow has two entries/);
  });
});

describe("state, activities and history", () => {
  test("the state is patched, and comes back with the next run", async () => {
    const agent = plain();
    await accepted(agent, "state");
    const state = { orders: 3, items: ["books", "lamps"], first: "tea", deep: { list: [[0.5, 1], {}], copied: "books" } };
    assert.deepEqual(agent.state, state);
    await accepted(agent, "state");
    assert.deepEqual(agent.seen.requests[1].state, state);
    assert.ok(agent.messages.some(({ content }) => content?.startsWith?.("Your page sent {") && content.includes('"orders":3')));
  });

  test("a ticket is a fact of the state", async () => {
    const agent = plain();
    const { interrupts } = await accepted(agent, "Please file a ticket");
    await accepted(agent, undefined, { resume: [{ interruptId: interrupts[0].id, status: "resolved", payload: { approved: true } }] });
    assert.match(agent.state.ticket, /^SM-\d+$/);
    await accepted(agent, "How is my ticket?");
    assert.match(lastText(agent), new RegExp(`${agent.state.ticket}.*is in progress`));
  });

  test("activities", async () => {
    const agent = plain();
    await accepted(agent, "activity");
    const [plan, search] = agent.messages.filter(({ role }) => role === "activity");
    assert.deepEqual(plan.content.steps.map(({ done }) => done), [true, false]);
    assert.deepEqual(search.content, { query: "memory", found: 4, done: true });
  });

  test("a result in parts", async () => {
    const agent = plain();
    await accepted(agent, "parts");
    assert.deepEqual(results(agent)[0].content.map(({ type }) => type), ["text", "image", "document", "audio"]);
  });

  test("reasoning is sealed, and both come back", async () => {
    const agent = plain();
    await accepted(agent, "reasoning");
    await accepted(agent, "plain");
    const reasoning = agent.seen.requests[1].messages.find(({ role }) => role === "reasoning");
    assert.match(reasoning.encryptedValue, /^sealed:/);
  });

  test("a file is reported", async () => {
    const agent = plain();
    const source = { type: "data", value: "aGVsbG8=", mimeType: "image/png" };
    agent.addMessage({ id: "f", role: "user", content: [{ type: "text", text: "file" }, { type: "image", source }] });
    await accepted(agent, undefined);
    assert.match(lastText(agent), /type `image\/png`, 5 bytes/);
  });
});

describe("variants that the specification allows", () => {
  for (const fault of [
    "no-version", "seconds", "raw", "steps", "chunks", "open-text", "repeat-reasoning", "no-parent", "lost-parent", "whole-arguments", "result-ids",
    "no-results", "messages-snapshot", "new-ids", "no-text", "partial-state", "cancelled", "late-error", "error-first", "confirm-changes",
    "on-interrupt", "accepted-call", "confirmation-call", "silence:20", "unknown-type",
  ]) {
    test(fault, async () => {
      for (const words of ["reasoning", "parallel", "approval", "plain", "tools"]) {
        const { error } = await say(plain(fault), words);
        assert.equal(error, undefined, words);
      }
    });
  }

  test("chunks make the same messages", async () => {
    for (const words of ["tools", "parallel", "subagents", "reasoning"]) {
      const [whole, chunked] = [plain(), plain("chunks")];
      await accepted(whole, words);
      await accepted(chunked, words);
      assert.ok(!chunked.seen.frames.some(({ type }) => /_(CONTENT|ARGS)$/.test(type)));
      const told = (agent) => agent.messages.slice(1).map(({ role, content, toolCalls = [] }) =>
        [role, content ?? "", toolCalls.map((call) => call.function)]);
      assert.deepEqual(told(chunked), told(whole), words);
    }
  });

  test("0.x, whose events the schema of 1.0 still knows", async () => {
    for (const fault of ["legacy", "legacy+thinking"]) {
      for (const words of ["plain", "tools", "subagents", "approval"]) {
        const agent = plain(fault);
        const { error } = await say(agent, words);
        assert.equal(error, undefined, words);
        assert.ok(agent.seen.frames.every((event) => !("timestamp" in event) && !("protocolVersion" in event)));
      }
    }
  });
});

test("stop: a run that is left keeps what came, and the next one goes on", async () => {
  const agent = new HttpAgent({ url: `${world.url}/ag-ui?delay_ms=30` });
  agent.addMessage({ id: "u", role: "user", content: "long 2000" });
  await agent.runAgent({}, { onTextMessageContentEvent: ({ textMessageBuffer }) => void (textMessageBuffer.length > 20 && agent.abortRun()) });
  assert.ok(lastText(agent).length < 1000, lastText(agent));
  const next = plain();
  next.setMessages(agent.messages);
  await accepted(next, "plain");
  assert.equal(next.seen.requests[0].messages.length, 3);
});

describe("what the official client refuses", () => {
  for (const [fault, words] of [
    ["duplicate-start", "parallel"],
    ["bare-finish", "plain"],
  ]) {
    test(fault, async () => assert.notEqual((await say(plain(fault), words)).error, undefined));
  }

  test("stray-end", async () => {
    const agent = plain();
    const { interrupts } = await accepted(agent, "approval");
    agent.url = `${world.url}/ag-ui?fault=stray-end`;
    const resume = [{ interruptId: interrupts[0].id, status: "resolved", payload: { approved: false } }];
    assert.notEqual((await say(agent, undefined, { resume })).error, undefined);
  });
});

describe("servers that keep the conversation", () => {
  test("a thread is read again with no messages, and still waits", async () => {
    const url = `${world.url}/ag-ui/store`;
    const threadId = crypto.randomUUID();
    const first = agentAt(url, { threadId });
    await accepted(first, "plain");
    const { interrupts } = await accepted(first, "approval");
    const second = agentAt(url, { threadId });
    const again = await accepted(second, undefined);
    assert.deepEqual(again.interrupts.map(({ id }) => id), interrupts.map(({ id }) => id));
    assert.deepEqual(second.messages.map(({ id }) => id), first.messages.map(({ id }) => id));
    await accepted(second, undefined, { resume: [{ interruptId: interrupts[0].id, status: "resolved", payload: { approved: true } }] });
    assert.match(lastText(second), /is running again/);
  });

  test("connect: ended runs, compacted, make the same messages", async () => {
    const url = (what) => `${world.url}/ag-ui/copilotkit/agent/support-bot/${what}`;
    const threadId = crypto.randomUUID();
    const first = agentAt(url("run"), { threadId });
    await accepted(first, "tools");
    await accepted(first, "state");
    const second = agentAt(url("connect"), { threadId });
    await accepted(second, undefined);
    const told = (agent) => agent.messages.map(({ id, role, content }) => [id, role, content]);
    assert.deepEqual(told(second), told(first));
    assert.deepEqual(second.state, first.state);
    assert.equal(second.seen.frames.filter(({ type }) => type === "RUN_STARTED").length, 2);
    const deltas = second.seen.frames.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").map(({ messageId }) => messageId);
    assert.equal(new Set(deltas).size, deltas.length, "one piece for each text");
  });

  test("stop: the stream ends without ids", async () => {
    const base = `${world.url}/ag-ui/copilotkit/agent/support-bot`;
    const threadId = crypto.randomUUID();
    const post = (path, body) => fetch(`${base}/${path}`, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
    });
    const running = await post("run?delay_ms=30", { threadId, runId: "r", messages: [{ id: "u", role: "user", content: "plain" }] });
    const connected = await post("connect", { threadId, runId: "c", messages: [] });
    const busy = await post("run", { threadId, runId: "r2", messages: [{ id: "u", role: "user", content: "plain" }] });
    assert.equal(await busy.text(), "");
    assert.equal((await (await post(`stop/${threadId}`, {})).json()).stopped, true);
    const [told, again] = await Promise.all([running.text(), connected.text()]);
    assert.deepEqual(frames(told), frames(again));
    const { timestamp, ...last } = frames(told).at(-1);
    assert.deepEqual(last, { type: "RUN_FINISHED" });
    assert.equal((await (await post(`stop/${threadId}`, {})).json()).stopped, false);
  });
});
