// What `turn.on` takes: the types of events, and what happens to the stream that brings them.
import type { StreamEvent } from "./delivery.js";
import type { ConnectionTopics } from "./drive.js";
import type { TurnwireError } from "./errors.js";
import type { AgentEvent, AwakenEvent, RelayError } from "./native.js";
import type { Event } from "./events.js";
import { demand } from "./options.js";

/** What a server sends, in its own words; the fields of a TrueFoundry event may go by another spelling. */
export type NativeEvent = AgentEvent | AwakenEvent | RelayError | Event;

/**
 * The topics of `on`: a type of event, `"event"` for all of them, `"error"` for the end of a stream, and what
 * happens to the connection.
 */
export type TurnTopics = { [E in StreamEvent as E["type"]]: E } & ConnectionTopics & {
    event: StreamEvent;
    error: TurnwireError;
    /** Each frame as it came, in the protocol's own words, repeats included. */
    native: NativeEvent;
  };

/** Topics that bring no events. */
const ABOUT_CONNECTION: readonly string[] = [
  "error",
  "reconnecting",
  "resumed",
  "gap",
  "idle",
  "native",
] satisfies (keyof TurnTopics)[];

const ABOUT_EVENTS: readonly string[] = [
  "turn.created",
  "turn.done",
  "model.message",
  "model.message.delta",
  "tool.response",
  "thread.created",
  "thread.done",
  "mcp.initialize",
  "mcp.auth_required",
  "sandbox.created",
  "tool.approval_required",
  "tool.response_required",
  "tool.resumed",
  "tool.cancelled",
  "message.reset",
  "state.snapshot",
  "state.delta",
  "messages.snapshot",
  "activity.snapshot",
  "activity.delta",
  "server.error",
  "unknown",
  "event",
] satisfies (keyof TurnTopics)[];

/** Throws an `InputError` unless it is a topic. */
export function demandTopic(topic: string): void {
  demand(ABOUT_EVENTS.includes(topic) || ABOUT_CONNECTION.includes(topic), `\`${topic}\` is no type of event`);
}
