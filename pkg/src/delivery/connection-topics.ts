// What happens to the connection over which a turn is read.
import type { TurnwireError } from "../common/errors.js";

/** Before the next try to reach the server. */
export interface Reconnecting {
  /** The number of the try: how many in a row brought nothing new, and this one. */
  readonly attempt: number;
  /** How long it is waited for, in milliseconds. */
  readonly delay: number;
  /** What failed before. */
  readonly cause: TurnwireError;
}

/** Before the next look at what the server has not said yet. The connection is not lost, and no tries are used up. */
export interface Waiting {
  /** How long until the server is asked again, in milliseconds. */
  readonly delay: number;
  /**
   * What is waited for. `"turn"`: the turn's end; the server says that the turn runs, and has no stream of it.
   * `"history"`: the turn's answer in what the server keeps of the session; it does not say reliably whether it still
   * works on it (`"aap"`, `"tirea"`). `"events"`: the rest of the turn's messages; the turn has ended.
   */
  readonly for: "turn" | "history" | "events";
}

/** What happens to a turn's connection. None of it needs to be heeded. */
export interface ConnectionTopics {
  /** The connection was lost, and will be tried again. */
  reconnecting: Reconnecting;
  /** The server can be reached, and will be asked again for what it has not said yet. */
  waiting: Waiting;
  /** The stream goes on after the event of this number. */
  resumed: { readonly after: number };
  /** The server has lost the events between these numbers. The messages are made whole when the turn ends. */
  gap: { readonly after: number; readonly next: number };
  /**
   * The server numbers an event twice, and differently: by the `id:` of its frame, which counts, and by the
   * `sequence_number` in its JSON. Told once a turn.
   */
  mismatch: { readonly id: number; readonly sequence_number: number };
  /** Nothing came for so many milliseconds; the connection is given up. */
  idle: { readonly silence: number };
}
