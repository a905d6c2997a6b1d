// `session.history()`: pages from the end, the path that is shown, and turns without a core.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Turn } from "../dist/index.js";
import { failure, textOf } from "./support/collect.mjs";
import { json, LIST_TURNS, page, serveFetched, SESSION_EVENTS } from "./support/server.mjs";
import { created, done, message, record, required, toolResponse } from "./support/wire.mjs";

const DONE = { status: "done", output: null, required_actions: [] };

/** A turn's record, made in this minute. */
const made = (id, previous, minute = 0, state = DONE) =>
  record(state, { id, previous_turn_id: previous, created_at: `2026-11-20T09:${String(minute).padStart(2, "0")}:00.000Z` });

/** A server's record of a turn, newest event first. */
const kept = (id, content) =>
  [created({ turn_id: id }), message(`m-${id}`, { content, finish_reason: "stop" }), done()].map((event) => ({ turn_id: id, event })).reverse();

/** A session of these turns, in the server's order, in pages of this size. The events come newest turn first. */
async function sessionOf(t, records, { size = 25, events = records, running = [] } = {}) {
  const pages = new Map();
  for (let at = 0; at < records.length; at += size) {
    const next = at + size < records.length ? `p${at + size}` : undefined;
    pages.set(at === 0 ? null : `p${at}`, page(records.slice(at, at + size), next));
  }
  const world = await serveFetched(t, {
    [LIST_TURNS]: (exchange) => pages.get(exchange.request.query.page_token ?? null)(exchange),
    [SESSION_EVENTS]: (exchange) => {
      const { last_turn_id: last } = exchange.request.query;
      const at = last === undefined ? 0 : events.findIndex(({ id }) => id === last);
      page(events.slice(at).flatMap(({ id }) => (running.includes(id) ? [] : kept(id, id))))(exchange);
    },
    "GET agents/sessions/s1/turns/*/events": (exchange) => {
      const id = exchange.request.path.split("/").at(-2);
      page([message(`m-${id}`, { content: id, finish_reason: "stop" })])(exchange);
    },
    "GET agents/sessions/s1/turns/*": (exchange) => {
      const found = events.find(({ id }) => exchange.request.path.endsWith(`/${id}`));
      json(found ? { data: found } : { error: { message: "no such turn" } }, found ? 200 : 404)(exchange);
    },
  });
  world.server.requests.length = 0;
  return world;
}

const idsOf = (turns) => turns.map(({ id }) => id).join(" ");

// a ← b ← d, and c was retried as d; e edits the first question.
const [A, B, C, D] = [made("a", null, 0), made("b", "a", 1), made("c", "b", 2), made("d", "b", 3)];
const E = made("e", null, 4);
const LONG = Array.from({ length: 60 }, (_, at) => made(`t${at}`, at > 0 ? `t${at - 1}` : null, at % 60));

/** Lists of servers, the requests, and the shown turns. `listed` is in the server's order. */
const PAGES = [
  { name: "the path of a newest-first list", listed: [D, C, B, A], shown: "a b d", branches: "c" },
  { name: "the path of an oldest-first list", listed: [A, B, C, D], shown: "a b d", branches: "c" },
  { name: "the path of a list in pages", listed: [D, C, B, A], size: 2, shown: "a b d", branches: "c" },
  { name: "the path of an oldest-first list in pages", listed: [A, B, C, D], size: 2, shown: "a b d", branches: "c" },
  { name: "an edited first question", listed: [A, B, C, D, E], shown: "e", branches: "a b c d" },
  { name: "a branch by the id of its last turn", listed: [D, C, B, A], options: { lastTurnId: "c" }, shown: "a b c", branches: "d" },
  { name: "the same of an oldest-first list", listed: [A, B, C, D], events: [D, C, B, A], options: { lastTurnId: "c" }, shown: "a b c" },
  { name: "a branch that the server does not list", listed: [D, B, A], events: [D, C, B, A], options: { lastTurnId: "c" }, shown: "a b c", branches: "d" },
  { name: "a page", listed: [D, C, B, A], options: { turns: 2 }, shown: "b d", earlier: true, branches: "c" },
  { name: "the page before a turn", listed: [D, C, B, A], options: { turns: 1, before: "d" }, shown: "b", earlier: true, branches: "c" },
  { name: "the first page", listed: [D, C, B, A], options: { before: "b" }, shown: "a" },
  { name: "nothing before the first turn", listed: [D, C, B, A], options: { before: "a" }, shown: "" },
  { name: "the page before a turn that the server does not list", listed: [D, B, A], events: [D, C, B, A], options: { before: "c" }, shown: "a b", branches: "d" },
  { name: "as many turns as there are", listed: [D, B, A], options: { turns: 3 }, shown: "a b d" },
  { name: "50 turns if nothing is said", listed: LONG.toReversed(), shown: idsOf(LONG.slice(10)), earlier: true },
  { name: "a turn that claims to follow itself", listed: [made("x", "x")], shown: "x" },
  { name: "turns that claim to follow each other", listed: [made("y", "x", 1), made("x", "y")], shown: "y x" },
];

