// A session with earlier messages, as TrueFoundry's server lists it, and a turn that a page starts in it.
import { random } from "./random.mjs";
import { eventStream } from "./source.mjs";
import { prose } from "./text.mjs";
import { truefoundry } from "./wires/truefoundry.mjs";

const TIME = "2026-11-21T14:04:32.381Z";
const BASE_URL = "http://memory.test/tenant";
const encoder = new TextEncoder();

/** The id of the session. */
export const SESSION_ID = "s1";

/** So many messages, of the user and of the agent in turn, with about so many characters each: `{ role, text }`. */
export function talked(count, size = 200) {
  const draw = random(count);
  return Array.from({ length: count }, (_, at) => (at % 2 === 0 ? { role: "user", text: `Question ${at}` } : { role: "assistant", text: prose(draw, size) }));
}

/**
 * What `connect` needs for a server in memory that has these messages. The turn that is started tells the story: `source`
 * makes an answer of a stream's chunks. `requests` gets each request, as `GET path`.
 */
export function serverWith(messages, story, { source = eventStream, requests = [] } = {}) {
  const turns = turnsOf(messages);
  const lists = { turns: turns.map(({ record }) => record).reverse(), events: turns.flatMap(({ events }) => events).reverse() };
  const [first, ...frames] = truefoundry.frames(story);
  const chunks = frames.map((frame) => encoder.encode(frame));
  const started = ({ input }) => {
    const created = { ...JSON.parse(/^data: (.*)$/m.exec(first)[1]), input, previous_turn_id: turns.at(-1)?.record.id ?? null };
    // It runs for as long as anyone asks.
    const { turn_id: id, previous_turn_id, state, created_at } = created;
    lists.turns.unshift({ id, session_id: SESSION_ID, previous_turn_id, input, state, created_at });
    return [encoder.encode(`data: ${JSON.stringify(created)}\nid: 1\n\n`), ...chunks];
  };
  const fetch = async (url, { method = "GET", body } = {}) => {
    const { pathname, searchParams } = new URL(url);
    const path = pathname.split("/sessions")[1];
    requests.push(`${method} ${path}`);
    if (method === "POST" && path === `/${SESSION_ID}/turns`) return source(started(JSON.parse(body)));
    const list = /^\/\w+\/(turns|events)$/.exec(path)?.[1];
    if (list) return Response.json(pageOf(lists[list], searchParams));
    return truefoundry.answer({ method: "POST", path: "/sessions" });
  };
  return { baseUrl: BASE_URL, fetch };
}

/** A page of a list: from its token on, or from the events of a turn. */
function pageOf(list, asked) {
  const limit = Number(asked.get("limit"));
  const turn = asked.get("last_turn_id");
  const from = Number(asked.get("page_token") ?? (turn ? list.findIndex(({ turn_id }) => turn_id === turn) : 0));
  const next = from + limit < list.length ? { next_page_token: String(from + limit) } : {};
  return { data: list.slice(from, from + limit), pagination: { limit, ...next } };
}

/** The server's record of each turn, and its events. */
function turnsOf(messages) {
  return messages.flatMap(({ role, text }, at) => {
    if (role === "user") return [];
    const id = `past${String(at).padStart(6, "0")}`;
    const previous_turn_id = at > 2 ? `past${String(at - 2).padStart(6, "0")}` : null;
    const input = [{ type: "user.message", content: messages[at - 1].text }];
    const message = { type: "model.message", id: `${id}m`, thread_id: "main", created_at: TIME, content: text, finish_reason: "stop" };
    const state = { status: "done", output: message, required_actions: [], completed_at: TIME };
    const turn = { turn_id: id, created_at: TIME, thread_id: null };
    const events = [
      { type: "turn.created", id: `${id}b`, previous_turn_id, input, state: { status: "running" }, ...turn },
      message,
      { type: "turn.done", id: `${id}e`, state, ...turn },
    ];
    return { record: { id, session_id: SESSION_ID, previous_turn_id, input, state, created_at: TIME }, events: events.map((event) => ({ turn_id: id, event })) };
  });
}
