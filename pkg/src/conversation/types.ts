// What a conversation shows: its rows, messages, calls and threads, its queue, and its status. All of it is frozen.
import type { Capabilities } from "../wire/capabilities.js";
import type { Session } from "../client/session.js";
import type { TurnwireError } from "../common/errors.js";
import type { RequiredAction, ThreadSnapshot, ToolCallSnapshot, TurnSnapshot, TurnStatus } from "../snapshot/snapshot.js";
import type { CreateTurnOptions } from "../turn/options.js";
import type { Turn } from "../turn/turn.js";
import type { ContentPart, TurnInputItem, Usage } from "../wire/events.js";

/**
 * What a conversation does.
 *
 * `"idle"`: nothing runs. `"loading"`: earlier turns are read. `"sending"`: a message is on its way. `"thinking"`: the
 * turn has begun, and has nothing to show yet. `"answering"`: text or arguments arrive. `"working"`: tools run, on the
 * server or in the page. `"waiting"`: a person must act. `"stopping"`: the turn is being cancelled. `"reconnecting"`:
 * the connection is lost. `"failed"`: the last turn failed, or the conversation could not be read.
 */
export type Phase = "idle" | "loading" | "sending" | "thinking" | "answering" | "working" | "waiting" | "stopping" | "reconnecting" | "failed";

/** What a page needs for its composer. */
export interface Status {
  /** What the conversation does. */
  readonly phase: Phase;
  /** Whether a message that is sent now starts a turn at once. */
  readonly canSend: boolean;
  /** Whether `submit()` takes what the person writes: as a message, which may wait, or as the answer to a question. */
  readonly canSubmit: boolean;
  /** Whether something runs that `stop()` can stop. */
  readonly canStop: boolean;
  /** Whether the running turn takes another message. */
  readonly canSteer: boolean;
  /**
   * Whether the conversation waits for `proceed()`: after a sign-in, with tools of the page that were stopped or have run in
   * many turns, or with answers that did not arrive or come from before a reload.
   */
  readonly canProceed: boolean;
  /** Whether the queue waits until it is released. */
  readonly heldQueue: boolean;
  /** The number of the attempt to restore the connection; `null` while it is not lost. */
  readonly attempt: number | null;
  /** Why the conversation could not be read, or its session not be created. A turn's own error is in its snapshot. */
  readonly error: TurnwireError | null;
}

/** A row of the list that a page shows. Rows stay the same objects while their messages grow. */
export interface Row {
  /** Unique in the conversation. It never changes, also not when the server names the turn. */
  readonly key: string;
  /** Who speaks; `"end"` stands below a turn that failed, was cut, or was cancelled. */
  readonly role: "user" | "assistant" | "end";
  /** The key of its turn. */
  readonly turn: string;
}

/** The siblings of a turn: alternatives that begin at the same place. */
export interface Branch {
  /** The place of this turn among them, from 0. */
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
  /** ISO 8601; `null` if the server does not say. */
  readonly created_at: string | null;
  /** The text of all its parts, without calls and files; of an end, what happened. */
  readonly text: string;
  /**
   * What it is made of. Of the user: texts and files. Of the agent: reasoning, text, refusal, calls, in this order, each only
   * if there is one. Of an end: its text.
   */
  readonly parts: readonly Part[];
  /** The turn's siblings; `null` if it has none. Only the first message of a turn has them. */
  readonly branch: Branch | null;
  /** Whether a page offers `retry` here: at a message that has not arrived, as far as is known, and at the end of a turn that did not work out. */
  readonly canRetry: boolean;
  /** What the person can do about it: `"retry"`, or nothing. `act()` takes it. */
  readonly actions: readonly Action[];
}

/** A message of the user. */
export interface UserMessage extends CommonMessage {
  /** Tells messages apart. */
  readonly role: "user";
  /** The same parts as they were sent, for `edit`. */
  readonly content: readonly ContentPart[];
  /** `"unknown"`: it may have arrived. Nothing is sent again by itself. */
  readonly delivery: "sending" | "sent" | "failed" | "unknown";
  /** Whether it was sent to a turn that ran. */
  readonly steered: boolean;
  /** Why it was not sent. */
  readonly error: TurnwireError | null;
}

