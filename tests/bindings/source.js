// A Readable whose listeners a test can count.

/** A source that is called `name`. */
export function makeSource(name, value) {
  const listeners = new Set();
  const source = {
    name,
    /** The number of subscriptions. */
    subscriptions: 0,
    get listeners() {
      return listeners.size;
    },
    /** Called after the next `get`, and at the next `subscribe`. */
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

const PARTS = ["rows", "status", "pending", "queue", "draft"];
const KEYED = ["message", "call", "thread", "turn"];

/** A conversation whose parts say what they are: `talk's rows`, `talk's message a`. It counts what is attached. */
export function makeConversation(name) {
  const made = new Map();
  const part = (key) => {
    if (!made.has(key)) made.set(key, makeSource(name, `${name}'s ${key}`));
    return made.get(key);
  };
  const conversation = {
    name,
    attached: 0,
    attachments: 0,
    attach: () => {
      conversation.attached += 1;
      conversation.attachments += 1;
      return () => (conversation.attached -= 1);
    },
    /** How many listeners its parts have. */
    get listeners() {
      return [...made.values()].reduce((sum, { listeners }) => sum + listeners, 0);
    },
  };
  for (const own of PARTS) conversation[own] = part(own);
  for (const own of KEYED) conversation[own] = (key) => part(`${own} ${key}`);
  return conversation;
}
