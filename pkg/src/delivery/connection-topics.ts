// What is reported about the connection over which a turn is read.
import type { TurnwireError } from "../common/errors.js";

/** Reported before the next attempt to reach the server. */
export interface Reconnecting {
  /** The number of this attempt, among consecutive ones that brought nothing new. */
  readonly attempt: number;
  /** The length of the wait, in milliseconds. */
  readonly delay: number;
  /** The failure before it. */
  readonly cause: TurnwireError;
}

/** Reported before the next poll. The connection is not lost, and the poll does not count as an attempt. */
export interface Waiting {
  /** The wait until the poll, in milliseconds. */
  readonly delay: number;
  /**
   * What turnwire waits for. `"turn"`: the turn's end; the server says that the turn runs, and has no stream of it.
   * `"history"`: the turn's answer in the server's history; whether the server still works on it is not known reliably
   * (`"aap"`, `"tirea"`). `"events"`: the rest of the turn's messages; the turn has ended.
   */
  readonly for: "turn" | "history" | "events";
}

/** What is reported about a turn's connection. You may ignore all of it. */
export interface ConnectionTopics {
  /** The connection was lost; turnwire will try again. */
  reconnecting: Reconnecting;
  /** The server can be reached; turnwire will poll it. */
  waiting: Waiting;
  /** The stream continues after the event of this number. */
  resumed: { readonly after: number };
  /** The server has lost the events between these numbers. The messages are completed when the turn ends. */
  gap: { readonly after: number; readonly next: number };
  /**
   * The server sends two different numbers for an event: the `id:` of its frame, which counts, and the
   * `sequence_number` in its JSON. Reported once per turn.
   */
  mismatch: { readonly id: number; readonly sequence_number: number };
  /** Nothing arrived for so many milliseconds; turnwire drops the connection. */
  idle: { readonly silence: number };
}
