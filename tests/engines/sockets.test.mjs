// Turns over a WebSocket in every engine, over connections that break in every way that engines distinguish.
import assert from "node:assert/strict";
import { representative } from "../rows.mjs";
import { playInEngines } from "./in-engines.mjs";

/** How soon silence is noticed, where it has to be. */
const CLOCKS = { idleTimeout: 400, connectTimeout: 400 };

/** Turns with the same result as uncut ones. `lost` is the number of connections that break. */
const WHOLE = [
  { name: "no fault", script: "reasoning" },
  { name: "reset:5, before the turn's words", script: "reasoning", fault: "reset:5", lost: 1 },
  { name: "reset:20, in the middle", script: "reasoning", fault: "reset:20", lost: 1 },
  { name: "eof:15, closed in good order", script: "reasoning", fault: "eof:15", lost: 1 },
  { name: "reset:12, three times", script: "reasoning", pace: 20, fault: "reset:12", cuts: 3, lost: 3 },
  { name: "reset-bytes:3000, inside a frame", script: "reasoning", fault: "reset-bytes:3000", lost: 1 },
  { name: "stall:10, nothing comes and no ping is answered", script: "reasoning", fault: "stall:10", clocks: CLOCKS, lost: 1 },
  { name: "lost-response", script: "plain", fault: "lost-response", clocks: CLOCKS },
  { name: "drop-deltas:3", script: "reasoning", fault: "drop-deltas:3" },
  { name: "malformed:9:binary", script: "reasoning", fault: "malformed:9:binary" },
  { name: "huge-markdown:200000", script: "plain", fault: "huge-markdown:200000" },
  { name: "cut: reset while it streams", script: "reasoning", pace: 20, at: { event: 6, what: "reset" }, lost: 1 },
  { name: "sub-agents, reset:25", script: "subagents", mode: "Agent", fault: "reset:25", lost: 1 },
];

/** Turns that a caller ends. */
const ENDED = [
  { name: "cancel() while it streams", script: "slow", pace: 60, at: { event: 4, what: "cancel" }, status: "cancelled" },
  { name: "abort while it streams", script: "slow", pace: 20, at: { event: 4, what: "abort" }, error: "aborted" },
];

const ALL = [...WHOLE, ...ENDED];
/** What a quick run has outside of Chromium: each kind of fault, and each action meanwhile. */
const kindsOf = ({ script, fault, at }) => [fault?.split(":")[0] ?? at?.what ?? script];

playInEngines(
  "sockets",
  "/sockets.html",
  ALL,
  (engine) => (engine === "chromium" ? ALL : representative(ALL, kindsOf)),
  async (one, player, gateway) => {
    const report = await player.play({ pace: 1, ...one });
    const starts = (await gateway.requests(report.session)).filter(({ frame }) => frame?.method === "turn/start");
    assert.equal(starts.length, 1, "the turn was started once");
    assert.deepEqual(report.numbers, report.numbers.map((_, at) => at + 1), "each event comes once, in order");
    (ENDED.includes(one) ? judgeEnded : judgeWhole)(one, report);
    // A connection that stalls cannot be closed with a close frame.
    if (one.fault?.startsWith("stall")) await gateway.cut(report.session);
    return report.took;
  },
);

function judgeWhole({ lost = 0 }, { error, types, connections, conversation, history, uncut }) {
  assert.equal(error, null);
  assert.deepEqual([types[0], types.at(-1)], ["turn.created", "turn.done"]);
  assert.equal(types.filter((type) => type === "turn.done").length, 1);
  assert.deepEqual(conversation, uncut, "the conversation is that of an uncut turn");
  assert.deepEqual(texts(history), texts(uncut), "the history says the same");
  if (lost > 0) assert.ok(connections > lost, `the fault did not show: ${connections} connections`);
}

function judgeEnded({ status, error }, report) {
  if (error) assert.equal(report.error?.code, error);
  else assert.deepEqual([report.error, report.status], [null, status]);
}

function texts({ messages }) {
  return messages.map(({ title, content }) => [title, content]);
}
