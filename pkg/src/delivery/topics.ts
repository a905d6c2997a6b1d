// The topics of `turn.on`: the types of events, and the events of the connection.
import { demand } from "../common/check.js";
import type { TurnwireError } from "../common/errors.js";
import { type Event, EVENT_TYPES } from "../wire/events.js";
import type { ConnectionTopics } from "./connection-topics.js";
import type { StreamEvent } from "./delivery.js";

/** The members of `NativeEvent`, by family: each family that has a form of its own adds it. */
export interface NativeUnion {}

/**
 * A frame in the server's own form; the fields of a TrueFoundry event may have another spelling. Run `codex app-server
 * generate-ts` for the types of Codex app-server.
 */
export type NativeEvent = Event | NativeUnion[keyof NativeUnion];

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
