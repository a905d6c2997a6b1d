// The package against the development gateway: its scripts, and each of their faults. The final conversation is the same
// as without faults. Needs the gateway's program (`TURNWIRE_GATEWAY`).
import assert from "node:assert/strict";
import { test } from "node:test";
import { WebSocket } from "ws";
import { connect } from "../../dist/index.js";
import { collect, eventually } from "../support/collect.mjs";
import { useGateway, WITH_GATEWAY as options } from "../support/gateway.mjs";

const gateway = useGateway();

/** A client whose first connection has this fault, and all of whose turns run fast. */
async function dial(t, { fault, delay = "0.2", ...more } = {}) {
  let count = 0;
  const webSocket = (address) => {
    const headers = { "x-turnwire-delay-ms": delay };
    if (fault && (count += 1) === 1) headers["x-turnwire-fault"] = fault;
    return new WebSocket(address, { headers });
  };
  const reconnect = { maxAttempts: 5, baseDelay: 5, maxDelay: 50 };
  const client = await connect({ baseUrl: `${gateway.url}/turn-rpc`, protocol: "turn-rpc", webSocket, reconnect, ...more });
  t.after(() => client.close());
  return { client, connections: () => count };
}

/** Plays a script in a new session. */
async function play(t, script, { mode = "Chat", ...more } = {}) {
  const { client, connections } = await dial(t, more);
  const session = await client.agents.createSession(mode);
  const turn = session.createTurn({ input: script });
  const { events, error } = await collect(turn.stream());
  return { client, connections, session, turn, events, error };
}

/** The result of a turn, without generated names. */
function conversation(turn) {
  const { status, threads, state } = turn.snapshot();
  return {
    status,
    output: state?.output?.content ?? null,
    threads: threads.map(({ title, status: stands, messages }) => ({
      title,
      stands,
      messages: messages.map(({ content, reasoning_content, tool_calls, finish_reason }) => ({
        // Pieces are not kept: those of a failed attempt reach only the clients that were connected.
        content: finish_reason === "interrupted" ? null : content,
        reasoning_content,
        finish_reason,
        calls: tool_calls.map(({ name, arguments: given, status: standing, response }) => [name, given, standing, response?.outcome ?? null]),
      })).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    })),
  };
}

/** Events are numbered from 1 on, each once. */
function demandNumbers(events) {
  assert.deepEqual(events.map(({ sequence_number }) => sequence_number), events.map((_, at) => at + 1));
  for (const type of ["turn.created", "turn.done"]) assert.equal(events.filter((event) => event.type === type).length, 1, type);
}

const SCRIPTS = ["plain", "reasoning", "tools", "subagents", "shell", "recover", "compact"];
const FAULTS = [
  "drop-deltas", "drop-deltas:3", "late-delta", "early-events", "lost-response", "double-reasoning", "unknown-type", "huge-markdown:20000", "no-markdown",
  "reset:5", "reset:9", "reset:20", "eof:6", "eof:15", "duplicate:8", "duplicate:12", "malformed:8:json", "malformed:9:number", "malformed:8:batch",
  "malformed:9:no-params", "malformed:10:binary", "malformed:8:empty", "malformed:8:no-version", "stall:10", "two-dones", "reset-bytes:3000",
];

for (const script of SCRIPTS) {
  test(`${script}: to its end`, { ...options, timeout: 30_000 }, async (t) => {
    const { turn, events, error, session, connections } = await play(t, script);
    assert.equal(error, undefined);
    assert.equal(turn.status, "done");
    demandNumbers(events);
    assert.equal(events.some(({ type }) => type === "unknown"), false);
    assert.ok(conversation(turn).threads[0].messages.length > 0);
    assert.equal(connections(), 0);
    const [again] = await session.history();
    assert.equal(again.id, turn.id);
    assert.deepEqual(again.input, [{ type: "user.message", content: script }]);
    const said = (one) => one.snapshot().threads.map(({ title, messages }) => [title, messages.map(({ content }) => content).filter(Boolean)]);
    // Pieces of attempts that failed are not kept.
    const texts = said(turn).map(([title, contents]) => [title, script === "recover" ? contents.slice(-1) : contents]);
    assert.deepEqual(said(again), texts);
  });
}

