// What can happen between a page and a relay that keeps the turn, and between the relay and its agent. The kinds of fault are those of
// `../cases`; the required outcomes are those of `docs/resume.md` for a turn behind a relay. With two relays it is the same.
import { aborted, apiError, fails, frameTooLarge, heals, incomplete, loses, networkError, on, recovers, refuses, RUNNING, timeout, unexpected } from "../cases/case.mjs";

/** The stream of the start ends early, so that there is a subscription to break. */
const cut = on("create", "eof:3");
const always = (fault) => [cut, on("subscribe", fault, { times: 0 })];
const BRIEF = { connect: { connectTimeout: 800, idleTimeout: 150, reconnect: { maxAttempts: 3 } } };
/** A relay that starts again takes longer than a few short waits. */
const PATIENT = { reconnect: { maxAttempts: 200, maxDelay: 100 } };

const ends = [
  recovers("no fault", [], { cursors: [] }),
  recovers("eof:1", on("create", "eof:1"), { cursors: [1] }),
  recovers("eof:3", on("create", "eof:3"), { cursors: [3] }),
  recovers("eof-bytes:10, inside the first frame", on("create", "eof-bytes:10")),
  recovers("eof-bytes:1000, inside a frame", on("create", "eof-bytes:1000")),
  recovers("eof:1, for every stream", on("stream", "eof:1", { times: 0 }), { script: "long 20", pace: 0 }),
  recovers("eof:5, the turn has ended", on("create", "eof:5"), { pace: 0, cursors: [5] }),
  recovers("no-done", on("create", "no-done")),
  heals("no-done, for every stream", on("stream", "no-done", { times: 0 })),
];

const resets = [
  recovers("reset:1", on("create", "reset:1")),
  recovers("reset:3", on("create", "reset:3")),
  recovers("reset-bytes:10", on("create", "reset-bytes:10")),
  recovers("reset-bytes:1000", on("create", "reset-bytes:1000")),
  recovers("reset-bytes:5000, for every stream", on("stream", "reset-bytes:5000", { times: 0 }), { script: "long 600", pace: 0 }),
  recovers("reset:10 thrice", on("stream", "reset:10", { times: 3 }), { script: "tools" }),
  recovers("cut-char:1", on("create", "cut-char:1"), { script: "unicode" }),
  recovers("cut-char:5, six times", on("stream", "cut-char:5", { times: 6 }), { script: "unicode", pace: 0 }),
  recovers("cut: reset while it streams", [], { pace: 5, at: { 7: "reset", 20: "reset" } }),
  recovers("cut: eof while it streams", [], { pace: 5, at: { 7: "eof" } }),
  recovers("cut: stall while it streams", [], { pace: 5, at: { 7: "stall" }, connect: { idleTimeout: 200 } }),
];

const silences = [
  recovers("stall:3", on("create", "stall:3"), { connect: { idleTimeout: 150 } }),
  // Firefox passes an answer to the page only with the first byte of its body.
  recovers("stall-bytes:0, before the first frame", on("create", "stall-bytes:0"), {
    connect: { connectTimeout: 300, idleTimeout: 150 },
  }),
  recovers("stall-bytes:1000", on("create", "stall-bytes:1000"), { connect: { idleTimeout: 150 } }),
  recovers("stall:2 when resumed", [cut, on("subscribe", "stall:2")], { connect: { idleTimeout: 150 } }),
  fails("stall:3, until the deadline", on("create", "stall:3"), timeout, { connect: { idleTimeout: 0 }, stream: { deadline: 1500 }, cursors: [] }),
  fails("comments:3 are life: only the deadline ends it", on("create", "comments:3"), timeout, {
    connect: { idleTimeout: 600 },
    stream: { deadline: 2000 },
    cursors: [],
  }),
  recovers("retry:250, obeyed", on("create", "retry:250+eof:3"), { cursors: [3], waits: 250 }),
];

