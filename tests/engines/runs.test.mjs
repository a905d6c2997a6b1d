// Runs of AG-UI in every engine, over connections that break. A server that keeps nothing cannot go on: the turn is
// incomplete, with what came, and is never sent again. One that repeats its runs (`recovery: "connect"`) goes on.
import assert from "node:assert/strict";
import { IS_QUICK, representative } from "../rows.mjs";
import { isAlone } from "./case-runner.mjs";
import { on } from "./cases/case.mjs";
import { playInEngines } from "./in-engines.mjs";

/** How soon silence is noticed, where it has to be. */
const CLOCKS = { idleTimeout: 400, connectTimeout: 400 };

/** The report of a lost turn: `status` is that of the turn, `error` has these members. */
const INCOMPLETE = { status: "incomplete", error: { name: "IncompleteError", code: "incomplete" } };
const UNEXPECTED = { status: "incomplete", error: { name: "ProtocolError", code: "unexpected_response" } };
const refused = (status) => ({ status: "unstarted", error: { name: "ApiError", code: "http", status } });

/** A turn on a server that keeps nothing, whose start has this fault. */
const lost = (fault, outcome, more = {}) => ({
  name: `a server that keeps nothing: ${fault}`,
  script: "reasoning",
  faults: [on("create", fault)],
  outcome,
  asked: ["ag-ui"],
  ...more,
});

const LOST = [
  lost("eof:5", INCOMPLETE),
  lost("reset:5", INCOMPLETE),
  lost("eof-bytes:10", INCOMPLETE),
  lost("eof-bytes:700", INCOMPLETE),
  lost("reset-bytes:700", INCOMPLETE),
  lost("cut-char:1", INCOMPLETE, { script: "unicode" }),
  lost("no-done", INCOMPLETE),
  lost("stall:4", INCOMPLETE, { clocks: CLOCKS }),
  lost("lost", INCOMPLETE),
  lost("late-status:502", INCOMPLETE),
  lost("status:503", INCOMPLETE),
  lost("portal", UNEXPECTED),
  lost("type:text/plain", UNEXPECTED),
  lost("status:422", refused(422)),
  lost("status:409", refused(409)),
];

/** A turn with the same result as an uncut one. */
const whole = (name, faults, asked, more = {}) => ({ name: `connect: ${name}`, script: "reasoning", recovery: "connect", faults, asked, ...more });
const ONCE = ["run", "connect"];

const WHOLE = [
  { name: "a server that keeps nothing: no fault", script: "reasoning", asked: ["ag-ui"] },
  // A start that was refused temporarily has begun nothing.
  { name: "a server that keeps nothing: status:429", script: "reasoning", faults: [on("create", "status:429")], asked: ["ag-ui", "ag-ui"] },
  whole("no fault", [], ["run"]),
  whole("eof:1", [on("create", "eof:1")], ONCE),
  whole("eof:5", [on("create", "eof:5")], ONCE),
  whole("reset:5", [on("create", "reset:5")], ONCE),
  whole("eof-bytes:10", [on("create", "eof-bytes:10")], ONCE),
  whole("eof-bytes:700", [on("create", "eof-bytes:700")], ONCE),
  whole("reset-bytes:700", [on("create", "reset-bytes:700")], ONCE),
  whole("cut-char:1", [on("create", "cut-char:1")], ONCE, { script: "unicode" }),
  whole("no-done", [on("create", "no-done")], ONCE),
  whole("stall:4", [on("create", "stall:4")], ONCE, { clocks: CLOCKS }),
  whole("lost", [on("create", "lost")], ONCE),
  whole("late-status:502", [on("create", "late-status:502")], ONCE),
  whole("tools, cut thrice while the run goes on", [on("create", "reset:4"), ...["eof:8", "status:503", "reset:14"].map((fault) => on("subscribe", fault))], ["run", "connect", "connect", "connect", "connect"], {
    script: "tools",
    pace: 6,
  }),
  whole("state, eof:4", [on("create", "eof:4")], ONCE, { script: "state" }),
];

/** Turns that the page ends. */
const ENDED = [
  { name: "a server that keeps nothing: cancel()", script: "long 60", pace: 20, at: { event: 4, what: "cancel" }, asked: ["ag-ui"], outcome: { status: "cancelled" } },
  { name: "connect: cancel()", script: "long 60", pace: 20, recovery: "connect", at: { event: 4, what: "cancel" }, asked: ["run", "stop"], outcome: { status: "cancelled" } },
];

const ROWS = [...LOST, ...WHOLE, ...ENDED];
/** What a quick run has, in Chromium only: each way to end on each kind of server. */
const kindsOf = (row) => [`${row.recovery} ${JSON.stringify(row.outcome)} ${row.faults?.length > 0}`];

// A row that may get no answer must not meet others: see `isAlone`.
playInEngines(
  "runs",
  "/runs.html",
  ROWS,
  (engine) => (IS_QUICK && engine !== "chromium" ? [] : representative(ROWS, kindsOf)),
  async ({ outcome, asked, ...plan }, player, gateway) => {
    const report = await player.play(plan);
    const requests = await gateway.requests(report.session);
    judge({ outcome, asked, ...plan }, report, requests);
    return report.took;
  },
  ({ faults = [] }) => isAlone({ faults }),
);

function judge({ script, outcome, asked }, report, requests) {
  assert.deepEqual(report.asked, asked, JSON.stringify(requests));
  // The browser itself must not have repeated one. The last start is that of the next turn.
  const starts = requests.filter(({ on }) => on === "create");
  assert.equal(starts.length, asked.filter((name) => name === asked[0]).length + 1, JSON.stringify(requests));
  assert.equal(report.types.filter((type) => type === "turn.created").length, report.types.length > 0 ? 1 : 0);
  if (outcome === undefined) judgeWhole(report);
  else judgeEnded(outcome, report);
  // The conversation goes on, after the earlier messages. A refused message is not part of it.
  assert.equal(report.next, "done");
  assert.deepEqual(report.said, report.status === "unstarted" ? ["plain"] : [script, "plain"]);
}

function judgeWhole({ error, status, types, kept, told, uncut }) {
  assert.deepEqual([error, status], [null, "done"]);
  assert.deepEqual([types[0], types.at(-1)], ["turn.created", "turn.done"]);
  assert.equal(types.filter((type) => type === "turn.done").length, 1);
  assert.deepEqual(kept, uncut.kept, "the turn is that of a run that was never cut");
  assert.deepEqual(told, uncut.told, "each piece of text comes once");
}

function judgeEnded({ status, error }, report) {
  assert.equal(report.status, status);
  if (error === undefined) return assert.equal(report.error, null);
  for (const [name, value] of Object.entries(error)) assert.equal(report.error?.[name], value, JSON.stringify(report.error));
  assert.ok(report.error.typed, "the error is one of the package's");
  // The received text is kept: it is the beginning of an uncut run's.
  const [came, all] = [joined(report.told), joined(report.uncut.told)];
  assert.ok(came.every((text, at) => all[at].startsWith(text)), `${JSON.stringify(came)} of ${JSON.stringify(all)}`);
  const shown = report.kept.said.map(({ content, reasoning_content }) => [content ?? "", reasoning_content ?? ""]);
  assert.deepEqual(joined(shown), came, "the snapshot has what the events told");
}

/** All text, and all reasoning. */
const joined = (texts) => [0, 1].map((field) => texts.map((text) => text[field]).join(""));
