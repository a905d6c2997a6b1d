// Plays runs of AG-UI with the package: the client keeps the conversation, and the server has no ids for what it streams.
import { connect } from "/dist/index.js";
import { offer } from "./player.js";
import { plain, read, snapshotOf } from "./report.js";

const BASES = { none: "/ag-ui", connect: "/ag-ui/copilotkit/agent/support-bot/run" };

/** A short wait between tries keeps a case under a second. */
const RECONNECT = { baseDelay: 10, maxDelay: 50 };

offer(play);

/** A turn whose requests meet these faults, and the next one of its session; and the same turn without any fault. */
async function play({ script, pace = 1, recovery = "none", faults = [], clocks, at }, controller) {
  const began = performance.now();
  const { turn, session, asked, events, error } = await run({ script, pace, recovery, faults, clocks, at }, controller);
  const took = performance.now() - began;
  const kept = conversation(turn);
  const status = turn.status;
  const posts = [...asked];
  const next = session.createTurn("plain");
  await next.waitForCompletion();
  const uncut = await run({ script, pace: 0, recovery }, controller);
  return {
    session: session.id,
    took,
    error,
    status,
    kept,
    asked: posts,
    types: events.map(({ type }) => type),
    told: texts(events),
    next: next.status,
    said: JSON.parse(session.messages()).messages.filter(({ role }) => role === "user").map(({ content }) => content),
    uncut: { kept: conversation(uncut.turn), told: texts(uncut.events) },
  };
}

async function run({ script, pace, recovery, faults = [], clocks, at }, controller) {
  const asked = [];
  const noting = (url, init) => {
    const name = new URL(url).pathname.split("/").at(recovery === "connect" ? 5 : 1);
    asked.push(name);
    const headers = new Headers(init.headers);
    headers.set("x-turnwire-delay-ms", pace);
    return fetch(url, { ...init, headers });
  };
  const baseUrl = location.origin + BASES[recovery];
  const client = await connect({ baseUrl, protocol: "ag-ui", store: null, fetch: noting, reconnect: RECONNECT, ...clocks });
  const session = await client.agents.createSession("support-bot", recovery === "none" ? {} : { recovery });
  // The client makes the session's id, so the gateway does not know it yet.
  await fetch(`/_gateway/sessions/${session.id}/faults?ahead=true`, { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(faults) });
  const turn = session.createTurn(script);
  const events = [];
  const error = await read(turn, events, { signal: controller.signal }, async () => {
    if (events.length !== at?.event) return;
    if (at.what === "cancel") await turn.cancel();
    else controller.abort(new Error("enough"));
  });
  return { turn, session, asked, events, error };
}

/** The content of a turn, without ids and times, which differ each time. */
function conversation(turn) {
  const { threads, agent_state } = snapshotOf(turn);
  const messages = threads.flatMap(({ messages }) => messages);
  const said = messages.map(({ content, reasoning_content, finish_reason, tool_calls }) => ({
    content,
    reasoning_content,
    finish_reason,
    calls: tool_calls.map(({ name, arguments: given, response }) => [name, given, response?.content ?? null]),
  }));
  return plain({ said, agent_state: agent_state ?? null });
}

/** The texts of the events, in the order of their messages. */
function texts(events) {
  const found = new Map();
  for (const { type, id, content, reasoning_content } of events) {
    if (type !== "model.message.delta") continue;
    const [said, thought] = found.get(id) ?? ["", ""];
    found.set(id, [said + (content ?? ""), thought + (reasoning_content ?? "")]);
  }
  return [...found.values()];
}
