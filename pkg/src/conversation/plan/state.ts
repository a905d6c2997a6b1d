// What a plan remembers.
import type { After, Effect, PlannedTurn } from "./effects.js";
import type { Activity, End, PlanOptions, Who } from "./facts.js";

export const NONE: readonly never[] = [];

/** The state of a plan. */
export interface State {
  readonly options: PlanOptions;
  /** The last key that was made. A key is not used again. */
  lastKey: number;
  lastRank: number;
  session: "none" | "creating" | "ready";
  /**
   * In the server's order, oldest first: a turn comes after its parent. Those that the server has not named come where they
   * were sent.
   */
  readonly turns: Turn[];
  /** The path leads through this turn to its newest descendant; without one, to the newest turn. */
  chosen: Turn | undefined;
  readonly queue: Queued[];
  /** What is being read: the newest page, or the one before that which begins with this turn. */
  reading: "newest" | Turn | undefined;
  /** How many pages were asked for, and the number of the newest page that has come. */
  pages: number;
  newest: number;
  /** The newest page is wanted as soon as none is being read; and so is an earlier one. */
  wantsNewest: boolean;
  wantsEarlier: boolean;
  /** The newest page has come, or could not be read. */
  isLoaded: boolean;
  isShown: boolean;
  isLeading: boolean;
  /** How many turns have followed each other with results of the page's tools alone. */
  rounds: number;
  /** Answers from an earlier page, until their turn is known. */
  saved: SavedAnswer[];
  /** What is stored. */
  stored: string;
  effects: Effect[];
}

/** A turn: on the server, or on its way there. */
export interface Turn {
  readonly key: number;
  name: string;
  /** Turns have rising ranks. */
  rank: number;
  /** The server's id; empty until it is known. */
  id: string;
  /** What it follows: a turn; one that is not loaded, by its id, which is empty if it is not known; or nothing. */
  parent: Turn | string | null;
  /**
   * Whether the server lists the turn before it in the tree right before it: no page had it; a page began with it, so that
   * there may be others before it; or a page had both, or it is the first.
   */
  joint: "unlisted" | "open" | "joined";
  /**
   * The session is being created for it; it is on its way; it may have arrived; it has not arrived; it runs; it has begun,
   * and its end is unknown; it has ended.
   */
  state: "prepared" | "starting" | "unknown" | "failed" | "running" | "incomplete" | "over";
  /** What is sent, until the server has named the turn. */
  out: Outgoing | undefined;
  /** While it starts or runs: it is being cancelled, it is being read, what it does. */
  isStopping: boolean;
  isWatched: boolean;
  activity: Activity;
  /** How it ended. */
  end: End;
  /** It begins with a message of the person. */
  asks: boolean;
  calls: Call[];
  /** The answers wait until a person releases them: they have failed once, or a person gave one in an earlier page. */
  isHeld: boolean;
  /** Messages that were steered into it. Their texts are empty once the turn's own record has them. */
  readonly steered: { readonly key: number; text: string }[];
  /** The number of the last page that had been asked for when it got its id. */
  begun: number;
  /** The same when something was heard of it: what that page says of its state is stale. */
  heard: number;
  /** What is shown of it. */
  shown: PlannedTurn | undefined;
}

/** What starts a turn. */
export interface Outgoing {
  /** A person's message; empty for a turn that answers calls of the one before it, which keeps the answers, or only follows it. */
  readonly input: string;
  readonly after: After;
  readonly discard: boolean;
  /** It is a sibling of another turn. */
  readonly isFork: boolean;
  /** It may have arrived once: the server's list may still bring it. */
  wasLost: boolean;
}

/** A call of a turn that waits, or has waited. */
export interface Call extends Answer {
  readonly id: string;
  readonly who: Who;
}

/** The answer to a call. It leaves for the server once, unless the server says that it does not have it. */
export interface Answer {
  /**
   * There is none; a tool of the page makes it; the tool was stopped, until a person proceeds; it is kept here; it is kept
   * here until the turn has ended, which does not take it while it runs; it is on its way; it may have arrived; the server
   * has it.
   */
  state: "missing" | "running" | "halted" | "kept" | "refused" | "going" | "unknown" | "sent";
  /** Empty while there is none. */
  text: string;
}

/** An answer from an earlier page. */
export interface SavedAnswer extends Answer {
  readonly turn: string;
  readonly call: string;
}

