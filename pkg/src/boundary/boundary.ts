// The boundary to the core. Only numbers cross it: strings and bytes are written into the core's memory and read from
// it (`src/web/module/exports.rs` documents each export).
import type { InitOutput } from "../../core/truefoundry/core.js";
import { TurnwireError } from "../common/errors.js";
import type { Reconnect } from "../common/reconnect.js";

/** The exports that all cores have, including `memory`. */
export type RawExports = InitOutput;

/** The exports of a core, which note if it fails. */
export interface Exports extends RawExports {
  /** Why the core has failed, if it has. */
  coreFailure?: TurnwireError;
}

/**
 * Guards the exports of a core. If the core fails in itself (a trap), the call that met it throws the error of that.
 * Later calls may still read what the core has; those that fail as well return 0, which stands for nothing.
 */
export function guarded(exports: RawExports): Exports {
  const all = { ...exports } as Exports & Record<string, unknown>;
  for (const [name, call] of Object.entries(exports)) {
    if (typeof call !== "function") continue;
    all[name] = (...given: number[]): number => {
      try {
        return call(...given);
      } catch (cause) {
        if (all.coreFailure) return 0;
        throw (all.coreFailure = new TurnwireError("internal", `The WebAssembly core failed: ${String(cause)}`, { cause }));
      }
    };
  }
  return all;
}

const encoder = new TextEncoder();
/** Decodes the core's strings. A byte order mark inside them is part of the text. */
export const decoder: { decode(bytes: Uint8Array): string } = new TextDecoder("utf-8", { ignoreBOM: true });

/** The flags that the core returns for a chunk: whether to read on, and whether there are reports. */
export const GOES_ON = 1;
export const HAS_NEWS = 2;
/** Whether there are events. Any larger number without the two flags is the address of the events. */
export const HAS_EVENTS = 8;
export const FLAGS = GOES_ON | HAS_NEWS;

/** Frees objects in the core when JavaScript has collected their handles. Some platforms do not have it. */
const collected =
  typeof FinalizationRegistry === "undefined" ? undefined : new FinalizationRegistry<() => void>((free) => free());

/** A `WebAssembly.Memory`, for compilers that do not know it. */
interface Memory {
  readonly buffer: ArrayBuffer;
}

/** The core's memory, as bytes and as 32-bit words. Views are made again when the memory has grown. */
export class CoreMemory {
  readonly #memory: Memory;
  /** Whether the memory leaves old views as they were when it grows. WebAssembly's makes them empty. */
  readonly #isScript: boolean;
  #bytes = new Uint8Array(0);
  #words = new Uint32Array(0);

  constructor(memory: Memory) {
    this.#memory = memory;
    this.#isScript = Object.getPrototypeOf(memory) === Object.prototype;
  }

  /** Valid until the next call of the core. */
  get bytes(): Uint8Array {
    this.#renew();
    return this.#bytes;
  }

  /** The same memory as 32-bit words. */
  get words(): Uint32Array {
    this.#renew();
    return this.#words;
  }

