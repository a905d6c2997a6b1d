// Histories of servers whose turns name the turn before them: the path from the newest turn, or from another one.
import { Call } from "../boundary/calls.js";
import { follows, historyOf, settled } from "../client/face.js";
import type { History, HistoryPage } from "../client/history.js";
import type { ConversationHost } from "../client/load.js";
import type { SettledTurn } from "../turn/settled.js";
import type { Turn } from "../turn/turn.js";
import type { SessionEvent, TurnRecord } from "../wire/events.js";

export { FrameElision as Elision } from "./frame-elision.js";

/** The most records of turns, and the most events, that servers return at once. */
const TURNS_AT_ONCE = 25;
const EVENTS_AT_ONCE = 100;

/** Adds to a turn's events those that the session's list lacks. */
type WholeEvents = (turn: Turn, listed: SessionEvent["event"][]) => Promise<SessionEvent["event"][]>;

/** Reads a page of the history of a server whose turns name the turn before them. */
export async function readHistory(host: ConversationHost, page: HistoryPage, whole?: WholeEvents): Promise<History> {
  const { before, lastTurnId } = page;
  // The turn after the page may have answered calls of the page's last turn.
  const last = before ?? lastTurnId;
  const { path, next, branches } = await readPath(host, last, page.turns + (before ? 1 : 0));
  const events = await readEvents(host, path, last === undefined ? undefined : path[0]!.id, next);
  const turns: (Turn | SettledTurn)[] = [];
  let previous: Turn | undefined;
  for (const record of [...path].reverse()) {
    const isNewest = last === undefined && record === path[0];
    const turn = host.adopt(record, isNewest);
    if (turn.isOver) {
      const own = events.get(record.id)!.reverse();
      turn.fill(whole ? await whole(turn, own) : own);
    }
    if (previous) {
      if (turn.isOver || isNewest) turn.follows(previous);
      // Results may still come.
      turns.push(turn.isWhole ? settled(previous) : previous);
    }
    previous = turn;
  }
  if (previous && !before) turns.push(last === undefined ? previous : settled(previous));
  if (last === undefined) host.wasRead(previous);
  return historyOf(turns, next !== null, branches);
}

interface Path {
  /** The records of the path's turns, newest first. */
  path: TurnRecord[];
  /** The id of the turn before them; `null` if there is none. */
  next: string | null;
  /** Turns that were listed and are not on the path. */
  branches: TurnRecord[];
}

/** Reads the turn `last`, by default the newest, and the turns before it, up to this number. */
async function readPath(host: ConversationHost, last: string | undefined, length: number): Promise<Path> {
  const listed = new Map<string, TurnRecord>();
  const path: TurnRecord[] = [];
  let next: string | null | undefined = last;
  const take = (record: TurnRecord): void => {
    path.push(record);
    // A turn is on a path only once, whatever the server returns.
    listed.delete(record.id);
    next = record.previous_turn_id || null;
  };
  const walk = (): void => {
    for (let record; path.length < length && (record = listed.get(next!)); ) take(record);
  };
  const pageToken = last && host.places.get(last);
  let first: TurnRecord | undefined;
  let end: TurnRecord | undefined;
  let place: string | undefined;
  let isOldestFirst = false;
  for await (const [record, token] of host.records({ limit: Math.min(length, TURNS_AT_ONCE), ...(pageToken && { pageToken }) })) {
    if (end && end === first) isOldestFirst = follows(record, first);
    if (first && !isOldestFirst && next === undefined) next = first.id;
    first ??= record;
    end = record;
    place = token;
    listed.set(record.id, record);
    walk();
    if (path.length === length || next === null) break;
  }
  if (next === undefined) next = (isOldestFirst ? end : first)?.id;
  walk();
  // Servers may list one path only.
  while (last !== undefined && path.length < length && next) take(listed.get(next) ?? (await host.ask<TurnRecord>(Call.GetTurn, { turnId: next })));
  // The page before this one begins in the list where this one ends.
  if (end && !isOldestFirst && end === path.at(-1)) host.places.set(end.id, place);
  const older = [...listed.values()];
  if (!isOldestFirst) older.reverse();
  // Turns that follow the last one are not another branch.
  const later = new Set([path[0]?.id]);
  const branches = older.filter(({ id, previous_turn_id }) => !later.has(previous_turn_id!) || !later.add(id));
  return { path, next: path.length === length ? (next ?? null) : null, branches };
}

/** The events of the turns of a path, newest first, by the turns' ids. `next` is the turn before them. */
async function readEvents(
  host: ConversationHost,
  path: readonly TurnRecord[],
  lastTurnId: string | undefined,
  next: string | null,
): Promise<Map<string, SessionEvent["event"][]>> {
  const lists = new Map<string, SessionEvent["event"][]>(path.map(({ id }) => [id, []]));
  const isRead = (): boolean => path.every(({ id, state }) => state?.status === "running" || lists.get(id)!.length > 0);
  const named = lastTurnId !== undefined && host.hasPages && { lastTurnId };
  for await (const { turn_id, event } of host.events({ limit: EVENTS_AT_ONCE, ...named })) {
    if (turn_id === next && isRead()) break;
    lists.get(turn_id)?.push(event);
  }
  return lists;
}
