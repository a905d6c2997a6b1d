// Listeners: added, removed, and told, none of which another listener can break.

/** Listeners by topic. */
export class Listeners<Topics extends object> {
  readonly #topics = new Map<keyof Topics, Set<(value: never) => void>>();

  /** Whether there is a listener to a topic that `counts`. */
  hasAny(counts: (topic: keyof Topics) => boolean): boolean {
    return [...this.#topics.keys()].some((topic) => counts(topic) && this.has(topic));
  }

  /** Whether anybody listens to a topic. */
  has(topic: keyof Topics): boolean {
    return (this.#topics.get(topic)?.size ?? 0) > 0;
  }

  /** Adds a listener; gives what removes it. */
  add<T extends keyof Topics>(topic: T, listener: (value: Topics[T]) => void): () => void {
    // Its own function each time: one listener may be added twice, and is then removed once at a time.
    const entry = (value: Topics[T]): void => listener(value);
    let listeners = this.#topics.get(topic);
    if (!listeners) this.#topics.set(topic, (listeners = new Set()));
    listeners.add(entry as (value: never) => void);
    return () => listeners.delete(entry as (value: never) => void);
  }

  /** Tells the listeners of a topic. One that throws is reported as an uncaught error, and breaks nothing. */
  tell<T extends keyof Topics>(topic: T, value: Topics[T]): void {
    const listeners = this.#topics.get(topic);
    if (!listeners?.size) return;
    // Those that listen now: neither those that are added meanwhile, nor those that are removed.
    for (const listener of [...listeners]) {
      if (!listeners.has(listener)) continue;
      try {
        (listener as (value: Topics[T]) => void)(value);
      } catch (error) {
        reportUncaught(error);
      }
    }
  }
}

/** Surfaces an error where errors of event listeners surface. */
export function reportUncaught(error: unknown): void {
  if (typeof reportError === "function") reportError(error);
  else queueMicrotask(() => { throw error; });
}
