// Many turns at once, for minutes, on connections that keep breaking: counts the events of each turn's log and
// those that the package delivered. `cargo xtask soak` starts the gateway and runs this.
import { parseArgs } from "node:util";
import { connect } from "../../pkg/dist/index.js";
import { parseLog } from "./log.mjs";

const { values } = parseArgs({
  options: {
    "base-url": { type: "string" },
    turns: { type: "string", default: "50" },
    minutes: { type: "string", default: "1" },
  },
});
const origin = values["base-url"];
const turns = Number(values.turns);
const minutes = Number(values.minutes);
if (!origin || !(turns > 0) || !(minutes > 0)) throw new Error("usage: soak.mjs --base-url URL --turns N --minutes M");

/** First words of messages: each is a script of the gateway's agents. */
const SCRIPTS = ["plain", "reasoning", "markdown", "unicode", "tools", "parallel", "subagents", "long 300", "long 3000"];
/** A turn that takes longer has hung. */
const TURN_LIMIT = 120_000;

const until = Date.now() + minutes * 60_000;
const sum = { turns: 0, refused: 0, expected: 0, delivered: 0, lost: 0, doubled: 0, changed: 0, reconnects: 0, hung: 0 };

/** The parts of an event that a reader needs: its kind, its message, its text. */
function gist({ type, id, content, reasoning_content, tool_call_id }) {
  const text = typeof content === "string" ? content : "";
  return JSON.stringify([type, id, text, reasoning_content ?? "", tool_call_id ?? ""]);
}

/** Streams one turn and counts it. */
async function runTurn(session, script) {
  const turn = session.createTurn({ input: script, previousTurnId: "none" });
  const seen = new Map();
  turn.on("reconnecting", () => (sum.reconnects += 1));
  const events = [];
  for (;;) {
    try {
      for await (const event of turn.stream({ deadline: TURN_LIMIT })) events.push(event);
      break;
    } catch (error) {
      // The server refused the start, or was down for too long: a page would show that, and retry.
      sum.refused += 1;
      if (error.code === "timeout") sum.hung += 1;
      if (Date.now() > until + TURN_LIMIT || error.code === "timeout") throw error;
      if (turn.status !== "unstarted" && turn.status !== "incomplete") throw error;
    }
  }
  for (const event of events) seen.set(event.sequence_number, [...(seen.get(event.sequence_number) ?? []), event]);
  const log = parseLog(await (await fetch(`${origin}/_gateway/turns/${turn.id}/log`)).text());
  for (const { number, event } of log) {
    const found = seen.get(number) ?? [];
    if (found.length === 0) sum.lost += 1;
    sum.doubled += Math.max(0, found.length - 1);
    if (found[0] && gist(found[0]) !== gist(event)) sum.changed += 1;
    seen.delete(number);
  }
  for (const invented of seen.values()) sum.doubled += invented.length;
  const isOrdered = events.every((event, at) => at === 0 || event.sequence_number > events[at - 1].sequence_number);
  if (!isOrdered) sum.changed += 1;
  sum.turns += 1;
  sum.expected += log.length;
  sum.delivered += events.length;
}

/** One user, turn after turn. */
async function user(client, number) {
  for (let count = number; Date.now() < until; count += 1) {
    let session;
    try {
      session = await client.agents.createSession("soak");
    } catch {
      continue;
    }
    await runTurn(session, SCRIPTS[count % SCRIPTS.length]);
  }
}

const client = await connect({
  baseUrl: `${origin}/soak`,
  headers: { "x-turnwire-delay-ms": "1" },
  reconnect: { maxAttempts: 20, baseDelay: 20, maxDelay: 500 },
  connectTimeout: 3000,
  idleTimeout: 3000,
});
const progress = setInterval(() => console.log(`  ${JSON.stringify(sum)}`), 15_000);
const users = await Promise.allSettled(Array.from({ length: turns }, (_, number) => user(client, number)));
clearInterval(progress);
const failed = users.filter(({ status }) => status === "rejected");
for (const { reason } of failed.slice(0, 5)) console.error("a turn failed:", reason);
const { open } = await (await fetch(`${origin}/_gateway/streams`)).json();
console.log(
  `soak: ${turns} at a time for ${minutes} min: ${sum.turns} turns, ${sum.reconnects} reconnects, ` +
    `${failed.length} turns failed, ${open} streams left open, ` +
    `events expected: ${sum.expected}, delivered: ${sum.delivered}, changed: ${sum.changed}, ` +
    `lost: ${sum.lost}, doubled: ${sum.doubled}`,
);
process.exitCode = sum.lost + sum.doubled + sum.changed + failed.length + open === 0 && sum.turns > 0 ? 0 : 1;
