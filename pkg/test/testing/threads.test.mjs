// Sub-agents and files of a fake server: the same events and snapshots as the development gateway's of the same content.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allow, connect, deny } from "../../dist/index.js";
import { fakeServer } from "../../dist/testing.js";
import { collect } from "../support/collect.mjs";
import { useGateway, WITH_GATEWAY } from "../support/gateway.mjs";

const gateway = useGateway();
const BASES = { truefoundry: "/demo", trueforge: "", tirea: "/tirea", awaken: "/awaken" };
const QUICK = { reconnect: { baseDelay: 1, maxDelay: 5 } };

/** What three sub-agents of the gateway say and do. The last one asks, if `asks` says so. */
const summary =
  "Two of the three came back with an answer:\n\n- **Logs:** the first error was at 13:58, out of memory.\n" +
  "- **Yesterday:** the only change since is version 2.14, deployed at 13:40.\n- **Probe:** failed; the shop refused its connection.\n\n" +
  "Version 2.14 is the likely cause: it was the last thing to change, eighteen minutes before the first error.";
const reader = {
  agent: "log-reader",
  title: "Read the logs",
  input: "Find the first error of today in the logs of shop-web.",
  script: [
    "I will read today's log.",
    { tool: "read_log", arguments: { service: "shop-web", level: "error" }, result: "13:58:02 out of memory: 512 MiB reached" },
    "The first error of today was at 13:58:02: ",
    "out of memory.",
  ],
};
const prober = {
  agent: "prober",
  title: "Probe the site",
  input: "Measure the shop's answer times from outside.",
  script: function* () {
    yield "Measuring from Lisbon.";
    yield { tool: "measure_latency", arguments: { city: "Lisbon" }, result: "Error: connection refused" };
    throw new Error("Sub-agent failed: connection refused");
  },
};
const historian = (script) => ({ agent: "historian", title: "Compare with yesterday", input: "Compare today's deployments with yesterday's.", script });
const unasked = historian(["Yesterday ran version 2.13 all day. Version 2.14 was deployed today at 13:40, ", "and nothing else has changed."]);
const asking = historian(function* () {
  yield "Version 2.14 is the only change since yesterday. I would go back to 2.13.";
  const [{ allowed }] = yield { tool: "roll_back", arguments: { service: "shop-web", version: "2.13" }, result: { version: "2.13" }, approval: true };
  yield allowed ? "Version 2.13 is running again." : "Version 2.14 stays, as you wish.";
});

async function* FAITHFUL({ text }) {
  const asks = text === "subagents approval";
  yield "Three things to look into. I will have them done at the same time.";
  const [, failed, last] = yield [reader, prober, asks ? asking : unasked];
  assert.equal(failed.content, "Error: Sub-agent failed: connection refused");
  yield asks ? `${summary}\n\n${last.content}` : summary;
}

const real = (protocol) => connect({ baseUrl: gateway.url + BASES[protocol], protocol, fetch: (url, init) => fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), "x-turnwire-delay-ms": "1" } }) });

async function fake(protocol, script, ...faults) {
  const server = fakeServer(script, { protocol });
  server.fail(...faults);
  return { server, client: await connect({ ...server.connection, ...QUICK }) };
}

/** Plays a turn, and the one that answers what it asks: their events and snapshots, in words of both servers. */
async function played(client, text, decide = allow) {
  const session = await client.agents.createSession("support-bot");
  const turns = [];
  for (let input = text; input; ) {
    const turn = session.createTurn(input);
    const { events, error } = await collect(turn.stream());
    assert.equal(error, undefined);
    const snapshot = turn.snapshot();
    turns.push({ events: byThread(events), threads: threadsOf(snapshot), asks: snapshot.required_actions.map(({ type, name, thread_id }) => [type, name, thread_id === "main"]) });
    input = snapshot.required_actions.length > 0 && snapshot.required_actions.map((action) => decide(action));
  }
  client.close();
  return turns;
}

/**
 * The events of each thread, by its title; or by its first call, where all titles are the same. Reports on tool servers,
 * on the server's state, and the number of pieces are each server's own.
 */
function byThread(events) {
  const threads = {};
  const titles = {};
  const last = {};
  for (const { type, thread_id, title, tool_calls } of events) {
    if (type === "thread.created") titles[thread_id] = title;
    if (type === "model.message" && titles[thread_id] === "create_sub_agent") titles[thread_id] = tool_calls[0].function.name;
  }
  for (const { type, thread_id, state } of events) {
    const thread = titles[thread_id] ?? (thread_id === null ? "turn" : thread_id === "main" ? "main" : "earlier");
    if (/^(mcp.initialize|activity.snapshot|state.snapshot)$/.test(type) || (type === "model.message.delta" && last[thread] === type)) continue;
    last[thread] = type;
    (threads[thread] ??= []).push(type === "thread.done" ? `${type} ${state.status} ${state.error ?? ""}` : type);
  }
  return threads;
}

