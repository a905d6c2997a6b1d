// What a script can say and do at a fake server, in each protocol.
import assert from "node:assert/strict";
import { test } from "node:test";
import { allow, connect, deny, respond } from "../../dist/index.js";
import { fakeServer } from "../../dist/testing.js";
import { cancelledMidway } from "../support/collect.mjs";
import { PROTOCOLS } from "../support/protocols.mjs";

const AGENTS = { aap: "agent", "turn-rpc": "Chat" };
const QUICK = { reconnect: { baseDelay: 1, maxDelay: 5 } };

async function serve(script, protocol, options) {
  const server = fakeServer(script, { protocol, ...options });
  const client = await connect({ ...server.connection, ...QUICK });
  return { server, client, session: await client.agents.createSession(AGENTS[protocol] ?? "agent") };
}

const messages = (turn) => turn.snapshot().threads[0].messages;
const textOf = (turn) => messages(turn).map(({ content }) => content).join("");
const callsOf = (turn) => messages(turn).flatMap(({ tool_calls }) => tool_calls ?? []);

/** Plays a turn, and answers what it asks by `answer`, where it is asked. Returns all turns. */
async function talk(session, text, answer) {
  const turns = [session.createTurn(text)];
  for (;;) {
    const turn = turns.at(-1);
    const given = new Set();
    const asked = () => turn.snapshot().required_actions.filter(({ tool_call_id }) => !given.has(tool_call_id));
    if (session.capabilities.liveAnswers) {
      turn.subscribe(() => {
        for (const action of asked()) given.add(action.tool_call_id) && turn.answer([answer(action)]);
      });
    }
    await turn.waitForCompletion();
    if (asked().length === 0) return turns;
    turns.push(session.createTurn(asked().map(answer)));
  }
}

const agree = (action) => (action.type === "tool.approval_required" ? allow(action) : respond(action, "blue"));
const refuse = (action) => deny(action, "Not today");

for (const protocol of PROTOCOLS) {
  test(`${protocol}: a text is an answer, and a list its pieces`, async () => {
    const { server, session } = await serve("Hello", protocol);
    const first = session.createTurn("Hi");
    await first.waitForCompletion();
    assert.deepEqual([first.status, textOf(first)], ["done", "Hello"]);
    server.script = ["Good ", "bye"];
    const second = session.createTurn("Hi");
    const deltas = [];
    second.on("model.message.delta", ({ content }) => content && deltas.push(content));
    await second.waitForCompletion();
    assert.deepEqual(deltas, ["Good ", "bye"]);
  });

  test(`${protocol}: a script sees the message, and thinks before it answers`, async () => {
    const { session } = await serve(async function* ({ text, number }) {
      yield { reasoning: "Hm." };
      yield `${number}: ${text}`;
    }, protocol);
    await session.createTurn("one").waitForCompletion();
    const turn = session.createTurn("two");
    await turn.waitForCompletion();
    assert.equal(textOf(turn), "2: two");
    assert.equal(messages(turn).map(({ reasoning_content }) => reasoning_content ?? "").join(""), "Hm.");
  });

  test(`${protocol}: a tool of the server has its result in the same turn`, async () => {
    const { session } = await serve(function* () {
      const [{ content }] = yield { tool: "lookup", arguments: { id: 7 }, result: { found: true } };
      yield `Found: ${content.found}`;
    }, protocol);
    const [turn] = await talk(session, "Hi", agree);
    const [call] = callsOf(turn);
    assert.deepEqual([call.name, JSON.parse(call.arguments), call.status], ["lookup", { id: 7 }, "done"]);
    assert.match(JSON.stringify(call.response), /found/);
    assert.equal(textOf(turn), "Found: true");
  });

  test(`${protocol}: two tools are called in one message`, async () => {
    const { session } = await serve(function* () {
      const answers = yield [{ tool: "a", result: 1 }, { tool: "b", result: 2 }];
      yield answers.map(({ content }) => content).join(" and ");
    }, protocol);
    const [turn] = await talk(session, "Hi", agree);
    assert.deepEqual(callsOf(turn).map(({ name }) => name), ["a", "b"]);
    assert.equal(textOf(turn), "1 and 2");
  });

  test(`${protocol}: an error ends the turn, and so does what a script throws`, async () => {
    const { server, session } = await serve(["Well ", { error: "The model is gone" }], protocol);
    const turn = session.createTurn("Hi");
    await turn.waitForCompletion();
    const { error } = turn.snapshot();
    assert.deepEqual([turn.status, error.code, textOf(turn)], ["error", "turn_failed", "Well "]);
    // AAP has no field for the cause.
    if (protocol !== "aap") assert.match(error.message, /The model is gone/);
    server.script = () => {
      throw new RangeError("a mistake of the test");
    };
    const next = session.createTurn("Hi");
    await next.waitForCompletion();
    assert.equal(next.status, "error");
  });

  test(`${protocol}: a turn is cancelled`, async () => {
    let ended = false;
    const { session } = await serve(async function* ({ signal }) {
      try {
        for (let count = 0; count < 500; count += 1) yield "word ";
      } finally {
        ended = signal.aborted;
      }
    }, protocol, { delay: 2 });
    assert.equal(await cancelledMidway(session.createTurn("Hi")), "cancelled");
    // A reader of AAP cancels by leaving, which its server ignores.
    if (protocol !== "aap") while (!ended) await new Promise((resolve) => setTimeout(resolve, 1));
  });

  test(`${protocol}: broken connections lose and repeat nothing`, async () => {
    const words = Array.from({ length: 30 }, (_, at) => `word${at} `);
    const { server, session } = await serve(words, protocol, { delay: 1 });
    const turn = session.createTurn("Hi");
    let breaks = 0;
    turn.on("model.message.delta", () => {
      if (breaks < 3 && textOf(turn).length > breaks * 40) {
        breaks += 1;
        server.disconnect();
      }
    });
    const error = await turn.waitForCompletion().catch((reason) => reason);
    assert.ok(breaks > 0);
    // These drop a run with its reader.
    if (protocol === "tirea" || protocol === "ag-ui") assert.equal(error.code, "incomplete");
    else assert.deepEqual([error?.message, textOf(turn)], [undefined, words.join("")]);
  });

  test(`${protocol}: a reload finds the conversation`, async () => {
    const { server, session } = await serve(({ text }) => [`You said ${text}`], protocol);
    for (const text of ["one", "two"]) await session.createTurn(text).waitForCompletion();
    const client = await connect({ ...server.connection, ...QUICK });
    const again = await client.agents.getSession(session.id, { agentName: AGENTS[protocol] ?? "agent" });
    const turns = await again.history();
    assert.deepEqual(turns.map((turn) => textOf(turn)), ["You said one", "You said two"]);
  });
}

