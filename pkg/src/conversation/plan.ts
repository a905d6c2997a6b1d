// The plan of a conversation, which is Rust (`src/conversation`): facts go in, effects and what is shown come out, as
// lines of text.
import type { InitOutput } from "../../core/conversation/core.js";
import { InputError, StateError } from "../client/face.js";
import type { TurnwireError } from "../common/errors.js";
import type { Status } from "./types.js";

/** The facts, by the plan's numbers (`src/conversation/lines.rs`). */
export const Fact = {
  Send: 0,
  Stop: 1,
  Answer: 2,
  Proceed: 3,
  Retry: 4,
  Regenerate: 5,
  Edit: 6,
  Show: 7,
  Dismiss: 8,
  Draft: 9,
  EditQueued: 10,
  RemoveQueued: 11,
  MoveQueued: 12,
  SendNow: 13,
  SteerQueued: 14,
  Hold: 15,
  Attach: 16,
  Detach: 17,
  LoadEarlier: 18,
  CatchUp: 19,
  SessionReady: 20,
  SessionFailed: 21,
  Page: 22,
  PageFailed: 23,
  Named: 24,
  Active: 25,
  Waits: 26,
  Ended: 27,
  Incomplete: 28,
  Refused: 29,
  Lost: 30,
  CancelFailed: 31,
  Answered: 32,
  ToolEnded: 33,
  Steered: 34,
  Said: 35,
  Restored: 36,
  Leading: 37,
} as const;

/** A fact: its number, the key that it is about, a number of its own, and its lines. */
export interface FactLines {
  readonly fact: (typeof Fact)[keyof typeof Fact];
  readonly key?: number;
  readonly number?: number;
  readonly lines?: readonly string[];
}

/** How a call that waits is answered. */
export const PERSON = 0;
export const TOOL = 1;
export const SIGN_IN = 2;

/** What came of something that was sent to a running turn. */
export const TAKEN = 0;
export const REFUSED = 1;
export const LOST = 2;

/** What the plan wants done. */
export type Effect =
  | { readonly kind: "createSession" | "stopTools" | "publish" }
  | { readonly kind: "start"; readonly turn: number; readonly after: "newest" | "nothing" | { readonly id: string }; readonly discard: boolean; readonly input: StartInput }
  | { readonly kind: "steer"; readonly turn: number; readonly key: number; readonly input: string }
  | { readonly kind: "cancel" | "watch" | "leave"; readonly turn: number }
  | { readonly kind: "answer"; readonly turn: number; readonly call: string; readonly answer: string }
  | { readonly kind: "runTool"; readonly turn: number; readonly call: string }
  | { readonly kind: "load"; readonly before: number }
  | { readonly kind: "store"; readonly text: string }
  | { readonly kind: "giveBack"; readonly key: number; readonly input: string };

/** What a turn starts with: a message (JSON), answers to the calls of a turn, or nothing. */
export type StartInput = { readonly message: string } | { readonly asking: number; readonly answers: readonly (readonly [call: string, answer: string])[] } | null;

/** What follows from a fact. */
export interface Taken {
  /** The key of what was sent; 0 for none. */
  readonly key: number;
  readonly effects: readonly Effect[];
}

/** A turn of the path. */
export interface PlannedTurn {
  readonly key: number;
  readonly name: string;
  /** The server's id; empty until it is known. */
  readonly id: string;
  /** How it stands: not sent, on the server, or over. */
  readonly state: "sending" | "unknown" | "failed" | "running" | "incomplete" | "over";
  /** Whether it begins with a message of the person. */
  readonly asks: boolean;
  readonly canRetry: boolean;
  /** The message (JSON), until the server has it. */
  readonly input: string;
  /** Messages that were steered into it: keys, and their texts until the turn's own record has them. */
  readonly steered: readonly (readonly [key: number, input: string])[];
  /** The keys of its siblings and its own; empty if it has none. */
  readonly siblings: readonly number[];
}

/** An input of the queue. */
export interface PlannedInput {
  readonly key: number;
  readonly state: "waits" | "held" | "unknown" | "steering";
  readonly input: string;
}

