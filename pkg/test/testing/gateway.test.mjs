// The fake server against the development gateway, which is tested against the real ones: the same turns on the same bad
// connections have the same outcomes, and no event has a member that the gateway's does not.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allow, connect, respond } from "../../dist/index.js";
import { fakeServer } from "../../dist/testing.js";
import { useGateway, WITH_GATEWAY } from "../support/gateway.mjs";

const gateway = useGateway();
const BASES = { truefoundry: "/demo", trueforge: "", tirea: "/tirea", awaken: "/awaken", aap: "/aap", "ag-ui": "/ag-ui" };
const QUICK = { idleTimeout: 300, reconnect: { baseDelay: 1, maxDelay: 5, maxAttempts: 4 } };
const agentOf = (protocol) => (protocol === "aap" ? "agent" : "support-bot");

/** The faults of the streams of one turn, in order. */
const FAULTS = [
  "none", "eof:4", "reset:4", "reset:0", "eof-bytes:300", "reset-bytes:150", "duplicate:5", "replay:6", "gap:4:2", "restart", "retry:1", "no-done",
  "status:503:0", "refuse", "lost", "slow-head:20", "portal", "reset:3 reset:2 reset:1", "reset:4 status:500", "reset:4+retry:1 eof:1",
];

/** Connects to the gateway. `faults` are those of the next streams, `frames` gets what they bring. */
function real(protocol, faults = [], frames = [], options = QUICK) {
  // A turn must still run when its loss is noticed.
  const delay = faults.length > 0 ? "8" : "1";
  const own = async (url, init) => {
    const headers = new Headers(init?.headers);
    const isStream = headers.get("accept") === "text/event-stream";
    if (isStream && faults.length > 0) headers.set("x-turnwire-fault", faults.shift());
    if (isStream) headers.set("x-turnwire-delay-ms", delay);
    return tapped(await fetch(url, { ...init, headers }), isStream && frames);
  };
  return connect({ baseUrl: gateway.url + BASES[protocol], protocol, fetch: own, ...options });
}

/** The response, of which `frames` gets a copy once it is read. */
function tapped(response, frames) {
  if (!frames || !response.body) return response;
  const [own, copy] = response.body.tee();
  new Response(copy).text().then((text) => frames.push(...text.split("\n\n").filter((frame) => frame.includes("data: "))), () => {});
  return new Response(own, { status: response.status, headers: response.headers });
}

/** How a turn ends, and its text. */
async function outcome(client, agent) {
  const session = await client.agents.createSession(agent);
  const turn = session.createTurn("plain");
  const error = await turn.waitForCompletion().then(() => undefined, (reason) => reason);
  client.close();
  return { code: error?.code ?? "ok", status: turn.status, text: turn.snapshot().threads[0]?.messages.map(({ content }) => content).join("") ?? "" };
}

// Most of the time is spent waiting.
for (const protocol of Object.keys(BASES)) describe(protocol, { concurrency: 8 }, () => {
  for (const faults of FAULTS) {
    test(`${faults} ends as at the gateway`, WITH_GATEWAY, async () => {
      const whole = (await outcome(await real(protocol), "support-bot")).text;
      const expected = await outcome(await real(protocol, faults.split(" ")), "support-bot");
      const server = fakeServer(whole.match(/\S+\s*/g), { protocol });
      server.fail(...faults.split(" "));
      const ended = await outcome(await connect({ ...server.connection, ...QUICK }), agentOf(protocol));
      // The gateway cuts words anywhere, so parts are compared as such.
      const part = ({ code, status, text }) => ({ code, status, text: text === whole ? "whole" : text === "" ? "none" : text.length > whole.length ? "more" : "part" });
      assert.deepEqual(part(ended), part(expected));
    });
  }

  test("events have the members of the gateway's", WITH_GATEWAY, async () => {
    const known = [];
    // A stream that a busy machine delays must not time out: its events would be missing.
    const session = await (await real(protocol, [], known, {})).agents.createSession("support-bot");
    const own = protocol === "aap" ? [] : ["subagents", ...(ASKING.has(protocol) ? ["subagents approval", "sandbox"] : [])];
    for (const script of ["reasoning", "tools", "approval", "question", "error", ...own]) await played(session, script);
    const frames = [];
    const server = fakeServer(FAITHFUL, { protocol });
    const tap = async (url, init) => tapped(await server.connection.fetch(url, init), new Headers(init?.headers).get("accept") === "text/event-stream" && frames);
    const client = await connect({ ...server.connection, fetch: tap });
    const faked = await client.agents.createSession(agentOf(protocol));
    await played(faked, "all");
    if (protocol !== "aap") await played(faked, ASKING.has(protocol) ? "asking threads" : "threads");
    await played(faked, "error");
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(frames.length > 10);
    assert.deepEqual(missing(members(frames), members(known)), []);
  });
});

/** Plays a turn and the turns that its answers start. */
async function played(session, script) {
  for (let turn = session.createTurn(script); ; ) {
    await turn.waitForCompletion().catch(({ code }) => assert.equal(code, "turn_failed"));
    const actions = turn.snapshot().required_actions;
    if (actions.length === 0) return;
    turn = session.createTurn(actions.map((action) => (action.type === "tool.approval_required" ? allow(action) : respond(action, "blue"))));
  }
}

/** The protocols whose sub-agents ask, and which have files. */
const ASKING = new Set(["truefoundry", "trueforge"]);

async function* FAITHFUL({ text }) {
  if (text.endsWith("threads")) {
    const asks = text === "asking threads";
    if (asks) yield { file: "/a", content: "a" };
    const call = { tool: "roll_back", arguments: {}, result: "done", approval: asks };
    yield [{ agent: "a", input: "Try", script: ["Well", call, "Fine"] }, { agent: "b", script: ["No", { error: "It failed" }] }, { agent: "c", script: [{ error: "At once" }] }];
    return;
  }
  if (text === "error") {
    yield "I have ";
    yield { error: "The model is gone" };
  }
  yield { reasoning: "Let me see. " };
  yield "Hello ";
  yield { tool: "lookup", arguments: { id: 7 }, result: { found: true } };
  yield "Found. ";
  yield { tool: "restart", arguments: { service: "billing" }, result: "restarted", approval: true };
  yield { tool: "ask_user_question", arguments: { question: "Which?" } };
  yield "Done.";
}

/** What belongs to the script itself: a tool's arguments and results. */
const FREE = /\.(arguments|input|parameters|tool_args|data|result|content|response)(\..*)?$/;

/** The members of all events: `type path kind`. */
function members(frames) {
  const all = new Set();
  const note = (at, value) => {
    const kind = Array.isArray(value) ? "list" : value === null ? "null" : typeof value;
    if (!FREE.test(at)) all.add(`${at} ${kind}`);
    if (value === null || typeof value !== "object" || FREE.test(at)) return;
    for (const [name, inner] of Object.entries(value)) note(Array.isArray(value) ? `${at}[]` : `${at}.${name.startsWith("call_") ? "CALL" : name}`, inner);
  };
  for (const frame of frames) {
    const data = JSON.parse(/data: (.*)/.exec(frame)[1]);
    const type = /event: (.*)/.exec(frame)?.[1] ?? data.event_kind ?? data.type ?? data.event_type;
    note(type, data);
  }
  return all;
}

const missing = (own, known) => [...own].filter((member) => !known.has(member)).sort();
