// Plays cases of turns behind a relay.
import { act, countedTokens, listen, wait } from "./play.js";
import { offer } from "./player.js";
import { read, snapshotOf } from "./report.js";
import { connect } from "/dist/index.js";

/** Plans the faults of a session's next requests at a gateway. */
async function setFaults(gateway, { id }, faults) {
  const body = JSON.stringify(faults);
  const response = await fetch(`${gateway}/_gateway/sessions/${id}/faults?ahead=true`, { method: "PUT", headers: { "content-type": "application/json" }, body });
  if (!response.ok) throw new Error(await response.text());
}

offer(async (plan, controller) => {
  const { agent, protocol, script, headers, connect: options, stream, abortAfter } = plan;
  const { signal } = controller;
  const began = performance.now();
  const tokens = countedTokens(plan.token);
  const baseUrl = `${location.origin}/relay/${agent}`;
  const client = await connect({ baseUrl, protocol, relay: true, headers, ...(tokens && { token: tokens.next }), ...options });
  // The clocks are for the turn.
  const session = await client.agents.createSession("support-bot", { connectTimeout: 0 });
  await setFaults(location.origin, session, plan.faults);
  await setFaults(plan.behind, session, plan.agentFaults);
  const turn = session.createTurn({ input: script });
  const topics = listen(turn);
  const events = [];
  const errors = [];
  const run = plan.by === "waiting" ? wait : read;
  if (abortAfter !== undefined) setTimeout(() => controller.abort(new Error("enough")), abortAfter);
  const error = await run(turn, events, { ...stream, signal }, (event) => act({ ...plan, session: session.id }, event, turn, controller));
  if (error !== null) errors.push(error);
  if (error !== null && plan.again) {
    await setFaults(location.origin, session, []);
    const next = await read(turn, events);
    if (next !== null) errors.push(next);
  }
  const took = performance.now() - began;
  return { session: session.id, events, errors, topics, took, turn: turn.id, status: turn.status, snapshot: snapshotOf(turn) };
});
