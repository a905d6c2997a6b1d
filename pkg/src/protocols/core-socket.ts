// The boundary to the exports that only the core of protocols over a WebSocket has (`src/web/module/sockets.rs`): takes the
// socket's events, and returns outputs.
import type { InitOutput } from "../../core/turn-rpc/core.js";
import type { CoreClient, CoreMemory, Exports } from "../boundary/boundary.js";
import { passText, roomOf, textAt } from "../client/face.js";
import type { TurnwireError } from "../common/errors.js";
import { Template, Templates } from "./templates.js";

/** Outputs, by the core's numbers. */
export const TAKEN = 0;
export const SEND = 1;
export const RESPOND = 2;
export const RESPOND_UNSENT = 3;
export const END = 4;
export const CONNECT = 5;
export const WAKE = 6;
export const CLOSE = 7;

/** Events, by the core's numbers. */
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

/** A text of at most this many characters is copied here. For longer texts the encoder, which first copies them, is as fast. */
const FEW = 512;

/** The approximate size of an event in the core besides its text, in bytes. */
const OVERHEAD = 64;

/** What `takeGathered` returns: the turn's flags, whether there may be outputs, and from which bit on the number taken. */
export const FLAGS = 15;
export const MORE = 32;
export const COUNT = 6;

/** The core with the buffer for messages; the buffer's address and length; and the memory from there on. */
let owner: InitOutput | undefined;
let address = 0;
let length = 0;
let view: Uint8Array = new Uint8Array(0);

/** A client's connection. Its calls return the address of the first output, or 0. */
export class CoreSocket {
  readonly #exports: InitOutput & Exports;
  readonly #memory: CoreMemory;
  readonly #socket: number;
  readonly #templates = new Templates();
  /** The longest message that is read by a template, in UTF-16 code units. */
  readonly #longest: number;
  /** Gathered messages that match one template; that template; and their pieces of text. */
  gathered: string[] = [];
  gathering: Template | undefined;
  #texts = "";
  /** The approximate memory in the core of the last taken messages. */
  takenLength = 0;

  constructor({ coreExports, coreNumber }: CoreClient, idPrefix: string, connectTimeout: number, maxFrameBytes: number) {
    const exports = (this.#exports = coreExports as unknown as InitOutput & Exports);
    this.#memory = roomOf(coreExports).memory;
    // One code unit needs at most three bytes.
    this.#longest = maxFrameBytes / 3;
    passText(exports, idPrefix);
    const socket = (this.#socket = exports.socketOpen(coreNumber, connectTimeout, maxFrameBytes));
    collected?.register(this, () => exports.socketFree(socket));
  }

  /** Why the core has failed, if it has. */
  get coreFailure(): TurnwireError | undefined {
    return this.#exports.coreFailure;
  }

  ask(id: number, call: number, params: string, timeout: number, idleTimeout: number, buffered: number): number {
    passText(this.#exports, params);
    return this.#exports.socketAsk(this.#socket, id, call, timeout, idleTimeout, Date.now(), buffered) >>> 0;
  }

  /** Has the turn with this number read the stream of a call. */
  read(id: number, turn: number, buffered: number): number {
    return this.#exports.socketRead(this.#socket, id, turn, Date.now(), buffered) >>> 0;
  }

  /** A message arrived. It is written into the core's memory once, and only the core reads it. */
  received(message: string): number {
    return this.#exports.socketReceived(this.#socket, this.#write(message), Date.now()) >>> 0;
  }

  /** The template that a message matches. */
  templateOf(message: string): Template | undefined {
    return message.length > this.#longest ? undefined : this.#templates.find(message);
  }

  /** Gathers a message that matches this template, as all gathered messages do. */
  gather(template: Template, message: string): void {
    this.gathering = template;
    this.gathered.push(message);
    this.#texts += template.piece;
  }

  /** Passes the gathered messages to the core. Returns how many it took, and flags, like `socketReceivedLike`. */
  takeGathered(): number {
    const template = this.gathering!;
    const wanted = this.gathered.length;
    const length = this.#write(this.#texts);
    this.takenLength = length + wanted * OVERHEAD;
    this.gathered = [];
    this.gathering = undefined;
    this.#texts = "";
    const taken = this.#exports.socketReceivedLike(this.#socket, template.call, template.number, length, Date.now());
    if (taken >>> COUNT < wanted) this.#templates.remove(template);
    return taken;
  }

  /** Keeps the last message as a template, if it can be one. This call's stream has taken it. */
  learn(output: number, call: number): void {
    if (this.word(output, 1) > 0) this.#templates.add(new Template(call, this.text(output)));
  }

  /** Writes a text to the buffer for messages; returns its length in bytes. */
  #write(text: string): number {
    const most = text.length * 3;
    if (owner !== this.#exports || most > length || length > MAX_BUFFER) {
      owner = this.#exports;
      length = Math.max(most, MIN_BUFFER);
      address = owner.chunkRoom(length) >>> 0;
      view = new Uint8Array(0);
    }
    // The array is also empty after the memory has grown.
    if (view.length === 0) view = this.#memory.bytes.subarray(address);
    for (let at = 0; text.length <= FEW; at += 1) {
      if (at === text.length) return at;
      const unit = text.charCodeAt(at);
      if (unit > 0x7f) break;
      view[at] = unit;
    }
    return encoder.encodeInto(text, view).written;
  }

  /** Passes any other event to the core. */
  heed(event: number, number: number, text: string, buffered: number): number {
    if (text !== "") passText(this.#exports, text);
    return this.#exports.socketHeed(this.#socket, event, number, Date.now(), buffered) >>> 0;
  }

  /** A number of an output: its kind (2), its call (3), a number (4), and whether there may be more outputs (5). */
  word(output: number, at: number): number {
    return this.#memory.words[(output >>> 2) + at]!;
  }

  /** The text of an output. */
  text(output: number): string {
    return textAt(this.#exports, output);
  }
}