/** A call that waits. */
export interface PlannedCall {
  readonly turn: number;
  readonly call: string;
  /** Who answers it. */
  readonly who: number;
  readonly sent: boolean;
  /** The answer (JSON); empty if there is none. */
  readonly answer: string;
}

/** What the plan shows. */
export interface PlanView {
  readonly phase: Status["phase"];
  readonly canSend: boolean;
  readonly canStop: boolean;
  readonly canSteer: boolean;
  readonly heldQueue: boolean;
  readonly hasEarlier: boolean;
  readonly draft: string;
  readonly path: readonly PlannedTurn[];
  readonly queue: readonly PlannedInput[];
  readonly calls: readonly PlannedCall[];
}

/** What the protocol can, and what the page wants. */
export interface PlanOptions {
  readonly hasSession: boolean;
  readonly fork: boolean;
  readonly liveAnswers: boolean;
  readonly steer: boolean;
  readonly discardPending: boolean;
  readonly history: boolean;
  readonly leavesUnseen: boolean;
  readonly whenBusy: keyof typeof BUSY;
}

/** The numbers of what happens to an input while a turn runs. */
export const BUSY = { queue: 1, steer: 2, interrupt: 3, reject: 4 } as const;

const PHASES = ["idle", "loading", "sending", "thinking", "answering", "working", "waiting", "stopping", "reconnecting", "failed"] as const;
const STATES = ["sending", "unknown", "failed", "running", "incomplete", "over", "over", "over"] as const;
const QUEUED = ["waits", "held", "unknown", "steering"] as const;

/** Why a fact was refused, by the plan's numbers. */
const REFUSALS: readonly ((method: string) => TurnwireError)[] = [
  (method) => new StateError("unsupported", `this protocol has no \`${method}\``),
  () => new StateError("session_busy", "calls wait for an answer: answer them first, or pass `discardPending` if the protocol has it"),
  () => new StateError("session_busy", "a turn of the conversation still runs"),
  (method) => new InputError("invalid_input", `\`${method}\` got a key that the conversation does not have, or not any more`),
  () => new StateError("turn_already_started", "it was sent already, and cannot be changed"),
  () => new StateError("turn_not_running", "the call does not wait for an answer"),
  (method) => new InputError("invalid_input", `there is nothing that \`${method}\` could do`),
];

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Frees plans when JavaScript has collected their handles. */
const collected = typeof FinalizationRegistry === "undefined" ? undefined : new FinalizationRegistry<() => void>((free) => free());

/** The plan of one conversation. */
export class Plan {
  readonly #exports: InitOutput;
  readonly #plan: number;

