// What a protocol supports, as the core reports it.
import { type Capabilities, CAPABILITIES } from "../wire/capabilities.js";

export type { Capabilities };

/** What a protocol requires of its client. */
export interface Conventions {
  /** The client makes the ids of sessions and turns. */
  readonly clientIds: boolean;
  /** Each answer to a call is a separate request. */
  readonly separateAnswers: boolean;
  /** The protocol uses a `WebSocket`. */
  readonly socket: boolean;
  /** The server has no ids for turns. */
  readonly unnamed: boolean;
  /** The longest normal silence of a connection, in milliseconds. */
  readonly silence: number;
}

/** Capabilities and conventions, from the core's text: `resume`, the silence, and a digit for each of the core's flags. */
export function capabilitiesOf(text: string): [Capabilities, Conventions] {
  const [resume, silence, digits] = text.split(" ");
  const flags = [...digits!].map((digit) => digit === "1");
  const named = Object.fromEntries(CAPABILITIES.split(" ").map((name) => [name, flags.shift()]));
  const capabilities = { resume, ...named } as unknown as Capabilities;
  const [clientIds, separateAnswers, socket] = flags as [boolean, boolean, boolean];
  return [capabilities, { clientIds, separateAnswers, socket, unnamed: !capabilities.turnIds, silence: Number(silence) }];
}

/** A new unique id. Not `randomUUID`, which is missing on pages without TLS. */
export function newId(): string {
  const words = crypto.getRandomValues(new Uint32Array(4));
  return Array.from(words, (word) => word.toString(16).padStart(8, "0")).join("");
}
