// The effects of a plan, and its view.
import type { Activity, Who } from "./facts.js";

/** Something to do, once. The result is reported as a fact. */
export type Effect =
  /** Create the session; then `sessionReady` or `sessionFailed`. Stop all tools of the page, which report nothing more. */
  | { readonly kind: "createSession" | "stopTools" }
  /** Start a turn: then `named`, `refused` or `lost`, its activities and its end. `discard` discards pending calls. */
  | { readonly kind: "start"; readonly turn: number; readonly after: After; readonly discard: boolean; readonly input: StartInput }
  /** Send a message to the running turn; then `steered`. */
  | { readonly kind: "steer"; readonly turn: number; readonly key: number; readonly input: string }
  /**
   * Cancel the turn on the server, as soon as it has begun; a failure is `cancelFailed`. Stop reading the turn, which
   * continues.
   */
  | { readonly kind: "cancel" | "leave"; readonly turn: number }
  /**
   * Read the turn with this id to its end, from the last position; then its activities and its end. Or forget what was read of
   * it here: the server's list has more.
   */
  | { readonly kind: "watch" | "forget"; readonly turn: number; readonly id: string }
  /** Answer a call of the running turn; then `answered`. */
  | { readonly kind: "answer"; readonly turn: number; readonly call: string; readonly answer: string }
  /** Run a tool of the page; then `toolEnded`. */
  | { readonly kind: "runTool"; readonly turn: number; readonly call: string }
  /** Read the page before the turn with this id, or the newest page; then `page` or `pageFailed`. */
  | { readonly kind: "load"; readonly before: string | null }
  /** Store this for the next page, in place of the earlier text; empty to store nothing. */
  | { readonly kind: "store"; readonly text: string }
  /** Give an input back to the person: it is nowhere else. */
  | { readonly kind: "giveBack"; readonly key: number; readonly input: string };

/** The turn before a new one: the session's newest, none, or one by its id. */
export type After = "newest" | "nothing" | { readonly id: string };

/** The start of a turn: a message, answers to the calls of a turn, or nothing: the agent continues after a sign-in. */
export type StartInput = { readonly message: string } | { readonly asking: number; readonly answers: readonly (readonly [call: string, answer: string])[] } | null;

/** The result of a fact. */
export interface Taken {
  /** The key of the person's input; 0 for none. */
  readonly key: number;
  /** The effects, in order. The view may have changed. */
  readonly effects: readonly Effect[];
}

/**
 * Why a fact was refused without any change: the protocol does not support it; calls are pending, and a message would not reach the
 * agent before their answers; a turn runs; the key is unknown or gone; it was sent, and cannot be changed; the call is not pending;
 * there is nothing to do.
 */
export type Refusal = "unsupported" | "callsWait" | "busy" | "gone" | "sent" | "notWaiting" | "nothing";

/** The conversation's phase. "failed": the last turn failed, or its fate is unknown. */
export type Phase = "idle" | "loading" | "sending" | Activity | "waiting" | "stopping" | "failed";

/** The view of a plan. */
export interface PlanView {
  readonly phase: Phase;
  /** Whether a message would be sent at once. */
  readonly canSend: boolean;
  /** Whether a message would wait in the queue. */
  readonly canQueue: boolean;
  /** Whether there is something to stop. */
  readonly canStop: boolean;
  /** Whether a message can be steered into the running turn. */
  readonly canSteer: boolean;
  /** Whether pending calls continue when a person proceeds. */
  readonly canProceed: boolean;
  /** Whether inputs of the queue are held. */
  readonly heldQueue: boolean;
  /** Whether the newest turns were read, or could not be read, or the session is new. */
  readonly isLoaded: boolean;
  /** Whether there are earlier turns that are not loaded. */
  readonly hasEarlier: boolean;
  /** Whether some of those are being read, or will be. */
  readonly readsEarlier: boolean;
  /** The shown turns, oldest first. An unchanged turn stays the same object. */
  readonly path: readonly PlannedTurn[];
  readonly queue: readonly PlannedInput[];
  readonly calls: readonly PlannedCall[];
}

/** A turn of the path. */
export interface PlannedTurn {
  readonly key: number;
  /**
   * The key as the text that pages see. For a turn from the server's list it is made from the server's id, so that it survives
   * a reload. It begins with another letter than keys made here.
   */
  readonly name: string;
  /** The server's id; empty until it is known. */
  readonly id: string;
  /** The turn's state: not on the server, on the server, or over. */
  readonly state: "sending" | "unknown" | "failed" | "running" | "incomplete" | "over";
  readonly canRetry: boolean;
  /** The message, until the server returns it. */
  readonly input: string;
  /** Messages steered into it: their keys, and their texts until the turn's own record has them. */
  readonly steered: readonly (readonly [key: number, input: string])[];
  /** The keys of its siblings and itself, oldest first; empty if it has none. */
  readonly siblings: readonly number[];
}

/** An input of the queue. */
export interface PlannedInput {
  readonly key: number;
  /** Sent once nothing runs; held until a person releases it; possibly arrived in a turn; in flight into a turn. */
  readonly state: "waits" | "held" | "unknown" | "steering";
  readonly input: string;
}

/** A pending call. */
export interface PlannedCall {
  /** The turn that asks. */
  readonly turn: number;
  readonly call: string;
  readonly who: Who;
  /** Whether the answer was sent or is in flight: it cannot be changed. */
  readonly sent: boolean;
  /** The answer; empty if there is none. */
  readonly answer: string;
}