const repeats = [
  recovers("duplicate:1", on("create", "duplicate:1"), { cursors: [] }),
  recovers("duplicate:5", on("create", "duplicate:5"), { cursors: [] }),
  recovers("replay:8", on("create", "replay:8"), { cursors: [] }),
  recovers("restart", [cut, on("subscribe", "restart")], { cursors: [3] }),
  recovers("restart, then replay:10", [cut, on("subscribe", "restart+replay:10")], { cursors: [3] }),
  recovers("duplicate:1 when resumed", [cut, on("subscribe", "duplicate:1")], { cursors: [3] }),
  recovers("replay:4 when resumed", [cut, on("subscribe", "replay:4")], { cursors: [3] }),
];

const losses = [
  recovers("reorder:5", on("create", "reorder:5"), { cursors: [4] }),
  recovers("reorder:2 when resumed", [cut, on("subscribe", "reorder:2")], { cursors: [3, 4] }),
  recovers("gap:4:1", on("create", "gap:4:1"), { cursors: [3] }),
  recovers("gap:4:7", on("create", "gap:4:7"), { cursors: [3] }),
  recovers("gap:3:2 when resumed", [cut, on("subscribe", "gap:3:2")], { cursors: [3, 5] }),
  heals("hole:6:1", on("stream", "hole:6:1"), BRIEF),
];

const sizes = [
  fails("giant:3:20000 beyond maxFrameBytes", on("create", "giant:3:20000"), frameTooLarge, { connect: { maxFrameBytes: 10_000 }, cursors: [] }),
  fails("giant:3:9000000 beyond 8 MiB", on("create", "giant:3:9000000"), frameTooLarge, { cursors: [] }),
  recovers("chunks of 3 bytes", [], { script: "unicode", headers: { "x-turnwire-chunk-bytes": "3" }, cursors: [] }),
  recovers("chunks of 3 bytes, reset:30", on("create", "reset:30"), { script: "unicode", headers: { "x-turnwire-chunk-bytes": "3" } }),
  recovers("chunks of 7 bytes, cut-char:3", on("create", "cut-char:3"), { script: "unicode", headers: { "x-turnwire-chunk-bytes": "7" } }),
];

const scripts = [
  recovers("mixed, eof:20", on("create", "eof:20"), { script: "mixed" }),
  recovers("tools, a cut in every third", on("stream", "eof:30", { times: 0 }), { script: "tools" }),
  recovers("subagents, reset:40 twice", on("stream", "reset:40", { times: 2 }), { script: "subagents" }),
  recovers("markdown, replay:10 and gap:30:3", [on("create", "replay:10+eof:15"), on("subscribe", "gap:9:3")], { script: "markdown" }),
  recovers("error within a message, eof:5", on("create", "eof:5"), { script: "error", cursors: [5] }),
  recovers("long 2000, many kinds", [
    on("create", "duplicate:7+reset:100"),
    on("subscribe", "status:503"),
    on("subscribe", "restart+gap:150:4"),
    on("subscribe", "reorder:40"),
    on("subscribe", "replay:30+reset-bytes:20000"),
    on("subscribe", "type:text/plain"),
    on("subscribe", "eof-bytes:7777"),
    on("subscribe", "refuse"),
  ], { script: "long 2000", pace: 0 }),
];

const waits = [
  recovers("waitForCompletion() with a listener, eof:3", on("create", "eof:3"), { by: "waiting", cursors: [3] }),
  fails("eof:3 with reconnect: false", on("create", "eof:3"), incomplete(), { connect: { reconnect: false }, cursors: [] }),
];

const leaving = [
  fails("abort while it streams", [], aborted, { pace: 5, at: { 7: "abort" }, cursors: [] }),
  fails("abort while it stalls", on("create", "stall:3"), aborted, { abortAfter: 1000, cursors: [] }),
  fails("abort during a wait", always("status:503:30"), aborted, { abortAfter: 1000, cursors: [3] }),
  fails("abort while a subscription is not answered", [cut, on("subscribe", "slow-head:3000")], aborted, { abortAfter: 1000, cursors: [3] }),
  recovers("abort, then stream() goes on", [], { pace: 5, at: { 7: "abort" }, again: true, error: aborted }),
  recovers("cancel() while it streams", [], { ...RUNNING, at: { 7: "cancel" }, cursors: [] }),
  recovers("cancel() before a cut", on("create", "reset:9"), { ...RUNNING, at: { 7: "cancel" } }),
];

