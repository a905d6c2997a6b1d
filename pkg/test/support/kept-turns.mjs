// A session's turns as a server keeps them, for any number of clients, and lists them in either order.
import { connect } from "../../dist/index.js";
import { RECONNECT } from "./connection.mjs";
import { json, page, reset, serve, SESSION } from "./server.mjs";
import { created, done, DONE, finished, frames, message, record, text } from "./wire.mjs";

/** The orders in which servers list a session's turns. */
export const ORDERS = ["newest first", "oldest first"];

/** The time this many seconds ago. */
export const ago = (seconds) => ({ created_at: new Date(Date.now() - 1000 * seconds).toISOString() });

/** The events of a turn whose text is its own id. */
const eventsOf = ({ id, previous_turn_id, input }) => [
  created({ turn_id: id, previous_turn_id, input }), message(`m-${id}`), text(`I am ${id}`, `m-${id}`), finished("stop", `m-${id}`), done(),
];

/** The same in the form of a list: each message is one event. */
const listOf = ({ id }) => [message(`m-${id}`, { content: `I am ${id}`, finish_reason: "stop" })];

/** The turns of session `s1`. */
export class KeptTurns {
  /** The oldest first. */
  turns = [];
  /** The result of each start: a turn's id, or `null` if it did not arrive. */
  made = [];
  #isOldestFirst;

  constructor(order = ORDERS[0]) {
    this.#isOldestFirst = order === "oldest first";
  }

  /** Adds a turn with this input, by default after the last one. */
  add(input, fields = {}) {
    const items = typeof input === "string" ? [{ type: "user.message", content: input }] : input;
    const previous_turn_id = this.turns.at(-1)?.id ?? null;
    const turn = record(DONE, { id: `t${this.turns.length + 1}`, previous_turn_id, input: items, ...ago(0), ...fields });
    this.turns.push(turn);
    return turn;
  }

  /**
   * Routes that serve them. The starts have the outcomes of `fates`, one after the other, the last one for all others:
   * "answered", "lost" (it arrives, and its answer does not), "refused" (it does not arrive), or a reply.
   */
  routes(...fates) {
    return {
      "GET agents/sessions/s1/turns": (exchange) => this.#list(exchange),
      "POST agents/sessions/s1/turns": (exchange) => this.#start(exchange, fates.length > 1 ? fates.shift() : fates[0]),
      "GET agents/sessions/s1/turns/*": (exchange) => json({ data: this.#named(exchange) })(exchange),
      "GET agents/sessions/s1/turns/*/events": (exchange) => page(listOf(this.#named(exchange)))(exchange),
      "POST agents/sessions/s1/turns/*/subscribe": (exchange) => stream(exchange, this.#named(exchange)),
      "GET agents/sessions/s1/events": page([]),
    };
  }

  #named({ request }) {
    const [, id] = request.path.split("/turns/");
    return this.turns.find((turn) => turn.id === id.split("/")[0]);
  }

  #list(exchange) {
    const { limit = 10, page_token: token = 0 } = exchange.request.query;
    const list = this.#isOldestFirst ? this.turns : this.turns.toReversed();
    const end = Number(token) + Number(limit);
    page(list.slice(Number(token), end), end < list.length ? String(end) : undefined)(exchange);
  }

  #start(exchange, fate = "answered") {
    if (typeof fate === "function") return fate(exchange);
    if (fate === "refused") {
      this.made.push(null);
      return reset(exchange);
    }
    const { input, previous_turn_id: previous = "auto", stream: isStreamed } = exchange.request.body;
    const turn = this.add(input, previous === "auto" ? {} : { previous_turn_id: previous === "none" ? null : previous });
    this.made.push(turn.id);
    if (fate === "lost") return reset(exchange);
    return isStreamed ? stream(exchange, turn) : json({ data: turn })(exchange);
  }
}

function stream({ response }, turn) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(frames(eventsOf(turn)));
}

/** A server with these turns, and a function that fetches the session from it, each time by another client. */
export async function serveKept(t, kept, fates = ["answered"], routes = {}) {
  const server = await serve(t, { "GET agents/sessions/s1": json({ data: SESSION }), ...kept.routes(...fates), ...routes });
  const fetched = async (options = {}) => {
    const client = await connect({ baseUrl: server.baseUrl, reconnect: RECONNECT, ...options });
    const session = await client.agents.getSession("s1");
    server.requests.length = 0;
    return session;
  };
  return { server, fetched };
}

/** A session with this message from this many seconds ago, after another one. */
export function said(words, seconds, order) {
  const kept = new KeptTurns(order);
  kept.add("Which one?", ago(seconds + 20));
  kept.add(words, ago(seconds));
  return kept;
}

/** How often the newest turn was read before a start. */
export const reads = ({ requests }) => requests.filter(({ query }) => query.limit === "2").length;
