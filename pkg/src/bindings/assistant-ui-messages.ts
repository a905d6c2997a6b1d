// A conversation as messages of assistant-ui: each question as one, and its whole answer as one. Unchanged messages stay the same
// objects, so that assistant-ui does not render them again.
import type { ExportedMessageRepository, ThreadMessage } from "@assistant-ui/react";
import type { Conversation } from "../conversation/conversation.js";
import type { Call, Message, Part, Pending, Row, Snapshot, Thread } from "../conversation/types.js";
import { askedBy, type Exchange, exchanges, messageOf, placeOf, questionsOf, resultText, resultValue, waitingAs } from "./exchanges.js";

type Content = Extract<ThreadMessage, { role: "assistant" }>["content"][number];
type CallContent = Extract<Content, { type: "tool-call" }>;
type Status = Extract<ThreadMessage, { role: "assistant" }>["status"];
type Attachment = Extract<ThreadMessage, { role: "user" }>["attachments"][number];

/** A question about no call also has an id. */
type Question = Extract<Pending["action"], { tool_call_id: string }>;

/** A message, and the objects it was made from. */
interface Made {
  readonly of: readonly unknown[];
  readonly message: ThreadMessage;
}

/** A question about no call. It stays in its place, even after its answer. */
interface Asked {
  /** The user's message before it, and the row. */
  readonly said: string;
  readonly after: string | undefined;
  readonly call: Call;
  /** The question as it was pending. Another turn may ask under the same id. */
  readonly asked: Pending;
}

const METADATA = { unstable_state: null, unstable_annotations: [], unstable_data: [], steps: [], custom: {} } as const;
const COMPLETE = { type: "complete", reason: "stop" } as const;
const ENDS: Readonly<Record<string, "length" | "content-filter">> = { length: "length", content_filter: "content-filter" };

