// The dialogs of the Agent Application Protocol, as section 5 of its note lists them, through the package in a real page:
// whichever way the answers come, the conversation is the same, and another page reads the same from the history.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { useWorld } from "./harness.mjs";
import { openKit } from "./kit.mjs";

const world = useWorld();
const MODES = ["delta", "message", "none"];

/** Runs in the page, where it installs `dialogs`. */
function installDialogs() {
  const product = ({ expression }) => expression.split("*").reduce((value, factor) => value * Number(factor), 1);
  const clock = { description: "Tells the time", run: ({ zone }) => `noon in ${zone}` };
  const calculator = { description: "Multiplies", run: product };
  const broken = { description: "Multiplies", run: () => { throw new Error("no batteries"); } };
  const ask = { description: "Asks the user", run: null };
  const TOOLS = { clock, calculator };
  const trusting = (...names) => names.map((name) => ({ name, trust: true }));
  const remembering = (action) => ({ ...kit.allow(action), approval: { status: "allow", remember: true } });
  /** Denies every second call. */
  const byTurns = (action, at) => (at % 2 === 1 ? kit.deny(action, "one is enough") : kit.allow(action));

  /** By first message: how pending calls are decided, the tools, and the messages after that. */
  const DIALOGS = {
    "no tool": { text: "plain" },
    "thinking": { text: "reasoning" },
    "client tools, side by side": { text: "page" },
    "client tools, round after round": { text: "page rounds 3" },
    "a client tool that fails": { text: "page", tools: { clock, calculator: broken } },
    "a client tool that a person answers": { text: "question", tools: { ask_user_question: ask }, decide: (action) => kit.respond(action, "Virginia") },
    "trusted server tools": { text: "tools", agentTools: trusting("list_services", "read_log") },
    "untrusted, granted": { text: "approval", decide: kit.allow },
    "untrusted, denied": { text: "approval", decide: (action) => kit.deny(action) },
    "untrusted, denied with a reason": { text: "approval", decide: (action) => kit.deny(action, "not now") },
    "untrusted, one after the other": { text: "tools", decide: kit.allow },
    "untrusted, side by side, granted and denied": { text: "parallel", decide: byTurns },
    "granted for good": { text: "tools", decide: remembering, next: "tools" },
    "client and untrusted": { text: "page mixed", decide: kit.allow },
    "client and untrusted, denied": { text: "page mixed", decide: (action) => kit.deny(action, "not now") },
    "client and trusted": { text: "page mixed", agentTools: trusting("restart_service") },
    "an unexposed server tool that runs": { text: "tools", agentTools: [] },
    "an unexposed server tool that waits": { text: "approval", agentTools: [], decide: kit.allow },
    "out of tokens": { text: "length" },
    "a refusal": { text: "refusal late" },
  };

  /** The messages and calls, without the ids, which differ each time. */
  function gist(turns) {
    const threads = turns.flatMap((turn) => turn.snapshot().threads);
    const results = new Map(threads.flatMap(({ tool_responses }) => tool_responses.map((one) => [one.tool_call_id, one.content])));
    return threads.flatMap(({ messages }) => messages).map(({ content, reasoning_content, tool_calls }) => ({
      content: content.replace(/\bcall_\w+|\bsbx-\w+/g, "…"),
      reasoning: reasoning_content,
      calls: tool_calls.map(({ id, name, arguments: json, response }) => ({
        name, input: JSON.parse(json || "{}"), result: response?.content ?? results.get(id),
      })),
    }));
  }

  const baseUrl = `${location.origin}/aap`;

  /** Plays a dialog to its end, in this mode. */
  async function hold(name, mode) {
    const { text, next, tools = TOOLS, agentTools, decide } = DIALOGS[name];
    const bodies = [];
    const noting = (url, init) => {
      if (init?.method === "POST" && String(url).endsWith("/turns")) bodies.push(JSON.parse(init.body));
      return fetch(url, init);
    };
    const client = await kit.client({ protocol: "aap", baseUrl, fetch: noting });
    const session = await client.agents.createSession("support-bot", { stream: mode, ...(agentTools && { agentTools }) });
    session.tools(tools);
    const turns = [];
    const asked = [];
    for (const said of next ? [text, next] : [text]) {
      for (let input = said; input; ) {
        const run = session.run(input);
        for await (const turn of run) {
          turns.push(turn);
          for await (const _ of turn.stream());
        }
        const actions = turns.at(-1).snapshot().required_actions.filter((action) => !tools[action.name]?.run);
        asked.push(...actions.map((action) => `${action.type.split(".")[1]} ${action.name}`));
        input = actions.length > 0 ? actions.map(decide) : undefined;
      }
    }
    const { status, state } = turns.at(-1).snapshot();
    return { id: session.id, bodies, asked, conversation: gist(turns), status, termination: state.termination?.type };
  }

  /** The dialog in the history. */
  async function read(id) {
    const client = await kit.client({ protocol: "aap", baseUrl });
    const turns = await (await client.agents.getSession(id)).history();
    const last = turns.at(-1).snapshot();
    return { conversation: gist(turns), status: last.status, waiting: last.required_actions.length };
  }

  globalThis.dialogs = { names: Object.keys(DIALOGS), hold, read };
}

