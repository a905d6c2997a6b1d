// The readables of a conversation. They change only when it publishes: first all values, then all listeners are notified.
import { Listeners } from "../client/face.js";
import type { Readable } from "../common/readable.js";

/** A readable whose value is set when it is published. */
export class Cell<T> implements Readable<T> {
  #value: T;
  readonly #listeners = new Listeners<{ change: void }>();

  constructor(value: T) {
    this.#value = value;
  }

  /** The published value: the same object until it changes. Bound. */
  readonly get = (): T => this.#value;

  /** Calls `listener` after each change; returns the function that removes it. Bound. */
  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add("change", listener);

  /** Sets the value without notifying. Returns whether it changed. */
  put(value: T): boolean {
    const isOther = !Object.is(value, this.#value);
    this.#value = value;
    return isOther;
  }

  /** Notifies the listeners. */
  tell(): void {
    this.#listeners.tell("change", undefined);
  }
}

/** The cells of one kind, by key: always the same cell for a key. */
export interface Cells<T> {
  (key: string): Cell<T | undefined>;
  /** Sets the cells of these keys; returns those whose value changed. */
  put(keys: Iterable<string>): Cell<T | undefined>[];
}

/** Creates cells that read their values with this function. */
export function cells<T>(valueOf: (key: string) => T | undefined): Cells<T> {
  const known = new Map<string, Cell<T | undefined>>();
  const of = (key: string): Cell<T | undefined> => {
    let cell = known.get(key);
    if (!cell) known.set(key, (cell = new Cell(valueOf(key))));
    return cell;
  };
  const put = (keys: Iterable<string>): Cell<T | undefined>[] =>
    [...keys].flatMap((key) => {
      const cell = known.get(key);
      return cell?.put(valueOf(key)) ? cell : [];
    });
  return Object.assign(of, { put });
}
