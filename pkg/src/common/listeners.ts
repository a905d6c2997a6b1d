// Listeners: added, removed, and told, none of which another listener can break.

/** One that listens, until it is removed. */
interface Entry {
  readonly listener: (value: never) => void;
  isRemoved: boolean;
}

/** Listeners by topic. */
export class Listeners<Topics extends object> {
  /** The lists are replaced and never changed: those that are being told stay as they are. */
  readonly #topics = new Map<keyof Topics, readonly Entry[]>();

  /** Whether there is a listener to a topic that `counts`. */
  hasAny(counts: (topic: keyof Topics) => boolean): boolean {
    return [...this.#topics.keys()].some(counts);
  }

  /** Whether a topic has listeners. */
  has(topic: keyof Topics): boolean {
    return this.#topics.has(topic);
  }

  /** Adds a listener, which may be added twice; returns what removes it. */
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

  /** Tells the listeners of a topic. One that throws is reported as an uncaught error, and breaks nothing. */
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

/** Surfaces an error where errors of event listeners surface. */
function reportUncaught(error: unknown): void {
  if (typeof reportError === "function") reportError(error);
  else queueMicrotask(() => { throw error; });
}
