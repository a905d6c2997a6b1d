// The async iterator of a turn's stream.
import { NONE, type StreamEvent } from "./delivery.js";

/** The source of an iterator's events. */
export interface EventSource {
  /** Returns the events since the last call, in an array that the caller may keep. */
  drain(): StreamEvent[];
  /** The loop reads no further; resolves when the connection is released. */
  release(): Promise<void>;
}

type Result = IteratorResult<StreamEvent, void>;

/** Settles a call of `next()`. */
type Settle = (result: Result | Promise<never>) => void;

/**
 * The events of a turn, in order, each once. Iterate over it once. Leaving the loop early releases the connection,
 * unless a wait still needs it; the turn itself continues. Events that arrived before and were not taken go to the
 * turn's next stream.
 */
export class TurnStream implements AsyncIterableIterator<StreamEvent> {
  readonly #source: EventSource;
  readonly #after: number;
  #events: StreamEvent[];
  #next = 0;
  #isLeft = false;
  /** Settles the call of `next()` that waits for an event; then the calls that were made meanwhile. */
  #settle: Settle | undefined;
  readonly #others: Settle[] = [];
  #end: { error?: unknown } | undefined;

  /** Delivers the events after this number; `unread` are the undelivered events of the stream before. @internal */
  constructor(source: EventSource, after: number, unread: StreamEvent[] = []) {
    this.#source = source;
    this.#after = after;
    this.#events = unread;
  }

  /** Whether the loop was left. @internal */
  get isLeft(): boolean {
    return this.#isLeft;
  }

  /** Takes the undelivered events, if the loop was left. @internal */
  unread(): StreamEvent[] {
    return this.#isLeft ? this.#events.splice(0).slice(this.#next) : [];
  }

  /** Whether the loop waits for an event. @internal */
  get isWaiting(): boolean {
    return this.#settle !== undefined;
  }

  /** Takes events, and their array. @internal */
  push(events: StreamEvent[]): void {
    if (this.#end && !this.#isLeft) return;
    this.#add(events);
    this.#serve();
  }

  /** Delivers no more events. @internal */
  leave(): void {
    this.#isLeft = true;
  }

  /** The stream has ended. The remaining events are delivered, unless the loop was left; then the error. @internal */
  end(error?: unknown): void {
    if (this.#end) return;
    if (!this.#isLeft) this.#add(this.#source.drain());
    this.#end = error === undefined ? {} : { error };
    this.#serve();
  }

  /** Returns the next event. Called by the language. */
  next(): Promise<Result> {
    const event = this.#take();
    if (event) return Promise.resolve({ done: false, value: event });
    return new Promise(this.#wait);
  }

  /** Stops listening. The language calls it when a loop is left. */
  async return(): Promise<Result> {
    this.leave();
    this.#end = {};
    this.#serve();
    await this.#source.release();
    return { done: true, value: undefined };
  }

  /** Returns the stream itself. Called by the language. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  // One shared function, not one per call: the loop waits before each chunk. For the same reason the usual single call
  // is not in an array, which takes 0.3 µs.
  readonly #wait = (settle: Settle): void => {
    if (this.#settle) this.#others.push(settle);
    else this.#settle = settle;
    if (this.#end) this.#serve();
  };

  #add(events: StreamEvent[]): void {
    if (this.#next < this.#events.length) {
      for (const event of events) this.#events.push(event);
    } else {
      this.#events = events;
      this.#next = 0;
    }
  }

  #take(): StreamEvent | undefined {
    while (!this.#isLeft) {
      if (this.#next === this.#events.length && !this.#refill()) return undefined;
      const event = this.#events[this.#next++]!;
      if (event.sequence_number > this.#after || event.sequence_number === 0) return event;
    }
    return undefined;
  }

  /** Takes new events; returns whether there are any. */
  #refill(): boolean {
    this.#events = this.#end ? NONE : this.#source.drain();
    this.#next = 0;
    return this.#events.length > 0;
  }

  #serve(): void {
    while (this.#settle) {
      const event = this.#take();
      if (!event && !this.#end) return;
      const settle = this.#settle;
      this.#settle = this.#others.length > 0 ? this.#others.shift() : undefined;
      if (event) {
        settle({ done: false, value: event });
      } else {
        const { error } = this.#end!;
        this.#end = {};
        settle(error === undefined ? { done: true, value: undefined } : Promise.reject(error));
      }
    }
  }
}
