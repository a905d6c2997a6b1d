// The facts a plan takes: actions of the person, and reports of the server, the turns, other tabs and the storage.

/**
 * Something that happened. Facts about a turn or a steered message that is gone change nothing. `turn` is the key of a turn, `key`
 * that of an input in the queue. Inputs and answers are opaque texts (JSON); an empty text means none.
 */
export type Fact =
  // Actions of the person.
  /** Sends an input. `whenBusy` decides what happens while a turn runs. `discard` discards pending calls. */
  | { readonly kind: "send"; readonly input: string; readonly whenBusy?: WhenBusy; readonly discard?: boolean }
  /** Stops the running turn, cancels it on the server, and holds the queue. */
  | { readonly kind: "stop" }
  /** Answers a pending call; `null` takes the answer back while it is kept here. */
  | { readonly kind: "answer"; readonly turn: number; readonly call: string; readonly answer: string | null }
  /** Continues: after a sign-in, with tools that were halted, with answers that could not be sent. */
  | { readonly kind: "proceed" }
  /**
   * Runs a failed turn again. A turn that never arrived keeps its key. A turn with an unknown end is read again. `input` is its
   * question's (see `questionOf`), if the server has it.
   */
  | { readonly kind: "retry"; readonly turn: number; readonly input: string }
  /** Asks the question of a turn (see `questionOf`) again, for another answer: a sibling where the protocol can fork. */
  | { readonly kind: "regenerate"; readonly turn: number; readonly input: string }
  /** Asks another question in place of this one. */
  | { readonly kind: "edit"; readonly turn: number; readonly input: string }
  /** Goes to the branch with this turn. */
  | { readonly kind: "show"; readonly turn: number }
  /** Removes an unsent turn, and returns its input to the person. */
  | { readonly kind: "dismiss"; readonly turn: number }
  /** Changes an input in the queue. */
  | { readonly kind: "editQueued"; readonly key: number; readonly input: string }
  /** Removes an input from the queue, and returns it to the person. */
  | { readonly kind: "removeQueued"; readonly key: number }
  /** Moves an input in the queue to this index. */
  | { readonly kind: "moveQueued"; readonly key: number; readonly to: number }
  /** Sends an input of the queue next, and stops the running turn for it. */
  | { readonly kind: "sendNow"; readonly key: number }
  /** Sends an input of the queue to the running turn. */
  | { readonly kind: "steerQueued"; readonly key: number }
  /** Holds the whole queue, or releases it. */
  | { readonly kind: "hold"; readonly on: boolean }
  /** The conversation is shown. The first time, it is loaded. */
  | { readonly kind: "attach" }
  /** The conversation is no longer shown. Cancels nothing. */
  | { readonly kind: "detach" }
  /** The page wants earlier turns. */
  | { readonly kind: "loadEarlier" }
  /** The server may have news from other tabs or people. */
  | { readonly kind: "catchUp" }

  // Reports of the server.
  /** The session was created, or the conversation was opened with it. */
  | { readonly kind: "sessionReady" }
  /** The session could not be created. */
  | { readonly kind: "sessionFailed" }
  /**
   * The page of the last `load`: its turns in the order in which they began, with all branches inline; and whether there are
   * earlier ones.
   */
  | { readonly kind: "page"; readonly turns: readonly ListedTurn[]; readonly hasEarlier: boolean }
  /** The page could not be read. */
  | { readonly kind: "pageFailed" }

  // Reports of the turns.
  /**
   * The turn has begun. A turn that continues another one may have the same id. `previous` is the id of the turn before it, empty
   * for a first turn, `null` if the server does not return it.
   */
  | { readonly kind: "named"; readonly turn: number; readonly id: string; readonly previous: string | null }
  /** The turn's current activity. */
  | { readonly kind: "active"; readonly turn: number; readonly activity: Activity }
  /** All pending calls of a running turn. For a turn that has ended: calls that others have answered are no longer pending. */
  | { readonly kind: "waits"; readonly turn: number; readonly calls: readonly WaitingCall[] }
  /** The turn has ended with these pending calls. */
  | { readonly kind: "ended"; readonly turn: number; readonly end: End; readonly calls: readonly WaitingCall[] }
  /** The turn has begun, and its end is unknown. */
  | { readonly kind: "incomplete"; readonly turn: number }
  /** The server does not have the turn, and never will: it was refused, or not sent. */
  | { readonly kind: "refused"; readonly turn: number }
  /** The start may have arrived. */
  | { readonly kind: "lost"; readonly turn: number }
  /** The turn could not be cancelled. */
  | { readonly kind: "cancelFailed"; readonly turn: number }
  /** The result of an answer that was sent while the turn runs. */
  | { readonly kind: "answered"; readonly turn: number; readonly call: string; readonly delivery: Delivery }
  /** A tool of the page has ended with this result; with `null` it was stopped. */
  | { readonly kind: "toolEnded"; readonly turn: number; readonly call: string; readonly result: string | null }
  /** The turn's own record has this steered message, as it was sent. Reported before the turn's end. */
  | { readonly kind: "said"; readonly turn: number; readonly input: string }
  /** The result of a steered message. */
  | { readonly kind: "steered"; readonly key: number; readonly delivery: Delivery }

  // Reports of the storage and other tabs.
  /** The text of an earlier page's last `store`. Reported first. */
  | { readonly kind: "restored"; readonly text: string }
  /** Another conversation of this page has restored the last `store`, and sends its queue. */
  | { readonly kind: "handedOver" }
  /** Whether this tab runs the page's tools. */
  | { readonly kind: "leading"; readonly on: boolean };

