// A client that recovers lost connections at once, servers that lose them, and a turn's notices of both.
import { GET_TURN, json, serveSession, serveTurn } from "./server.mjs";
import { frame, frames, record } from "./wire.mjs";

/** Three attempts without news, with almost no wait before them. */
export const RECONNECT = { maxAttempts: 3, baseDelay: 1, maxDelay: 5 };

/**
 * By how much a wait may seem too short, in milliseconds: a timer counts from the beginning of the task that
 * sets it, and on a busy machine a task takes a while.
 */
export const GRAIN = 100;

/** A turn whose lost connections are recovered; it runs on at the server. */
export async function serveResumed(t, start, routes = {}, options = {}) {
  const world = await serveTurn(t, start, {
    routes: { [GET_TURN]: json({ data: record() }), ...routes },
    options: { reconnect: RECONNECT, ...options },
  });
  return { ...world, told: tellings(world.turn) };
}

/** A session whose turns' lost connections are recovered. */
export function serveResumedSession(t, routes = {}, options = {}) {
  return serveSession(t, { [GET_TURN]: json({ data: record() }), ...routes }, { reconnect: RECONNECT, ...options });
}

/** A turn's notices of its connection from now on, in order, as `[topic, value]`. */
export function tellings(turn) {
  const told = [];
  for (const topic of ["reconnecting", "waiting", "resumed", "gap", "mismatch", "idle", "error"]) turn.on(topic, (value) => told.push([topic, value]));
  return told;
}

/** The topics of notices. */
export const topics = (told) => told.map(([topic]) => topic);

/** Ways in which a stream breaks off. */
export const ENDS = {
  "a clean end": (response) => response.end(),
  // Without the last chunk, which has no bytes.
  "an end without the last chunk": (response) => response.socket.end(),
  "a reset": (response) => response.socket.resetAndDestroy(),
};

/** Replies with an event stream of these bytes, which then breaks off. */
export function brokenOff(bytes, end = ENDS["a clean end"]) {
  return ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    // A reset overtakes what was written a moment before.
    response.write(bytes, () => setTimeout(end, 10, response));
  };
}

/** The event after which a request wants the stream to begin. */
const cursor = ({ body, query }) => Number(body?.after_sequence_number ?? query.after_sequence_number ?? 0);

/** Replies with the events after those that the request has, then ends. At most `count` of them. */
export function logged(list, count = Infinity) {
  return ({ request, response }) => {
    const after = cursor(request);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(frames(list.slice(after, after + count), after + 1));
  };
}

/** Frames of events with these numbers instead of their own. */
export function numbered(list, numbers) {
  return list.map((event, at) => frame(event, numbers[at])).join("");
}

/** The sequence numbers of events. */
export const numbers = (events) => events.map((event) => event.sequence_number);

/** The numbers from `first` to `last`. */
export const range = (first, last) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

/** A turn's stream that any number of clients read, each from any event on. */
export class SharedStream {
  #log = [];
  #readers = new Set();

  /** Serves any number of requests. */
  reply = ({ request, response }) => {
    const after = cursor(request);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`: hello\n\n${frames(this.#log.slice(after), after + 1)}`);
    if (this.#isOver) return response.end();
    this.#readers.add(response);
    response.on("close", () => this.#readers.delete(response));
  };

  /** The number of its readers. */
  get readers() {
    return this.#readers.size;
  }

  /** Adds events for all readers. */
  send(...list) {
    const bytes = frames(list, this.#log.length + 1);
    this.#log.push(...list);
    for (const response of this.#readers) response.write(bytes);
    if (this.#isOver) for (const response of this.#readers) response.end();
  }

  /** Cuts all connections, by `end`. */
  cut(end) {
    const readers = [...this.#readers];
    this.#readers.clear();
    for (const response of readers) end(response);
  }

  get #isOver() {
    return this.#log.at(-1)?.type === "turn.done";
  }
}
