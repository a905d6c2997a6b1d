// An answer as the chunks that `useChat` reads: the changes since the last time.
import type { UIMessageChunk } from "ai";
import type { Conversation } from "../conversation/conversation.js";
import type { AssistantMessage, Call, Part, Row, Thread, UserMessage } from "../conversation/types.js";
import { askedBy, messageOf, placeOf, questionsOf, resultText, resultValue } from "./exchanges.js";

/** A user's message. */
type Said = Extract<UIMessageChunk, { type: "steering-message" }>["parts"];

/** The written part of a call. */
interface WrittenCall {
  text: string;
  /** Where the call runs, once its arguments are written. */
  runs?: "server" | "page";
  isAsked?: boolean;
  isAnswered?: boolean;
  isOver?: boolean;
}

/** Writes one answer. */
export class AnswerWriter {
  readonly #conversation: Conversation;
  #chunks: UIMessageChunk[] = [];
  /** The written texts, by the keys of their parts; `null` once they are complete. */
  readonly #texts = new Map<string, string | null>();
  readonly #calls = new Map<string, WrittenCall>();
  readonly #steered = new Set<string>();
  readonly #threads = new Map<string, readonly unknown[]>();
  /** The last step: the key of its message, or of the calls that sub-agents ask about. */
  #step: string | undefined;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  /** The new chunks of these rows, and of the conversation's pending calls if `isNext`. */
  write(rows: readonly Row[], isNext = true): UIMessageChunk[] {
    for (const row of rows) {
      const message = messageOf(this.#conversation, row);
      if (message?.role === "assistant") this.#message(message);
      else if (message?.role === "user" && !this.#steered.has(row.key)) {
        this.#steered.add(row.key);
        this.#chunks.push({ type: "steering-message", id: row.key, parts: uiParts(message) });
      }
    }
    for (const question of isNext ? questionsOf(this.#conversation) : []) {
      if (this.#step === undefined) this.#begin("asked");
      this.#call(question);
    }
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks;
  }

  #message(message: AssistantMessage): void {
    const { key, parts } = message;
    const isKnown = parts.some((part) => this.#texts.has(part.key) || this.#calls.has(part.key));
    if (parts.length > 0 && !isKnown) this.#begin(key);
    const isReplaced = (part: Part): boolean => part.type !== "call" && !part.text.startsWith(this.#texts.get(part.key) ?? "");
    if (this.#step === key && parts.some(isReplaced)) {
      // The server has restarted this message.
      this.#chunks.push({ type: "reset-step" });
      for (const part of parts) {
        this.#texts.delete(part.key);
        this.#calls.delete(part.key);
      }
    }
    for (const part of parts) {
      if (part.type === "call") this.#call(part.call);
      else if ("streaming" in part) this.#text(part);
    }
  }

  #begin(step: string): void {
    if (this.#step === step) return;
    if (this.#step !== undefined) this.#chunks.push({ type: "finish-step" });
    this.#chunks.push({ type: "start-step" });
    this.#step = step;
  }

  #text({ type, key, text, streaming }: Extract<Part, { streaming: boolean }>): void {
    const kind = type === "reasoning" ? type : "text";
    const written = this.#texts.get(key);
    if (written === null || !text.startsWith(written ?? "")) return;
    if (written === undefined) this.#chunks.push({ type: `${kind}-start`, id: key });
    const delta = text.slice(written?.length ?? 0);
    if (delta !== "") this.#chunks.push({ type: `${kind}-delta`, id: key, delta });
    if (!streaming) this.#chunks.push({ type: `${kind}-end`, id: key });
    this.#texts.set(key, streaming ? text : null);
  }

  #call(call: Call): void {
    const { id: toolCallId, name: toolName, key, pending, answer, response, argumentsText, thread } = call;
    // Without an id, nothing can refer to it yet.
    if (toolCallId === "") return;
    let written = this.#calls.get(key);
    if (!written) {
      this.#calls.set(key, (written = { text: "" }));
      this.#chunks.push({ type: "tool-input-start", toolCallId, toolName, providerExecuted: true });
    }
    if (!written.runs && argumentsText.length > written.text.length) {
      this.#chunks.push({ type: "tool-input-delta", toolCallId, inputTextDelta: argumentsText.slice(written.text.length) });
      written.text = argumentsText;
    }
    const runs = pending?.type === "tool.response_required" ? "page" : (written.runs ?? "server");
    if (call.status !== "streaming" && written.runs !== runs) {
      written.runs = runs;
      this.#chunks.push({ type: "tool-input-available", toolCallId, toolName, input: call.arguments, providerExecuted: runs === "server" });
    }
    if (pending?.type === "tool.approval_required" && !written.isAsked) {
      written.isAsked = true;
      const reason = pending.suspension?.message;
      this.#chunks.push({ type: "tool-approval-request", approvalId: toolCallId, toolCallId, ...(reason && { reason }) });
    }
    const given = answer?.sent ? answer.answer : undefined;
    if (written.isAsked && !written.isAnswered && given) {
      written.isAnswered = true;
      this.#chunks.push({ type: "tool-approval-response", approvalId: toolCallId, approved: given.kind !== "deny" });
    }
    const isDenied = given?.kind === "deny" && written.runs === "server";
    const result = resultText(call);
    if (!written.isOver && (isDenied || result !== undefined)) {
      written.isOver = true;
      if (isDenied) this.#chunks.push({ type: "tool-output-denied", toolCallId });
      else if (response?.outcome === "failed") this.#chunks.push({ type: "tool-output-error", toolCallId, errorText: result! });
      else this.#chunks.push({ type: "tool-output-available", toolCallId, output: resultValue(result!) });
    }
    const began = thread && this.#conversation.thread(thread).get();
    if (began) this.#thread(began, toolCallId);
  }

  /**
   * Writes a sub-agent as one part, which is written again when it changes. The calls that it asks about form a separate step:
   * pages send answers when all calls of the last step have one.
   */
  #thread(thread: Thread, toolCallId: string): void {
    const { key, title, status, error, rows } = thread;
    const messages = rows.flatMap((row) => messageOf(this.#conversation, row) ?? []);
    const now = [thread, ...messages];
    const before = this.#threads.get(key);
    if (before?.length === now.length && now.every((one, at) => one === before[at])) return;
    this.#threads.set(key, now);
    this.#chunks.push({ type: "data-thread", id: key, data: { toolCallId, title, status, error, messages } });
    for (const call of askedBy(this.#conversation, thread)) {
      if (!this.#calls.has(call.key)) this.#begin("asked");
      this.#call(call);
    }
  }
}

/** The parts of a user's message, without those that have no URL. */
export function uiParts({ parts }: UserMessage): Said {
  return parts.flatMap((part): Said => {
    if (part.type !== "file") return [{ type: "text", text: part.text }];
    const place = placeOf(part.content);
    return place ? [{ type: "file", ...place, filename: part.text }] : [];
  });
}
