// Where texts of a person are kept across reloads: the queue, drafts, and answers that were not sent.

/** Keeps texts by key. */
export interface TextStore {
  /** Returns the text of this key, or null if there is none. */
  get(key: string): string | null | Promise<string | null>;
  /** Keeps a text in place of the one before. Throws or rejects if it cannot; then it must not keep the one before either. */
  set(key: string, text: string): void | Promise<void>;
  /** Forgets the text. */
  remove(key: string): void | Promise<void>;
}

/** The storage of the tab, always the same object: by that, its users know that they share it. */
const tab: TextStore = {
  get: (key) => sessionStorage.getItem(key),
  set: (key, text) => {
    try {
      sessionStorage.setItem(key, text);
    } catch (error) {
      // It is full: files are large. An older text would be taken for what is there now.
      sessionStorage.removeItem(key);
      throw error;
    }
  },
  remove: (key) => sessionStorage.removeItem(key),
};

/** The storage of the tab; none where there is no such storage, or where it may not be used. */
export function sessionStore(): TextStore | null {
  try {
    return globalThis.sessionStorage ? tab : null;
  } catch {
    return null;
  }
}