/** Answers to the start. One that may have been lost is sent again under the turn's id, and reaches the agent once. */
const starting = [
  ...[400, 403, 404, 422].map((status) => refuses(`start ${status}`, on("create", `status:${status}`), apiError(status), { posts: [status] })),
  ...[409, 412].map((status) => refuses(`start ${status}`, on("create", `status:${status}`, { times: 0 }), apiError(status))),
  recovers("start 401, a new token is good", on("create", "status:401"), { token: "renewed", posts: [401, 200] }),
  refuses("start 401, no token is good", on("create", "status:401", { times: 0 }), apiError(401), { token: "renewed", posts: [401, 401] }),
  ...[425, 429, 500, 502, 503, 504].map((status) =>
    recovers(`start ${status}, not begun`, on("create", `status:${status}`), { posts: [status, 200] }),
  ),
  ...[500, 502, 503, 504].map((status) =>
    recovers(`start ${status}, begun all the same`, on("create", `late-status:${status}`), { posts: [status, 200] }),
  ),
  recovers("start 408", on("create", "status:408")),
  recovers("start 429, Retry-After: 1", on("create", "status:429:1"), { posts: [429, 200], waits: 1000 }),
  recovers("start 503, Retry-After: 1", on("create", "status:503:1"), { posts: [503, 200], waits: 1000 }),
  recovers("start 500 in plain text", on("create", "text-status:500"), { posts: [500, 200] }),
  recovers("start lost", on("create", "lost"), { posts: [null, 200] }),
  recovers("start lost thrice", on("create", "lost", { times: 3 })),
  refuses("start refused", on("create", "refuse", { times: 0 }), networkError, { ...BRIEF, aap: "doubts" }),
  recovers("start refused once", on("create", "refuse")),
  recovers("start slower than connectTimeout", on("create", "slow-head:1500"), { connect: { connectTimeout: 600 } }),
  recovers("start meets a portal", on("create", "portal"), { posts: [200, 200] }),
  refuses("start meets a portal, always", on("create", "portal", { times: 0 }), unexpected, { ...BRIEF, aap: "doubts" }),
  recovers("start is sent to a portal", on("create", "redirect-portal"), { posts: [302, 200] }),
  recovers("start answered as text/html", on("create", "type:text/html"), { posts: [200, 200] }),
  recovers("start redirected", on("create", "redirect"), { posts: [307, 200] }),
];

/** Answers to a subscription. */
const resuming = [
  ...[400, 403, 404, 410, 422].map((status) => heals(`resume ${status}`, [cut, on("subscribe", `status:${status}`)])),
  recovers("resume 401, a new token is good", [cut, on("subscribe", "status:401")], { token: "renewed", cursors: [3, 3] }),
  heals("resume 401, no token is good", [cut, on("subscribe", "status:401", { times: 0 })], { token: "renewed", cursors: [3, 3] }),
  ...[408, 409, 425, 429, 500, 502, 503, 504].map((status) =>
    recovers(`resume ${status}, twice`, [cut, on("subscribe", `status:${status}`, { times: 2 })], { ...RUNNING, cursors: [3, 3, 3] }),
  ),
  recovers("resume 503, twice, the turn has ended", [cut, on("subscribe", "status:503", { times: 2 })], { pace: 0 }),
  recovers("resume 500 in plain text", [cut, on("subscribe", "text-status:500")], { cursors: [3, 3] }),
  recovers("resume 429, Retry-After: 1", [cut, on("subscribe", "status:429:1")], { cursors: [3, 3], waits: 1000 }),
  recovers("resume 503, Retry-After: 1", [cut, on("subscribe", "status:503:1")], { cursors: [3, 3], waits: 1000 }),
  recovers("resume 412 once, the turn runs", [cut, on("subscribe", "status:412")], { ...RUNNING, cursors: [3, 0] }),
  recovers("resume 412 once, the turn has ended", [cut, on("subscribe", "status:412")], { pace: 0, cursors: [3, 0] }),
  heals("resume 412, always", always("status:412")),
  recovers("resume answered as text/html", [cut, on("subscribe", "type:text/html")], { cursors: [3, 3] }),
  recovers("resume answered as application/json", [cut, on("subscribe", "type:application/json")], { cursors: [3, 3] }),
  recovers("resume redirected", [cut, on("subscribe", "redirect")]),
  recovers("resume refused", [cut, on("subscribe", "refuse")]),
  recovers("resume lost", [cut, on("subscribe", "lost")]),
  recovers("resume slower than connectTimeout", [cut, on("subscribe", "slow-head:1500")], { connect: { connectTimeout: 200 } }),
  recovers("resume slow, within connectTimeout", [cut, on("subscribe", "slow-head:300")], { cursors: [3] }),
  recovers("resume meets a portal", [cut, on("subscribe", "portal")], { cursors: [3, 3] }),
  recovers("resume is sent to a portal", [cut, on("subscribe", "redirect-portal")]),
];

