// The smallest external store: something with a value that React can watch through `useSyncExternalStore`.

/** Holds listeners; subclasses call `notify` when their value has changed. Both members are bound. */
export class Store {
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  protected notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