/** The facts of one kind. */
export type FactOf<K extends Fact["kind"]> = Extract<Fact, { readonly kind: K }>;

/** What the protocol supports, and what the page wants. */
export interface PlanOptions {
  /** Whether the conversation has a session. Otherwise the first message creates it. */
  readonly hasSession: boolean;
  /** Whether a new turn may follow any turn. */
  readonly fork: boolean;
  /** Whether calls can be answered while their turn runs. */
  readonly liveAnswers: boolean;
  /** Whether a running turn takes messages. */
  readonly steer: boolean;
  /** Whether a message can discard pending calls. */
  readonly discardPending: boolean;
  /** Whether the server lists its turns. */
  readonly history: boolean;
  /** How many of the newest turns to load at first, if there are so many: a page may have fewer. */
  readonly turns: number;
  /** Whether the reading of a turn stops when it is not shown. */
  readonly leavesUnseen: boolean;
  /** What happens to an input while a turn runs. */
  readonly whenBusy: WhenBusy;
}

/**
 * What happens to an input while a turn runs: it waits in the queue; it is steered into the running turn, or queued if the protocol
 * cannot steer; the running turn is cancelled for it; it is refused.
 */
export type WhenBusy = "queue" | "steer" | "interrupt" | "reject";

/** A turn in a server's list. */
export interface ListedTurn {
  readonly id: string;
  /** The id of the turn before it; empty if there is none, or if the protocol cannot fork. */
  readonly previous: string;
  /** The input in the form in which it is sent; empty if it has no message of the person. */
  readonly input: string;
  readonly state: "running" | End;
  /** The pending calls, if it has ended. */
  readonly calls: readonly WaitingCall[];
  /** The messages steered into it. */
  readonly said: readonly string[];
}

/** How a turn ended: completely or with pending calls; with a failure; cancelled. */
export type End = "done" | "error" | "cancelled";

/** What a turn does: nothing to show yet; text or arguments arrive; tools run; its lost connection is being restored. */
export type Activity = "thinking" | "answering" | "working" | "reconnecting";

/** A pending call. */
export interface WaitingCall {
  /** Its id, or the question's if a server asks more than once about a call. */
  readonly id: string;
  readonly who: Who;
}

/** Who answers a call: a person; a tool of the page; a person who signs in elsewhere and then proceeds. */
export type Who = "person" | "tool" | "signIn";

/** The fate of something sent to a running turn: the server has it; the server never will; it may have arrived. */
export type Delivery = "taken" | "refused" | "lost";
