/**
 * A transport for `useChat`, so that a page which has that keeps everything else. The server has the history: of the
 * page's messages only the last one is sent.
 *
 * @module turnwire/ai
 */
import { type ChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import type { Conversation } from "../conversation/conversation.js";
import type { Conversations } from "../conversation/conversations.js";
import type { TextStore } from "../common/store.js";
import type { Answer, Row, UserMessage } from "../conversation/types.js";
import type { ContentPart } from "../wire/events.js";
import { AnswerWriter, uiParts } from "./ai-chunks.js";
import { exchanges, filePart, inputOf, isQuestion, messageOf, questionsOf, waitingAs } from "./exchanges.js";

/** The options of `TurnwireTransport`. */
export interface TurnwireTransportOptions {
  /**
   * What `stop()` of `useChat` does, which is also what it does when its component goes away: `"cancel"`, the default, cancels
   * the turn on the server; `"leave"` lets it run, so that the page finds it when it comes back (`resume: true`), and
   * `transport.cancel(id)` is for the button.
   */
  onAbort?: "cancel" | "leave" | undefined;
  /**
   * Where the ids of chats have the ids of their sessions; by default where the conversations keep texts (`store`), `null` for nowhere. Where the
   * ids are those of sessions, `get` returns the id that it gets.
   */
  sessions?: TextStore | null | undefined;
}

/** A chat of the page. */
interface Chat {
  readonly conversation: Conversation;
  /** The page's ids of questions, by the keys of their turns. */
  readonly ids: Map<string, string>;
  /** The page has left what runs. */
  isLeft?: boolean;
  /** What runs is being cancelled. */
  stopped?: Promise<void>;
  /** How often the page has come back to it. */
  resumed: number;
}

/** What a page has of its conversations, whichever transport it uses: many pages make one each time they render. */
interface Page {
  readonly chats: Map<string, Chat>;
  /** The chat that is shown: the one that was used last. */
  shown?: Conversation;
  hide?: () => void;
}

const PAGES = new WeakMap<Conversations, Page>();

/** A part of the page's message that is a call. */
type ToolPart = { state?: string; approval?: { approved?: boolean | undefined; reason?: string | undefined } | undefined; output?: unknown; errorText?: string | undefined };
type Sent<M extends UIMessage> = Parameters<ChatTransport<M>["sendMessages"]>[0];
type Reconnected<M extends UIMessage> = Parameters<ChatTransport<M>["reconnectToStream"]>[0];

const RESTS: readonly string[] = ["idle", "waiting", "failed"];
const REASONS: Readonly<Record<string, "stop" | "length" | "content-filter">> = { stop: "stop", length: "length", content_filter: "content-filter" };

/**
 * A transport for `useChat`: `useChat({ transport: new TurnwireTransport(conversations) })`. Transports over the same
 * conversations know the same chats.
 */
export class TurnwireTransport<M extends UIMessage = UIMessage> implements ChatTransport<M> {
  /** Turns are read again from their beginning. */
  readonly resumeStreamIsReplay = true;
  readonly #conversations: Conversations;
  readonly #leaves: boolean;
  readonly #sessions: TextStore | null;
  readonly #page: Page;

  /** Sends nothing yet. */
  constructor(conversations: Conversations, { onAbort = "cancel", sessions }: TurnwireTransportOptions = {}) {
    this.#conversations = conversations;
    this.#page = PAGES.get(conversations) ?? { chats: new Map() };
    PAGES.set(conversations, this.#page);
    this.#leaves = onAbort === "leave";
    this.#sessions = sessions === undefined ? prefixed(conversations.store) : sessions;
  }

  /**
   * Sends the last message: a question, or answers to calls. A known question is asked again in its place. On a server without
   * branches it is asked again in a new turn, and a changed question is rejected with the conversation's error.
   */
  async sendMessages({ chatId, messages, abortSignal }: Sent<M>): Promise<ReadableStream<UIMessageChunk>> {
    const chat = await this.#loaded(chatId);
    if (abortSignal?.aborted) throw abortSignal.reason;
    const { conversation } = chat;
    const last = messages.at(-1);
    const writer = new AnswerWriter(conversation);
    if (last?.role !== "user") {
      const { others, rows } = answerIn(conversation);
      // The page already has these.
      writer.write(rows);
      answerCalls(conversation, last);
      return this.#follow(chat, writer, others, abortSignal, true);
    }
    const others = new Set(conversation.turns.get());
    const key = ask(chat, last);
    chat.ids.set(key, last.id);
    others.delete(key);
    return this.#follow(chat, writer, others, abortSignal);
  }

  /** Reads the running turn from its beginning; `null` if none runs. */
  async reconnectToStream({ chatId, abortSignal }: Reconnected<M>): Promise<ReadableStream<UIMessageChunk> | null> {
    const known = this.#page.chats.get(chatId);
    if (known) known.resumed += 1;
    const chat = await this.#loaded(chatId);
    const { conversation } = chat;
    if (abortSignal?.aborted || RESTS.includes(conversation.status.get().phase)) return null;
    return this.#follow(chat, new AnswerWriter(conversation), answerIn(conversation).others, abortSignal);
  }

  /** Cancels the running turn of a chat, on the server. */
  async cancel(chatId: string): Promise<void> {
    await (await this.#chat(chatId)).conversation.stop();
  }

  /** The messages of a chat, for the `messages` of `useChat`. */
  async history(chatId: string): Promise<M[]> {
    const chat = await this.#loaded(chatId);
    const { conversation } = chat;
    const all = exchanges(conversation, conversation.rows.get(), questionsOf(conversation).length > 0);
    const messages = all.map(async ({ role, rows }, at) => {
      const id = idOf(chat, rows[0]);
      if (role === "user") return { id, role, parts: uiParts(messageOf(conversation, rows[0]!) as UserMessage) };
      let message: UIMessage = { id, role, parts: [] };
      const chunks = new AnswerWriter(conversation).write(rows, at === all.length - 1);
      for await (message of readUIMessageStream({ message, stream: streamOf(chunks[Symbol.iterator]()) }));
      return message;
    });
    // Of an answer that was stopped a server may keep nothing.
    return (await Promise.all(messages)).filter(({ parts }) => parts.length > 0) as M[];
  }

  async #chat(chatId: string): Promise<Chat> {
    const stored = this.#page.chats.has(chatId) ? null : await this.#sessions?.get(chatId);
    const known = this.#page.chats.get(chatId);
    const sessionId = known?.conversation.info.get().sessionId ?? stored;
    // A chat with a session may have been let go meanwhile.
    const conversation = sessionId ? this.#conversations.open(sessionId) : (known?.conversation ?? this.#conversations.create());
    if (known?.conversation === conversation) return known;
    conversation.on("session", ({ id }) => this.#sessions?.set(chatId, id));
    const chat: Chat = { conversation, ids: known?.ids ?? new Map(), resumed: 0 };
    this.#page.chats.set(chatId, chat);
    return chat;
  }

  /** A chat whose turns were read. */
  async #loaded(chatId: string): Promise<Chat> {
    const chat = await this.#chat(chatId);
    const { conversation } = chat;
    const page = this.#page;
    if (page.shown !== conversation) {
      page.hide?.();
      page.hide = conversation.attach();
      page.shown = conversation;
    }
    await chat.stopped;
    await conversation.loaded;
    const { error } = conversation.status.get();
    if (error && conversation.info.get().sessionId !== null) throw error;
    return chat;
  }

  /** Streams a conversation's changes until it rests, except turns of `others`. */
  #follow(chat: Chat, writer: AnswerWriter, others: ReadonlySet<string>, signal: AbortSignal | undefined, isStarted = false): ReadableStream<UIMessageChunk> {
    const { conversation } = chat;
    let isOver = false;
    let wake = (): void => {};
    const unsubscribe = conversation.subscribe(() => wake());
    // Another chat of the page may be shown meanwhile.
    const detach = conversation.attach();
    const leave = (): void => {
      isOver = true;
      detach();
      unsubscribe();
      signal?.removeEventListener("abort", abort);
      wake();
    };
    const abort = (): void => {
      leave();
      chat.isLeft = this.#leaves;
      // A page that resumes again ends its earlier stream; that does not mean stop.
      const { resumed } = chat;
      if (!this.#leaves) chat.stopped = Promise.resolve().then(() => (chat.resumed === resumed ? conversation.stop() : undefined));
    };
    signal?.addEventListener("abort", abort);
    async function* chunks(): AsyncGenerator<UIMessageChunk, void, undefined> {
      while (!isOver) {
        const change = new Promise<void>((resolve) => (wake = resolve));
        const isAtRest = RESTS.includes(conversation.status.get().phase);
        const rows = conversation.rows.get().filter((row) => !others.has(row.turn) && !isQuestion(conversation, row));
        const written = writer.write(rows);
        if (!isStarted && written.length > 0) {
          isStarted = true;
          yield { type: "start", messageId: idOf(chat, rows[0]) };
        }
        yield* written;
        if (isAtRest) {
          leave();
          yield endOf(conversation, others);
        } else await change;
      }
    }
    return streamOf(chunks(), leave);
  }
}

/** The answer to the last question: its rows, and the turns that are not part of it. */
function answerIn(conversation: Conversation): { rows: readonly Row[]; others: Set<string> } {
  const all = conversation.rows.get();
  const turns = conversation.turns.get();
  const question = all.map((row) => isQuestion(conversation, row)).lastIndexOf(true);
  const first = turns.indexOf(all[question]?.turn ?? "");
  return { rows: all.slice(question + 1), others: new Set(turns.slice(0, Math.max(first, 0))) };
}

/** Asks a question; a known one in its place. Returns the key of its turn. */
function ask(chat: Chat, message: UIMessage): string {
  const { conversation } = chat;
  const { rows, turn, status, queue, info, send, retry, regenerate, edit } = conversation;
  const parts = message.parts.flatMap((part): ContentPart[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    return part.type === "file" ? [filePart(part.url, part.mediaType, part.filename)] : [];
  });
  const input = inputOf(parts);
  const row = rows.get().find((one) => isQuestion(conversation, one) && idOf(chat, one) === message.id);
  if (row) {
    const isSame = messageOf(conversation, row)?.text === parts.flatMap((part) => ("text" in part ? part.text : [])).join("\n");
    // If a question cannot be replaced, it is asked again in a new turn.
    const again = turn(row.turn).get()?.canRetry ? retry : !info.get().capabilities?.fork && regenerate;
    return isSame && again ? again(row.key) : edit(row.key, input);
  }
  const key = send(input, chat.isLeft ? { whenBusy: "interrupt" } : {});
  chat.isLeft = false;
  // `stop` has held the queue; the page continues.
  if (status.get().heldQueue) queue.hold(false);
  return key;
}

/** Passes the answers in a message to the pending calls. */
function answerCalls(conversation: Conversation, message: UIMessage | undefined): void {
  const { pending, status, answer, proceed } = conversation;
  for (const part of message?.parts ?? []) {
    if (!("toolCallId" in part)) continue;
    const asked = waitingAs(conversation, part.toolCallId);
    const given = asked && answerOf(part, asked.action.type === "tool.approval_required");
    if (given) answer(asked.key, given);
  }
  const { canProceed, phase } = status.get();
  if (canProceed) proceed();
  else if (RESTS.includes(phase) && !pending.get().some((one) => one.answer)) throw new Error("nothing waits for these answers");
}

/** The page's answer to a call, if it has one. */
function answerOf({ state, approval, output, errorText }: ToolPart, isApproval: boolean): Answer | undefined {
  if (isApproval) {
    if (state !== "approval-responded") return undefined;
    return approval?.approved ? { kind: "allow" } : { kind: "deny", ...(approval?.reason && { reason: approval.reason }) };
  }
  if (state === "output-error") return { kind: "text", content: errorText ?? "" };
  return state === "output-available" ? { kind: "text", content: typeof output === "string" ? output : JSON.stringify(output) } : undefined;
}

/** The last chunk. Throws the error of a failure. */
function endOf(conversation: Conversation, others: ReadonlySet<string>): UIMessageChunk {
  const { phase, error } = conversation.status.get();
  const messages = conversation.messages.get().filter(({ turn }) => !others.has(turn));
  const last = messages.at(-1);
  if (phase === "failed") throw error ?? messages.flatMap((message) => ("error" in message && message.error) || []).at(-1) ?? new Error("the turn failed");
  if (last?.role === "end" && last.status === "cancelled") return { type: "abort" };
  const reason = last?.role === "assistant" ? REASONS[last.finish_reason ?? ""] : undefined;
  return { type: "finish", finishReason: phase === "waiting" ? "tool-calls" : (reason ?? "other") };
}

/**
 * The id of a row's message in the page: for a question of this page the page's own id, otherwise one that survives a reload. An
 * answer without rows is the last one.
 */
function idOf({ conversation, ids }: Chat, row: Row | undefined): string {
  const { role, key, turn } = row ?? { ...conversation.rows.get().at(-1)!, role: "assistant" };
  const id = conversation.turn(turn).get()?.snapshot.turn_id ?? turn;
  return role === "user" ? (ids.get(turn) ?? id + key.slice(turn.length)) : id;
}

/** A stream that reads nothing ahead, so that an error does not overtake chunks. */
function streamOf(chunks: Iterator<UIMessageChunk> | AsyncIterator<UIMessageChunk>, cancel?: () => void): ReadableStream<UIMessageChunk> {
  const pull = async (controller: ReadableStreamDefaultController<UIMessageChunk>): Promise<void> => {
    const { done, value } = await chunks.next();
    if (done) controller.close();
    else controller.enqueue(value);
  };
  return new ReadableStream({ pull, ...(cancel && { cancel }) }, { highWaterMark: 0 });
}

/** A store for the ids of chats, apart from other texts in the same store. */
function prefixed(store: TextStore | null): TextStore | null {
  const name = (key: string): string => `turnwire:chat:${key}`;
  return store && { get: (key) => store.get(name(key)), set: (key, text) => store.set(name(key), text), remove: (key) => store.remove(name(key)) };
}
