/**
 * A Readable in runes, and as a store. It is plain JavaScript, which needs no compiler.
 *
 * @module turnwire/svelte
 */
import { createSubscriber } from "svelte/reactivity";
import type { Readable } from "../common/readable.js";

export type { Readable };

/** What Svelte calls a readable store. */
export interface ReadableStore<T> {
  /** Calls `run` with the value, and with each new one. Returns what stops that. */
  subscribe(this: void, run: (value: T) => void): () => void;
}

/** One subscriber for each source, so that however many components read it, it has one listener. */
const subscribers = new WeakMap<Readable<unknown>, () => void>();

/**
 * The value of `source`. Where it is read in a template, in `$derived` or in an effect, that runs again when the value
 * changes. Elsewhere, and on a server, it is only read.
 */
export function read<T>(source: Readable<T>): T {
  let track = subscribers.get(source);
  if (!track) subscribers.set(source, (track = createSubscriber((update) => source.subscribe(update))));
  track();
  return source.get();
}

/** `source` as a store, for `$name` in components and for what takes stores. */
export function store<T>(source: Readable<T>): ReadableStore<T> {
  return {
    subscribe(run) {
      const update = () => run(source.get());
      const unsubscribe = source.subscribe(update);
      update();
      return unsubscribe;
    },
  };
}
