// The types that a conversation shows: its rows, messages, calls and threads, its queue, and its status. All values are frozen.
import type { Capabilities } from "../wire/capabilities.js";
import type { Session } from "../client/session.js";
import type { TurnwireError } from "../common/errors.js";
import type { RequiredAction, ThreadSnapshot, ToolCallSnapshot, TurnSnapshot, TurnStatus } from "../snapshot/snapshot.js";
import type { CreateTurnOptions } from "../turn/options.js";
import type { Turn } from "../turn/turn.js";
import type { ContentPart, TurnInputItem, Usage } from "../wire/events.js";

/**
 * The conversation's phase.
 *
 * `"idle"`: nothing runs. `"loading"`: earlier turns are read. `"sending"`: a message is in flight. `"thinking"`: the turn has begun, and
 * has nothing to show yet. `"answering"`: text or arguments arrive. `"working"`: tools run, on the server or in the page. `"waiting"`: a
 * person must act. `"stopping"`: the turn is being cancelled. `"reconnecting"`: the connection is lost. `"failed"`: the last turn failed,
 * or the conversation could not be read.
 */
export type Phase = "idle" | "loading" | "sending" | "thinking" | "answering" | "working" | "waiting" | "stopping" | "reconnecting" | "failed";

/** What a page needs for its composer. */
export interface Status {
  /** The conversation's phase. */
  readonly phase: Phase;
  /** Whether a message that is sent now starts a turn at once. */
  readonly canSend: boolean;
  /** Whether `submit()` takes the draft: as a message, which may be queued, or as the answer to a question. */
  readonly canSubmit: boolean;
  /** Whether `stop()` has something to stop. */
  readonly canStop: boolean;
  /** Whether the running turn takes another message. */
  readonly canSteer: boolean;
  /**
   * Whether the conversation waits for `proceed()`: after a sign-in, with tools of the page that were stopped or have run in
   * many turns, or with answers that did not arrive or come from before a reload.
   */
  readonly canProceed: boolean;
  /** Whether the queue is held until it is released. */
  readonly heldQueue: boolean;
  /** The number of the attempt to restore the connection; `null` while it is not lost. */
  readonly attempt: number | null;
  /** Why the conversation could not be read, or its session could not be created. A turn's own error is in its snapshot. */
  readonly error: TurnwireError | null;
}

/** A row of the list that a page shows. Rows stay the same objects while their messages grow. */
export interface Row {
  /** Unique in the conversation. It never changes, even when the server assigns the turn's id. */
  readonly key: string;
  /** The author; `"end"` is the row below a turn that failed, was cut, or was cancelled. */
  readonly role: "user" | "assistant" | "end";
  /** The key of its turn. */
  readonly turn: string;
}

/** The siblings of a turn: alternatives that begin at the same place. */
export interface Branch {
  /** The index of this turn among them, from 0. */
  readonly at: number;
  /** The keys of their turns, oldest first. */
  readonly of: readonly string[];
}

interface CommonMessage {
  /** The key of its row. */
  readonly key: string;
  /** The key of its turn. */
  readonly turn: string;
  /** The server's id, if it has one. */
  readonly id: string | null;
  /** ISO 8601; `null` if the server does not return it. */
  readonly created_at: string | null;
  /** The text of all its parts, without calls and files; for an end, what happened. */
  readonly text: string;
  /**
   * Its parts. A user's message: texts and files. The agent's: reasoning, text, refusal, calls, in this order, each only if there is one.
   * An end: its text.
   */
  readonly parts: readonly Part[];
  /** The turn's siblings; `null` if it has none. Only the first message of a turn has them. */
  readonly branch: Branch | null;
  /** Whether a page should offer `retry` here: at a message that has probably not arrived, and at the end of an unsuccessful turn. */
  readonly canRetry: boolean;
  /** The person's possible actions: `"retry"`, or none. `act()` takes it. */
  readonly actions: readonly Action[];
}

/** A message of the user. */
export interface UserMessage extends CommonMessage {
  /** The type of the row. */
  readonly role: "user";
  /** The same parts as they were sent, for `edit`. */
  readonly content: readonly ContentPart[];
  /** `"unknown"`: it may have arrived. Nothing is sent again automatically. */
  readonly delivery: "sending" | "sent" | "failed" | "unknown";
  /** Whether it was sent to a running turn. */
  readonly steered: boolean;
  /** Why it was not sent. */
  readonly error: TurnwireError | null;
}

