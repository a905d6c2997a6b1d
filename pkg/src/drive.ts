// Carries out what the core decides for a turn: requests, streams and waits.
import type { CoreTurn } from "./boundary.js";
import { Call } from "./calls.js";
import { isOffline, type Limits, sleep, Watch } from "./clocks.js";
import { adopted, adopting, asTurnwireError, ConnectionError, coreFailure, type CoreError, TurnwireError } from "./errors.js";
import type { Lines } from "./lines.js";
import type { Reconnect } from "./options.js";
import { isUnsent, stopped, type StreamReader, type Transport, unsent } from "./transport.js";

/** Before the next try to reach the server. */
export interface Reconnecting {
  /** The number of the try: how many in a row brought nothing new, and this one. */
  readonly attempt: number;
  /** How long it is waited for, in milliseconds. */
  readonly delay: number;
  /** What failed before. */
  readonly cause: TurnwireError;
}

/** Before the next look at what the server has not said yet. The connection is not lost, and no tries are used up. */
export interface Waiting {
  /** How long until the server is asked again, in milliseconds. */
  readonly delay: number;
  /**
   * What is waited for. `"turn"`: the turn's end; the server says that the turn runs, and has no stream of it.
   * `"history"`: the turn's answer in what the server keeps of the session; it does not say reliably whether it still
   * works on it (`"aap"`, `"tirea"`). `"events"`: the rest of the turn's messages; the turn has ended.
   */
  readonly for: "turn" | "history" | "events";
}

/** What happens to a turn's connection. None of it needs to be heeded. */
export interface ConnectionTopics {
  /** The connection was lost, and will be tried again. */
  reconnecting: Reconnecting;
  /** The server can be reached, and will be asked again for what it has not said yet. */
  waiting: Waiting;
  /** The stream goes on after the event of this number. */
  resumed: { readonly after: number };
  /** The server has lost the events between these numbers. The messages are made whole when the turn ends. */
  gap: { readonly after: number; readonly next: number };
  /**
   * The server numbers an event twice, and differently: by the `id:` of its frame, which counts, and by the
   * `sequence_number` in its JSON. Told once a turn.
   */
  mismatch: { readonly id: number; readonly sequence_number: number };
  /** Nothing came for so many milliseconds; the connection is given up. */
  idle: { readonly silence: number };
}

/** What a turn is driven for, by the core's numbers. */
export const STREAM = 0;
export const START = 1;
export const LOOK = 2;
export const END = 3;

/** How a step went, by the core's numbers. */
const ENDED = 0;
const ANSWERED = 1;
const FAILED = 2;
const ABORTED = 3;
const UNSENT = 4;
const WAITED = 5;

/** A request; `after` where it resumes a stream, `whole` where the answer comes when all is said. */
interface Plan {
  call: number;
  params: object;
  after?: number;
  whole?: true;
}

/** A wait before the next try, which may be cut short after `least` milliseconds. */
interface Pause {
  delay: number;
  least: number;
  attempt: number;
  error: CoreError;
}

/** What is to be done; nothing more if it is empty. */
type Step = Plan | Pause | Waiting | object;

/** Who carries out a turn's steps, and whom it tells. */
export interface Driven {
  readonly core: CoreTurn;
  readonly transport: Transport;
  /** Something has happened to the connection. */
  tell<T extends keyof ConnectionTopics>(topic: T, value: ConnectionTopics[T]): void;
  /** A stream has been opened. */
  opened(): void;
  /** A chunk of this length was read; something may have come, events if it has any. */
  woken(length: number, hasEvents: boolean): void;
  /** Gives what cuts a stream into what the core takes. */
  lines(): Lines;
  /** Whether the turn has ended. */
  isOver(): boolean;
}

/** How persistently, and how long. */
export type Settings = Required<Pick<Limits, "connectTimeout" | "idleTimeout">> & { readonly reconnect: Reconnect };

/** Drives a turn until the core has no further step. */
export class Drive implements StreamReader {
  /** The turn that takes what comes. */
  readonly core: CoreTurn;
  readonly #driven: Driven;
  readonly #settings: Settings;
  readonly #whole: AbortSignal;
  /** How the last step failed, if it did. */
  #failure: TurnwireError | undefined;
  /** The last failure of all. */
  #cause: TurnwireError | undefined;
  /** Resolves once the start is on its way, if the session is read before it. */
  sent: Promise<void> | undefined;
  #send = (): void => {};

  /** `whole` stops the drive. */
  constructor(driven: Driven, settings: Settings, whole: AbortSignal) {
    this.#driven = driven;
    this.core = driven.core;
    this.#settings = settings;
    this.#whole = whole;
  }