/** The main thread, and the others by their titles and calls: sub-agents that work at the same time begin in any order. */
function threadsOf({ threads }) {
  const keyOf = ({ title, messages }) => `${title} ${messages[0]?.tool_calls[0]?.name}`;
  const [main, ...others] = threads;
  return [main, ...others.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))].map(threadOf);
}

function threadOf({ title, parent, agent_info, status, error, messages, tool_responses }) {
  const callOf = ({ name, arguments: given, status: state, response, progress, thread_id }) => ({
    name,
    given: JSON.parse(given || "{}"),
    state,
    response: response?.content.replace(/"run_id":"[^"]*"/, ""),
    progress: progress && [progress.status, progress.progress, progress.message],
    leads: thread_id != null,
  });
  return {
    title,
    from: parent?.thread_id,
    agent: agent_info?.name,
    input: agent_info?.input,
    status,
    error,
    messages: messages.map(({ content, finish_reason, tool_calls }) => ({ content, finish_reason, calls: tool_calls.map(callOf) })),
    // Each server has its own words for a denial.
    responses: tool_responses.map(({ content }) => (/the user denied this/i.test(content) ? "denied" : content)),
  };
}

/** The protocols whose sub-agents are seen by their calls only, and ask nothing in a script. */
const WITHOUT_WORDS = { tirea: true, awaken: true };

for (const protocol of Object.keys(BASES)) describe(protocol, () => {
  test("sub-agents have the gateway's events and snapshot", WITH_GATEWAY, async () => {
    const [expected] = await played(await real(protocol), "subagents");
    const [turn] = await played((await fake(protocol, FAITHFUL)).client, "subagents");
    // Where only calls are shown, a sub-agent without one has no thread.
    assert.equal(expected.threads.length, protocol in WITHOUT_WORDS ? 3 : 4);
    assert.deepEqual(turn, expected);
  });

  if (!(protocol in WITHOUT_WORDS)) for (const [answer, decide] of Object.entries({ allow, deny })) {
    test(`a sub-agent's call waits, and the next turn goes on in its thread: ${answer}`, WITH_GATEWAY, async () => {
      const expected = await played(await real(protocol), "subagents approval", decide);
      const turns = await played((await fake(protocol, FAITHFUL)).client, "subagents approval", decide);
      assert.deepEqual(expected[0].asks, [["tool.approval_required", "roll_back", false]]);
      assert.deepEqual(turns, expected);
    });
  }

  // tirea drops a run with its reader.
  if (protocol !== "tirea") test("a connection that is cut inside a sub-agent loses and repeats nothing", async () => {
    const [whole] = await played((await fake(protocol, FAITHFUL)).client, "subagents");
    for (const after of protocol === "awaken" ? [17, 18, 19, 20] : [14, 17, 20, 24]) {
      const { client } = await fake(protocol, FAITHFUL, `reset:${after}`);
      const turn = (await client.agents.createSession("support-bot")).createTurn("subagents");
      let open;
      turn.on("reconnecting", () => (open = turn.snapshot().threads.filter(({ id, status }) => id !== "main" && status === "running").length));
      const { events } = await collect(turn.stream());
      assert.ok(open > 0, `${after}: no sub-agent was at work`);
      assert.deepEqual({ events: byThread(events), threads: threadsOf(turn.snapshot()) }, { events: whole.events, threads: whole.threads });
    }
  });

  if (!(protocol in WITHOUT_WORDS)) test("a sub-agent begins another one, and receives its last message", async () => {
    const { client } = await fake(protocol, function* () {
      const [{ content }] = yield {
        agent: "outer",
        script: function* ({ text, agent }) {
          yield `${agent}${text}`;
          const [inner] = yield { agent: "inner", input: "Add", script: ({ text: task }) => ["Thinking", { tool: "sum", result: 4 }, task, "ed 4"] };
          yield `Inner: ${inner.content}`;
        },
      };
      yield `Outer: ${content}`;
    });
    const [{ threads }] = await played(client, "Hi");
    assert.deepEqual(threads.map(({ title, messages }) => [title, messages.at(-1).content]), [[null, "Outer: Inner: Added 4"], ["inner", "Added 4"], ["outer", "Inner: Added 4"]]);
    assert.deepEqual(threads.map(({ from }) => from === "main"), [false, false, true]);
  });

  if (!(protocol in WITHOUT_WORDS)) test("a file is downloaded, and has the gateway's events", WITH_GATEWAY, async () => {
    const table = "month,uptime_percent,incidents\n2026-06,99.98,1\n2026-07,100.00,0\n2026-08,99.71,3\n2026-09,99.99,1\n";
    const path = "/workspace/uptime.csv";
    const script = [{ file: path, content: table, type: "text/csv" }, "I will collect the numbers.", { tool: "sandbox_exec", result: "" }, "Ready."];
    const outcomes = [];
    for (const client of [await real(protocol), (await fake(protocol, script)).client]) {
      const session = await client.agents.createSession("support-bot");
      const turn = session.createTurn("sandbox");
      const { events } = await collect(turn.stream());
      const where = protocol === "truefoundry" ? turn.snapshot().sandbox_id : { sessionId: session.id, turnId: turn.id };
      const file = await client.agents.downloadSandboxFile(where, path);
      const error = await client.agents.downloadSandboxFile(where, "/nothing").catch((reason) => reason);
      outcomes.push({ events: byThread(events), text: await file.text(), type: file.type, status: error.status });
      client.close();
    }
    assert.equal(outcomes[0].text, table);
    assert.deepEqual(outcomes[1], outcomes[0]);
  });
});

