// A value that components watch with `useReadable`.

import type { Readable } from "turnwire/react";

/** Members are bound. */
export class Value<T> implements Readable<T> {
  readonly #listeners = new Set<() => void>();
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  readonly get = (): T => this.#value;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  set(value: T): void {
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }
}