  /** Does not ask a `WebAssembly.Memory` for its buffer each time: that is a call of the engine, not a field. */
  #renew(): void {
    if (this.#bytes.length > 0 && !(this.#isScript && this.#bytes.buffer !== this.#memory.buffer)) return;
    this.#bytes = new Uint8Array(this.#memory.buffer);
    this.#words = new Uint32Array(this.#memory.buffer);
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

  /** Writes consecutive pieces of a stream. Returns their length. */
  write(pieces: readonly Uint8Array[]): number {
    let length = 0;
    for (const piece of pieces) length += piece.length;
    if (length > this.#length) {
      this.#length = Math.max(length, MIN_ROOM);
      this.#address = this.#exports.chunkRoom(this.#length) >>> 0;
    }
    let at = this.#address;
    for (const piece of pieces) {
      this.memory.bytes.set(piece, at);
      at += piece.length;
    }
    // A large buffer is not kept.
    if (this.#length > MAX_ROOM) this.#length = 0;
    return length;
  }
}

/** Space for the chunks that servers and browsers make, in bytes. */
const MIN_ROOM = 1 << 16;
const MAX_ROOM = 1 << 18;

const rooms = new WeakMap<Exports, ChunkRoom>();

/** The buffer of a core. */
export function roomOf(exports: Exports): ChunkRoom {
  let room = rooms.get(exports);
  if (!room) rooms.set(exports, (room = new ChunkRoom(exports)));
  return room;
}

/** Writes the text that the next call reads. Several texts are separated by NUL characters. */
export function passText(exports: Exports, text: string): void {
  const bytes = encoder.encode(text);
  // Reserve the space first: this may grow the memory.
  const address = exports.room(bytes.length) >>> 0;
  roomOf(exports).memory.bytes.set(bytes, address);
}

/** Reads the text that a call returned, by the address of its header. */
export function textAt(exports: Exports, header: number): string {
  if (header === 0) return "";
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
  /** The protocol's number in the core. */
  readonly coreNumber: number;
  readonly maxFrameBytes: number;
  readonly #core: { readonly exports: Exports };

  /** `core` has other exports once its core has failed. */
  constructor(core: { readonly exports: Exports }, protocol: number, maxFrameBytes: number) {
    this.#core = core;
    this.coreNumber = protocol;
    this.maxFrameBytes = maxFrameBytes;
  }

  /** The exports of the core that runs. */
  get coreExports(): Exports {
    return this.#core.exports;
  }

  capabilities(): string {
    return textAt(this.coreExports, this.coreExports.capabilitiesOf(this.coreNumber, NO_SESSION));
  }

  request(call: number, params: string): string {
    passText(this.coreExports, params);
    return textAt(this.coreExports, this.coreExports.request(this.coreNumber, call));
  }

  answer(call: number, status: number, statusText: string, contentType: string, params: string, body: string): string {
    passText(this.coreExports, `${statusText}\0${contentType}\0${params}\0${body}`);
    return textAt(this.coreExports, this.coreExports.readAnswer(this.coreNumber, call, status));
  }

  /**
   * How to repeat a request that failed: the number of attempts with the next one, the wait before it, and the part of
   * the wait that the server asks for. Nothing if the error is final.
   */
  retry({ code, status = 0, retryAfter = 0 }: TurnwireError, isOffline: boolean, attempts: number, reconnect: Reconnect): Uint32Array {
    passText(this.coreExports, code);
    const at = this.coreExports.nextRetry(status, retryAfter, Number(isOffline), attempts, ...reconnect, Math.random()) >>> 2;
    return roomOf(this.coreExports).memory.words.slice(at, at && at + 3);
  }

  /** `actions` are the pending actions of the session's last turn, as JSON; `recall` sets a new core's state. */
  session(id: string, agentName: string, actions: string, isNew: boolean, recall: () => void): CoreSession {
    return new CoreSession(this, `${id}\0${agentName}\0${actions}`, isNew, recall);
  }
}

/** A session. After its core has failed, it is opened in the next one. */
export class CoreSession {
  readonly #client: CoreClient;
  readonly #text: string;
  readonly #recall: () => void;
  #opened!: Exports;
  #session!: number;
  #isCancelled = false;

  constructor(client: CoreClient, text: string, isNew: boolean, recall: () => void) {
    this.#client = client;
    this.#text = text;
    this.#recall = recall;
    this.#open(isNew);
  }

  #open(isNew: boolean): void {
    const { coreExports, coreNumber, maxFrameBytes } = this.#client;
    this.#opened = coreExports;
    passText(coreExports, this.#text);
    const session = (this.#session = coreExports.sessionOpen(coreNumber, maxFrameBytes, Number(isNew)));
    collected?.register(this, () => coreExports.sessionFree(session));
  }

  /** The core that the session is open in. */
  get #exports(): Exports {
    if (this.#opened.coreFailure) {
      this.#open(false);
      if (this.#isCancelled) this.markCancelled();
      this.#recall();
    }
    return this.#opened;
  }

  turn(previousTurnId: string, id: string, isNewest: boolean): CoreTurn {
    passText(this.#exports, `${previousTurnId}\0${id}`);
    return new CoreTurn(this.#exports, this.#exports.turnOpen(this.#session, Number(isNewest)), this);
  }

  capabilities(): string {
    return this.ask((exports, session) => exports.capabilitiesOf(0, session));
  }

  /** Makes a call of the session that takes and returns a text. */
  ask(call: (exports: Exports, session: number) => number, text = ""): string {
    const exports = this.#exports;
    passText(exports, text);
    return textAt(exports, call(exports, this.#session));
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
    this.#isCancelled = true;
    this.#exports.sessionCancelled(this.#session);
  }
}

/** A turn. */
export class CoreTurn {
  readonly #exports: Exports;
  /** Its number in the core. */
  readonly coreNumber: number;
  readonly #room: ChunkRoom;
  /** A reference that keeps the session alive: the turn needs it in the core. */
  readonly session: CoreSession;
  /** Whether events may wait in the core. */
  hasEvents = false;
  /** Whether the core may know something else of the turn than when `facts` was called last. */
  isChanged = true;

  constructor(exports: Exports, turn: number, session: CoreSession) {
    this.#exports = exports;
    this.coreNumber = turn;
    this.#room = roomOf(exports);
    this.session = session;
    collected?.register(this, () => exports.turnFree(turn, 0), this);
  }

  /** Why the turn's core has failed, if it has. Such a turn cannot continue: its data can no longer be trusted. */
  get coreFailure(): TurnwireError | undefined {
    return this.#exports.coreFailure;
  }

  /** The exports, for calls with which the turn continues. */
  get #live(): Exports {
    if (this.coreFailure) throw this.coreFailure;
    return this.#exports;
  }

  /** Frees the turn, and has its session forget it. It must not be used any more. */
  free(): void {
    collected?.unregister(this);
    this.#exports.turnFree(this.coreNumber, 1);
  }

  takeInput(json: string, discardsPending: boolean): string {
    return this.#ask((turn) => this.#exports.turnTakeInput(turn, Number(discardsPending)), json);
  }

  takeAnswers(json: string): string {
    return this.#ask(this.#live.turnTakeAnswers, json);
  }

  takeRecord(json: string): string {
    return this.#ask(this.#exports.turnTakeRecord, json);
  }

  applyListed(events: string, isAll: boolean): string {
    return this.#ask((turn) => this.#exports.turnApplyListed(turn, Number(isAll)), events);
  }

  resolveActions(isDiscarded: boolean): void {
    this.isChanged = true;
    this.#exports.turnSettle(this.coreNumber, Number(isDiscarded));
  }

  facts(): string {
    this.isChanged = false;
    return this.#read(this.#exports.turnFacts);
  }

  setWantsEvents(wantsEvents: boolean): void {
    this.#exports.turnSetWantsEvents(this.coreNumber, Number(wantsEvents));
  }

  takeAnswered(json: string, isTaken: boolean): void {
    this.#ask((turn) => this.#exports.turnAnswered(turn, Number(isTaken)), json);
  }

  setWantsNative(wantsNative: boolean): void {
    this.#exports.turnSetWantsNative(this.coreNumber, Number(wantsNative));
  }

  begin(goal: number, after: number, reconnect: Reconnect): string {
    return this.#ask((turn) => this.#live.turnBegin(turn, goal, after, ...reconnect, Date.now()));
  }

  cancelByDisconnect(): void {
    this.isChanged = true;
    this.#exports.turnHangUp(this.coreNumber);
  }

  opened(): void {
    this.isChanged = true;
    this.#exports.turnOpened(this.coreNumber, Date.now());
  }

  next(outcome: number, status: number, retryAfter: number, isOffline: boolean, text: string): string {
    const ask = (turn: number): number =>
      this.#live.turnNext(turn, outcome, status, retryAfter, Number(isOffline), Date.now(), Math.random());
    return this.#ask(ask, text);
  }

  /** The core's memory. */
  get memory(): CoreMemory {
    return this.#room.memory;
  }

  /**
   * Pushes consecutive pieces of the stream. Returns the core's flags; with `takesEvents` also the address of the
   * events, which no longer wait then.
   */
  push(pieces: readonly Uint8Array[], takesEvents: boolean): number {
    return this.#live.turnPush(this.coreNumber, this.#room.write(pieces), Number(takesEvents));
  }

  takeNews(): string {
    return this.#read(this.#exports.turnTakeNews);
  }

  /** The address of the waiting events; 0 if there are none. */
  events(): number {
    if (!this.hasEvents) return 0;
    this.hasEvents = false;
    return this.#exports.turnEvents(this.coreNumber) >>> 0;
  }

  takeChanges(): string {
    return this.#read(this.#exports.turnTakeChanges);
  }

  changeRecords(): number {
    return this.#exports.turnChangeRecords(this.coreNumber) >>> 0;
  }

  #ask(call: (turn: number) => number, text?: string): string {
    if (text !== undefined) passText(this.#exports, text);
    // Answers have events, too.
    this.hasEvents = this.isChanged = true;
    return this.#read(call);
  }

  #read(call: (turn: number) => number): string {
    return textAt(this.#exports, call(this.coreNumber));
  }
}
