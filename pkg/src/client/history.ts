// A session's history: the turns of one path, a page at a time from its end.
import { demand } from "../common/check.js";
import { demandOptions, type RequestOptions } from "../transport/lists.js";
import type { SettledTurn } from "../turn/settled.js";
import type { Turn } from "../turn/turn.js";
import type { TurnRecord } from "../wire/events.js";

/** The turns of a page, if the caller does not say how many. */
const PAGE = 50;

/** The options of `session.history()`. */
export interface HistoryOptions extends RequestOptions {
  /** The most turns to return; 50 by default. */
  turns?: number | undefined;
  /** Returns the turns before the one with this id: that of the first turn of a page, for the page before it. By default the last page. */
  before?: string | undefined;
  /**
   * The turn with which the history ends; by default the session's newest. The id of a turn of another branch (see
   * `History.branches`) shows that branch.
   */
  lastTurnId?: string | undefined;
}

/**
 * A page of a session's history, oldest turn first. Turns that are over are frozen snapshots. The last turn of the
 * session is a `Turn`, and so is each one that is not over.
 */
export interface History extends ReadonlyArray<Turn | SettledTurn> {
  /** The session's newest turn, if it is on this page: the one to continue, to answer or to cancel. */
  readonly last: Turn | undefined;
  /** Whether there are turns before the first one of this page. */
  readonly hasEarlier: boolean;
  /**
   * The server's records of listed turns that are on other paths, such as retried turns and edited questions. Servers that list only one
   * path (`"truefoundry"`) do not return them.
   */
  readonly branches: readonly TurnRecord[];
}

/** The requested part of a history. */
export interface HistoryPage {
  readonly turns: number;
  readonly before: string | undefined;
  readonly lastTurnId: string | undefined;
}

/** The checked options of a page. */
export function pageOf(method: string, options: HistoryOptions, ...names: string[]): HistoryPage {
  demandOptions(method, options, "turns", ...names);
  const { turns = PAGE, before, lastTurnId } = options;
  demand(Number.isInteger(turns) && turns > 0, "`turns` must be a whole number from 1");
  for (const id of [before, lastTurnId]) demand(id === undefined || typeof id === "string", "a turn is named by its id");
  return { turns, before, lastTurnId };
}

/** A page of its turns. */
export function historyOf(turns: (Turn | SettledTurn)[], hasEarlier: boolean, branches: readonly TurnRecord[] = []): History {
  const end = turns.at(-1);
  const last = end && "stream" in end ? end : undefined;
  // Not enumerable: the page is still an array, and equals one.
  return Object.defineProperties(turns, { last: { value: last }, hasEarlier: { value: hasEarlier }, branches: { value: branches } }) as unknown as History;
}

/** Whether a turn is newer than the one listed before it. */
export function follows(turn: TurnRecord, before: TurnRecord): boolean {
  return turn.previous_turn_id === before.id || (turn.created_at ?? "") > (before.created_at ?? "");
}

/** A turn that is over no longer needs a core. */
export function settled(turn: Turn): Turn | SettledTurn {
  return turn.isOver ? turn.settled() : turn;
}
