// A Readable whose listeners a test can count.

/** A source that is called `name`. */
export function makeSource(name, value) {
  const listeners = new Set();
  const source = {
    name,
    /** How often it was subscribed to. */
    subscriptions: 0,
    get listeners() {
      return listeners.size;
    },
    /** What happens after the next `get`, and what at the next `subscribe`. */
    afterGet: undefined,
    atSubscribe: undefined,
    get: () => {
      const now = value;
      const { afterGet } = source;
      source.afterGet = undefined;
      afterGet?.();
      return now;
    },
    subscribe: (listener) => {
      source.subscriptions += 1;
      source.atSubscribe?.();
      source.atSubscribe = undefined;
      // A listener that is added twice is two.
      const own = () => listener();
      listeners.add(own);
      return () => listeners.delete(own);
    },
    set: (next) => {
      value = next;
      for (const listener of [...listeners]) listener();
    },
  };
  return source;
}
