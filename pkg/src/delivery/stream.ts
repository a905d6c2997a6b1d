// The async iterator of a turn's stream.
import type { StreamEvent } from "./delivery.js";

/** The source of an iterator's events. */
export interface EventSource {
  /** Appends the events since the last call. */
  drain(events: StreamEvent[]): void;
  /** The loop reads no further; resolves when the connection is released. */
  release(): Promise<void>;
}

/** A call of `next()` that waits for an event. */
interface Waiting {
  resolve(result: IteratorResult<StreamEvent, void>): void;
  reject(error: unknown): void;
}

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
  readonly #waiting: Waiting[] = [];
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

  /** There may be events for a waiting loop. @internal */
  wake(): void {
    if (this.#waiting.length > 0) this.#serve();
  }

  /** Takes events that were already created for listeners. @internal */
  push(events: readonly StreamEvent[]): void {
    if (this.#end && !this.#isLeft) return;
    for (const event of events) this.#events.push(event);
    this.#serve();
  }

  /** The stream has ended. The remaining events are delivered, then the error. @internal */
  end(error?: unknown): void {
    if (this.#end) return;
    this.#source.drain(this.#events);
    this.#end = error === undefined ? {} : { error };
    this.#serve();
  }

  /** Returns the next event. Called by the language. */
  next(): Promise<IteratorResult<StreamEvent, void>> {
    const event = this.#take();
    if (event) return Promise.resolve({ done: false, value: event });
    return new Promise(this.#wait);
  }

  /** Stops listening. The language calls it when a loop is left. */
  async return(): Promise<IteratorResult<StreamEvent, void>> {
    this.#isLeft = true;
    this.#end = {};
    this.#serve();
    await this.#source.release();
    return { done: true, value: undefined };
  }

  /** Returns the stream itself. Called by the language. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  // One shared function, not one per call: the loop waits before each chunk.
  readonly #wait = (resolve: Waiting["resolve"], reject: Waiting["reject"]): void => {
    this.#waiting.push({ resolve, reject });
    if (this.#end) this.#serve();
  };

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
    this.#next = this.#events.length = 0;
    if (!this.#end) this.#source.drain(this.#events);
    return this.#events.length > 0;
  }

  #serve(): void {
    while (this.#waiting.length > 0) {
      const event = this.#take();
      if (event) {
        this.#waiting.shift()!.resolve({ done: false, value: event });
      } else if (this.#end) {
        const { error } = this.#end;
        this.#end = {};
        const { resolve, reject } = this.#waiting.shift()!;
        if (error === undefined) resolve({ done: true, value: undefined });
        else reject(error);
      } else {
        return;
      }
    }
  }
}
