// What a case is: a script, the faults that its requests meet, and the required outcome.
//
// A case's `faults` are the gateway's: `on` names the kind of request, `fault` what happens to it.
// Every case demands that exactly one turn was begun, besides the `earlier` ones.

/** A short wait between tries keeps a case under a second. */
const RECONNECT = { baseDelay: 10, maxDelay: 50 };

/** A fault that the next request of a kind meets; `times: 0` is for all of them, `skip` lets some pass. */
export const on = (request, fault, more = {}) => ({ on: request, fault, ...more });

/** The defaults of a case. A `slow` one is not for quick runs. */
function caseOf(name, faults, expects, { script = "plain", pace = 1, connect, ...rest }) {
  const { reconnect, ...options } = connect ?? {};
  const connection = { reconnect: reconnect === false ? false : { ...RECONNECT, ...reconnect }, ...options };
  const { headers, stream, token, by, at, abortAfter, expire, again, earlier = 0, slow, ...expected } = rest;
  return {
    name,
    slow,
    faults: [faults].flat(),
    plan: { script, pace, headers, stream, token, by, at, abortAfter, expire, again, earlier, connect: connection },
    expects: { ...expects, earlier, ...expected },
  };
}

/**
 * The events are those of the turn's log, each once, in order, with their numbers, and the snapshot is
 * that of a turn whose connection was never cut.
 */
export const recovers = (name, faults, options = {}) =>
  caseOf(name, faults, { outcome: "recovers", reference: "whole" }, options);

/** As `recovers`, but the server's numbers cannot be trusted: the events are compared, not their numbers. */
export const delivers = (name, faults, options = {}) =>
  caseOf(name, faults, { outcome: "delivers", reference: "whole" }, options);

/** The server can no longer send the events of these numbers, but the snapshot is whole in the end. */
export const heals = (name, faults, options = {}) =>
  caseOf(name, faults, { outcome: "heals", reference: "whole" }, options);

/** The stream ends with this error, and the received events are kept. */
export const fails = (name, faults, error, options = {}) =>
  caseOf(name, faults, { outcome: "fails", reference: "kept", error }, options);

/** The turn does not start: nothing was received, the server has no turn, and this one counts as unstarted. */
export const refuses = (name, faults, error, options = {}) =>
  caseOf(name, faults, { outcome: "refuses", error }, options);

/** The server's numbers are invalid: the turn ends in a bounded time, with no event twice. */
export const settles = (name, faults, options = {}) => caseOf(name, faults, { outcome: "settles" }, options);

/** The relay does not have the rest: the agent's history has it, if it keeps one; otherwise the received events are kept. */
export const loses = (name, faults, options = {}) => caseOf(name, faults, { outcome: "loses" }, options);

/** The expected errors. */
export const apiError = (status) => ({ name: "ApiError", code: "http", status });
export const networkError = { name: "ConnectionError", code: "network" };
export const timeout = { name: "ConnectionError", code: "timeout" };
export const unexpected = { name: "ProtocolError", code: "unexpected_response" };
export const frameTooLarge = { name: "ProtocolError", code: "frame_too_large" };
export const aborted = { name: "AbortError", code: "aborted", cause: { message: "enough" } };
export const incomplete = (cause) => ({ name: "IncompleteError", code: "incomplete", ...(cause && { cause }) });

/** A turn that still runs while a case tries again and again. */
export const RUNNING = { script: "long 60", pace: 20 };
