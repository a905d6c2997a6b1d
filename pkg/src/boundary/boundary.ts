// The boundary to the core. Only numbers cross it: strings and bytes are written into the core's memory and read from
// it (`src/web/exports.rs` documents each export).
import type { InitOutput } from "../../core/truefoundry/core.js";
import type { TurnwireError } from "../common/errors.js";
import type { Reconnect } from "../common/reconnect.js";

/** The exports of a running core, including its `memory`. All cores have the same. */
export type Exports = InitOutput;

const encoder = new TextEncoder();
/** Decodes the core's strings. A byte order mark inside them is part of the text. */
export const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Frees objects in the core when JavaScript has collected their handles. Some platforms do not have it. */
const collected =
  typeof FinalizationRegistry === "undefined" ? undefined : new FinalizationRegistry<() => void>((free) => free());

/** The core's memory, as bytes and as 32-bit words. Growing the memory detaches the views. */
export class CoreMemory {
  readonly #memory: WebAssembly.Memory;
  #bytes = new Uint8Array(0);
  #words = new Uint32Array(0);

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
  }

  /** Valid until the next call of the core. */
  get bytes(): Uint8Array {
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(this.#memory.buffer);
    return this.#bytes;
  }

  /** The same memory as 32-bit words. */
  get words(): Uint32Array {
    if (this.#words.length === 0) this.#words = new Uint32Array(this.#memory.buffer);
    return this.#words;
  }
}

/** The buffer in a core's memory for the bytes of streams. */
class ChunkRoom {
  readonly memory: CoreMemory;
  readonly #exports: Exports;
  #address = 0;
  #length = 0;

  constructor(exports: Exports) {
    this.#exports = exports;
    this.memory = new CoreMemory(exports.memory);
  }

  /** Writes a piece at offset `at`, with space for `more` bytes after it. */
  write(piece: Uint8Array, at = 0, more = 0): void {
    this.#need(at + piece.length + more);
    this.memory.bytes.set(piece, this.#address + at);
  }

  /** Writes a string as a line; returns its length in bytes. */
  writeLine(text: string): number {
    // One UTF-16 code unit needs at most three bytes.
    this.#need(text.length * 3 + 1);
    const room = this.memory.bytes.subarray(this.#address);
    const { written } = encoder.encodeInto(text, room);
    room[written] = LF;
    return written + 1;
  }

  #need(length: number): void {
    if (length <= this.#length) return;
    this.#length = Math.max(length, MIN_ROOM);
    this.#address = this.#exports.chunkRoom(this.#length) >>> 0;
  }

  /** The core has read the buffer. A large one is not kept. */
  taken(): void {
    if (this.#length > MAX_ROOM) this.#length = 0;
  }
}

const LF = 10;

/** Space for the chunks that servers and browsers make, in bytes. */
const MIN_ROOM = 1 << 16;
const MAX_ROOM = 1 << 18;

const rooms = new WeakMap<Exports, ChunkRoom>();

/** The buffer of a core. */
function roomOf(exports: Exports): ChunkRoom {
  let room = rooms.get(exports);
  if (!room) rooms.set(exports, (room = new ChunkRoom(exports)));
  return room;
}

/** Writes the text that the next call reads. Several texts are separated by NUL characters. */
function passText(exports: Exports, text: string): void {
  const bytes = encoder.encode(text);
  // Reserve the space first: this may grow the memory.
  const address = exports.room(bytes.length) >>> 0;
  roomOf(exports).memory.bytes.set(bytes, address);
}

/** Reads the text that a call returned, by the address of its header. */
function textAt(exports: Exports, header: number): string {
  const { bytes, words } = roomOf(exports).memory;
  const address = words[header >>> 2]!;
  return decoder.decode(bytes.subarray(address, address + words[(header >>> 2) + 1]!));
}

/** The number of no session. */
const NO_SESSION = -1;

/**
 * A server.
 *
 * A text that the core returns may be an error in place of the result: `adopting` tells them apart.
 */
export class CoreClient {
  readonly #exports: Exports;
  readonly #protocol: number;
  readonly #maxFrameBytes: number;

  constructor(exports: Exports, protocol: number, maxFrameBytes: number) {
    this.#exports = exports;
    this.#protocol = protocol;
    this.#maxFrameBytes = maxFrameBytes;
  }

  capabilities(): string {
    return textAt(this.#exports, this.#exports.capabilitiesOf(this.#protocol, NO_SESSION));
  }

  request(call: number, params: string): string {
    passText(this.#exports, params);
    return textAt(this.#exports, this.#exports.request(this.#protocol, call));
  }

  answer(call: number, status: number, statusText: string, contentType: string, params: string, body: string): string {
    passText(this.#exports, `${statusText}\0${contentType}\0${params}\0${body}`);
    return textAt(this.#exports, this.#exports.readAnswer(this.#protocol, call, status));
  }

  /**
   * How to repeat a request that failed: the number of attempts with the next one, the wait before it, and the part of
   * the wait that the server asks for. Nothing if the error is final.
   */
  retry({ code, status = 0, retryAfter = 0 }: TurnwireError, isOffline: boolean, attempts: number, reconnect: Reconnect): Uint32Array {
    passText(this.#exports, code);
    const at = this.#exports.retry(status, retryAfter, Number(isOffline), attempts, ...reconnect, Math.random()) >>> 2;
    return roomOf(this.#exports).memory.words.slice(at, at && at + 3);
  }

  /** `actions` is what the session's last turn waits for, as JSON. */
  session(id: string, agentName: string, actions: string, isNew: boolean): CoreSession {
    passText(this.#exports, `${id}\0${agentName}\0${actions}`);
    return new CoreSession(this.#exports, this.#exports.sessionOpen(this.#protocol, this.#maxFrameBytes, Number(isNew)));
  }
}

/** A session. */
export class CoreSession {
  readonly #exports: Exports;
  readonly #session: number;

  constructor(exports: Exports, session: number) {
    this.#exports = exports;
    this.#session = session;
    collected?.register(this, () => exports.sessionFree(session));
  }

  turn(previousTurnId: string, id: string, isNewest: boolean): CoreTurn {
    passText(this.#exports, `${previousTurnId}\0${id}`);
    return new CoreTurn(this.#exports, this.#exports.turnOpen(this.#session, Number(isNewest)), this);
  }

  capabilities(): string {
    return textAt(this.#exports, this.#exports.capabilitiesOf(0, this.#session));
  }

  /** `text` is the terms, a NUL character, and what the last turn waits for. */
  setTerms(text: string, said: number): void {
    passText(this.#exports, text);
    this.#exports.sessionSetTerms(this.#session, said);
  }

  /** The turns were listed. */
  listed(): void {
    this.#exports.sessionListed(this.#session);
  }

  markCancelled(): void {
    this.#exports.sessionCancelled(this.#session);
  }
}

/** A turn. */
export class CoreTurn {
  readonly #exports: Exports;
  readonly #turn: number;
  readonly #room: ChunkRoom;
  /** A reference that keeps the session alive: the turn needs it in the core. */
  readonly session: CoreSession;

  constructor(exports: Exports, turn: number, session: CoreSession) {
    this.#exports = exports;
    this.#turn = turn;
    this.#room = roomOf(exports);
    this.session = session;
    collected?.register(this, () => exports.turnFree(turn));
  }

  takeInput(json: string, discardsPending: boolean): string {
    return this.#ask((turn) => this.#exports.turnTakeInput(turn, Number(discardsPending)), json);
  }

  takeAnswers(json: string): string {
    return this.#ask(this.#exports.turnTakeAnswers, json);
  }

  takeRecord(json: string): string {
    return this.#ask(this.#exports.turnTakeRecord, json);
  }

  applyListed(events: string, isAll: boolean): string {
    return this.#ask((turn) => this.#exports.turnApplyListed(turn, Number(isAll)), events);
  }

  resolveActions(isDiscarded: boolean): void {
    this.#exports.turnSettle(this.#turn, Number(isDiscarded));
  }

  facts(): string {
    return this.#ask(this.#exports.turnFacts);
  }

  setWantsEvents(wantsEvents: boolean): void {
    this.#exports.turnSetWantsEvents(this.#turn, Number(wantsEvents));
  }

  answered(json: string): void {
    this.#ask(this.#exports.turnAnswered, json);
  }

  setWantsNative(wantsNative: boolean): void {
    this.#exports.turnSetWantsNative(this.#turn, Number(wantsNative));
  }

  begin(goal: number, after: number, reconnect: Reconnect): string {
    return this.#ask((turn) => this.#exports.turnBegin(turn, goal, after, ...reconnect, Date.now()));
  }

  cancelByDisconnect(): void {
    this.#exports.turnHangUp(this.#turn);
  }

  opened(): void {
    this.#exports.turnOpened(this.#turn, Date.now());
  }

  next(outcome: number, status: number, retryAfter: number, isOffline: boolean, text: string): string {
    const ask = (turn: number): number =>
      this.#exports.turnNext(turn, outcome, status, retryAfter, Number(isOffline), Date.now(), Math.random());
    return this.#ask(ask, text);
  }

  /** The core's memory. */
  get memory(): CoreMemory {
    return this.#room.memory;
  }

  /** Pushes consecutive pieces of the stream, or a text that is a line. */
  push(pieces: readonly Uint8Array[] | string): number {
    let length = 0;
    if (typeof pieces === "string") {
      length = this.#room.writeLine(pieces);
    } else {
      let rest = pieces.reduce((sum, piece) => sum + piece.length, 0);
      for (const piece of pieces) {
        rest -= piece.length;
        this.#room.write(piece, length, rest);
        length += piece.length;
      }
    }
    const flags = this.#exports.turnPush(this.#turn, length);
    this.#room.taken();
    return flags;
  }

  takeAsk(): string {
    return this.#ask(this.#exports.turnTakeAsk);
  }

  takeNews(): string {
    return this.#ask(this.#exports.turnTakeNews);
  }

  events(): number {
    return this.#exports.turnEvents(this.#turn) >>> 0;
  }

  takeChanges(): string {
    return this.#ask(this.#exports.turnTakeChanges);
  }

  changeRecords(): number {
    return this.#exports.turnChangeRecords(this.#turn) >>> 0;
  }

  #ask(call: (turn: number) => number, text?: string): string {
    if (text !== undefined) passText(this.#exports, text);
    return textAt(this.#exports, call(this.#turn));
  }
}
