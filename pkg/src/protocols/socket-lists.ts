// Special cases of lists over a socket: some servers refuse an empty list, and some omit the events of tasks.
import { ApiError } from "../client/face.js";
import type { History, HistoryPage } from "../client/history.js";
import type { ConversationHost } from "../client/load.js";
import type { Limits } from "../transport/clocks.js";
import type { Turn } from "../turn/turn.js";
import type { SessionEvent, SessionRecord } from "../wire/events.js";
import { readHistory as readPath } from "./path-history.js";

type Event = SessionEvent["event"];

/** Whether the server refused a list because it is empty: Codex does not list a thread without messages. */
export async function isEmptyList(error: unknown, read: () => Promise<SessionRecord>): Promise<boolean> {
  return error instanceof ApiError && error.code === "rpc" && (await read()).is_new === true;
}

/** Reads a page of a session's history. */
export function readHistory(host: ConversationHost, page: HistoryPage): Promise<History> {
  return readPath(host, page, (turn, listed) => withTaskEvents(turn, listed, host.limits));
}

/**
 * Adds the events of a turn's tasks to the turn's events from the session's list. The server returns task events only with the
 * turn, but there without the turn's beginning and its final text.
 */
async function withTaskEvents(turn: Turn, listed: Event[], limits: Limits): Promise<Event[]> {
  if (!listed.some(({ type }) => type === "thread.created")) return listed;
  const inside: Event[] = [];
  for await (const event of turn.listEvents(limits)) inside.push(event);
  const first = listed.filter(({ type }) => type === "turn.created");
  const last = listed.filter((event) => event.type === "turn.done" || (event.type === "notice" && event.code === "prompt_manifest"));
  return [...first, ...inside, ...last];
}