/** A message of the agent. */
export interface AssistantMessage extends CommonMessage {
  /** Tells messages apart. */
  readonly role: "assistant";
  /** Whether more of it arrives. */
  readonly streaming: boolean;
  /** `null` while it streams. */
  readonly finish_reason: string | null;
  /** The tokens used, once the server has said so. */
  readonly usage: Usage | null;
  /** The model that wrote it, if the server says so. */
  readonly model?: string;
}

/** What stands below a turn that failed, was cut, or was cancelled. */
export interface EndMessage extends CommonMessage {
  /** Tells messages apart. */
  readonly role: "end";
  /** How the turn ended. */
  readonly status: TurnStatus;
  /** Why it failed. */
  readonly error: TurnwireError | null;
}

/** What a row shows. */
export type Message = UserMessage | AssistantMessage | EndMessage;

/** A part of a message. Each has a text, for pages that show no more. */
export type Part =
  | { readonly type: "text" | "reasoning" | "refusal"; readonly key: string; readonly text: string; readonly streaming: boolean }
  /** `text` is its name. */
  | { readonly type: "file"; readonly key: string; readonly text: string; readonly content: ContentPart }
  /** `text` is its name and how it stands. */
  | { readonly type: "call"; readonly key: string; readonly text: string; readonly call: Call };

/** Something that a person can do about an item: the method of that name does it; `"release"` and `"remove"` are about the queue. */
export type Action = "allow" | "deny" | "proceed" | "release" | "remove" | "retry" | "stop";

/** One of the things in `items`: a message; what is asked; what waits to be sent; or, while there is anything to say, how the conversation stands. */
export interface Item {
  /** Its key: that of a row, of `Pending` or of `Queued`. */
  readonly key: string;
  /** What it is. */
  readonly role: Row["role"] | "ask" | "queued" | "status";
  /** The text of all its parts. */
  readonly text: string;
  /** What it is made of. */
  readonly parts: readonly Part[];
  /** What the person can do about it. `act()` takes it. */
  readonly actions: readonly Action[];
}

/**
 * A person's answer to a call. `remember`, `result` and `cancel` go to the server where its protocol has them; others refuse
 * the answer.
 */
export type Answer =
  /** `remember` asks the server not to ask again (`canRemember`); `result` goes with the yes, such as edited arguments, where the server takes these. */
  | { readonly kind: "allow"; readonly remember?: boolean; readonly result?: Readonly<Record<string, unknown>> }
  /** The model reads the `reason`; `cancel` also stops the turn (Codex). */
  | { readonly kind: "deny"; readonly reason?: string; readonly cancel?: boolean }
  | { readonly kind: "text"; readonly content: string };

/** An answer that is kept, or was sent. */
export interface GivenAnswer {
  /** What the person decided. */
  readonly answer: Answer;
  /** Whether it was sent. Then it can no longer be changed. */
  readonly sent: boolean;
}

/** A tool call. `response` is also there if it came with a later turn. */
export interface Call extends Omit<ToolCallSnapshot, "arguments"> {
  /**
   * The arguments as far as they have come: usually an object that grows, frozen. Text in it grows as well; a number or a
   * word is there when it is whole. `undefined` before the first character.
   */
  readonly arguments: unknown;
  /** The same as JSON, as the agent wrote it. */
  readonly argumentsText: string;
  /** Unique in the conversation; `answer()` takes it. */
  readonly key: string;
  /** What the call waits for, while a person can answer it. */
  readonly pending: RequiredAction | null;
  /** The person's answer, or the result of a tool of the page. */
  readonly answer: GivenAnswer | null;
  /** The key of the sub-agent's thread that the call began. */
  readonly thread: string | null;
}

