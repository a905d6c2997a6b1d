// What a plan wants done, and what it shows.
import type { Activity, Who } from "./facts.js";

/** Something to do, once. What comes of it is told as a fact. */
export type Effect =
  /** Create the session; then `sessionReady` or `sessionFailed`. Stop all tools of the page; nothing is told of them. */
  | { readonly kind: "createSession" | "stopTools" }
  /** Start a turn: then `named`, `refused` or `lost`, what it does and how it ends. `discard` throws away what waits. */
  | { readonly kind: "start"; readonly turn: number; readonly after: After; readonly discard: boolean; readonly input: StartInput }
  /** Send a message to the running turn; then `steered`. */
  | { readonly kind: "steer"; readonly turn: number; readonly key: number; readonly input: string }
  /**
   * Cancel the turn on the server, as soon as it has begun; a failure is `cancelFailed`. Stop reading the turn, which
   * continues.
   */
  | { readonly kind: "cancel" | "leave"; readonly turn: number }
  /**
   * Read the turn with this id to its end, from where it was left; then what it does and how it ends. Or forget what was read
   * of it here: the server's list has more.
   */
  | { readonly kind: "watch" | "forget"; readonly turn: number; readonly id: string }
  /** Answer a call of the running turn; then `answered`. */
  | { readonly kind: "answer"; readonly turn: number; readonly call: string; readonly answer: string }
  /** Run a tool of the page; then `toolEnded`. */
  | { readonly kind: "runTool"; readonly turn: number; readonly call: string }
  /** Read the page before the one that begins with the turn of this id, or the newest; then `page` or `pageFailed`. */
  | { readonly kind: "load"; readonly before: string | null }
  /** Keep this for the next page in place of what was kept; empty for nothing. */
  | { readonly kind: "store"; readonly text: string }
  /** Hand an input back to the person: it is nowhere else. */
  | { readonly kind: "giveBack"; readonly key: number; readonly input: string };

/** Which turn a new one follows: the session's newest, none, or one by its id. */
export type After = "newest" | "nothing" | { readonly id: string };

/** What a turn starts with: a message, answers to the calls of a turn, or nothing: the agent continues after a sign-in. */
export type StartInput = { readonly message: string } | { readonly asking: number; readonly answers: readonly (readonly [call: string, answer: string])[] } | null;

/** What follows from a fact. */
export interface Taken {
  /** The key of what a person has sent; 0 for none. */
  readonly key: number;
  /** What is to be done, in this order. What is shown may have changed. */
  readonly effects: readonly Effect[];
}

/**
 * Why a fact was not taken, which has changed nothing: the protocol cannot do it; calls wait for an answer, and a message
 * would not reach the agent before that; a turn runs; the key is none, or not any more; it was sent, and cannot be changed;
 * the call does not wait; there is nothing to do.
 */
export type Refusal = "unsupported" | "callsWait" | "busy" | "gone" | "sent" | "notWaiting" | "nothing";

/** What the conversation does. "failed": the last turn failed, or its fate is unknown. */
export type Phase = "idle" | "loading" | "sending" | Activity | "waiting" | "stopping" | "failed";

/** What a plan shows. */
export interface PlanView {
  readonly phase: Phase;
  /** A message would be sent at once. */
  readonly canSend: boolean;
  /** A message would wait in the queue. */
  readonly canQueue: boolean;
  /** There is something to stop. */
  readonly canStop: boolean;
  /** A message can be steered into the running turn. */
  readonly canSteer: boolean;
  /** What waits goes on when a person proceeds. */
  readonly canProceed: boolean;
  /** Inputs of the queue are held. */
  readonly heldQueue: boolean;
  /** The newest turns were read, or could not be; or the session is new. */
  readonly isLoaded: boolean;
  /** There are earlier turns, which are not loaded. */
  readonly hasEarlier: boolean;
  /** Some of those are being read, or will be. */
  readonly readsEarlier: boolean;
  /** The turns that are shown, oldest first. Each is the same object while it is the same. */
  readonly path: readonly PlannedTurn[];
  readonly queue: readonly PlannedInput[];
  readonly calls: readonly PlannedCall[];
}

/** A turn of the path. */
export interface PlannedTurn {
  readonly key: number;
  /**
   * The key as the text that pages see. One that came with the server's list is made of the server's id, so that it is the
   * same after a reload. It begins with another letter than those that are made here.
   */
  readonly name: string;
  /** The server's id; empty until it is known. */
  readonly id: string;
  /** How it stands: not on the server, on the server, or over. */
  readonly state: "sending" | "unknown" | "failed" | "running" | "incomplete" | "over";
  readonly canRetry: boolean;
  /** The message, until the server has it. */
  readonly input: string;
  /** Messages that were steered into it: keys, and their texts until the turn's own record has them. */
  readonly steered: readonly (readonly [key: number, input: string])[];
  /** The keys of its siblings and its own, oldest first; empty if it has none. */
  readonly siblings: readonly number[];
}

/** An input of the queue. */
export interface PlannedInput {
  readonly key: number;
  /** It goes out as soon as nothing runs; a person must release it; it may have arrived in a turn; it is on its way into one. */
  readonly state: "waits" | "held" | "unknown" | "steering";
  readonly input: string;
}

/** A call that waits. */
export interface PlannedCall {
  /** The turn that asks. */
  readonly turn: number;
  readonly call: string;
  readonly who: Who;
  /** The answer was sent, or is on its way: it cannot be changed. */
  readonly sent: boolean;
  /** The answer; empty if there is none. */
  readonly answer: string;
}
