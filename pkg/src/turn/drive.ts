// Carries out what the core decides for a turn: requests, streams and waits.
import { type CoreTurn, FLAGS, GOES_ON, HAS_EVENTS, HAS_NEWS } from "../boundary/boundary.js";
import { Call } from "../boundary/calls.js";
import { adopted, adopting, asTurnwireError, ConnectionError, type CoreError, type TurnwireError } from "../common/errors.js";
import type { ConnectionTopics, Waiting } from "../delivery/connection-topics.js";
import { isOffline, sleep, Watch } from "../transport/clocks.js";
import { isUnsent, type Settings, stopped, type StreamReader, type Transport, unsent } from "../transport/transport.js";
import type { StreamLines } from "./connection.js";

/** What a turn is driven to do, by the core's numbers. */
export const STREAM = 0;
export const START = 1;
export const LOCATE = 2;
export const END = 3;

/** The outcome of a step, by the core's numbers. */
const ENDED = 0;
const ANSWERED = 1;
const FAILED = 2;
const ABORTED = 3;
const UNSENT = 4;
const WAITED = 5;

/**
 * A request. `after` is set if it resumes a stream, `whole` if the response comes only when the turn has paused or
 * ended.
 */
interface Plan {
  call: number;
  params: object;
  after?: number;
  whole?: true;
}

/** A wait before the next attempt. It may end early, after `least` milliseconds. */
interface Pause {
  delay: number;
  least: number;
  attempt: number;
  error: CoreError;
}

/** The next thing to do; an empty object ends the drive. */
type Step = Plan | Pause | Waiting | object;

/** What carries out a turn's steps, and is notified of the results. */
export interface Driven {
  readonly core: CoreTurn;
  readonly transport: Transport;
  /** Something happened to the connection. */
  tell<T extends keyof ConnectionTopics>(topic: T, value: ConnectionTopics[T]): void;
  /** A stream has opened. */
  opened(): void;
  /** Whether events are delivered as soon as they come. */
  readonly takesEvents: boolean;
  /** A chunk of this length was read. `address` is that of its events, if it is more than a flag. */
  chunkRead(length: number, address: number): void;
  /** Returns what cuts a stream into the lines that the core takes; nothing if it takes chunks. */
  lines(): StreamLines | undefined;
  /** Whether the turn has ended. */
  isOver(): boolean;
}

/** Drives a turn until the core has no further step. */
export class Drive implements StreamReader {
  /** The turn that takes what comes. */
  readonly core: CoreTurn;
  readonly #driven: Driven;
  readonly #settings: Settings;
  readonly #whole: AbortSignal;
  /** How the last step failed, if it did. */
  #failure: TurnwireError | undefined;
  /** The last failure of any step. */
  #cause: TurnwireError | undefined;
  /** Resolves when the start is in flight, if the session is read before it. */
  sent: Promise<void> | undefined;
  #send = (): void => {};

  /** `whole` stops the drive. */
  constructor(driven: Driven, settings: Settings, whole: AbortSignal) {
    this.#driven = driven;
    this.core = driven.core;
    this.#settings = settings;
    this.#whole = whole;
  }

  /** Begins, and returns the first step. Throws if the turn cannot begin now. */
  begin(goal: number, after = 0): string {
    return adopting(() => this.core.begin(goal, after, this.#settings.reconnect));
  }

  /** Carries out the first step and all that follow. Resolves with the error to report, if there is one. */
  run(first: string): Promise<TurnwireError | undefined> {
    return this.#run(first).finally(this.#send);
  }

  async #run(first: string): Promise<TurnwireError | undefined> {
    let json = first;
    for (;;) {
      // A core that has failed is not asked what to do next.
      if (this.core.coreFailure) return this.core.coreFailure;
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
        // A failure after the end of the turn does not matter.
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
    // If no signal kept the request from being sent, the wait for a token or for a connection did.
    let known: string = unsent.get(this.#failure!) ?? code;
    // The start was answered, with a response too large to read, so it may have begun the turn: the core looks for it.
    if (isStart && code === "frame_too_large") known = "unexpected_response";
    const text = outcome === FAILED ? `${known}\0${message}` : input;
    return adopting(() => this.core.next(outcome, status, retryAfter, isOffline(), text), this.#cause);
  }

  /** Asks for JSON, and returns it; or reads a stream to its end, and returns an empty string. */
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
      await body.read((chunk) => this.#push(lines?.whole(chunk) ?? [chunk], chunk.length), watch, this);
      if (watch.signal.aborted) throw stopped(watch.signal);
      return "";
    } catch (cause) {
      // Some browsers end an aborted body with their own error.
      throw watch.signal.aborted && !isUnsent(cause as object) ? stopped(watch.signal) : cause;
    } finally {
      watch.end();
      if (watch.silence > 0) this.#driven.tell("idle", { silence: watch.silence });
    }
  }

  /** Pushes what the core takes of a chunk of this length. Returns whether to read on. */
  #push(pieces: readonly Uint8Array[], length: number): boolean {
    let pushed: number;
    try {
      pushed = this.core.push(pieces, this.#driven.takesEvents);
    } catch (cause) {
      this.#driven.chunkRead(length, 0);
      throw cause;
    }
    return this.took(pushed, length);
  }

  /** The core has taken so much, with these flags or this address of its events; returns whether to read on. */
  took(flags: number, length: number): boolean {
    const address = flags & ~FLAGS;
    this.core.hasEvents = address === HAS_EVENTS;
    // Messages of a socket come here without a push.
    this.core.isChanged = true;
    for (let news = flags & HAS_NEWS ? this.core.takeNews() : ""; news !== ""; news = this.core.takeNews()) {
      for (const [topic, value] of Object.entries(JSON.parse(news) as ConnectionTopics)) {
        this.#driven.tell(topic as keyof ConnectionTopics, value);
      }
    }
    this.#driven.chunkRead(length, address);
    return (flags & GOES_ON) !== 0;
  }

  #failed(cause: object): number {
    // Any failure after the drive was stopped is a consequence of the stop.
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