/** The specifics of a dialog: the questions, the number of requests, the last message. */
const EXPECTED = {
  "no tool": { requests: 1, said: /^Here is a plain answer/ },
  "thinking": { requests: 1, said: /^\*\*Tuesday/ },
  "client tools, side by side": { requests: 2, said: /it is noon in Asia\/Tokyo in Tokyo, and that six times seven is 42\.$/ },
  "client tools, round after round": { requests: 4, said: /^Your page calculated: 6, 12, 18\.$/ },
  "a client tool that fails": { requests: 2, said: /is Tool execution failed: no batteries\.$/ },
  "a client tool that a person answers": { requests: 2, asked: ["response_required ask_user_question"], said: /^\*\*Virginia\*\* it is\./ },
  "trusted server tools": { requests: 1, said: /runs out of memory/ },
  "untrusted, granted": { requests: 2, asked: ["approval_required restart_service"], said: /is running again/ },
  "untrusted, denied": { requests: 2, asked: ["approval_required restart_service"], said: /^All right, I have left it alone\. I can/ },
  "untrusted, denied with a reason": { requests: 2, asked: ["approval_required restart_service"], said: /You wrote: “not now”/ },
  "untrusted, one after the other": { requests: 3, asked: ["approval_required list_services", "approval_required read_log"], said: /runs out of memory/ },
  "untrusted, side by side, granted and denied": { requests: 2, asked: Array(3).fill("approval_required measure_latency"), said: /./ },
  "granted for good": { requests: 4, asked: ["approval_required list_services", "approval_required read_log"], said: /runs out of memory/ },
  "client and untrusted": { requests: 2, asked: ["approval_required restart_service"], said: /^It was noon in Asia\/Tokyo .* is running again\.$/ },
  "client and untrusted, denied": { requests: 2, asked: ["approval_required restart_service"], said: /^It was noon in Asia\/Tokyo .* was left alone\.$/ },
  "client and trusted": { requests: 2, said: /^It was noon in Asia\/Tokyo .* is running again\.$/ },
  "an unexposed server tool that runs": { requests: 1, said: /runs out of memory/ },
  "an unexposed server tool that waits": { requests: 2, asked: ["approval_required restart_service"], said: /is running again/ },
  "out of tokens": { requests: 1, said: /Third,/, termination: "max_tokens" },
  "a refusal": { requests: 1, said: /without its key/, termination: "refusal" },
};

async function openPage() {
  const page = await openKit(world);
  await page.evaluate(installDialogs);
  return page;
}

/** The page that holds the dialogs, and the one that reads them from the history: opened on demand. */
const pages = ((opened) => () => (opened ??= Promise.all([openPage(), openPage()])))();

const hold = async (name, mode = "delta") => {
  const [page] = await pages();
  return page.evaluate(([name, mode]) => dialogs.hold(name, mode), [name, mode]);
};

test("each dialog has its expectations", async () => {
  const [page] = await pages();
  assert.deepEqual(await page.evaluate(() => dialogs.names), Object.keys(EXPECTED));
});

for (const [name, { requests, asked = [], said, termination = "end_turn" }] of Object.entries(EXPECTED)) {
  describe(name, () => {
    let first;
    for (const mode of MODES) {
      test(`stream: ${mode}`, async () => {
        const held = await hold(name, mode);
        const [page, other] = await pages();
        assert.equal(held.status, "done");
        assert.equal(held.termination, termination);
        assert.deepEqual(held.asked, asked);
        assert.match(held.conversation.at(-1).content, said);
        assert.deepEqual(held.bodies.map(({ stream }) => stream), Array(requests).fill(mode));
        const calls = held.conversation.flatMap(({ calls }) => calls);
        assert.ok(calls.every(({ result }) => typeof result === "string"), JSON.stringify(calls));
        const read = await other.evaluate((id) => dialogs.read(id), held.id);
        assert.deepEqual(read, { conversation: held.conversation, status: "done", waiting: 0 });
        first ??= held.conversation;
        assert.deepEqual(held.conversation, first, "as in the modes before");
        assert.deepEqual([...page.failures, ...other.failures], []);
      });
    }
  });
}

test("all pending calls are answered in one request, by a result and a permission", async () => {
  const { bodies } = await hold("client and untrusted");
  const [, { messages }] = bodies;
  assert.deepEqual(messages.map(({ role, granted, content }) => ({ role, granted, content })), [
    { role: "tool_permission", granted: true, content: undefined },
    { role: "tool", granted: undefined, content: "noon in Asia/Tokyo" },
  ]);
});

test("tools are declared once, and trust for later calls is sent with the grant", async () => {
  const { bodies } = await hold("granted for good");
  assert.deepEqual(bodies.map(({ tools }) => tools?.map(({ name }) => name)), [["clock", "calculator"], undefined, undefined, undefined]);
  const trusted = bodies.map(({ agent }) => agent?.tools.filter(({ trust }) => trust).map(({ name }) => name));
  assert.deepEqual(trusted, [undefined, ["list_services"], ["list_services", "read_log"], undefined]);
});
