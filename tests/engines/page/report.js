// What a page can see of a turn, as JSON.
import { connect, TurnwireError } from "/dist/index.js";

export const BASE_URL = `${location.origin}/demo`;

/** A value without members that JSON cannot have. */
export const plain = (value) => JSON.parse(JSON.stringify(value));

/** An error's fields, and its cause. */
export function told(error) {
  if (!(error instanceof Error)) return String(error);
  const { name, message, code, status, retryAfter } = error;
  const cause = error.cause === undefined ? undefined : told(error.cause);
  return plain({ name, message, code, status, retryAfter, cause, typed: error instanceof TurnwireError });
}

/** The snapshot; its error separately, since an `Error` is not JSON. */
export function snapshotOf(turn) {
  const { error, ...rest } = turn.snapshot();
  return { ...plain(rest), error: error === null ? null : told(error) };
}

/** Reads a stream to its end into `events`; returns the error that ended it, or `null`. */
export async function read(turn, events, options, after = () => {}) {
  try {
    for await (const event of turn.stream(options)) {
      events.push(plain(event));
      await after(event);
    }
    return null;
  } catch (error) {
    return told(error);
  }
}

/**
 * The same turn as a client without cuts sees it: fed with the gateway's log, up to
 * the event of number `upTo`.
 */
export async function uncut(sessionId, turnId, input, upTo = Infinity) {
  const log = await (await fetch(`/_gateway/turns/${turnId}/log`)).text();
  const frames = log.split(/(?<=\n\n)/).filter((frame) => Number(/^id: (\d+)$/m.exec(frame)[1]) <= upTo);
  const answer = () => new Response(frames.join(""), { headers: { "content-type": "text/event-stream" } });
  const client = await connect({
    baseUrl: BASE_URL,
    reconnect: false,
    fetch: async (url, init) => (init?.method === "POST" ? answer() : fetch(url, init)),
  });
  const session = await client.agents.getSession(sessionId);
  const turn = session.createTurn({ input });
  const events = [];
  const error = await read(turn, events);
  return { events, error, snapshot: snapshotOf(turn) };
}
