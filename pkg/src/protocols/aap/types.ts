// The types of users that only the Agent Application Protocol has, and what it adds to those of all protocols.
import type { AgentSettings } from "../../client/agent.js";

/** A message from before the session, in the form of the Agent Application Protocol. */
export type HistoryMessage =
  | { role: "system"; content: string }
  | { role: "user" | "assistant"; content: string | readonly Record<string, unknown>[] }
  | { role: "tool"; toolCallId: string; content: string | readonly Record<string, unknown>[] };

/** A part of a message in the Agent Application Protocol. */
export type AapBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string }
  | { type: "tool_use"; toolCallId: string; name: string; input: Record<string, unknown> }
  | { type: "image"; url: string };

/** A frame of a turn's stream in the Agent Application Protocol: its name, and its data. */
export type AapEvent =
  | { event: "turn_start"; data: Record<string, never> }
  | { event: "text_delta" | "thinking_delta"; data: { delta: string } }
  | { event: "text"; data: { text: string } }
  | { event: "thinking"; data: { thinking: string } }
  | { event: "tool_call"; data: { toolCallId: string; name: string; input: Record<string, unknown> } }
  | { event: "tool_result"; data: { toolCallId: string; content: string | AapBlock[] } }
  | { event: "turn_stop"; data: { stopReason: "end_turn" | "tool_use" | "max_tokens" | "refusal" | "error" } };

/** A turn's answer that is not streamed (`stream: "none"`). */
export interface AapAnswer {
  /** Why the turn stopped. */
  stopReason: "end_turn" | "tool_use" | "max_tokens" | "refusal" | "error";
  /** The messages of the turn. */
  messages: { role: "assistant" | "tool"; toolCallId?: string; content: string | AapBlock[] }[];
}

declare module "../../client/settings.js" {
  interface SessionSettings extends AgentSettings {}

  interface PriorMessageUnion {
    /** In the form of the protocol. */
    "aap": readonly HistoryMessage[];
  }
}

declare module "../../delivery/topics.js" {
  interface NativeUnion {
    /** A frame of a stream, and an answer that is no stream. */
    "aap": AapEvent | AapAnswer;
  }
}