/** A sub-agent's thread. */
export interface Thread extends Pick<ThreadSnapshot, "title" | "agent_info" | "status" | "error"> {
  /** Unique in the conversation. */
  readonly key: string;
  /** The key of the call that began it, if that call is shown. */
  readonly call: string | null;
  /** Its messages, of all turns that are shown. */
  readonly rows: readonly Row[];
}

/** Something that waits for a person. */
export interface Pending {
  /** The key of its call; for a server that must be signed in to, a key of its own. */
  readonly key: string;
  /** What is asked. */
  readonly action: RequiredAction;
  /** What answers it: `allow` or `deny`; a text, with `submit` or `answer`; or a sign-in elsewhere, and then `proceed`. `null` once there is an answer. */
  readonly asks: "approval" | "text" | "signIn" | null;
  /** What is asked in words: the server's or the agent's own, or else the name of the call and its arguments. */
  readonly text: string;
  /** The key of its turn. */
  readonly turn: string;
  /** Whether the server can remember an approval. */
  readonly canRemember: boolean;
  /** The answer that is kept until the others are there. */
  readonly answer: GivenAnswer | null;
}

/** A message that waits until it can be sent. */
export interface Queued {
  /** Unique in the conversation. It becomes the key of no row. */
  readonly key: string;
  /** The message. */
  readonly input: readonly TurnInputItem[];
  /** Its text, without files. */
  readonly text: string;
  /** Whether it starts a turn, or goes to the running one. */
  readonly how: "queue" | "steer";
  /** `"held"`: until it is released. `"unknown"`: it may have arrived, and is not sent again by itself. */
  readonly state: "waits" | "held" | "unknown";
}

/** What the person has written and not sent. */
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

/** What is known of the conversation besides its turns. */
export interface Info {
  /** The session's id; `null` until the first message has created it. */
  readonly sessionId: string | null;
  /** The agent. */
  readonly agentName: string | null;
  /** The server's title; else the first words. */
  readonly title: string | null;
  /** What the session supports; `null` until the client is there. `fork`: whether the conversation can branch. */
  readonly capabilities: Capabilities | null;
  /** Whether earlier turns can be read with `loadEarlier()`. */
  readonly hasEarlier: boolean;
}

/** What `conversation.on` tells. */
export interface ConversationTopics {
  /** A turn has begun, or is read on. */
  turn: Turn;
  /** A turn is no longer read: it has ended, its end is not known, or it was left because it is not shown (`unseen`). */
  end: Turn;
  /** The session was opened, was created, or has got a title. */
  session: Session;
  /** Another tab of this browser has continued the conversation. It is read by itself where `capabilities.turnIds`. */
  news: void;
  /** Something failed. A turn's own error is in its snapshot. */
  error: TurnwireError;
}

/** All of a conversation at one moment. */
export interface Snapshot {
  /** What the conversation does, and what the person can do. */
  readonly status: Status;
  /** The rows of the list. */
  readonly rows: readonly Row[];
  /** The keys of the turns that are shown, oldest first. */
  readonly turns: readonly string[];
  /** All messages. */
  readonly messages: readonly Message[];
  /** What waits for the person, in all threads. */
  readonly pending: readonly Pending[];
  /** The messages that wait to be sent. */
  readonly queue: readonly Queued[];
  /** What is written and not sent. */
  readonly draft: Draft;
  /** The session, its title, what it supports. */
  readonly info: Info;
}

/** The options of `send` and `regenerate`. */
export interface SendOptions extends Pick<CreateTurnOptions, "discardPending" | "turnOptions"> {
  /** What happens while a turn runs; by default what the registry says. */
  whenBusy?: WhenBusy | undefined;
}

/**
 * What happens to a message that is sent while a turn runs. `"queue"`: it waits for the turn's end. `"steer"`: the
 * running turn gets it, or it waits where the protocol cannot do that. `"interrupt"`: the turn is stopped first.
 * `"reject"`: `send` throws.
 */
export type WhenBusy = "queue" | "steer" | "interrupt" | "reject";
