// What a page shows of a conversation besides what is said in it.

import type { RequiredAction, Session, Turn, TurnInputItem } from "turnwire";

export interface ConversationState {
  readonly session: Session | null;
  /** Oldest first. */
  readonly turns: readonly Turn[];
  /** The first message, while the session that it opens is being created. */
  readonly opening: readonly TurnInputItem[] | null;
  readonly loading: boolean;
  /** The last turn is under way, or the page runs the tools that it waits for. */
  readonly running: boolean;
  /** The server works on it, as far as is known here. */
  readonly begun: boolean;
  /** Its connection is lost, and the first try to get it back has failed. */
  readonly lost: boolean;
  /** What the last turn wants of the person; while it runs, only where it can be answered at once. */
  readonly pending: readonly RequiredAction[];
  /** The last turn waits for tools of the page alone, and they were stopped, or have run often enough unasked. */
  readonly halted: boolean;
  /** Why the session could not be created or loaded. A turn's own failure is in its snapshot. */
  readonly error: unknown;
}

/** Of a conversation that has not begun. */
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

/** Whether the change would be one. */
export function differs(state: ConversationState, change: Partial<ConversationState>): boolean {
  return (Object.keys(change) as (keyof ConversationState)[]).some((name) => state[name] !== change[name]);
}
