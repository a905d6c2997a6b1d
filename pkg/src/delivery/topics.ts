// The topics of `turn.on`: the types of events, and the events of the connection.
import { demand } from "../common/check.js";
import type { TurnwireError } from "../common/errors.js";
import { type Event, EVENT_TYPES } from "../wire/events.js";
import type { TurnRpcNotification } from "../wire/native-turn-rpc.js";
import type { AgentEvent, AwakenEvent, RelayError } from "../wire/native.js";
import type { AgUiEvent } from "../wire/native-ag-ui.js";
import type { ConnectionTopics } from "./connection-topics.js";
import type { StreamEvent } from "./delivery.js";

/**
 * A frame in the server's own form; the fields of a TrueFoundry event may have another spelling. Run `codex app-server
 * generate-ts` for the types of Codex app-server.
 */
export type NativeEvent = AgentEvent | AwakenEvent | RelayError | AapEvent | AapAnswer | AgUiEvent | TurnRpcNotification | RpcResponse | Event;

/** A response of the server, with the method of its request. */
export interface RpcResponse {
  /** The method of the request. */
  response_to: string;
  /** The result, if there is one. */
  result?: unknown;
  /** The error, if there is one. */
  error?: { code: number; message: string; data?: unknown };
}

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

/**
 * The topics of `on`: a type of event, `"event"` for all of them, `"error"` for the end of a stream, and the events of
 * the connection.
 */
export type TurnTopics = { [E in StreamEvent as E["type"]]: E } & ConnectionTopics & {
    event: StreamEvent;
    error: TurnwireError;
    /** Each frame in the protocol's own form, including repeated ones. */
    native: NativeEvent;
  };

/** Topics that do not need the server's events. */
const ABOUT_CONNECTION: readonly string[] = [
  "error",
  "reconnecting",
  "waiting",
  "resumed",
  "gap",
  "mismatch",
  "idle",
] satisfies (keyof TurnTopics)[];

const ABOUT_EVENTS: readonly string[] = [...EVENT_TYPES, "event", "native"] satisfies (keyof TurnTopics)[];

/** Whether a listener to this topic needs the server's events. */
export function takesEvents(topic: string): boolean {
  return ABOUT_EVENTS.includes(topic);
}

/** Throws an `InputError` unless it is a topic. */
export function demandTopic(topic: string): void {
  demand(takesEvents(topic) || ABOUT_CONNECTION.includes(topic), `\`${topic}\` is no type of event`);
}
