// The boundary to the exports that only the core of protocols over a WebSocket has (`src/web/sockets.rs`): the events of
// the socket go in, and what to do comes out.
import type { InitOutput } from "../../core/turn-rpc/core.js";
import type { CoreClient, CoreMemory } from "../boundary/boundary.js";
import { passText, roomOf, textAt } from "../client/face.js";

/** What to do, by the core's numbers. */
export const TAKEN = 0;
export const SEND = 1;
export const RESPOND = 2;
export const RESPOND_UNSENT = 3;
export const END = 4;
export const CONNECT = 5;
export const WAKE = 6;
export const CLOSE = 7;

/** What happened, by the core's numbers. */
export const NOTHING = 0;
export const OPENED = 1;
export const CLOSED = 2;
export const BROKEN = 3;
export const FAILED = 4;
export const FORGOTTEN = 5;
export const OVERDUE = 6;
export const TIME = 7;
export const AWAY = 8;
export const SHUT = 9;
export const BINARY = 10;

const encoder = new TextEncoder();

/** Frees clients in the core when JavaScript has collected their handles. Some platforms do not have it. */
const collected =
  typeof FinalizationRegistry === "undefined" ? undefined : new FinalizationRegistry<() => void>((free) => free());

/** The smallest buffer for a message, and the largest one that is kept, in bytes. */
const MIN_BUFFER = 1 << 16;
const MAX_BUFFER = 1 << 18;

/** The core with the buffer for messages; the buffer's address and length; and the memory from there on. */
let owner: InitOutput | undefined;
let address = 0;
let length = 0;
let view: Uint8Array = new Uint8Array(0);

/** A client's connection. Its calls return the address of the first output, or 0. */
export class CoreSocket {
  readonly #exports: InitOutput;
  readonly #memory: CoreMemory;
  readonly #socket: number;

  constructor({ coreExports, coreNumber }: CoreClient, idPrefix: string, connectTimeout: number, maxFrameBytes: number) {
    const exports = (this.#exports = coreExports as unknown as InitOutput);
    this.#memory = roomOf(coreExports).memory;
    passText(exports, idPrefix);
    const socket = (this.#socket = exports.socketOpen(coreNumber, connectTimeout, maxFrameBytes));
    collected?.register(this, () => exports.socketFree(socket));
  }

  ask(id: number, call: number, params: string, timeout: number, idleTimeout: number, buffered: number): number {
    passText(this.#exports, params);
    return this.#exports.socketAsk(this.#socket, id, call, timeout, idleTimeout, Date.now(), buffered) >>> 0;
  }

  /** The turn of this number reads the stream of a call. */
  read(id: number, turn: number, buffered: number): number {
    return this.#exports.socketRead(this.#socket, id, turn, Date.now(), buffered) >>> 0;
  }

  /** A message arrived. It is written into the core's memory once, and only the core reads it. */
  received(message: string): number {
    // One UTF-16 code unit needs at most three bytes.
    const most = message.length * 3;
    if (owner !== this.#exports || most > length || length > MAX_BUFFER) {
      owner = this.#exports;
      length = Math.max(most, MIN_BUFFER);
      address = owner.chunkRoom(length) >>> 0;
      view = new Uint8Array(0);
    }
    // It is empty after the memory has grown, too.
    if (view.length === 0) view = this.#memory.bytes.subarray(address);
    const { written } = encoder.encodeInto(message, view);
    return this.#exports.socketReceived(this.#socket, written, Date.now()) >>> 0;
  }

  /** Something else happened. */
  heed(event: number, number: number, text: string, buffered: number): number {
    if (text !== "") passText(this.#exports, text);
    return this.#exports.socketHeed(this.#socket, event, number, Date.now(), buffered) >>> 0;
  }

  /** A number of an output: its kind (2), its call (3), a number (4), and whether there may be more (5). */
  word(output: number, at: number): number {
    return this.#memory.words[(output >>> 2) + at]!;
  }

  /** The text of an output. */
  text(output: number): string {
    return textAt(this.#exports, output);
  }
}
