// A value that changes over time, as components read it.

/**
 * A value that changes only when it is published: `get()` returns the same object until then. Its subscribers are
 * called after each change. Both functions are bound, so that you can pass them on.
 */
export interface Readable<T> {
  /** The published value. */
  readonly get: () => T;
  /** Calls `listener` when another value is published. Returns the function that removes it. */
  readonly subscribe: (listener: () => void) => () => void;
}
