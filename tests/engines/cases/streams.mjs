// What can happen to a stream that has begun.
import { aborted, fails, frameTooLarge, heals, incomplete, on, recovers, RUNNING, timeout } from "./case.mjs";

/** `plain` has 61 events, of which the first is `turn.created` and the last `turn.done`. */
const LAST = 61;

/** The stream of the start ends early, so that there is a subscription to break. */
const cut = on("create", "eof:3");

const ends = [
  recovers("no fault", [], { cursors: [] }),
  recovers("eof:1", on("create", "eof:1"), { cursors: [1] }),
  recovers("eof:3", on("create", "eof:3"), { cursors: [3] }),
  recovers("eof:60, before turn.done", on("create", `eof:${LAST - 1}`), { cursors: [LAST - 1] }),
  recovers("eof-bytes:10, before turn.created is whole", on("create", "eof-bytes:10"), { cursors: [0] }),
  recovers("eof-bytes:1000, inside a frame", on("create", "eof-bytes:1000")),
  recovers("eof:1, for every stream", on("stream", "eof:1", { times: 0 }), { script: "long 20", pace: 0 }),
  recovers("eof:5, the turn has ended", on("create", "eof:5"), { pace: 0, cursors: [5] }),
  recovers("no-done", on("create", "no-done"), { cursors: [LAST - 1] }),
  heals("no-done, for every stream", on("stream", "no-done", { times: 0 }), { from: LAST }),
];

// A reset may discard events in flight: the cursor can lie before the cut.
const resets = [
  recovers("reset:1", on("create", "reset:1"), { cursors: [{ atMost: 1 }] }),
  recovers("reset:3", on("create", "reset:3"), { cursors: [{ atMost: 3 }] }),
  recovers("reset-bytes:10", on("create", "reset-bytes:10"), { cursors: [0] }),
  recovers("reset-bytes:1000", on("create", "reset-bytes:1000"), { cursors: [{ atMost: 5 }] }),
  recovers("reset-bytes:5000, for every stream", on("stream", "reset-bytes:5000", { times: 0 }), {
    script: "long 600",
    pace: 0,
  }),
  recovers("reset:10 thrice", on("stream", "reset:10", { times: 3 }), { script: "tools" }),
  recovers("cut-char:1", on("create", "cut-char:1"), { script: "unicode" }),
  recovers("cut-char:5, six times", on("stream", "cut-char:5", { times: 6 }), { script: "unicode", pace: 0 }),
  recovers("cut: reset while it streams", [], { pace: 5, at: { 7: "reset", 20: "reset" } }),
  recovers("cut: eof while it streams", [], { pace: 5, at: { 7: "eof" } }),
  recovers("cut: stall while it streams", [], { pace: 5, at: { 7: "stall" }, connect: { idleTimeout: 200 } }),
];

const silences = [
  recovers("stall:3", on("create", "stall:3"), { connect: { idleTimeout: 150 }, cursors: [3] }),
  // Firefox passes a response to the page only with the first byte of its body.
  recovers("stall-bytes:0, before turn.created", on("create", "stall-bytes:0"), {
    connect: { connectTimeout: 300, idleTimeout: 150 },
    cursors: [0],
  }),
  recovers("stall-bytes:1000", on("create", "stall-bytes:1000"), { connect: { idleTimeout: 150 } }),
  recovers("stall:2 when resumed", [cut, on("subscribe", "stall:2")], {
    connect: { idleTimeout: 150 },
    cursors: [3, 5],
  }),
  fails("stall:3, until the deadline", on("create", "stall:3"), timeout, {
    connect: { idleTimeout: 0 },
    // A busy machine takes longer than half a second for the three events.
    stream: { deadline: 1500 },
    kept: 3,
    cursors: [],
  }),
  fails("comments:3 are life: only the deadline ends it", on("create", "comments:3"), timeout, {
    connect: { idleTimeout: 600 },
    stream: { deadline: 2000 },
    kept: 3,
    cursors: [],
  }),
  recovers("retry:250, obeyed", on("create", "retry:250+eof:3"), { cursors: [3], waits: 250 }),
];

const repeats = [
  recovers("duplicate:1", on("create", "duplicate:1"), { cursors: [] }),
  recovers("duplicate:5", on("create", "duplicate:5"), { cursors: [] }),
  recovers(`duplicate:${LAST}`, on("create", `duplicate:${LAST}`), { cursors: [] }),
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
  heals("hole:6:1", on("stream", "hole:6:1"), { missing: [6], gaps: [{ after: 5, next: 7 }] }),
  heals("hole:6:20", on("stream", "hole:6:20"), {
    missing: Array.from({ length: 20 }, (_, at) => 6 + at),
    gaps: [{ after: 5, next: 26 }],
  }),
  heals("hole of a tool's arguments", on("stream", "hole:20:10"), {
    script: "tools",
    missing: Array.from({ length: 10 }, (_, at) => 20 + at),
    gaps: [{ after: 19, next: 30 }],
  }),
];

