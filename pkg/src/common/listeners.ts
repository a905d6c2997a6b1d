// Adds, removes and calls listeners. A listener that throws does not affect the others.

/** A listener, until it is removed. */
interface Entry {
  readonly listener: (value: never) => void;
  isRemoved: boolean;
}

/** Listeners by topic. */
export class Listeners<Topics extends object> {
  /** The arrays are replaced and never changed, so a list is stable while it is being called. */
  readonly #topics = new Map<keyof Topics, readonly Entry[]>();

  /** Whether any topic that `counts` accepts has a listener. */
  hasAny(counts: (topic: keyof Topics) => boolean): boolean {
    return [...this.#topics.keys()].some(counts);
  }

  /** Whether a topic has listeners. */
  has(topic: keyof Topics): boolean {
    return this.#topics.has(topic);
  }

  /** Adds a listener, even a second time; returns the function that removes it. */
  add<T extends keyof Topics>(topic: T, listener: (value: Topics[T]) => void): () => void {
    const entry: Entry = { listener, isRemoved: false };
    this.#topics.set(topic, [...(this.#topics.get(topic) ?? []), entry]);
    return () => {
      entry.isRemoved = true;
      const others = this.#topics.get(topic)?.filter((other) => other !== entry);
      if (others?.length) this.#topics.set(topic, others);
      else this.#topics.delete(topic);
    };
  }

  /** Calls the listeners of a topic. An exception is reported as an uncaught error, and stops nothing. */
  tell<T extends keyof Topics>(topic: T, value: Topics[T]): void {
    const entries = this.#topics.get(topic);
    if (!entries) return;
    for (const { listener, isRemoved } of entries) {
      if (isRemoved) continue;
      try {
        (listener as (value: Topics[T]) => void)(value);
      } catch (error) {
        reportUncaught(error);
      }
    }
  }
}

/** Reports an error in the same way as errors of event listeners. */
function reportUncaught(error: unknown): void {
  if (typeof reportError === "function") reportError(error);
  else queueMicrotask(() => { throw error; });
}
