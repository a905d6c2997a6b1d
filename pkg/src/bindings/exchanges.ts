// The common parts of the adapters: a conversation as questions and answers, where an answer is everything from the agent until the
// next question, in any number of turns; and a page's message as an input.
import type { Conversation } from "../conversation/conversation.js";
import type { Call, Message, Pending, Row, Thread } from "../conversation/types.js";
import type { TurnInput } from "../turn/options.js";
import type { ContentPart } from "../wire/events.js";

/** Rows that form one message. */
export interface Exchange {
  readonly role: "user" | "assistant";
  /** The key of its first row. */
  readonly key: string;
  readonly rows: readonly Row[];
}

/** The message of a row. */
export function messageOf({ message }: Conversation, { key }: Row): Message | undefined {
  return message(key).get();
}

/** Whether the row begins a question. A message that was sent to a running turn is part of the answer. */
export function isQuestion(conversation: Conversation, row: Row): boolean {
  if (row.role !== "user") return false;
  const message = messageOf(conversation, row);
  return message?.role !== "user" || !message.steered;
}

/** Groups rows. An answer may consist only of pending questions. */
export function exchanges(conversation: Conversation, rows: readonly Row[], isAsked = false): Exchange[] {
  const all: (Exchange & { rows: Row[] })[] = [];
  for (const row of rows) {
    const last = all.at(-1);
    if (isQuestion(conversation, row)) all.push({ role: "user", key: row.key, rows: [row] });
    else if (last?.role === "assistant") last.rows.push(row);
    else all.push({ role: "assistant", key: row.key, rows: [row] });
  }
  const last = all.at(-1);
  if (isAsked && last?.role === "user") all.push({ role: "assistant", key: `${last.key}/asked`, rows: [] });
  return all;
}

/** The calls about which a sub-agent asks or has asked a person: other packages' pages have no answers within sub-agents. */
export function askedBy(conversation: Conversation, { rows }: Thread): Call[] {
  return rows.flatMap((row) => {
    const message = messageOf(conversation, row);
    if (message?.role !== "assistant") return [];
    return message.parts.flatMap((part) => (part.type === "call" && (part.call.pending || part.call.answer) ? [part.call] : []));
  });
}

/**
 * Questions about no call, as calls of the page: other packages' pages have no other place for them. The name is the server's
 * reason, and the input its description of the question.
 */
export function questionsOf(conversation: Conversation): Call[] {
  return conversation.pending.get().flatMap((waiting) => {
    const { key, action, text, answer } = waiting;
    if (!("tool_call_id" in action) || conversation.call(key).get()) return [];
    const id = waitingId(conversation, waiting);
    const { action: name = "question", message = text, parameters, response_schema } = action.suspension ?? {};
    const input = { message, parameters, response_schema };
    const status = "response_required";
    return { ...action, id, key: id, index: 0, name, arguments: input, argumentsText: JSON.stringify(input), status, response: null, thread: null, pending: action, answer };
  });
}

/** The page's id of a pending action: its call's. Another turn may ask a question about no call under the same id. */
function waitingId({ call, turn }: Conversation, { key, action, turn: asks }: Pending): string {
  if (!("tool_call_id" in action)) return key;
  return call(key).get() ? action.tool_call_id : `${turn(asks).get()?.snapshot.turn_id ?? asks}/${action.tool_call_id}`;
}

/** The pending action with this id in the page. */
export function waitingAs(conversation: Conversation, id: string): Pending | undefined {
  return conversation.pending.get().find((waiting) => waitingId(conversation, waiting) === id);
}

/** A user's message. A text alone stays a text: not all servers take parts. */
export function inputOf(parts: readonly ContentPart[]): TurnInput {
  const [first] = parts;
  return parts.length === 1 && first?.type === "text" ? first.text : { type: "user.message", content: [...parts] };
}

/** The URL and type of a file; `undefined` if it has no URL. */
export function placeOf(content: ContentPart): { url: string; mediaType: string } | undefined {
  const url = "url" in content ? content.url : "data" in content ? content.data : undefined;
  return url === undefined ? undefined : { url, mediaType: /^data:([^;,]+)/.exec(url)?.[1] ?? `${content.type}/*` };
}

/** A file of a message, by its `data:` URI or its URL. */
export function filePart(url: string, mediaType: string, name = "file"): ContentPart {
  const [kind] = mediaType.split("/");
  const isMedia = kind === "image" || kind === "audio" || kind === "video";
  return url.startsWith("data:") || !isMedia ? { type: "file", name, data: url } : { type: kind, url };
}

/** The text that the model reads as a call's result: the server's, the page's or the person's. */
export function resultText({ response, answer }: Call): string | undefined {
  return response?.content ?? (answer?.sent && answer.answer.kind === "text" ? answer.answer.content : undefined);
}

/** A result as a value, if it is a JSON object or list. */
export function resultValue(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    // A text that only begins like JSON.
    return text;
  }
}
