// What a page shows of a conversation besides its messages.

import type { RequiredAction, Session, SettledTurn, Turn, TurnInputItem } from "turnwire";

/** A turn as components see it. Those of a loaded conversation are over, but for the last. */
export type ShownTurn = Turn | SettledTurn;

export interface ConversationState {
  readonly session: Session | null;
  /** Oldest first. */
  readonly turns: readonly ShownTurn[];
  /** The first message, while its session is being created. */
  readonly opening: readonly TurnInputItem[] | null;
  readonly loading: boolean;
  /** The last turn runs, or the page runs the tools for which it waits. */
  readonly running: boolean;
  /** The server works on the turn, as far as this page knows. */
  readonly begun: boolean;
  /** The connection is lost, and the first attempt to restore it has failed. */
  readonly lost: boolean;
  /** The actions of the last turn for the person; while it runs, only those that can be answered at once. */
  readonly pending: readonly RequiredAction[];
  /** The last turn waits only for tools of the page, and they were stopped, or have run the allowed number of rounds. */
  readonly halted: boolean;
  /** Why the session could not be created or loaded. The snapshot has a turn's own error. */
  readonly error: unknown;
}

/** The state of a conversation that has not begun. */
export const NOTHING: ConversationState = {
  session: null,
  turns: [],
  opening: null,
  loading: false,
  running: false,
  begun: false,
  lost: false,
  pending: [],
  halted: false,
  error: null,
};

/** Whether the change would alter the state. */
export function differs(state: ConversationState, change: Partial<ConversationState>): boolean {
  return (Object.keys(change) as (keyof ConversationState)[]).some((name) => state[name] !== change[name]);
}
