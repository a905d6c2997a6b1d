// The state of a plan.
import type { After, Effect, PlannedTurn } from "./effects.js";
import type { Activity, End, PlanOptions, Who } from "./facts.js";

export const NONE: readonly never[] = [];

/** The state of a plan. */
export interface State {
  readonly options: PlanOptions;
  /** The last key made. Keys are not used again. */
  lastKey: number;
  lastRank: number;
  session: "none" | "creating" | "ready";
  /**
   * In the server's order, oldest first: a turn comes after its parent. Turns without a server id are placed where they were sent.
   */
  readonly turns: Turn[];
  /** The path leads through this turn to its newest descendant; without one, to the newest turn. */
  chosen: Turn | undefined;
  readonly queue: Queued[];
  /** What is being read: the newest page, or the page before the one that begins with this turn. */
  reading: "newest" | Turn | undefined;
  /** The number of pages requested, and the number of the newest page that has arrived. */
  pages: number;
  newest: number;
  /** Whether the newest page must be read once no page is being read, and whether an earlier one must. */
  wantsNewest: boolean;
  wantsEarlier: boolean;
  /** Whether the newest page has arrived, or could not be read. */
  isLoaded: boolean;
  isShown: boolean;
  isLeading: boolean;
  /** How many turns in a row have started with results of the page's tools alone. */
  rounds: number;
  /** Answers from an earlier page, until their turn is known. */
  saved: SavedAnswer[];
  /** The stored text. */
  stored: string;
  effects: Effect[];
}

/** A turn: on the server, or in flight to it. */
export interface Turn {
  readonly key: number;
  name: string;
  /** Ranks rise from turn to turn. */
  rank: number;
  /** The server's id; empty until it is known. */
  id: string;
  /** The turn before it: a turn; the id of a turn that is not loaded, empty if unknown; or `null` for none. */
  parent: Turn | string | null;
  /**
   * Whether the server lists the turn's parent directly before it: `unlisted`, no page had it; `open`, a page began with it, so
   * that others may be in between; `joined`, a page had both, or it is the first.
   */
  joint: "unlisted" | "open" | "joined";
  /**
   * The session is being created for it; its start is in flight; it may have arrived; it has not arrived; it runs; it has begun,
   * and its end is unknown; it has ended.
   */
  state: "prepared" | "starting" | "unknown" | "failed" | "running" | "incomplete" | "over";
  /** The input to send, until the server has assigned the turn's id. */
  out: Outgoing | undefined;
  /** While it starts or runs: whether it is being cancelled, whether it is being read, and its activity. */
  isStopping: boolean;
  isWatched: boolean;
  activity: Activity;
  /** How it ended. */
  end: End;
  /** Whether it begins with a message of the person. */
  asks: boolean;
  calls: Call[];
  /** Whether the answers wait until a person releases them: they have failed once, or a person gave one in an earlier page. */
  isHeld: boolean;
  /** Messages steered into it. Their texts are empty once the turn's own record has them. */
  readonly steered: { readonly key: number; text: string }[];
  /** The number of pages requested when it got its id. */
  begun: number;
  /** The number of pages requested at the last report about it: the state in those pages is stale. */
  heard: number;
  /** The view of it. */
  shown: PlannedTurn | undefined;
}

/** The start of a turn. */
export interface Outgoing {
  /**
   * A person's message; empty for a turn that answers calls of the turn before it, which keeps the answers, or that only follows
   * it.
   */
  readonly input: string;
  readonly after: After;
  readonly discard: boolean;
  /** Whether it is a sibling of another turn. */
  readonly isFork: boolean;
  /** Whether it may once have arrived: the server's list may still return it. */
  wasLost: boolean;
}

/** A call of a turn that is or was pending. */
export interface Call extends Answer {
  readonly id: string;
  readonly who: Who;
}

/** The answer to a call. It is sent once, unless the server reports that it does not have it. */
export interface Answer {
  /**
   * There is no answer; a tool of the page is producing it; the tool was stopped until a person proceeds; it is kept here; it is
   * kept here until the turn has ended, since the running turn refuses it; it is in flight; it may have arrived; the server has it.
   */
  state: "missing" | "running" | "halted" | "kept" | "refused" | "going" | "unknown" | "sent";
  /** Empty if there is no answer. */
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
  /** Here, in flight into a turn, or possibly arrived in one. */
  state: "here" | "steering" | "unknown";
  /** Whether a person must release it, once it is here. */
  isHeld: boolean;
  /**
   * The turn into which it is steered, or the id of the turn in which it may have arrived or may yet arrive: that turn may continue
   * under its id. Empty for none.
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

/** Changes a turn's state. */
export function put(turn: Turn, state: Turn["state"], isWatched = false): void {
  turn.state = state;
  turn.isStopping = false;
  turn.isWatched = isWatched;
  turn.activity = "thinking";
}

/** Whether it runs, or will run once it arrives. */
export function isActive({ state }: Turn): boolean {
  return state === "prepared" || state === "starting" || state === "running";
}

/** Whether it runs, and takes answers and messages. */
export function isOpen({ state, isStopping }: Turn): boolean {
  return state === "running" && !isStopping;
}

/** Whether it is outside the sequence of turns: not sent, or perhaps not. */
export function isAside({ state, out }: Turn): boolean {
  return (state === "unknown" || state === "failed") && !out!.isFork;
}

/** Whether it is here and can be sent. */
export function isKept({ state }: Answer): boolean {
  return state === "kept";
}

/** Whether it was sent, and the server is not known to have it. */
export function isUnclear({ state }: Answer): boolean {
  return state === "going" || state === "unknown";
}

/** The person's message, until the server has assigned the turn's id. */
export function messageOf({ out }: Turn): string {
  return out?.input ?? "";
}

/** Whether the server's turns are still unknown. */
export function isLoading({ reading, isLoaded }: State): boolean {
  return reading === "newest" && !isLoaded;
}

/** Whether a turn runs, or is in flight. */
export function isBusy(plan: State): boolean {
  return plan.turns.some(isActive) || isLoading(plan);
}

/** Requests the newest page. The page being read may be older than the reason for this request. */
export function look(plan: State): void {
  plan.wantsNewest ||= plan.options.history;
}

/** Holds the queue, or releases it, including inputs that return from a turn into which they were steered. */
export function hold({ queue }: State, on: boolean): void {
  for (const item of queue) item.isHeld = on;
}

/** Returns an input that did not arrive in a turn to the queue: a person must release it. */
export function comeBack(item: Queued): void {
  item.state = "here";
  item.isHeld = true;
}

/** Removes the first item that passes from a list. */
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

/** Removes an item from a list. */
export function drop<T>(list: T[], item: T): void {
  list.splice(list.indexOf(item), 1);
}