  /** Begins; gives the first step. Throws if that is not possible now. */
  begin(goal: number, after = 0): string {
    return adopting(() => this.core.begin(goal, after, this.#settings.reconnect));
  }

  /** Goes on from a first step to the end. Resolves with the error that is to be reported, if there is one. */
  run(first: string): Promise<TurnwireError | undefined> {
    return this.#run(first).finally(this.#send);
  }

  async #run(first: string): Promise<TurnwireError | undefined> {
    let json = first;
    for (;;) {
      const step = JSON.parse(json) as Step;
      let outcome: number;
      let input = "";
      if ("delay" in step) {
        outcome = await this.#wait(step);
      } else if ("call" in step) {
        try {
          const asked = this.#request(step);
          if (step.call === Call.ListNewestTurns) this.sent ??= new Promise((resolve) => (this.#send = resolve));
          else this.#send();
          input = await asked;
          outcome = input === "" ? ENDED : ANSWERED;
          this.#failure = undefined;
        } catch (cause) {
          outcome = this.#failed(cause as object);
        }
      } else {
        // What came after the end of the turn is nobody's concern.
        return this.#driven.isOver() ? undefined : this.#failure;
      }
      try {
        json = this.#next(outcome, input, "call" in step && step.call === Call.CreateTurn);
      } catch (error) {
        const { code } = error as TurnwireError;
        return code === "aborted" ? stopped(this.#whole) : (error as TurnwireError);
      }
    }
  }

  #next(outcome: number, input: string, isStart: boolean): string {
    const { code = "", message = "", status = 0, retryAfter = 0 } = this.#failure ?? {};
    // Whatever keeps a request from being sent that nobody stopped, it is the wait for a token, or for a connection.
    let known: string = unsent.get(this.#failure!) ?? code;
    // A start that was answered, if too wordily to be read, may have begun the turn: it is looked for.
    if (isStart && code === "frame_too_large") known = "unexpected_response";
    const text = outcome === FAILED ? `${known}\0${message}` : input;
    const isLost = isOffline() && (code === "network" || code === "timeout");
    return adopting(() => this.core.next(outcome, status, retryAfter, isLost, text), this.#cause);
  }

  /** Asks for JSON, and gives it; or reads a stream to its end, and gives nothing. */
  async #request({ call, params, after, whole }: Plan): Promise<string> {
    const { connectTimeout, idleTimeout } = this.#settings;
    const watch = new Watch({ connectTimeout: whole ? idleTimeout : connectTimeout, idleTimeout, signal: this.#whole });
    try {
      const body = await this.#driven.transport.open(call, JSON.stringify(params), watch);
      if (typeof body === "string") return body;
      this.core.opened();
      this.#driven.opened();
      if (after !== undefined) this.#driven.tell("resumed", { after });
      const lines = this.#driven.lines();
      await body.read((chunk) => this.#push(lines.whole(chunk), chunk.length), watch, this);
      if (watch.signal.aborted) throw stopped(watch.signal);
      return "";
    } catch (cause) {
      // Some browsers break off a body with an error of their own.
      throw watch.signal.aborted && !isUnsent(cause as object) ? stopped(watch.signal) : cause;
    } finally {
      watch.end();
      if (watch.silence > 0) this.#driven.tell("idle", { silence: watch.silence });
    }
  }

  /** Takes the lines that a chunk of this length has ended; returns whether to read on. */
  #push(lines: readonly Uint8Array[], length: number): boolean {
    let flags: number;
    try {
      flags = this.core.push(lines);
    } catch (cause) {
      this.#driven.woken(length, true);
      throw coreFailure(cause);
    }
    return this.took(flags, length);
  }

  /** The core has taken so much, with these flags; returns whether to read on. */
  took(flags: number, length: number): boolean {
    for (let news = flags & HAS_NEWS ? this.core.takeNews() : ""; news !== ""; news = this.core.takeNews()) {
      for (const [topic, value] of Object.entries(JSON.parse(news) as ConnectionTopics)) {
        this.#driven.tell(topic as keyof ConnectionTopics, value);
      }
    }
    this.#driven.woken(length, (flags & HAS_EVENTS) !== 0);
    return (flags & GOES_ON) !== 0;
  }

  #failed(cause: object): number {
    // Whatever broke when the whole was stopped broke because of that.
    this.#failure = this.#cause = this.#whole.aborted ? stopped(this.#whole) : asTurnwireError(cause);
    if (!this.#whole.aborted && this.#failure instanceof ConnectionError) return FAILED;
    if (isUnsent(cause)) return UNSENT;
    return this.#whole.aborted ? ABORTED : FAILED;
  }

  async #wait(step: Pause | Waiting): Promise<number> {
    const { delay } = step;
    if ("attempt" in step) {
      const cause = (this.#cause = adopted(step.error, this.#cause));
      this.#driven.tell("reconnecting", { attempt: step.attempt, delay, cause });
    } else this.#driven.tell("waiting", step);
    await sleep(delay, this.#whole, "attempt" in step ? step.least : delay);
    if (!this.#whole.aborted) return WAITED;
    this.#failure = stopped(this.#whole);
    return ABORTED;
  }
}

/** What the core says of a chunk that it took, by its bits. */
const GOES_ON = 1;
const HAS_NEWS = 2;
const HAS_EVENTS = 8;
