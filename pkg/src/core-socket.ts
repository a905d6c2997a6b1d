// The boundary to what only the core of protocols over a WebSocket has (`src/web/sockets.rs`): what happens to the socket
// goes in, and what is to be done comes out.
import type { InitOutput } from "../core/turn-rpc/core.js";
import type { CoreClient } from "./boundary.js";
import { collected, encoder, passText, roomOf, textAt } from "./face.js";

/** What is to be done, by the core's numbers. */
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

/** A client's connection. Its calls return the address of the first output, or 0; `next` goes on to the others. */
export class CoreSocket {
  readonly #exports: InitOutput;
  readonly #socket: number;
  /** The room for messages, as it was last. */
  #view: Uint8Array = new Uint8Array(0);
  #address = 0;

  constructor({ exports, coreNumber }: CoreClient, idPrefix: string, connectTimeout: number, maxFrameBytes: number) {
    const own = (this.#exports = exports as unknown as InitOutput);
    passText(exports, idPrefix);
    const socket = (this.#socket = own.socketOpen(coreNumber, connectTimeout, maxFrameBytes));
    collected?.register(this, () => own.socketFree(socket));
  }

  ask(id: number, call: number, params: string, timeout: number, idleTimeout: number, buffered: number): number {
    passText(this.#exports, params);
    return this.#exports.socketAsk(this.#socket, id, call, timeout, idleTimeout, Date.now(), buffered) >>> 0;
  }

  /** The turn of this number reads the stream of a call. */
  read(id: number, turn: number, buffered: number): number {
    return this.#exports.socketRead(this.#socket, id, turn, Date.now(), buffered) >>> 0;
  }

  /** A message came. It is written into the core's memory once, and only there it is looked at. */
  received(message: string): number {
    const room = roomOf(this.#exports);
    // Of a character of UTF-16 no more than three bytes are made.
    const address = room.need(message.length * 3);
    // The memory moves when it grows.
    if (address !== this.#address || this.#view.length === 0) {
      this.#address = address;
      this.#view = room.memory.bytes.subarray(address);
    }
    const { written } = encoder.encodeInto(message, this.#view);
    const output = this.#exports.socketReceived(this.#socket, written, Date.now()) >>> 0;
    room.taken();
    return output;
  }

  /** Something else happened. */
  heed(event: number, number: number, text: string, buffered: number): number {
    if (text !== "") passText(this.#exports, text);
    return this.#exports.socketHeed(this.#socket, event, number, Date.now(), buffered) >>> 0;
  }

  isUnsent(id: number): boolean {
    return this.#exports.socketIsUnsent(this.#socket, id) !== 0;
  }

  /** A number of an output: its kind (2), its call (3), a number (4), and whether there may be more (5). */
  word(output: number, at: number): number {
    return roomOf(this.#exports).memory.words[(output >>> 2) + at]!;
  }

  /** The text of an output. */
  text(output: number): string {
    return textAt(this.#exports, output);
  }
}