/** A turn whose stream is gone: the agent is asked. */
const dead = ["status:500", "eof-bytes:0", "reset-bytes:0", "stall-bytes:0", "slow-head:1500"].flatMap((fault) => [
  heals(`resume ${fault}, always, while the turn runs`, always(fault), { ...RUNNING, ...BRIEF }),
  heals(`resume ${fault}, always, the turn has ended`, always(fault), { pace: 0, ...BRIEF }),
]);

/** Answers that no relay sends: its numbers are those of the log. */
const numbers = [
  ...["backwards", "huge", "negative", "words"].map((kind) => recovers(`numbers:${kind}:4`, on("create", `numbers:${kind}:4`))),
  recovers("after-done:5", on("create", "after-done:5"), { cursors: [] }),
  recovers("two-dones", on("create", "two-dones"), { cursors: [] }),
  recovers("two-dones when resumed", [cut, on("subscribe", "two-dones")], { cursors: [3] }),
];

/** The relay crashes, and starts again with the same log. What the agent still sends is lost to it. */
const crashes = [
  loses("the relay is killed while the agent writes", [], { ...RUNNING, connect: PATIENT, at: { 7: "crash" } }),
  loses("… before the page has what the relay has", on("create", "stall:7"), { ...RUNNING, connect: { ...PATIENT, idleTimeout: 700 }, at: { 5: "crash" } }),
  recovers("… when the agent has ended", on("create", "eof:3"), { pace: 0, connect: PATIENT, at: { 3: "crash-ended" } }),
  recovers("… twice, when the agent has ended", [on("create", "eof:3"), on("subscribe", "eof:9")], {
    pace: 0,
    connect: PATIENT,
    at: { 3: "crash-ended", 9: "crash" },
  }),
];

/** Faults between the agent and the relay: the agent's answers have those in `agent`. */
// The agent is slow: tirea's, if it had ended, would have the whole turn.
const behind = [
  loses("the agent's stream breaks", [], { ...RUNNING, agent: [{ on: "create", fault: "reset:5" }] }),
  loses("the agent's stream breaks within a frame", [], { ...RUNNING, agent: [{ on: "create", fault: "reset-bytes:900" }] }),
  loses("the agent's stream ends early", [], { ...RUNNING, agent: [{ on: "create", fault: "eof:5" }], cause: { code: "incomplete" } }),
  heals("the agent's end is missing", [], { agent: [{ on: "create", fault: "no-done" }] }),
  recovers("the page's stream breaks in bytes", on("create", "reset:9"), { script: "unicode", headers: { "x-turnwire-chunk-bytes": "3" } }),
  refuses("the agent refuses", [], apiError(422), { agent: [{ on: "create", fault: "status:422" }], posts: [422] }),
  recovers("the agent is busy once", [], { agent: [{ on: "create", fault: "status:429" }], posts: [429, 200] }),
];

/** Groups of cases: `[group, cases]`. */
export const GROUPS = Object.entries({
  ends, resets, silences, repeats, losses, sizes, scripts, waits, leaving, starting, resuming, dead, numbers, behind, crashes,
});
