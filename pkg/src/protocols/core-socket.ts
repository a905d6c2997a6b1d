// The boundary to what only the core of protocols over a WebSocket has (`src/web/sockets.rs`): what happens to the socket
// goes in, and what is to be done comes out.
import type { InitOutput } from "../../core/turn-rpc/core.js";
import type { CoreClient } from "../boundary/boundary.js";

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

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Tells the core which clients nothing can name any more. Some platforms do not know. */
const collected =
  typeof FinalizationRegistry === "undefined" ? undefined : new FinalizationRegistry<() => void>((free) => free());

/** Room for a message, in bytes: what is kept at least, and at most. */
const LEAST_ROOM = 1 << 16;
const MOST_ROOM = 1 << 18;

/** Where messages are written, in each core. */
const rooms = new WeakMap<object, Room>();

/** Room for a message in a core's memory. */
class Room {
  readonly #exports: InitOutput;
  #bytes = new Uint8Array(0);
  #words = new Uint32Array(0);
  /** The memory from the room on. */
  #view: Uint8Array = this.#bytes;
  #address = 0;
  #length = 0;

  constructor(exports: InitOutput) {
    this.#exports = exports;
  }

  /** The core's memory, valid until the core is called: it moves when it grows. */
  get bytes(): Uint8Array {
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(this.#exports.memory.buffer);
    return this.#bytes;
  }

  /** The same, four bytes at a time. */
  get words(): Uint32Array {
    if (this.#words.length === 0) this.#words = new Uint32Array(this.#exports.memory.buffer);
    return this.#words;
  }

  /** Writes a message; returns its length in bytes. */
  write(message: string): number {
    // Of a character of UTF-16 no more than three bytes are made.
    const most = message.length * 3;
    // Much room is not kept.
    if (most > this.#length || this.#length > MOST_ROOM) {
      this.#length = Math.max(most, LEAST_ROOM);
      this.#address = this.#exports.chunkRoom(this.#length) >>> 0;
      this.#view = this.bytes.subarray(this.#address);
    }
    // It is empty once the memory has moved.
    if (this.#view.length === 0) this.#view = this.bytes.subarray(this.#address);
    return encoder.encodeInto(message, this.#view).written;
  }
}

/** A client's connection. Its calls return the address of the first output, or 0. */
export class CoreSocket {
  readonly #exports: InitOutput;
  readonly #room: Room;
  readonly #socket: number;

  constructor({ coreExports, coreNumber }: CoreClient, idPrefix: string, connectTimeout: number, maxFrameBytes: number) {
    const exports = (this.#exports = coreExports as unknown as InitOutput);
    this.#room = rooms.get(exports) ?? new Room(exports);
    rooms.set(exports, this.#room);
    this.#pass(idPrefix);
    const socket = (this.#socket = exports.socketOpen(coreNumber, connectTimeout, maxFrameBytes));
    collected?.register(this, () => exports.socketFree(socket));
  }

  ask(id: number, call: number, params: string, timeout: number, idleTimeout: number, buffered: number): number {
    this.#pass(params);
    return this.#exports.socketAsk(this.#socket, id, call, timeout, idleTimeout, Date.now(), buffered) >>> 0;
  }

  /** The turn of this number reads the stream of a call. */
  read(id: number, turn: number, buffered: number): number {
    return this.#exports.socketRead(this.#socket, id, turn, Date.now(), buffered) >>> 0;
  }

  /** A message came. It is written into the core's memory once, and only there it is looked at. */
  received(message: string): number {
    return this.#exports.socketReceived(this.#socket, this.#room.write(message), Date.now()) >>> 0;
  }

  /** Something else happened. */
  heed(event: number, number: number, text: string, buffered: number): number {
    if (text !== "") this.#pass(text);
    return this.#exports.socketHeed(this.#socket, event, number, Date.now(), buffered) >>> 0;
  }

  /** A number of an output: its kind (2), its call (3), a number (4), and whether there may be more (5). */
  word(output: number, at: number): number {
    return this.#room.words[(output >>> 2) + at]!;
  }

  /** The text of an output. */
  text(output: number): string {
    const address = this.word(output, 0);
    return decoder.decode(this.#room.bytes.subarray(address, address + this.word(output, 1)));
  }

  /** Writes the text that the next call takes. */
  #pass(text: string): void {
    const bytes = encoder.encode(text);
    // The room comes first: the memory may grow for it.
    const address = this.#exports.room(bytes.length) >>> 0;
    this.#room.bytes.set(bytes, address);
  }
}
