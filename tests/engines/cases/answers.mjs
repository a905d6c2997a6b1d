// Answers in place of a stream: statuses, silence, pages of portals.
import { apiError, incomplete, networkError, unexpected } from "./case.mjs";
import { fails, heals, on, recovers, refuses, RUNNING } from "./case.mjs";

const cut = on("create", "eof:3");

/** Answers to the request that starts the turn. Nothing that the server may have accepted is sent twice. */
const starting = [
  ...[400, 403, 404, 409, 412, 422].map((status) =>
    refuses(`start ${status}`, on("create", `status:${status}`), apiError(status), { posts: [status] }),
  ),
  // Chromium itself repeats a request that gets this answer on a reused connection.
  refuses("start 408", on("create", "status:408", { times: 0 }), apiError(408), { posts: "any" }),
  recovers("start 401, a new token is good", on("create", "status:401"), { token: "renewed", posts: [401, 200] }),
  refuses("start 401, no token is good", on("create", "status:401", { times: 0 }), apiError(401), {
    token: "renewed",
    posts: [401, 401],
  }),
  refuses("start 401, a token that cannot be renewed", on("create", "status:401"), apiError(401), {
    token: "fixed",
    posts: [401],
  }),
  recovers("start 425", on("create", "status:425"), { posts: [425, 200] }),
  recovers("start 429", on("create", "status:429"), { posts: [429, 200] }),
  recovers("start 429, Retry-After: 1", on("create", "status:429:1"), { posts: [429, 200], waits: 1000 }),
  recovers("start 503, not begun", on("create", "status:503"), { posts: [503, 200] }),
  recovers("start 503, Retry-After: 1", on("create", "status:503:1"), { posts: [503, 200], waits: 1000 }),
  recovers("start 503, begun all the same", on("create", "late-status:503"), { posts: [503], cursors: [0] }),
  ...[500, 502, 504].flatMap((status) => [
    refuses(`start ${status}, not begun`, on("create", `status:${status}`), apiError(status), {
      posts: [status],
      // After a proxy's timeout the turn may still be in flight.
      looks: status === 504 ? 3 : 1,
    }),
    recovers(`start ${status}, begun all the same`, on("create", `late-status:${status}`), {
      posts: [status],
      cursors: [0],
    }),
  ]),
  refuses("start 500 in plain text", on("create", "text-status:500"), apiError(500), { posts: [500] }),
];

/** The answer to the start does not come, or is not one. */
const lost = [
  recovers("start lost", on("create", "lost"), { posts: [null], cursors: [0] }),
  // Another client has just sent the same message.
  recovers("start lost, the same was said before", on("create", "lost", { skip: 1 }), {
    earlier: 1,
    posts: [200, null],
    cursors: [0],
    looks: 1,
  }),
  refuses("start 500, not begun, the same was said before", on("create", "status:500", { skip: 1 }), apiError(500), {
    earlier: 1,
    posts: [200, 500],
    looks: 1,
  }),
  // The first list of turns is read before the start.
  recovers("start lost, the look as well", [on("create", "lost"), on("turns", "status:503", { skip: 1 })], {
    posts: [null],
    cursors: [0],
  }),
  recovers("start lost, the look breaks off", [on("create", "lost"), on("turns", "half:40", { skip: 1 })], {
    posts: [null],
    cursors: [0],
  }),
  refuses("start refused", on("create", "refuse", { times: 0 }), networkError, { posts: "any" }),
  recovers("start slower than connectTimeout", on("create", "slow-head:1500"), {
    connect: { connectTimeout: 600 },
    posts: 1,
    cursors: [0],
  }),
  refuses("start meets a portal", on("create", "portal"), unexpected, { posts: [200] }),
  refuses("start is sent to a portal", on("create", "redirect-portal"), unexpected, { posts: [302] }),
  recovers("start answered as text/html", on("create", "type:text/html"), { posts: [200], cursors: [0] }),
  recovers("start redirected", on("create", "redirect"), { posts: [307, 200] }),
];