for (const fault of FAULTS) {
  test(`${fault}: the same conversation as without the fault`, { ...options, timeout: 60_000 }, async (t) => {
    const scripts = ["reasoning", "tools", ...(/reset|eof|stall/.test(fault) ? ["subagents", "recover"] : [])];
    await Promise.all(scripts.map(async (script) => {
      const clocks = /stall|lost-response/.test(fault) ? { idleTimeout: 600, connectTimeout: 600 } : {};
      const plain = await play(t, script);
      const broken = await play(t, script, { fault, ...clocks });
      assert.equal(broken.error, undefined, `${script}: ${broken.error}`);
      assert.deepEqual(conversation(broken.turn), conversation(plain.turn), script);
      demandNumbers(broken.events);
      if (/reset|eof|stall/.test(fault)) assert.ok(broken.connections() > 1, `${script}: the fault did not show`);
      const asked = await (await fetch(`${gateway.url}/_gateway/sessions/${broken.session.id}/requests`)).json();
      assert.equal(asked.filter(({ frame }) => frame?.method === "turn/start").length, 1, "started once");
    }));
  });
}

test("a fault of a single request, by the control route", { ...options, timeout: 30_000 }, async (t) => {
  const { client } = await dial(t);
  const session = await client.agents.createSession("Chat");
  const schedule = [{ on: "create", fault: "lost", times: 1 }, { on: "turn-events", fault: "refuse", times: 1 }];
  const put = await fetch(`${gateway.url}/_gateway/sessions/${session.id}/faults`, { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(schedule) });
  assert.equal(put.ok, true);
  const turn = session.createTurn({ input: "plain" });
  const { events, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  demandNumbers(events);
  assert.deepEqual(conversation(turn), conversation((await play(t, "plain")).turn));
});

test("slow, cancelled: it ends at the client and at the server", { ...options, timeout: 30_000 }, async (t) => {
  const { client } = await dial(t, { delay: "20" });
  const session = await client.agents.createSession("Chat");
  const turn = session.createTurn({ input: "slow" });
  const reading = collect(turn.stream());
  await eventually(() => turn.snapshot().threads[0]?.messages.length);
  await turn.cancel();
  const { error } = await reading;
  assert.equal(error, undefined);
  assert.equal(turn.status, "cancelled");
  assert.equal((await (await session.getTurn(turn.id)).state()).status, "cancelled");
});

test("shell: its output is visible while it runs", { ...options, timeout: 30_000 }, async (t) => {
  const { turn, events } = await play(t, "shell");
  const put = events.filter(({ type }) => type === "tool.output");
  assert.ok(put.length > 0);
  const [call] = turn.snapshot().threads[0].messages.flatMap(({ tool_calls }) => tool_calls);
  assert.equal(call.output[put[0].stream], put.filter(({ stream }) => stream === put[0].stream).map(({ delta }) => delta).join(""));
});

test("recover: the notices say so", { ...options, timeout: 30_000 }, async (t) => {
  const { turn, events } = await play(t, "recover");
  const codes = turn.snapshot().notices.map(({ code }) => code);
  assert.deepEqual(codes, events.filter(({ type }) => type === "notice").map(({ code }) => code));
  assert.ok(codes.some((code) => code.includes("recovery")), codes.join());
});

test("many turns of many sessions on one connection that breaks", { ...options, timeout: 60_000 }, async (t) => {
  const { client } = await dial(t, { fault: "reset:200", delay: "1" });
  const sessions = await Promise.all(Array.from({ length: 12 }, (_, at) => client.agents.createSession(at % 2 ? "Agent" : "Chat")));
  const turns = sessions.map((session, at) => session.createTurn({ input: ["plain", "tools", "reasoning"][at % 3] }));
  const results = await Promise.all(turns.map((turn) => collect(turn.stream())));
  for (const { error, events } of results) {
    assert.equal(error, undefined);
    demandNumbers(events);
  }
  const first = new Map();
  for (const [at, turn] of turns.entries()) {
    const kind = `${at % 3} ${at % 2}`;
    if (first.has(kind)) assert.deepEqual(conversation(turn), first.get(kind));
    else first.set(kind, conversation(turn));
  }
});
