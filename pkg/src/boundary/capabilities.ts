// What a protocol supports, as the core reports it.
import { type Capabilities, CAPABILITIES } from "../wire/capabilities.js";

export type { Capabilities };

/** What a protocol requires of its client. */
export interface Conventions {
  /** A turn can be started without a stream. */
  readonly detached: boolean;
  /** The client makes the ids of sessions and turns. */
  readonly clientIds: boolean;
  /** Each answer to a call is a separate request. */
  readonly separateAnswers: boolean;
  /** The server has no ids for turns. */
  readonly unnamed: boolean;
  /** The protocol uses a `WebSocket`. */
  readonly socket: boolean;
  /** The longest normal silence of a connection, in milliseconds. */
  readonly silence: number;
}

/** Capabilities and conventions, from the core's text: `resume`, the silence, and a digit for each name. */
export function capabilitiesOf(text: string): [Capabilities, Conventions] {
  const [resume, silence, digits] = text.split(" ");
  const known = Object.fromEntries(CAPABILITIES.split(" ").map((name, at) => [name, digits![at] === "1"]));
  const { clientIds, separateAnswers, socket, ...published } = known as unknown as Capabilities & Conventions;
  const { detached, turnIds } = published;
  const conventions = { detached, clientIds, separateAnswers, unnamed: !turnIds, socket, silence: Number(silence) };
  return [{ ...published, resume: resume as Capabilities["resume"] }, conventions];
}

/** A new unique id. Not `randomUUID`, which is missing on pages without TLS. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