for (const { name, listed, size, events = listed, options, shown, earlier = false, branches } of PAGES) {
  test(`a history has ${name}`, async (t) => {
    const { session } = await sessionOf(t, listed, { size, events });
    const turns = await session.history(options);
    assert.equal(idsOf(turns), shown);
    assert.deepEqual(turns.map(textOf), turns.map(({ id }) => id));
    assert.equal(turns.hasEarlier, earlier);
    assert.equal(turns.last, options?.before || options?.lastTurnId ? undefined : turns.at(-1), "the newest turn");
    if (branches !== undefined) assert.equal(idsOf(turns.branches.toSorted((one, other) => (one.id < other.id ? -1 : 1))), branches);
  });
}

for (const [order, listed] of Object.entries({ newest: LONG.toReversed(), oldest: LONG })) {
  test(`page after page is the whole history, each turn once: ${order} first`, async (t) => {
    const { session, server } = await sessionOf(t, listed, { events: LONG.toReversed() });
    let turns = await session.history({ turns: 7 });
    const pages = [turns];
    while (turns.hasEarlier) pages.unshift((turns = await session.history({ turns: 7, before: turns[0].id })));
    assert.equal(idsOf(pages.flat()), idsOf(LONG));
    assert.equal(pages.length, 9);
    // A list that begins with the newest turn is continued where it was left.
    const lists = server.requests.filter(({ path }) => path.endsWith("/turns"));
    if (order === "newest") assert.ok(lists.length <= 2 * pages.length, `${lists.length} pages of turns`);
  });
}

test("events are read only as far as the page needs them", async (t) => {
  const { session, server } = await sessionOf(t, [D, C, B, A]);
  server.requests.length = 0;
  await session.history({ turns: 1, before: "d" });
  assert.deepEqual(server.requests.map(({ query }) => query), [{ limit: "2" }, { limit: "100", last_turn_id: "d" }]);
});

test("turns that are over are frozen snapshots; the last one is a turn", async (t) => {
  const { session } = await sessionOf(t, [D, B, A]);
  const turns = await session.history();
  assert.deepEqual(turns.map((turn) => turn instanceof Turn), [false, false, true]);
  const [first] = turns;
  assert.ok(Object.isFrozen(first) && Object.isFrozen(first.view) && Object.isFrozen(first.snapshot()));
  assert.equal(first.view.get(), first.snapshot());
  assert.deepEqual([first.key, first.id, first.status, first.previousTurnId, first.createdAt], ["a", "a", "done", null, A.created_at]);
  assert.deepEqual(first.input, A.input);
  first.subscribe(() => assert.fail("nothing changes any more"))();
  assert.throws(() => first.view.subscribe(), { code: "invalid_option" });
});

test("acting on a settled turn reads it again by its id", async (t) => {
  const { session } = await sessionOf(t, [D, B, A]);
  const [first] = await session.history();
  const turn = await session.getTurn(first.id);
  assert.ok(turn instanceof Turn);
  assert.deepEqual([turn.id, textOf(turn)], [first.id, textOf(first)]);
});

test("a turn before one that runs is not settled: its results may still come", async (t) => {
  const { session } = await sessionOf(t, [made("d", "b", 3, { status: "running" }), B, A], { running: ["d"] });
  const turns = await session.history();
  assert.deepEqual(turns.map((turn) => turn instanceof Turn), [false, true, true]);
});

test("the page before a turn has the results that came in that turn", async (t) => {
  const call = { id: "c1", type: "function", function: { name: "restart", arguments: "{}" }, tool_info: { type: "truefoundry-system", name: "restart" } };
  const asks = required(["c1"]);
  const entries = [
    { turn_id: "b", event: toolResponse("c1", "restarted") },
    { turn_id: "a", event: asks },
    { turn_id: "a", event: message("m1", { content: "May I?", tool_calls: [call], finish_reason: "tool_calls" }) },
  ];
  const { session } = await serveFetched(t, {
    [LIST_TURNS]: page([B, made("a", null, 0, { ...DONE, required_actions: [asks] })]),
    [SESSION_EVENTS]: page(entries),
  });
  const [first] = await session.history({ turns: 1, before: "b" });
  assert.deepEqual(first.snapshot().required_actions, []);
  assert.equal(first.snapshot().threads[0].messages[0].tool_calls[0].response.content, "restarted");
});

test("earlier pages and other branches do not change what comes next", async (t) => {
  const { session } = await sessionOf(t, [D, C, B, A]);
  const newest = (await session.history({ turns: 1 })).at(-1);
  await session.history({ before: "d" });
  await session.history({ lastTurnId: "c" });
  // `run` without an input continues with the newest turn, for which nothing waits.
  assert.equal((await failure(async () => session.run())).code, "invalid_input");
  assert.equal(newest.snapshot().status, "done");
});

for (const options of [{ turns: 0 }, { turns: 1.5 }, { turns: "2" }, { before: 1 }, { lastTurnId: null }, { limit: 5 }]) {
  test(`history(${JSON.stringify(options)}) is refused`, async (t) => {
    const { session, server } = await sessionOf(t, [A]);
    assert.equal((await failure(session.history(options))).code, "invalid_option");
    assert.equal(server.requests.length, 0);
  });
}

test("resume() takes the number of turns, and refuses what is of other pages", async (t) => {
  const { session } = await sessionOf(t, [D, B, A]);
  assert.equal(idsOf(await session.resume({ turns: 2 })), "b d");
  assert.equal((await failure(session.resume({ before: "d" }))).code, "invalid_option");
});