/** An input of the queue. */
export interface Queued {
  /** Its row will have it, too. */
  readonly key: number;
  input: string;
  /** It is here, on its way into a turn, or it may have arrived in one. */
  state: "here" | "steering" | "unknown";
  /** A person must release it, as soon as it is here. */
  isHeld: boolean;
  /**
   * The turn into which it is steered, or the id of the one in which it may have arrived, or may arrive late: that turn may
   * go on under its id. Empty for none.
   */
  into: Turn | string;
  readonly discard: boolean;
}

export function newState(options: PlanOptions): State {
  return {
    options,
    lastKey: 0,
    lastRank: 0,
    session: options.hasSession ? "ready" : "none",
    turns: [],
    chosen: undefined,
    queue: [],
    reading: undefined,
    pages: 0,
    newest: 0,
    wantsNewest: false,
    wantsEarlier: false,
    isLoaded: false,
    isShown: false,
    isLeading: false,
    rounds: 0,
    saved: [],
    stored: "",
    effects: [],
  };
}

export function newTurn(plan: State, state: Turn["state"], parent: Turn["parent"], key = newKey(plan)): Turn {
  return {
    key,
    name: `n${key}`,
    rank: plan.lastRank += 1,
    id: "",
    parent,
    joint: "unlisted",
    state,
    out: undefined,
    isStopping: false,
    isWatched: false,
    activity: "thinking",
    end: "done",
    asks: false,
    calls: [],
    isHeld: false,
    steered: [],
    begun: 0,
    heard: 0,
    shown: undefined,
  };
}

export function newQueued(input: string, discard: boolean, key: number): Queued {
  return { key, input, state: "here", isHeld: false, into: "", discard };
}

export function newKey(plan: State): number {
  return (plan.lastKey += 1);
}

/** Puts a turn into another state. */
export function put(turn: Turn, state: Turn["state"], isWatched = false): void {
  turn.state = state;
  turn.isStopping = false;
  turn.isWatched = isWatched;
  turn.activity = "thinking";
}

/** It runs, or will as soon as it arrives. */
export function isActive({ state }: Turn): boolean {
  return state === "prepared" || state === "starting" || state === "running";
}

/** It runs, and takes answers and messages. */
export function isOpen({ state, isStopping }: Turn): boolean {
  return state === "running" && !isStopping;
}

/** It was left beside the turns that follow each other: not sent, or perhaps not. */
export function isAside({ state, out }: Turn): boolean {
  return (state === "unknown" || state === "failed") && !out!.isFork;
}

/** It is here, and can go. */
export function isKept({ state }: Answer): boolean {
  return state === "kept";
}

/** It has left, and it is not known that the server has it. */
export function isUnclear({ state }: Answer): boolean {
  return state === "going" || state === "unknown";
}

/** The message of the person, until the server has named the turn. */
export function messageOf({ out }: Turn): string {
  return out?.input ?? "";
}

/** The server's turns are not known yet. */
export function isLoading({ reading, isLoaded }: State): boolean {
  return reading === "newest" && !isLoaded;
}

/** A turn runs, or is on its way. */
export function isBusy(plan: State): boolean {
  return plan.turns.some(isActive) || isLoading(plan);
}

/** The newest page is wanted: what is being read may be older than what made it wanted. */
export function look(plan: State): void {
  plan.wantsNewest ||= plan.options.history;
}

/** Holds the queue, or releases it; also what comes back from a turn into which it was steered. */
export function hold({ queue }: State, on: boolean): void {
  for (const item of queue) item.isHeld = on;
}

/** An input of the queue has not arrived in a turn: a person must release it. */
export function comeBack(item: Queued): void {
  item.state = "here";
  item.isHeld = true;
}

/** Takes the first item that passes out of a list. */
export function pull<T>(list: T[], test: (item: T) => boolean): T | undefined {
  const at = list.findIndex(test);
  return at < 0 ? undefined : list.splice(at, 1)[0];
}

/** The last item that passes. */
export function last<T>(list: readonly T[], test: (item: T) => unknown): T | undefined {
  let at = list.length - 1;
  while (at >= 0 && !test(list[at]!)) at -= 1;
  return list[at];
}

/** Takes an item out of a list. */
export function drop<T>(list: T[], item: T): void {
  list.splice(list.indexOf(item), 1);
}
