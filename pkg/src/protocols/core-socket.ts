// The boundary to the exports that only the core of protocols over a WebSocket has (`src/web/sockets.rs`): the events of
// the socket go in, and what to do comes out.
import type { InitOutput } from "../../core/turn-rpc/core.js";
import type { CoreClient, CoreMemory } from "../boundary/boundary.js";
import { passText, roomOf, textAt } from "../client/face.js";
import { Template, Templates, writtenEnd } from "./templates.js";

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

/** The most bytes of text that are gathered. */
const GATHERED = 1 << 13;
/** So many bytes are copied one by one. */
const FEW = 48;

/** What `takeGathered` returns: the turn's flags, whether there may be outputs, and from which bit on the number taken. */
export const FLAGS = 15;
export const MORE = 32;
export const COUNT = 6;

/** The core with the buffer for messages; the buffer's address and length; and the buffer. */
let owner: InitOutput | undefined;
let address = 0;
let length = 0;
let view: Uint8Array = new Uint8Array(0);

/** A client's connection. Its calls return the address of the first output, or 0. */
export class CoreSocket {
  readonly #exports: InitOutput;
  readonly #memory: CoreMemory;
  readonly #socket: number;
  readonly #templates = new Templates();
  /** Messages that are like one earlier one, and were not taken yet. */
  gathered: string[] = [];
  #template: Template | undefined;
  /** Their pieces of text. */
  readonly #texts = new Uint8Array(GATHERED);
  #textsEnd = 0;
  /** The length of the longest one. */
  #largest = 0;

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
    const { written } = encoder.encodeInto(message, this.#room(message.length * 3));
    return this.#exports.socketReceived(this.#socket, written, Date.now()) >>> 0;
  }

  /**
   * A message arrived. Returns whether it equals an earlier one but for its piece of text, as all that are gathered do:
   * then it is gathered until `takeGathered`.
   */
  gather(message: string): boolean {
    const { gathered } = this;
    const template = this.#templates.find(message, this.#texts, this.#textsEnd);
    if (!template || (gathered.length > 0 && template !== this.#template)) return false;
    gathered.push(message);
    this.#template = template;
    this.#textsEnd = writtenEnd();
    if (message.length > this.#largest) this.#largest = message.length;
    return true;
  }

  /** The call whose stream the gathered messages belong to. */
  get gatheredCall(): number {
    return this.#template?.call ?? 0;
  }

  /** The core takes what was gathered. Returns how many messages it has taken, and flags, as `socketReceivedLike` does. */
  takeGathered(): number {
    const { call, number } = this.#template!;
    const end = this.#textsEnd;
    const room = this.#room(end);
    // To set a few bytes one by one is faster than to make a view of them.
    if (end > FEW) room.set(this.#texts.subarray(0, end));
    else for (let at = 0; at < end; at += 1) room[at] = this.#texts[at]!;
    const largest = this.#largest;
    const wanted = this.gathered.length;
    this.gathered = [];
    this.#textsEnd = this.#largest = 0;
    const taken = this.#exports.socketReceivedLike(this.#socket, call, number, end, largest, Date.now());
    if (taken >>> COUNT < wanted) this.#templates.remove(this.#template!);
    return taken;
  }

  /** The message that arrived last was taken by this call's stream, and may be a template of others. */
  learn(output: number, call: number, message: string): void {
    if (this.word(output, 1) > 0) this.#templates.add(new Template(call, this.text(output), message));
  }

  /** The buffer for messages, with room for so many bytes. */
  #room(most: number): Uint8Array {
    if (owner !== this.#exports || most > length || length > MAX_BUFFER) {
      owner = this.#exports;
      length = Math.max(most, MIN_BUFFER);
      address = owner.chunkRoom(length) >>> 0;
      view = new Uint8Array(0);
    }
    // It is empty after the memory has grown, too.
    if (view.length === 0) view = this.#memory.bytes.subarray(address, address + length);
    return view;
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
