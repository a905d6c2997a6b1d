// Runs one case behind the relay, and compares the page's report with the relay's log, the agent and its requests.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../../pkg/dist/index.js";
import { assertEnded, assertErrors, assertSame, judgeRequests, judgeWaiting } from "../judge.mjs";
import { openTurns } from "./world.mjs";

const AGENT = "support-bot";
/** From this pause between events on, the slow agent plays a case. */
const SLOW = 5;

/** Runs a case over a protocol; returns how long the page took. */
export async function run(world, protocol, player, one) {
  const pace = one.plan.pace >= SLOW ? "slow" : "fast";
  const agent = `${protocol}-${pace}`;
  const behind = world.agents[pace].gateway;
  const { expects, plan } = one;
  const setup = { faults: one.faults, behind: world.agents[pace].url, agentFaults: expects.agent ?? [], crash: `${world.crash}/${agent}` };
  const report = await player.play({ ...plan, ...setup, agent, protocol });
  const { session } = report;
  const requests = await world.front.requests(session);
  await world.front.setFaults(session, []);
  while ((await openTurns(world.relay, agent, session)) > 0) await sleep(10);
  const begun = (await behind.requests(session)).filter(({ on, status }) => on === "create" && status === 200);
  const relayed = { baseUrl: `${world.relay}/${agent}`, protocol };
  const frames = begun.length === 0 || report.turn === null ? "" : await log(relayed, report.turn);
  const outcome = expects[protocol] ?? expects.outcome;
  const direct = { baseUrl: `${world.agents[pace].url}/${protocol}`, protocol };
  await OUTCOMES[outcome](one, report, { frames, relayed, direct, session });
  // A reset may discard bytes in flight, and a busy machine may be late: then the start is sent again, and reaches the
  // agent once.
  judgeRequests({ posts: "any", ...expects, outcome: outcome === "doubts" ? "refuses" : outcome }, report, { requests, turns: begun.length });
  if (expects.waits !== undefined) judgeWaiting(expects.waits, report);
  return report.took;
}

/** The relay's log of a turn, read without the package. */
async function log({ baseUrl }, turn) {
  const response = await fetch(`${baseUrl}/_turnwire/v1/turns/${turn}/events?after=0`, { headers: { "turnwire-relay": "1" } });
  assert.equal(response.status, 200);
  return response.text();
}

/** The turn as a client without cuts sees it: fed with the relay's log. */
async function uncut({ relayed, session, frames }, input) {
  const headers = { "content-type": "text/event-stream", "turnwire-relay": "1", "turnwire-log": "0" };
  const answer = (url, init) => (new Headers(init?.headers).has("turnwire-turn") ? new Response(frames, { headers }) : fetch(url, init));
  const client = await connect({ ...relayed, relay: true, reconnect: false, fetch: async (url, init) => answer(url, init) });
  // In the session itself a call may be pending.
  const other = await client.agents.createSession(AGENT);
  const turn = other.createTurn({ input });
  const events = [];
  try {
    for await (const event of turn.stream()) events.push(event);
  } catch {
    // The log ends with a cut, or before the end.
  }
  return neutral({ sessions: [session, other.id], turn: turn.id, events, snapshot: turn.snapshot() });
}

/** The text of the turn as its agent keeps it, read without the relay. */
async function kept({ direct, session }) {
  const client = await connect(direct);
  const { last } = await (await client.agents.getSession(session, { agentName: AGENT })).resume();
  return words(last.snapshot());
}

/** The same without the ids that differ for each client. */
function neutral({ sessions, turn, events, snapshot }) {
  const { error: _, ...shown } = snapshot;
  const ids = new RegExp([...sessions, turn].filter(Boolean).join("|"), "g");
  return JSON.parse(JSON.stringify({ events, snapshot: shown }).replaceAll(ids, (id) => (id === turn ? "TURN" : "SESSION")));
}

const words = ({ threads }) => threads.map(({ messages }) => messages.map(({ content }) => content).join("\n")).join("\n\n");

/** The pieces of text in frames, one after the other, read without the package. */
function said(frames) {
  const deltas = frames.split("\n").flatMap((line) => {
    if (!line.startsWith("data: ") || !line.includes("delta")) return [];
    const data = JSON.parse(line.slice("data: ".length));
    const delta = data.delta ?? data.data?.delta;
    return typeof delta === "string" && /text_delta|^$/.test(data.type ?? "") ? [delta] : [];
  });
  return deltas.join("");
}

/** What was delivered: no single event twice, and each piece of a text once. */
function assertOnce(events) {
  const single = events.filter(({ type }) => !type.startsWith("model.message"));
  const keys = single.map(({ type, id }) => `${type} ${id}`);
  assert.equal(new Set(keys).size, keys.length, `no event comes twice: ${keys}`);
}

const OUTCOMES = {
  async recovers({ plan, expects }, report, found) {
    assertEnded(report, expects);
    const whole = await uncut(found, plan.script);
    const { events, snapshot } = neutral({ ...report, sessions: [report.session] });
    assertSame(events, whole.events);
    assert.deepEqual(snapshot, whole.snapshot, "the snapshot is that of an uncut turn");
    assert.deepEqual(report.topics.gap, [], "no gap is told");
    const texts = events.filter(({ type }) => type === "model.message.delta").map(({ content }) => content ?? "");
    if (plan.script === "plain") assert.equal(texts.join(""), said(found.frames), "the words are the log's");
  },

  /** The relay does not have the rest, but the agent does. */
  async heals({ expects }, report, found) {
    assertEnded(report, expects);
    assertOnce(report.events);
    assert.equal(words(report.snapshot), await kept(found), "the words are the agent's");
  },

  /** The relay has lost the rest. AAP's agent keeps it; tirea's has abandoned the run. */
  async loses(one, report, found) {
    if (found.relayed.protocol === "aap") return OUTCOMES.heals(one, report, found);
    assertErrors(report, [{ name: "IncompleteError", code: "incomplete", cause: one.expects.cause ?? { code: "cut" } }]);
    assert.equal(report.status, "incomplete");
    await assertBeginning(one, report, found);
  },

  async fails(one, report, found) {
    const [error] = assertErrors(report, [one.expects.error]);
    assert.ok(error.typed, "the error is one of the package's");
    await assertBeginning(one, report, found);
  },

  /** The start did not arrive, and nothing shows that it has not begun. */
  async doubts(_, report) {
    assertErrors(report, [{ name: "IncompleteError", code: "incomplete" }]);
    assert.deepEqual([report.status, report.events], ["incomplete", []]);
  },

  async refuses({ expects }, report) {
    const [error] = assertErrors(report, [expects.error]);
    assert.ok(error.typed, "the error is one of the package's");
    assert.deepEqual([report.status, report.events], ["unstarted", []]);
  },
};

/** The received events are the beginning of the turn, and are kept. */
async function assertBeginning({ plan }, report, found) {
  const whole = await uncut(found, plan.script);
  const { events } = neutral({ ...report, sessions: [report.session] });
  assert.ok(events.length > 0, "something has come");
  assertSame(events, whole.events.slice(0, events.length));
  assert.ok(words(whole.snapshot).startsWith(words(report.snapshot)), "the words are the first of the turn");
}
