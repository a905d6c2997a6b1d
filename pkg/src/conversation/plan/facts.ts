// What a plan is told: what a person does, and what the server, the turns, other tabs and the storage report.

/**
 * What has happened. Facts of a turn or of a steered message that is gone change nothing.
 *
 * `turn` is the key of a turn, `key` that of an input in the queue. Inputs and answers are opaque texts (JSON); an
 * empty one is none.
 */
export type Fact =
  // What a person does.
  /** Sends an input. While a turn runs, `whenBusy` says what happens. `discard` throws away what waits for an answer. */
  | { readonly kind: "send"; readonly input: string; readonly whenBusy?: WhenBusy; readonly discard?: boolean }
  /** Stops what runs, cancels it on the server, and holds the queue. */
  | { readonly kind: "stop" }
  /** Answers a call that waits; `null` takes the answer back while it is kept here. */
  | { readonly kind: "answer"; readonly turn: number; readonly call: string; readonly answer: string | null }
  /** Continues: after a sign-in, with tools that were halted, with answers that could not be sent. */
  | { readonly kind: "proceed" }
  /**
   * Runs what failed again. What never arrived keeps its key. A turn whose end is unknown is read again. `input` is that of
   * its question (see `questionOf`), if the server has it.
   */
  | { readonly kind: "retry"; readonly turn: number; readonly input: string }
  /** Asks the question of a turn (see `questionOf`) again, for another answer: a sibling where the protocol can fork. */
  | { readonly kind: "regenerate"; readonly turn: number; readonly input: string }
  /** Asks something else in place of a question. */
  | { readonly kind: "edit"; readonly turn: number; readonly input: string }
  /** Goes to the branch with this turn. */
  | { readonly kind: "show"; readonly turn: number }
  /** Takes back what was not sent; its input is given back. */
  | { readonly kind: "dismiss"; readonly turn: number }
  /** Changes an input in the queue. */
  | { readonly kind: "editQueued"; readonly key: number; readonly input: string }
  /** Takes an input out of the queue; it is given back. */
  | { readonly kind: "removeQueued"; readonly key: number }
  /** Moves an input in the queue to this place, from 0. */
  | { readonly kind: "moveQueued"; readonly key: number; readonly to: number }
  /** Sends an input of the queue next, and stops what runs for it. */
  | { readonly kind: "sendNow"; readonly key: number }
  /** Sends an input of the queue to the turn that runs. */
  | { readonly kind: "steerQueued"; readonly key: number }
  /** Holds all that waits in the queue, or releases it. */
  | { readonly kind: "hold"; readonly on: boolean }
  /** The conversation is shown. The first time, it is loaded. */
  | { readonly kind: "attach" }
  /** The conversation is no longer shown. Cancels nothing. */
  | { readonly kind: "detach" }
  /** The page wants earlier turns. */
  | { readonly kind: "loadEarlier" }
  /** The server may have news from other tabs or people. */
  | { readonly kind: "catchUp" }

  // What the server reports.
  /** The session was created, or is that of the conversation that was opened. */
  | { readonly kind: "sessionReady" }
  /** The session could not be created. */
  | { readonly kind: "sessionFailed" }
  /**
   * The page that the last `load` asked for: its turns in the order in which they began, all branches inline;
   * and whether there are earlier ones.
   */
  | { readonly kind: "page"; readonly turns: readonly ListedTurn[]; readonly hasEarlier: boolean }
  /** The page could not be read. */
  | { readonly kind: "pageFailed" }

  // What the turns report.
  /**
   * The turn has begun. A turn that continues another one may have its id. `previous` is the id of the turn before it, empty
   * for a first turn, `null` if the server does not say.
   */
  | { readonly kind: "named"; readonly turn: number; readonly id: string; readonly previous: string | null }
  /** What the turn does now. */
  | { readonly kind: "active"; readonly turn: number; readonly activity: Activity }
  /** All calls that wait now, while the turn runs. Of one that has ended: what others have answered waits no more. */
  | { readonly kind: "waits"; readonly turn: number; readonly calls: readonly WaitingCall[] }
  /** The turn has ended, and waits for these calls. */
  | { readonly kind: "ended"; readonly turn: number; readonly end: End; readonly calls: readonly WaitingCall[] }
  /** The turn has begun, and its end is unknown. */
  | { readonly kind: "incomplete"; readonly turn: number }
  /** The server does not have the turn, and never will: it was refused, or not sent. */
  | { readonly kind: "refused"; readonly turn: number }
  /** The start may have arrived. */
  | { readonly kind: "lost"; readonly turn: number }
  /** The turn could not be cancelled. */
  | { readonly kind: "cancelFailed"; readonly turn: number }
  /** What came of an answer that was sent while the turn runs. */
  | { readonly kind: "answered"; readonly turn: number; readonly call: string; readonly delivery: Delivery }
  /** A tool of the page has ended with this result; with `null` it was stopped. */
  | { readonly kind: "toolEnded"; readonly turn: number; readonly call: string; readonly result: string | null }
  /** The turn's own record has this steered message, as it was sent. To be told before the turn's end. */
  | { readonly kind: "said"; readonly turn: number; readonly input: string }
  /** What came of a steered message. */
  | { readonly kind: "steered"; readonly key: number; readonly delivery: Delivery }

  // What the storage and other tabs report.
  /** What an earlier page has stored with the last `store`. To be told before all else. */
  | { readonly kind: "restored"; readonly text: string }
  /** Whether this tab is the one that runs the page's tools. */
  | { readonly kind: "leading"; readonly on: boolean };