test("a session keeps its sandbox; bytes and other types are files too", async () => {
  const { server, client } = await fake("truefoundry", [{ file: "/a.bin", content: new Uint8Array([1, 2, 250]) }]);
  const session = await client.agents.createSession("support-bot");
  const first = session.createTurn("Hi");
  await first.waitForCompletion();
  server.script = [{ file: "/b.txt", content: "b" }];
  const second = session.createTurn("Hi");
  const { events } = await collect(second.stream());
  assert.equal(events.filter(({ type }) => type === "sandbox.created").length, 0);
  const file = await client.agents.downloadSandboxFile(first.snapshot().sandbox_id, "/a.bin");
  assert.deepEqual([...new Uint8Array(await file.arrayBuffer())], [1, 2, 250]);
  assert.equal(await (await client.agents.downloadSandboxFile(first.snapshot().sandbox_id, "/b.txt")).text(), "b");
});

const STEPS = { agent: { agent: "helper", script: "Hello" }, file: { file: "/a", content: "a" } };
for (const [protocol, refused] of Object.entries({ tirea: ["file"], awaken: ["file"], aap: ["agent", "file"], "turn-rpc": ["agent", "file"], codex: ["agent", "file"] })) {
  for (const kind of refused) {
    test(`${protocol}: a script with the step \`${kind}\` is refused, and a generator fails its turn`, async () => {
      const step = STEPS[kind];
      const message = `the fake of \`${protocol}\` has no step \`${kind}\``;
      assert.throws(() => fakeServer(["Here", step], { protocol }), { name: "TypeError", message });
      const { server, client } = await fake(protocol, function* () {
        yield step;
      });
      assert.throws(() => (server.script = [step]), { name: "TypeError", message });
      const session = await client.agents.createSession({ aap: "agent", "turn-rpc": "Chat" }[protocol] ?? "agent");
      const turn = session.createTurn("Hi");
      await turn.waitForCompletion();
      assert.equal(turn.status, "error");
      // AAP has no field for the cause.
      if (protocol !== "aap") assert.ok(turn.snapshot().error.message.includes(message));
      client.close();
    });
  }
}

for (const protocol of Object.keys(WITHOUT_WORDS)) {
  test(`${protocol}: a sub-agent's call that would wait is refused`, async () => {
    const script = [{ tool: "ask" }];
    const message = /no call of a sub-agent can wait: `ask`/;
    assert.throws(() => fakeServer([{ agent: "helper", script }], { protocol }), { name: "TypeError", message });
    const { client } = await fake(protocol, async function* () {
      const [{ content }] = yield { agent: "helper", script: () => script };
      yield content;
    });
    const [{ threads }] = await played(client, "Hi");
    assert.match(threads[0].messages.at(-1).content, message);
  });
}

test("a message with a sub-agent has no call that waits", async () => {
  const { client } = await fake("truefoundry", [[{ agent: "helper", script: "Hello" }, { tool: "ask" }]]);
  const turn = (await client.agents.createSession("support-bot")).createTurn("Hi");
  await turn.waitForCompletion();
  assert.match(turn.snapshot().error.message, /cannot begin in one message/);
});

test("sub-agents that wait become pending in one turn", async () => {
  const asks = (name) => ({
    agent: name,
    script: function* () {
      const [first, second] = yield [{ tool: "write", arguments: { name }, result: `${name} written`, approval: true }, { tool: "read", result: "read" }];
      yield `${first.allowed ? first.content : first.reason}, ${second.content}`;
    },
  });
  const { client } = await fake("trueforge", function* () {
    const told = yield [asks("a"), asks("b"), { agent: "c", script: ["Just ", "this"] }];
    yield told.map(({ content }) => content).join("; ");
  });
  const session = await client.agents.createSession("support-bot");
  const first = session.createTurn("Hi");
  await first.waitForCompletion();
  const [a, b] = first.snapshot().required_actions;
  assert.equal(first.snapshot().required_actions.length, 2);
  assert.deepEqual(first.snapshot().threads.map(({ title, status }) => [title, status]), [[null, "running"], ["a", "running"], ["b", "running"], ["c", "done"]]);
  const second = session.createTurn([allow(a), deny(b, "not today")]);
  await second.waitForCompletion();
  assert.equal(second.snapshot().threads[0].messages[0].content, "a written, read; not today, read; Just this");
});