/** A message of the agent. */
export interface AssistantMessage extends CommonMessage {
  /** The type of the row. */
  readonly role: "assistant";
  /** Whether it is still growing. */
  readonly streaming: boolean;
  /** `null` while it streams. */
  readonly finish_reason: string | null;
  /** The tokens used, once the server reports them. */
  readonly usage: Usage | null;
  /** The model that wrote it, if the server reports it. */
  readonly model?: string;
}

/** The row below a turn that failed, was cut, or was cancelled. */
export interface EndMessage extends CommonMessage {
  /** The type of the row. */
  readonly role: "end";
  /** How the turn ended. */
  readonly status: TurnStatus;
  /** Why it failed. */
  readonly error: TurnwireError | null;
}

/** The content of a row. */
export type Message = UserMessage | AssistantMessage | EndMessage;

/** A part of a message. Each has a text, for pages that show nothing else. */
export type Part =
  | { readonly type: "text" | "reasoning" | "refusal"; readonly key: string; readonly text: string; readonly streaming: boolean }
  /** `text` is its name. */
  | { readonly type: "file"; readonly key: string; readonly text: string; readonly content: ContentPart }
  /** `text` is its name and status. */
  | { readonly type: "call"; readonly key: string; readonly text: string; readonly call: Call };

/** A possible action on an item: the method with this name does it; `"release"` and `"remove"` belong to the queue. */
export type Action = "allow" | "deny" | "proceed" | "release" | "remove" | "retry" | "stop";

/** One of the `items`: a message; a pending action; a queued message; or the status, if there is something to report. */
export interface Item {
  /** Its key: that of a row, of `Pending` or of `Queued`. */
  readonly key: string;
  /** Its kind. */
  readonly role: Row["role"] | "ask" | "queued" | "status";
  /** The text of all its parts. */
  readonly text: string;
  /** Its parts. */
  readonly parts: readonly Part[];
  /** The person's possible actions. `act()` takes them. */
  readonly actions: readonly Action[];
}

/**
 * A person's answer to a call. `remember`, `result` and `cancel` are sent to the server if its protocol has them; otherwise the answer is
 * refused.
 */
export type Answer =
  /** `remember` asks the server not to ask again (`canRemember`); `result` is sent with the approval, such as edited arguments. */
  | { readonly kind: "allow"; readonly remember?: boolean; readonly result?: Readonly<Record<string, unknown>> }
  /** The model reads the `reason`; `cancel` also stops the turn (Codex). */
  | { readonly kind: "deny"; readonly reason?: string; readonly cancel?: boolean }
  | { readonly kind: "text"; readonly content: string };

/** An answer that is kept or was sent. */
export interface GivenAnswer {
  /** The person's decision. */
  readonly answer: Answer;
  /** Whether it was sent. Then it can no longer be changed. */
  readonly sent: boolean;
}

/** A tool call. It also has its `response` if that came with a later turn. */
export interface Call extends Omit<ToolCallSnapshot, "arguments"> {
  /**
   * The arguments received so far: usually an object that grows, frozen. Text in it grows as well; a number or a word appears once it is
   * complete. `undefined` before the first character.
   */
  readonly arguments: unknown;
  /** The same as JSON text, as the agent wrote it. */
  readonly argumentsText: string;
  /** Unique in the conversation; `answer()` takes it. */
  readonly key: string;
  /** The call's pending action, while a person can answer it. */
  readonly pending: RequiredAction | null;
  /** The person's answer, or the result of a tool of the page. */
  readonly answer: GivenAnswer | null;
  /** The key of the sub-agent's thread that the call started. */
  readonly thread: string | null;
}

/** A sub-agent's thread. */
export interface Thread extends Pick<ThreadSnapshot, "title" | "agent_info" | "status" | "error"> {
  /** Unique in the conversation. */
  readonly key: string;
  /** The key of the call that started it, if that call is shown. */
  readonly call: string | null;
  /** Its messages, from all shown turns. */
  readonly rows: readonly Row[];
}

