// A turn that is over, as a history has it: a snapshot, with nothing behind it.
import type { Readable } from "../common/readable.js";
import type { TurnSnapshot, TurnStatus } from "../snapshot/snapshot.js";
import type { Subject, TurnInputItem } from "../wire/events.js";

/**
 * A turn that is over, as `session.history()` returns it: frozen, and only to be shown. It has what components read of
 * a `Turn`, under the same names. `session.getTurn(id)` returns the `Turn`, to act on it.
 */
export interface SettledTurn {
  /** Tells the turn apart from others in a list: for a `key` in React. */
  readonly key: string;
  /** The turn's id. */
  readonly id: string;
  /** The turn that this one follows; `null` for a first turn. */
  readonly previousTurnId: string | null;
  /** The name of the turn's creator, if the server says so. */
  readonly createdBy: string | null;
  /** The turn's creator; `null` if the server has only a name. */
  readonly createdBySubject: Subject | null;
  /** ISO 8601, if the server says so. */
  readonly createdAt: string | null;
  /** The turn's input. */
  readonly input: readonly TurnInputItem[];
  /** How the turn ended. */
  readonly status: TurnStatus;
  /** The turn for components, as `turn.view`. It does not change. */
  readonly view: Readable<TurnSnapshot>;
  /** The turn's snapshot, always the same object. Bound. */
  readonly snapshot: () => TurnSnapshot;
  /** As `turn.subscribe`; there is nothing to tell any more. Bound. */
  readonly subscribe: (listener: () => void) => () => void;
}
