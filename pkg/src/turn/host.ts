// What a turn asks of the session that it belongs to.
import type { TurnState } from "../wire/events.js";
import type { CreateTurnOptions } from "./options.js";

/** The session of turns of this type. @internal */
export interface TurnHost<T> {
  /** Resolves once the start is on its way before which the session is being read. */
  readonly unsent: Promise<void> | undefined;
  createTurn(options: CreateTurnOptions): T;
  /** Makes ready for a turn that is about to start. Returns what to wait for; nothing if it may start at once. */
  prepare(turn: T, whenBusy: "wait" | "fail", signal: AbortSignal): Promise<void> | undefined;
  /** Starts wait until this one is `sent`, so that they come after it. */
  hold(sent: Promise<void>): void;
  /** Whether a start has to wait for other turns. */
  hasOthers(turn: T): boolean;
  /** A turn has begun: the one before it waits no longer. */
  began(turn: T, previousTurnId: string | null): void;
  /** A turn that was made ready for is over, or was not started after all. */
  leave(turn: T, state: TurnState | null): void;
  /** What names the session in requests, with more parameters. */
  params(more: object): object;
}