  constructor(exports: InitOutput, options: PlanOptions) {
    const { hasSession, fork, liveAnswers, steer, discardPending, history, leavesUnseen, whenBusy } = options;
    const bits = [hasSession, fork, liveAnswers, steer, discardPending, history, leavesUnseen].reduce((sum, bit, at) => sum + (Number(bit) << at), 0);
    this.#exports = exports;
    const plan = (this.#plan = exports.planOpen(bits, BUSY[whenBusy]));
    collected?.register(this, () => exports.planFree(plan));
  }

  /** Takes a fact; throws why it was refused, which changed nothing. Errors mention `method`. */
  take({ fact, key = 0, number = 0, lines = [] }: FactLines, method = ""): Taken {
    const bytes = encoder.encode(lines.map((line) => `${line}\n`).join(""));
    const address = this.#exports.planRoom(bytes.length) >>> 0;
    new Uint8Array(this.#exports.memory.buffer).set(bytes, address);
    const header = this.#exports.planTake(this.#plan, fact, key, number) >>> 0;
    const refusal = REFUSALS[header - 1];
    if (refusal) throw refusal(method);
    return readTaken(new Reader(this.#text(header)));
  }

  view(): PlanView {
    return readView(new Reader(this.#text(this.#exports.planView(this.#plan) >>> 0)));
  }

  /** The turn whose message a turn answers; 0 if there is none. */
  questionOf(turn: number): number {
    return this.#exports.planQuestion(this.#plan, turn);
  }

  #text(header: number): string {
    const { buffer } = this.#exports.memory;
    const [address, length] = new Uint32Array(buffer, header, 2) as unknown as [number, number];
    return decoder.decode(new Uint8Array(buffer, address, length));
  }
}

/** Reads lines one after the other. */
class Reader {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#lines = text.split("\n");
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#lines.length - 1;
  }

  line(): string {
    return this.#lines[this.#at++] ?? "";
  }

  number(): number {
    return Number(this.line());
  }

  /** Reads items up to an empty line. */
  *until<T>(item: (first: string) => T): Generator<T> {
    for (let line = this.line(); line !== ""; line = this.line()) yield item(line);
  }

  lines(count: number): string {
    return Array.from({ length: count }, () => `${this.line()}\n`).join("");
  }
}

function readTaken(reader: Reader): Taken {
  const key = reader.number();
  const effects: Effect[] = [];
  while (!reader.isAtEnd) effects.push(readEffect(reader));
  return { key, effects };
}

function readEffect(reader: Reader): Effect {
  const kind = reader.number();
  switch (kind) {
    case 0:
      return { kind: "createSession" };
    case 1:
      return readStart(reader);
    case 2:
      return { kind: "steer", turn: reader.number(), key: reader.number(), input: reader.line() };
    case 3:
      return { kind: "cancel", turn: reader.number() };
    case 4:
      return { kind: "answer", turn: reader.number(), call: reader.line(), answer: reader.line() };
    case 5:
      return { kind: "runTool", turn: reader.number(), call: reader.line() };
    case 6:
      return { kind: "stopTools" };
    case 7:
      return { kind: "watch", turn: reader.number() };
    case 8:
      return { kind: "leave", turn: reader.number() };
    case 9:
      return { kind: "load", before: reader.number() };
    case 10:
      return { kind: "store", text: reader.lines(reader.number()) };
    case 11:
      return { kind: "giveBack", key: reader.number(), input: reader.line() };
    case 12:
      return { kind: "publish" };
    default:
      throw new RangeError(`unknown effect ${kind}`);
  }
}

function readStart(reader: Reader): Effect {
  const turn = reader.number();
  const after = reader.number();
  const id = reader.line();
  const discard = reader.number() === 1;
  return { kind: "start", turn, after: after === 0 ? "newest" : after === 1 ? "nothing" : { id }, discard, input: readInput(reader) };
}

function readInput(reader: Reader): StartInput {
  switch (reader.number()) {
    case 1:
      return { message: reader.line() };
    case 2:
      return { asking: reader.number(), answers: [...reader.until((call) => [call, reader.line()] as const)] };
    default:
      return null;
  }
}

function readView(reader: Reader): PlanView {
  const phase = PHASES[reader.number()]!;
  const bits = reader.number();
  return {
    phase,
    canSend: (bits & 1) > 0,
    canStop: (bits & 2) > 0,
    canSteer: (bits & 4) > 0,
    heldQueue: (bits & 8) > 0,
    hasEarlier: (bits & 16) > 0,
    draft: reader.line(),
    path: [...reader.until((key) => readTurn(reader, Number(key)))],
    queue: [...reader.until((key) => ({ key: Number(key), state: QUEUED[reader.number()]!, input: reader.line() }))],
    calls: [...reader.until((turn) => ({ turn: Number(turn), call: reader.line(), who: reader.number(), sent: reader.number() === 1, answer: reader.line() }))],
  };
}

function readTurn(reader: Reader, key: number): PlannedTurn {
  const name = reader.line();
  const id = reader.line();
  const state = STATES[reader.number()]!;
  const bits = reader.number();
  return {
    key,
    name,
    id,
    state,
    asks: (bits & 1) > 0,
    canRetry: (bits & 2) > 0,
    input: reader.line(),
    steered: [...reader.until((steered) => [Number(steered), reader.line()] as const)],
    siblings: [...reader.until(Number)],
  };
}