/** The protocols in which an agent asks the page. */
for (const protocol of PROTOCOLS.filter((name) => name !== "turn-rpc")) {
  const ASKS = async function* () {
    const [{ allowed, reason, content }] = yield { tool: "restart", arguments: { service: "billing" }, result: "restarted", approval: true };
    yield allowed ? `Done: ${content}` : `Left alone: ${reason ?? "no reason"}`;
  };

  test(`${protocol}: an allowed call runs`, async () => {
    const { session } = await serve(ASKS, protocol);
    const turns = await talk(session, "Hi", agree);
    assert.equal(textOf(turns.at(-1)), "Done: restarted");
    // Codex asks while its turn runs.
    assert.equal(turns.length, protocol === "codex" ? 1 : 2);
  });

  test(`${protocol}: a denied call does not run`, async () => {
    const { session } = await serve(ASKS, protocol);
    const turns = await talk(session, "Hi", refuse);
    // Codex gets no reason.
    assert.match(textOf(turns.at(-1)), protocol === "codex" ? /^Left alone/ : /^Left alone: Not today$/);
  });
}

for (const protocol of ["tirea", "awaken"]) {
  test(`${protocol}: a message of the user instead of an answer begins anew`, async () => {
    const { server, session } = await serve([{ tool: "ask" }], protocol);
    await session.createTurn("Hi").waitForCompletion();
    server.script = "Never mind.";
    const turn = session.createTurn("Stop that", { discardPending: true });
    await turn.waitForCompletion();
    assert.equal(textOf(turn), "Never mind.");
  });
}

for (const protocol of ["truefoundry", "trueforge", "tirea", "awaken", "aap", "codex", "ag-ui"]) {
  test(`${protocol}: the page's own tool runs, and the script has its result`, async () => {
    const { session } = await serve(async function* () {
      const [{ content }] = yield { tool: "clock", arguments: { zone: "UTC" } };
      yield `It is ${content}`;
    }, protocol);
    session.tools({ clock: { description: "The time", parameters: { type: "object" }, run: ({ zone }) => `noon in ${zone}` } });
    const run = session.run("What time is it?");
    await run.waitForCompletion();
    assert.match(messages(run.turns.at(-1)).at(-1).content, /noon in UTC/);
  });
}