/** The facts of one kind. */
export type FactOf<K extends Fact["kind"]> = Extract<Fact, { readonly kind: K }>;

/** What the protocol can, and what the page wants. */
export interface PlanOptions {
  /** The conversation has a session. Else the first message creates it. */
  readonly hasSession: boolean;
  /** A new turn may follow any turn. */
  readonly fork: boolean;
  /** Calls can be answered while their turn runs. */
  readonly liveAnswers: boolean;
  /** A running turn takes messages. */
  readonly steer: boolean;
  /** A message can throw away what waits. */
  readonly discardPending: boolean;
  /** The server lists its turns. */
  readonly history: boolean;
  /** So many turns are read by themselves, the newest, as far as there are as many: a page may bring fewer. */
  readonly turns: number;
  /** A turn that is not shown is not read on. */
  readonly leavesUnseen: boolean;
  /** What happens to an input while a turn runs. */
  readonly whenBusy: WhenBusy;
}

/**
 * What happens to an input while a turn runs: it waits in the queue; the running turn takes it, or where the protocol cannot,
 * the queue; the running turn is cancelled for it; it is refused.
 */
export type WhenBusy = "queue" | "steer" | "interrupt" | "reject";

/** A turn in a server's list. */
export interface ListedTurn {
  readonly id: string;
  /** The id of the turn before it; empty for none, and where the protocol cannot fork. */
  readonly previous: string;
  /** The input in the form in which it is sent; empty if it has no message of the person. */
  readonly input: string;
  readonly state: "running" | End;
  /** The calls for which it waits, if it has ended. */
  readonly calls: readonly WaitingCall[];
  /** The messages that were steered into it. */
  readonly said: readonly string[];
}

/** How a turn ended: it said all, or waits for calls; it failed; it was cancelled. */
export type End = "done" | "error" | "cancelled";

/** What a turn does: it has nothing to show yet; text or arguments come; tools run; its connection is lost, and is being restored. */
export type Activity = "thinking" | "answering" | "working" | "reconnecting";

/** A call that waits. */
export interface WaitingCall {
  /** Its id, or that of the question if a server asks more than once about a call. */
  readonly id: string;
  readonly who: Who;
}

/** Who answers a call: a person; a tool of the page; a person who signs in elsewhere, and then proceeds. */
export type Who = "person" | "tool" | "signIn";

/** What came of something that was sent to a running turn: the server has it; it does not, and never will; it may have arrived. */
export type Delivery = "taken" | "refused" | "lost";