/** Answers to a subscription. */
const resuming = [
  ...[400, 403, 404, 410, 422].map((status) =>
    fails(`resume ${status}`, [cut, on("subscribe", `status:${status}`)], apiError(status), { kept: 3, cursors: [3] }),
  ),
  recovers("resume 401, a new token is good", [cut, on("subscribe", "status:401")], { token: "renewed", cursors: [3, 3] }),
  fails("resume 401, no token is good", [cut, on("subscribe", "status:401", { times: 0 })], apiError(401), {
    token: "renewed",
    kept: 3,
    cursors: [3, 3],
  }),
  fails("resume 401, a token that cannot be renewed", [cut, on("subscribe", "status:401")], apiError(401), {
    token: "fixed",
    kept: 3,
    cursors: [3],
  }),
  ...[408, 409, 425, 429, 500, 502, 503, 504].map((status) =>
    recovers(`resume ${status}, twice`, [cut, on("subscribe", `status:${status}`, { times: 2 })], {
      ...RUNNING,
      cursors: [3, 3, 3],
    }),
  ),
  recovers("resume 503, twice, the turn has ended", [cut, on("subscribe", "status:503", { times: 2 })], { pace: 0 }),
  recovers("resume 500 in plain text", [cut, on("subscribe", "text-status:500")], { cursors: [3, 3] }),
  recovers("resume 429, Retry-After: 1", [cut, on("subscribe", "status:429:1")], { cursors: [3, 3], waits: 1000 }),
  recovers("resume 503, Retry-After: 1", [cut, on("subscribe", "status:503:1")], { cursors: [3, 3], waits: 1000 }),
  recovers("resume 412, the turn runs", [cut, on("subscribe", "status:412")], {
    ...RUNNING,
    cursors: [3, 3],
  }),
  heals("resume 412, the turn has ended", cut, { expire: true, from: 4, cursors: [3] }),
  heals("resume 412, the list breaks off", [cut, on("turn-events", "half:60")], { expire: true, from: 4 }),
  heals("resume 412, the state comes late", [cut, on("turn", "status:503")], { expire: true, from: 4 }),
  heals("resume 412, a turn of many tools", on("create", "eof:30"), { script: "tools", expire: true, from: 31 }),
  recovers("resume meets a portal", [cut, on("subscribe", "portal")], { cursors: [3, 3] }),
  recovers("resume is sent to a portal", [cut, on("subscribe", "redirect-portal")]),
  recovers("resume redirected", [cut, on("subscribe", "redirect")]),
  recovers("resume answered as text/html", [cut, on("subscribe", "type:text/html")], { cursors: [3, 3] }),
  recovers("resume answered as application/json", [cut, on("subscribe", "type:application/json")], { cursors: [3, 3] }),
  recovers("resume refused", [cut, on("subscribe", "refuse")]),
  recovers("resume lost", [cut, on("subscribe", "lost")]),
  recovers("resume slower than connectTimeout", [cut, on("subscribe", "slow-head:1500")], {
    connect: { connectTimeout: 200 },
    cursors: [3, 3],
  }),
  recovers("resume slow, within connectTimeout", [cut, on("subscribe", "slow-head:300")], { cursors: [3] }),
];

/** Failures that end a subscription for good. */
const DEAD = ["status:500", "eof-bytes:0", "reset-bytes:0", "stall-bytes:0", "portal", "slow-head:1500"];

/** A turn without a stream is polled while it runs, and read when it has ended. */
const dead = DEAD.flatMap((fault) => {
  const always = [cut, on("subscribe", fault, { times: 0 })];
  const connect = { connectTimeout: 300, idleTimeout: 150, reconnect: { maxAttempts: 3 } };
  return [
    heals(`resume ${fault}, always, while the turn runs`, always, { ...RUNNING, connect, from: 4 }),
    heals(`resume ${fault}, always, the turn has ended`, always, { pace: 0, connect, from: 4 }),
    fails(
      `resume ${fault}, always, and the turn cannot be read`,
      [...always, on("turn", "status:500", { times: 0 })],
      incomplete(),
      { connect, kept: 3 },
    ),
  ];
});

/** Every case of an answer. */
export const ANSWERS = { starting, lost, resuming, dead };
