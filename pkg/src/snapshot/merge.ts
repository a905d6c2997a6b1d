// Merges deltas by hand, for code that keeps its own state. The rules are those of the core's index; both run the same
// conformance cases.
import { TurnwireError } from "../common/errors.js";
import type { ModelMessage, ModelMessageDelta, ToolCall, ToolCallDelta } from "../wire/events.js";

/** A `model.message` into which deltas are merged. */
export type MessageBase = { type?: string } & ModelMessage;

/** A `model.message.delta`. */
export type MessageDelta = { type?: string } & ModelMessageDelta;

/** Whether an event is a delta to merge into the event of its id. Deltas of states and activities are not. */
export function isEventDelta<E extends { type: string }>(event: E): event is Extract<E, { type: `${string}.${string}.delta` }> {
  return /\..+\.delta$/.test(event.type);
}

/**
 * Merges a delta into the `model.message` of its id, in place, and returns that message.
 *
 * Text and arguments are appended; ids, types, names and tool infos overwrite; provider fields are merged one level
 * deep; usage and finish reason replace. Empty and missing fields change nothing. Tool calls are merged by `index`;
 * missing lower ones stay `null`. Order and repetition are not checked: the stream delivers each event once.
 *
 * Throws a `TurnwireError` (`merge_mismatch`) if the ids differ. Other types of events are ignored.
 */
export function mergeEventDelta<B extends object>(base: B, delta: { id: string; type?: string }): B {
  const { id, type } = base as { id?: string; type?: string };
  if (id !== delta.id) {
    throw new TurnwireError("merge_mismatch", `a delta of message "${delta.id}" cannot be merged into "${id}"`);
  }
  const isMessage = (type ?? "model.message") === "model.message";
  const isDelta = (delta.type ?? "model.message.delta") === "model.message.delta";
  if (isMessage && isDelta) mergeMessage(base as unknown as ModelMessage, delta as ModelMessageDelta);
  return base;
}

function mergeMessage(base: ModelMessage, delta: ModelMessageDelta): void {
  // Check first, so that a malformed delta changes nothing.
  delta.tool_calls?.forEach(checkIndex);
  if (delta.content) appendContent(base, delta.content);
  if (delta.refusal) base.refusal = (base.refusal ?? "") + delta.refusal;
  if (delta.reasoning_content) base.reasoning_content = (base.reasoning_content ?? "") + delta.reasoning_content;
  if (delta.tool_calls?.length) mergeToolCalls((base.tool_calls ??= []), delta.tool_calls);
  if (delta.finish_reason) base.finish_reason = delta.finish_reason;
  if (delta.usage) base.usage = delta.usage;
  if (delta.model) base.model = delta.model;
  if (delta.duration_ms) base.duration_ms = delta.duration_ms;
  if (delta.reasoning_encrypted) (base.reasoning_encrypted ??= []).push(delta.reasoning_encrypted);
}

function appendContent(base: ModelMessage, text: string): void {
  if (!Array.isArray(base.content)) {
    base.content = (base.content ?? "") + text;
    return;
  }
  const last = base.content.at(-1);
  if (last?.type === "text") last.text += text;
  else base.content.push({ type: "text", text });
}

/** The core's limit. A wild index would need far too much memory. */
const MAX_TOOL_CALLS = 1024;

function checkIndex(delta: ToolCallDelta | null): void {
  const index = delta?.index ?? -1;
  if (!(Number.isInteger(index) && index >= 0 && index < MAX_TOOL_CALLS)) {
    throw new TurnwireError("merge_mismatch", `a tool call's index must be a whole number below ${MAX_TOOL_CALLS}`);
  }
}

function mergeToolCalls(calls: (ToolCall | null)[], deltas: readonly ToolCallDelta[]): void {
  for (const delta of deltas) {
    while (calls.length <= delta.index) calls.push(null);
    mergeToolCall((calls[delta.index] ??= { id: "", type: "function", function: { name: "", arguments: "" } }), delta);
  }
}

function mergeToolCall(call: ToolCall, delta: ToolCallDelta): void {
  if (delta.id) call.id = delta.id;
  if (delta.type) call.type = delta.type;
  if (delta.function) mergeFunction((call.function ??= { name: "", arguments: "" }), delta.function);
  if (delta.tool_info) call.tool_info = delta.tool_info;
  if (delta.provider_specific_fields) {
    call.provider_specific_fields = { ...call.provider_specific_fields, ...delta.provider_specific_fields };
  }
}

function mergeFunction(known: ToolCall["function"], delta: NonNullable<ToolCallDelta["function"]>): void {
  const { name, arguments: piece, whole_arguments: whole } = delta;
  if (name) known.name = name;
  if (piece) known.arguments = (known.arguments ?? "") + piece;
  if (whole !== undefined) known.arguments = whole;
}

/** Builds a message from its deltas alone, without a base event. */
export class ModelMessageBuilder {
  #message: ModelMessage | undefined;

  /**
   * Adds a delta; returns the message so far, which later deltas will change.
   *
   * Throws a `TurnwireError` (`merge_mismatch`) for a delta of another message.
   */
  add(delta: MessageDelta): ModelMessage {
    this.#message ??= {
      id: delta.id,
      thread_id: delta.thread_id,
      ...(delta.created_at ? { created_at: delta.created_at } : {}),
    };
    return mergeEventDelta(this.#message, delta);
  }

  /**
   * Returns the complete message, and starts over.
   *
   * Throws a `TurnwireError` (`message_incomplete`), and keeps the message, while no delta has brought a
   * `finish_reason`.
   */
  buildAndReset(): ModelMessage & { finish_reason: string } {
    const message = this.#message;
    if (!message?.finish_reason) {
      throw new TurnwireError("message_incomplete", "the message is not complete: no delta had a `finish_reason`");
    }
    this.#message = undefined;
    return message as ModelMessage & { finish_reason: string };
  }
}