/** An action that waits for a person. */
export interface Pending {
  /** The key of its call; for a server that needs a sign-in, a separate key. */
  readonly key: string;
  /** The required action. */
  readonly action: RequiredAction;
  /**
   * The kind of answer: `allow` or `deny`; a text, with `submit` or `answer`; or a sign-in elsewhere, and then `proceed`. `null` once
   * answered.
   */
  readonly asks: "approval" | "text" | "signIn" | null;
  /** The question in words: the server's or the agent's, or else the name of the call and its arguments. */
  readonly text: string;
  /** The key of its turn. */
  readonly turn: string;
  /** Whether the server can remember an approval. */
  readonly canRemember: boolean;
  /** The answer that is kept until the others are complete. */
  readonly answer: GivenAnswer | null;
}

/** A message that waits until it can be sent. */
export interface Queued {
  /** Unique in the conversation. It never becomes the key of a row. */
  readonly key: string;
  /** The message. */
  readonly input: readonly TurnInputItem[];
  /** Its text, without files. */
  readonly text: string;
  /** Whether it starts a turn, or is sent to the running one. */
  readonly how: "queue" | "steer";
  /** `"held"`: until it is released. `"unknown"`: it may have arrived, and is not sent again automatically. */
  readonly state: "waits" | "held" | "unknown";
}

/** The unsent draft. */
export interface Draft {
  /** The text. */
  readonly text: string;
  /** The files. */
  readonly parts: readonly ContentPart[];
}

/** A turn that is shown. */
export interface TurnView {
  /** Unique in the conversation. */
  readonly key: string;
  /** Its siblings; `null` if it has none. */
  readonly branch: Branch | null;
  /** Whether `retry()` can send its input again. */
  readonly canRetry: boolean;
  /** The turn at this moment. */
  readonly snapshot: TurnSnapshot;
}

/** Facts about the conversation besides its turns. */
export interface Info {
  /** The session's id; `null` until the first message has created it. */
  readonly sessionId: string | null;
  /** The agent. */
  readonly agentName: string | null;
  /** The server's title, or else the first words. */
  readonly title: string | null;
  /** The session's capabilities; `null` until the client is ready. `fork`: whether the conversation can branch. */
  readonly capabilities: Capabilities | null;
  /** Whether earlier turns can be read with `loadEarlier()`. */
  readonly hasEarlier: boolean;
}

/** The events of `conversation.on`. */
export interface ConversationTopics {
  /** A turn has begun, or its reading continues. */
  turn: Turn;
  /** A turn is no longer read: it has ended, its end is unknown, or it was left because it is not shown (`unseen`). */
  end: Turn;
  /** The session was opened, created, or given a title. */
  session: Session;
  /** Another tab of this browser has continued the conversation. It is read automatically if `capabilities.turnIds`. */
  news: void;
  /** Something failed. A turn's own error is in its snapshot. */
  error: TurnwireError;
}

/** The whole conversation at one moment. */
export interface Snapshot {
  /** The conversation's phase, and what the person can do. */
  readonly status: Status;
  /** The rows of the list. */
  readonly rows: readonly Row[];
  /** The keys of the shown turns, oldest first. */
  readonly turns: readonly string[];
  /** All messages. */
  readonly messages: readonly Message[];
  /** The actions that wait for the person, from all threads. */
  readonly pending: readonly Pending[];
  /** The messages that wait to be sent. */
  readonly queue: readonly Queued[];
  /** The unsent draft. */
  readonly draft: Draft;
  /** The session, its title and its capabilities. */
  readonly info: Info;
}

/** The options of `send` and `regenerate`. */
export interface SendOptions extends Pick<CreateTurnOptions, "discardPending" | "turnOptions"> {
  /** What happens while a turn runs; by default the registry's option. */
  whenBusy?: WhenBusy | undefined;
}

/**
 * What happens to a message that is sent while a turn runs. `"queue"`: it waits for the turn's end. `"steer"`: the running turn gets it, or
 * it is queued if the protocol cannot steer. `"interrupt"`: the turn is stopped first. `"reject"`: `send` throws.
 */
export type WhenBusy = "queue" | "steer" | "interrupt" | "reject";