/** The messages of one conversation. */
export class ThreadMessages {
  readonly #conversation: Conversation;
  #made = new Map<string, Made>();
  #before = new Map<string, Made>();
  #pending: readonly Pending[] = [];
  /** The questions about no call, by the page's ids. */
  readonly #questions = new Map<string, Asked>();
  /** The turns of a question's other branches, by the ids of their questions. */
  readonly branches = new Map<string, string>();

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  /** The current messages, and the hidden branches as empty questions. */
  now({ rows, pending, status }: Snapshot, isRunning: boolean): ExportedMessageRepository {
    this.#before = this.#made;
    this.#made = new Map();
    this.#pending = pending;
    this.branches.clear();
    const messages: ExportedMessageRepository["messages"] = [];
    let parentId: string | null = null;
    const waiting = questionsOf(this.#conversation);
    const all = exchanges(this.#conversation, rows, waiting.length > 0);
    this.#ask(waiting, all);
    for (const exchange of all) {
      const [first] = exchange.rows;
      const question = first && messageOf(this.#conversation, first);
      const asked = exchange.role === "user" ? [] : [...this.#questions.values()].filter(({ said }) => said === (parentId ?? ""));
      const message = this.#message(exchange, isRunning && exchange === all.at(-1), false, asked);
      for (const turn of question?.branch?.of ?? [exchange.key]) {
        const id = `${turn}/input/0`;
        const isShown = turn === exchange.key || id === exchange.key;
        if (!isShown) this.branches.set(id, turn);
        messages.push({ parentId, message: isShown ? message : this.#kept(id, [turn], () => userMessage(id, [], undefined)) });
      }
      parentId = exchange.key;
      if (question?.role !== "user" || question.delivery === "sent" || question.delivery === "sending") continue;
      // An unsent question has no answer that could show it.
      const { key, error, delivery } = question;
      const id = `${key}/unsent`;
      const text = (error ?? status.error)?.message ?? `the message is ${delivery}`;
      messages.push({ parentId, message: this.#kept(id, [text], () => assistantMessage(id, [], failed(text))) });
      parentId = id;
    }
    return { headId: parentId, messages };
  }

  #kept(key: string, of: readonly unknown[], make: (before: ThreadMessage | undefined) => ThreadMessage): ThreadMessage {
    const before = this.#before.get(key);
    const isSame = before?.of.length === of.length && of.every((one, at) => one === before.of[at]);
    const made = isSame ? before : { of, message: make(before?.message) };
    this.#made.set(key, made);
    return made.message;
  }

  /**
   * Notes the pending questions. One that is no longer pending was answered, here or in another tab: the input of a turn may show
   * how.
   */
  #ask(waiting: readonly Call[], all: readonly Exchange[]): void {
    const said = all.filter(({ role }) => role === "user").at(-1)?.key ?? "";
    const after = all.at(-1)?.rows.at(-1)?.key;
    const open = new Set<string>();
    for (const call of waiting) {
      open.add(call.key);
      this.#questions.set(call.key, { said, after, asked: waitingAs(this.#conversation, call.key)!, ...this.#questions.get(call.key), call });
    }
    for (const [key, one] of this.#questions) {
      if (open.has(key) || one.call.answer?.sent) continue;
      const answer = this.#answerOf(one);
      if (one.call.pending || answer) this.#questions.set(key, { ...one, call: { ...one.call, pending: null, answer } });
    }
  }

  /** The answer to a question: the first one after the turn that asked. */
  #answerOf({ asked }: Asked): Call["answer"] {
    const { turns, turn } = this.#conversation;
    const all = turns.get();
    const { tool_call_id: id } = asked.action as Question;
    const [content] = all.slice(all.indexOf(asked.turn) + 1).flatMap((key) => (turn(key).get()?.snapshot.input ?? []).flatMap((item) => (item.type === "user.tool_response" && item.tool_call_id === id ? item.content : [])));
    return content === undefined ? null : { answer: { kind: "text", content }, sent: true };
  }

  /** A sub-agent's messages cannot be answered: their questions are shown beside the call. */
  #message({ role, key, rows }: Exchange, isRunning: boolean, isNested = false, asked: readonly Asked[] = []): ThreadMessage {
    const of: unknown[] = [isRunning, ...asked.flatMap(({ call }) => [call.pending, call.answer])];
    this.#collect(rows, of);
    return this.#kept(key, of, (before) => {
      const messages = rows.flatMap((row) => messageOf(this.#conversation, row) ?? []);
      const [first] = messages;
      const askedAfter = (last: string | undefined): Content[] => asked.flatMap(({ after, call }) => (after === last ? [this.#call(call, false)] : []));
      const createdAt = first?.created_at ? new Date(first.created_at) : before?.createdAt;
      if (role === "user") return userMessage(key, messages.flatMap(({ parts }) => parts), createdAt);
      const content = [...askedAfter(undefined), ...messages.flatMap((message) => [...this.#content(message, isNested), ...askedAfter(message.key)])];
      return assistantMessage(key, content, isRunning ? { type: "running" } : statusOf(messages.at(-1), content), createdAt);
    });
  }

  /** Collects everything a message depends on, including sub-agents' rows. */
  #collect(rows: readonly Row[], of: unknown[]): void {
    for (const row of rows) {
      const message = messageOf(this.#conversation, row);
      of.push(message ?? row);
      for (const { call } of message?.role === "assistant" ? message.parts.filter((part) => part.type === "call") : []) {
        if (call.pending) of.push(this.#asked(call));
        const thread = this.#threadOf(call);
        if (!thread) continue;
        of.push(thread.status);
        this.#collect(thread.rows, of);
      }
    }
  }

  #asked({ key }: Call): Pending | undefined {
    return this.#pending.find((pending) => pending.key === key);
  }

  #content(message: Message, isNested: boolean): Content[] {
    const { role, text, parts } = message;
    // A message sent while the agent worked.
    if (role === "user") return [{ type: "data", name: "user-message", data: { text, parts } }];
    // The status shows how it ended.
    if (role === "end") return [];
    return parts.flatMap((part): Content[] => {
      if (part.type !== "call") return [{ type: part.type === "reasoning" ? "reasoning" : "text", text: part.text }];
      const { call } = part;
      const thread = this.#threadOf(call);
      const asked = thread && !isNested ? askedBy(this.#conversation, thread) : [];
      return [this.#call(call, isNested), ...asked.map((one) => this.#call(one, false))];
    });
  }

  #threadOf({ thread }: Call): Thread | undefined {
    return thread === null ? undefined : this.#conversation.thread(thread).get();
  }

  #call(call: Call, isNested: boolean): Content {
    const { id, key, name, arguments: value, argumentsText, response } = call;
    const args = typeof value === "object" && value !== null && !Array.isArray(value) ? (value as CallContent["args"]) : {};
    const result = resultText(call);
    const approval = isNested ? undefined : this.#approval(call);
    const thread = this.#threadOf(call);
    return {
      type: "tool-call",
      toolCallId: id || key,
      toolName: name,
      args,
      argsText: argumentsText,
      ...(result !== undefined && { result: resultValue(result), isError: response?.outcome === "failed" }),
      ...(approval && { approval }),
      ...(thread && { messages: exchanges(this.#conversation, thread.rows).map((exchange) => this.#message(exchange, thread.status === "running", true)) }),
    };
  }

  /** What a call needs from the person. A question needs a text. */
  #approval(call: Call): CallContent["approval"] {
    const { key, pending, answer } = call;
    const given = answer?.answer;
    const isDecided = given && given.kind !== "text";
    if (pending?.type === "mcp.auth_required" || (!pending && !isDecided)) return undefined;
    const prompt = pending?.suspension?.message;
    return {
      id: key,
      ...(prompt && { prompt }),
      ...(pending?.type === "tool.response_required" && { display: "text" }),
      ...(pending?.type === "tool.approval_required" && this.#asked(call)?.canRemember && { options: OPTIONS }),
      ...(given && { approved: given.kind !== "deny" }),
      ...(given?.kind === "deny" && given.reason !== undefined && { reason: given.reason }),
    };
  }

}

function statusOf(last: Message | undefined, content: readonly Content[]): Status {
  if (last?.role === "end") return last.status === "cancelled" ? { type: "incomplete", reason: "cancelled" } : failed(last.text);
  if (content.some((part) => part.type === "tool-call" && part.approval && part.approval.approved === undefined)) return { type: "requires-action", reason: "tool-calls" };
  const reason = last?.role === "assistant" && ENDS[last.finish_reason ?? ""];
  return reason ? { type: "incomplete", reason } : COMPLETE;
}

/** The decisions about a call whose tool the server can remember. */
const OPTIONS = [
  { id: "once", kind: "allow-once" },
  { id: "always", kind: "allow-always" },
  { id: "deny", kind: "reject-once" },
] as const;

function failed(error: string): Status {
  return { type: "incomplete", reason: "error", error };
}

function assistantMessage(id: string, content: readonly Content[], status: Status, createdAt = new Date()): ThreadMessage {
  return { id, createdAt, role: "assistant", content, status, metadata: METADATA };
}

function userMessage(id: string, parts: readonly Part[], createdAt = new Date()): ThreadMessage {
  const content = parts.flatMap((part) => (part.type === "text" ? [{ type: "text" as const, text: part.text }] : []));
  const attachments = parts.flatMap(attachmentOf);
  return { id, createdAt, role: "user", content, attachments, metadata: { custom: {} } };
}

/** A file of a question; none if it has no URL. */
function attachmentOf(part: Part): Attachment[] {
  const place = part.type === "file" && placeOf(part.content);
  if (!place) return [];
  const { url, mediaType } = place;
  const { key: id, text: name } = part;
  const isImage = mediaType.startsWith("image/");
  const content = isImage ? ({ type: "image", image: url } as const) : ({ type: "file", data: url, mimeType: mediaType, filename: name } as const);
  return [{ id, type: isImage ? "image" : "document", name, contentType: mediaType, status: { type: "complete" }, content: [content] }];
}
