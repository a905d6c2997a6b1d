// What a turn needs from its session.
import type { TurnState } from "../wire/events.js";
import type { CreateTurnOptions } from "./options.js";

/** The session of turns of this type. @internal */
export interface TurnHost<T> {
  /** While the session is being read before a start: resolves when that start is in flight. */
  readonly unsent: Promise<void> | undefined;
  createTurn(options: CreateTurnOptions): T;
  /** Prepares the start of a turn. Returns what to wait for; `undefined` if it may start at once. */
  prepare(turn: T, whenBusy: "wait" | "fail", signal: AbortSignal): Promise<void> | undefined;
  /** Later starts wait until this one is `sent`, to keep the order. */
  hold(sent: Promise<void>): void;
  /** Whether a start has to wait for other turns. */
  hasOthers(turn: T): boolean;
  /** A turn has begun. The turn before it no longer waits for answers. */
  began(turn: T, previousTurnId: string | null): void;
  /** A prepared turn is over, or was not started after all. */
  leave(turn: T, state: TurnState | null): void;
  /** The parameters that name the session in requests, with more parameters. */
  params(more: object): object;
}