const sizes = [
  fails("giant:3:20000 beyond maxFrameBytes", on("create", "giant:3:20000"), frameTooLarge, {
    connect: { maxFrameBytes: 10_000 },
    kept: 3,
    cursors: [],
  }),
  fails("giant:3:9000000 beyond 8 MiB", on("create", "giant:3:9000000"), frameTooLarge, { kept: 3, cursors: [] }),
  recovers("chunks of 1 byte", [], { script: "unicode", headers: { "x-turnwire-chunk-bytes": "1" }, cursors: [] }),
  recovers("chunks of 1 byte, reset:30", on("create", "reset:30"), {
    script: "unicode",
    headers: { "x-turnwire-chunk-bytes": "1" },
  }),
  recovers("chunks of 7 bytes, cut-char:3", on("create", "cut-char:3"), {
    script: "unicode",
    headers: { "x-turnwire-chunk-bytes": "7" },
  }),
  recovers("batches of 16, eof:20", on("create", "eof:20"), { headers: { "x-turnwire-batch": "16" }, cursors: [20] }),
];

const scripts = [
  recovers("mixed, eof:20", on("create", "eof:20"), { script: "mixed", cursors: [20] }),
  recovers("tools, a cut in every third", on("stream", "eof:30", { times: 0 }), { script: "tools" }),
  recovers("subagents, reset:40 twice", on("stream", "reset:40", { times: 2 }), { script: "subagents" }),
  recovers("markdown, replay:10 and gap:30:3", [on("create", "replay:10+eof:15"), on("subscribe", "gap:9:3")], {
    script: "markdown",
  }),
  recovers("mcp-auth, eof:2", on("create", "eof:2"), { script: "mcp-auth", cursors: [2] }),
  recovers("error within a message, eof:5", on("create", "eof:5"), { script: "error", cursors: [5] }),
  recovers("long 2000, many kinds", [
    on("create", "duplicate:7+reset:100"),
    on("subscribe", "status:503"),
    on("subscribe", "restart+gap:150:4"),
    on("subscribe", "reorder:40"),
    on("subscribe", "portal"),
    on("subscribe", "replay:30+reset-bytes:20000"),
    on("subscribe", "type:text/plain"),
    on("subscribe", "eof-bytes:7777"),
    on("subscribe", "refuse"),
  ], { script: "long 2000", pace: 0 }),
];

const waits = [
  recovers("waitForCompletion() with a listener, eof:3", on("create", "eof:3"), { by: "waiting", cursors: [3] }),
  recovers("tries used up and no answer, then stream() goes on", [cut, on("subscribe", "eof-bytes:0", { times: 0 }), on("turn", "status:500", { times: 0 })], {
    ...RUNNING,
    connect: { reconnect: { maxAttempts: 2 } },
    again: true,
    error: incomplete(),
  }),
  fails("eof:3 with reconnect: false", on("create", "eof:3"), incomplete(), {
    connect: { reconnect: false },
    kept: 3,
    cursors: [],
  }),
];

/** The caller stops reading: the turn goes on when a signal is aborted, and ends when it is cancelled. */
const leaving = [
  fails("abort while it streams", [], aborted, { pace: 5, at: { 7: "abort" }, kept: 7, atLeast: true, cursors: [] }),
  fails("abort while it stalls", on("create", "stall:3"), aborted, { abortAfter: 150, kept: 3, cursors: [] }),
  fails("abort during a wait", [cut, on("subscribe", "status:503:30", { times: 0 })], aborted, {
    abortAfter: 300,
    kept: 3,
    cursors: [3],
  }),
  fails("abort while a subscription is not answered", [cut, on("subscribe", "slow-head:3000")], aborted, {
    abortAfter: 300,
    kept: 3,
    cursors: [3],
  }),
  recovers("abort, then stream() goes on", [], { pace: 5, at: { 7: "abort" }, again: true, error: aborted }),
  recovers("cancel() while it streams", [], { ...RUNNING, at: { 7: "cancel" }, cursors: [] }),
  recovers("cancel() before a cut", on("create", "reset:9"), { ...RUNNING, at: { 7: "cancel" } }),
];

/** Every case of a stream. */
export const STREAMS = { ends, resets, silences, repeats, losses, sizes, scripts, waits, leaving };
