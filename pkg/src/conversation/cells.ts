// The readables of a conversation. They change only when it publishes: all of them together, and then all are told.
import { Listeners } from "../client/face.js";
import type { Readable } from "../common/readable.js";

/** A readable whose value is set when it is published. */
export class Cell<T> implements Readable<T> {
  #value: T;
  readonly #listeners = new Listeners<{ change: void }>();

  constructor(value: T) {
    this.#value = value;
  }

  /** The published value: the same object until there is another. Bound. */
  readonly get = (): T => this.#value;

  /** Calls `listener` after each change; returns the function that removes it. Bound. */
  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add("change", listener);

  /** Sets the value, without telling. Returns whether it is another one. */
  put(value: T): boolean {
    const isOther = !Object.is(value, this.#value);
    this.#value = value;
    return isOther;
  }

  /** Tells the listeners. */
  tell(): void {
    this.#listeners.tell("change", undefined);
  }
}

/** The cells of one kind, by key. A key has the same cell each time. */
export class Cells<T> {
  readonly #cells = new Map<string, Cell<T | undefined>>();
  readonly #valueOf: (key: string) => T | undefined;

  constructor(valueOf: (key: string) => T | undefined) {
    this.#valueOf = valueOf;
  }

  of(key: string): Cell<T | undefined> {
    let cell = this.#cells.get(key);
    if (!cell) this.#cells.set(key, (cell = new Cell(this.#valueOf(key))));
    return cell;
  }

  /** Sets the cells of these keys; returns those whose value is another one. */
  put(keys: Iterable<string>): Cell<T | undefined>[] {
    const told: Cell<T | undefined>[] = [];
    for (const key of keys) {
      const cell = this.#cells.get(key);
      if (cell?.put(this.#valueOf(key))) told.push(cell);
    }
    return told;
  }
}
