// The baseline's turn, with the same face as turnwire's: a loop, listeners, snapshots once per frame.
import { State } from "./state.mjs";

export class PlainTurn {
  #read;
  /** The wire: `apply(state, event)` merges an event, `isLast(event)` ends the turn. */
  #wire;
  #state = new State();
  #listeners = new Set();
  #subscribers = new Set();
  #frame;
  #events = [];
  #isIterated = false;
  #wake;
  #isOver = false;

  constructor(read, wire) {
    this.#read = read;
    this.#wire = wire;
  }

  on(_, listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  subscribe = (listener) => {
    this.#subscribers.add(listener);
    return () => this.#subscribers.delete(listener);
  };

  snapshot = () => this.#state.snapshot();

  /** Reads the turn to its end. */
  waitForCompletion() {
    return this.#read(
      (event) => this.#take(event),
      () => this.#chunkRead(),
    );
  }

  /** Says whether the turn goes on. */
  #take(event) {
    this.#wire.apply(this.#state, event);
    if (this.#isIterated) this.#events.push(event);
    for (const listener of this.#listeners) listener(event);
    if (this.#wire.isLast(event)) this.#isOver = true;
    return !this.#isOver;
  }

  #chunkRead() {
    if (this.#wake && this.#events.length > 0) this.#wake();
    if (this.#subscribers.size > 0) this.#frame ??= requestAnimationFrame(this.#tell);
  }

  #tell = () => {
    this.#frame = undefined;
    for (const listener of this.#subscribers) listener();
  };

  /** The events, in order. By hand: a generator takes 5 to 10 % longer. */
  stream() {
    this.#isIterated = true;
    let failure;
    const reading = this.waitForCompletion().catch((error) => {
      failure = error;
      this.#isOver = true;
    });
    reading.then(() => this.#wake?.());
    let events = [];
    let at = 0;
    const next = () => (at < events.length ? Promise.resolve({ done: false, value: events[at++] }) : more());
    const more = async () => {
      for (;;) {
        if (at < events.length) return { done: false, value: events[at++] };
        events = this.#events;
        this.#events = [];
        at = 0;
        if (events.length > 0) continue;
        if (failure) throw failure;
        if (this.#isOver) return { done: true, value: undefined };
        await new Promise((resolve) => (this.#wake = resolve));
        this.#wake = undefined;
      }
    };
    const stop = async () => {
      this.#isOver = true;
      return { done: true, value: undefined };
    };
    return { next, return: stop, [Symbol.asyncIterator]() { return this; } };
  }
}
