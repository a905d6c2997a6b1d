// Runs one case: sets the gateway's faults, has a page play it, and judges the result.
import { GROUPS } from "./cases/index.mjs";
import { judge } from "./judge.mjs";

/** A browser has six connections to a host: four cases leave room for their other requests. */
export const LANES = 4;

/** All cases. */
export const CASES = GROUPS.flatMap(([group, cases]) => cases.map((one) => ({ group, ...one })));

/** The faults of a case, each with the request that it meets: `[request, kind, …arguments]`. */
export const partsOf = ({ faults }) => faults.flatMap(({ on, fault }) => fault.split("+").map((part) => [on, ...part.split(":")]));

/**
 * What a quick run has in every engine: each group of cases, each prefix of names (`cut: …`), each
 * way to end, and each kind of fault.
 */
export const kindsOf = (one) => [one.group, /^(.+?): /.exec(one.name)?.[1] ?? "", one.expects.outcome, ...partsOf(one).map(([, kind]) => kind)];

/**
 * While a request may get no answer, the gateway closes connections that wait for their next request, so
 * that no browser repeats one by itself. Other cases must not meet that.
 */
export const isAlone = ({ faults }) => faults.some(({ fault }) => /\b(refuse|lost)\b/.test(fault));

/** Runs a case in a session of its own; returns how long the page took. */
export async function run(gateway, player, one) {
  const session = await gateway.createSession();
  try {
    await gateway.setFaults(session, one.faults);
    const report = await player.play({ ...one.plan, session, expects: one.expects });
    const requests = await gateway.requests(session);
    const log = report.turn === null ? [] : await gateway.log(report.turn);
    judge(one, report, { requests, log, turns: await gateway.countTurns(session) });
    return report.took;
  } finally {
    await gateway.setFaults(session, []);
  }
}
