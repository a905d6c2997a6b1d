// Turns records into event objects. No other code reads records from the core's memory.
//
// The core writes the events of a whole network chunk into its memory as fixed-size records of integers, beside two
// arenas of text (`src/delivery` describes both). Each arena is decoded once and sliced. Objects of a delta have one
// fixed shape each; one with fields that this version does not know is a copy of an earlier one, its outline, with what
// has changed. All other events are JSON, which is parsed on delivery.
import { type CoreMemory, decoder } from "../boundary/boundary.js";
import type { Event } from "../wire/events.js";

/** Parses JSON from the core. */
export interface JsonParser {
  parse(json: string): unknown;
  /** The content of a message that the core has. Only some protocols have it. */
  text?(text: string): string;
  /** An event like the one with this JSON, apart from the changed fields, which may be none. Only some protocols have it. */
  copy?(outline: string, changed: string): Record<string, unknown>;
}

/** An event, with its sequence number. */
export type StreamEvent = Numbered<Event>;

/** An event of a list. */
export type ListedEvent = Listed<Event>;

/** Distributes over the union, as `Numbered` does. */
export type Listed<E> = E extends unknown
  ? E & {
      /** The server's number of the event in its turn, if it numbers listed events. */
      readonly sequence_number?: number;
    }
  : never;

/** Distributes over the union, so that a `switch` on `type` still narrows. */
export type Numbered<E> = E extends unknown
  ? E & {
      /** The server's number of the event in its turn, from 1 on; 0 if the server sends none. */
      readonly sequence_number: number;
    }
  : never;

/** No events. Nothing is ever added to it. */
export const NONE: StreamEvent[] = [];

const STRIDE = 10;
const CONTENT = 0;
const REASONING = 1;
const JSON_TEXT = 3;
const NATIVE = 4;
const WIDE = 1 << 8;
const TIMED = 1 << 9;
const LIKE = 1 << 10;
const WIDE_CHANGED = 1 << 11;

/** The fields that a piece of text extends, by the kinds of their records. */
const FIELDS = ["content", "reasoning_content", "tool_calls"];

/** Below this many bytes, building a string from character codes is faster than calling a decoder. */
const SHORT = 128;

/** The records and arenas that a header in the core's memory points to. */
export interface Lent {
  readonly words: Uint32Array;
  /** The index of the first word of the records, and the index after the last one. */
  readonly from: number;
  readonly to: number;
  readonly ascii: string;
  readonly wide: string;
}

/** Reads what the header at `address` points to. Copies the text, but not the records. */
export function lend({ bytes, words }: CoreMemory, address: number): Lent {
  const header = address >>> 2;
  const from = words[header]! >>> 2;
  const ascii = words[header + 2]!;
  const wide = words[header + 4]!;
  const wideLength = words[header + 5]!;
  return {
    words,
    from,
    to: from + words[header + 1]!,
    ascii: decodeAscii(bytes, ascii, ascii + words[header + 3]!),
    wide: wideLength === 0 ? "" : decoder.decode(bytes.subarray(wide, wide + wideLength)),
  };
}

const { fromCharCode } = String;

function decodeAscii(bytes: Uint8Array, from: number, to: number): string {
  if (to - from > SHORT) return decoder.decode(bytes.subarray(from, to));
  let text = "";
  let at = from;
  for (; at + 8 <= to; at += 8) {
    text += fromCharCode(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!, bytes[at + 4]!, bytes[at + 5]!, bytes[at + 6]!, bytes[at + 7]!);
  }
  if (at + 4 <= to) text += fromCharCode(bytes[at++]!, bytes[at++]!, bytes[at++]!, bytes[at++]!);
  for (; at < to; at += 1) text += fromCharCode(bytes[at]!);
  return text;
}

/** Creates the events of one turn; keeps the names to which its records refer by number. */
export class EventReader {
  readonly #names: string[] = [];
  readonly #json: JsonParser;
  /** The native frames that were among the events that were read last, if they are wanted. */
  natives: unknown[] | undefined;

  constructor(json: JsonParser) {
    this.#json = json;
  }

  /** Returns the events of `lent`. */
  read({ words: records, from, to, ascii, wide }: Lent): StreamEvent[] {
    let events: StreamEvent[] | undefined;
    this.natives = undefined;
    for (let at = from; at < to; at += STRIDE) {
      const kind = records[at]!;
      const start = records[at + 5]!;
      const text = (kind & WIDE ? wide : ascii).slice(start, start + records[at + 6]!);
      if ((kind & 0xff) === NATIVE) {
        (this.natives ??= []).push(parsed(text));
        continue;
      }
      if ((kind & 0xff) > NATIVE) {
        this.#names.push(text);
        continue;
      }
      let more = "";
      if (kind & (TIMED | LIKE)) {
        const start = records[at + 7]!;
        more = (kind & WIDE_CHANGED ? wide : ascii).slice(start, start + records[at + 8]!);
      }
      const event = this.#event(kind, records, at, text, more);
      if (kind & TIMED) (event as { created_at?: string }).created_at = more;
      // Most chunks have one event. To begin with an empty array reserves space for 17.
      if (events) events.push(event);
      else events = [event];
    }
    return events ?? NONE;
  }

  #event(kind: number, records: Uint32Array, at: number, text: string, changed: string): StreamEvent {
    const high = records[at + 4]!;
    // Small numbers stay whole numbers for the engine, which need no memory of their own.
    const sequence_number = high === 0 ? records[at + 3]! : records[at + 3]! + high * 0x1_0000_0000;
    if ((kind & 0xff) === JSON_TEXT) {
      const event = this.#json.parse(text) as { sequence_number: number };
      event.sequence_number = sequence_number;
      return event as StreamEvent;
    }
    const id = this.#names[records[at + 1]!]!;
    const thread_id = this.#names[records[at + 2]!]!;
    // The others are arguments of a tool call.
    const tool_calls = (kind & 0xff) > REASONING ? [{ index: records[at + 9]!, function: { arguments: text } }] : undefined;
    if (kind & LIKE) {
      // The name is an outline.
      const event = this.#json.copy!(id, changed);
      event[FIELDS[kind & 0xff]!] = tool_calls ?? text;
      event.sequence_number = sequence_number;
      return event as unknown as StreamEvent;
    }
    switch (kind & 0xff) {
      case CONTENT:
        return { type: "model.message.delta", id, thread_id, content: text, sequence_number };
      case REASONING:
        return { type: "model.message.delta", id, thread_id, reasoning_content: text, sequence_number };
      default:
        return { type: "model.message.delta", id, thread_id, tool_calls: tool_calls!, sequence_number };
    }
  }
}

/** The JSON of a frame, or its text if it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
