// Where texts of a person are kept across reloads: the queue, drafts, and answers that were not sent.
import { InputError, messageOf, orAborted, within } from "../client/face.js";

/** Keeps texts by key. */
export interface TextStore {
  /** Returns the text of this key, or null if there is none. */
  get(key: string): string | null | Promise<string | null>;
  /** Keeps a text in place of the one before. Throws or rejects if it cannot; then it must not keep the one before either. */
  set(key: string, text: string): void | Promise<void>;
  /** Forgets the text. */
  remove(key: string): void | Promise<void>;
}

/** What a store answers, if it does so in ten seconds: one that never answers must not stop a page for ever. */
export function inTime(stored: Promise<string | null>): Promise<string | null> {
  return within({ deadline: 10_000 }, ({ signal }) => orAborted(stored, signal));
}

/**
 * Uses a page's own store for a text of this name; without a text, to read or forget it. Resolves when that is done or has
 * failed.
 */
export type StoreUse = (name: string, text: string, use: () => unknown) => Promise<void>;

/** Tells what a page's own store throws, which stops nothing: each failure once, until a text of the name that failed first is kept. */
export function watchedStore(tell: (error: InputError) => void): StoreUse {
  const told = new Set<string>();
  let failing: string;
  return async (name, text, use) => {
    try {
      const done = use();
      if (done) await done;
      // That a text was forgotten says nothing about what fits.
      if (text && name === failing) told.clear();
    } catch (cause) {
      const failure = messageOf(cause);
      if (told.has(failure)) return;
      if (told.size === 0) failing = name;
      told.add(failure);
      tell(new InputError("invalid_option", `\`store\` failed: ${failure}`, { cause }));
    }
  };
}

/** The storage of the tab; none where there is no such storage, or where it may not be used. */
export function sessionStore(): TextStore | null {
  try {
    const storage = globalThis.sessionStorage;
    if (!storage) return null;
    return {
      get: (key) => storage.getItem(key),
      set: (key, text) => {
        try {
          storage.setItem(key, text);
        } catch (error) {
          // It is full: files are large. An older text would be taken for what is there now.
          storage.removeItem(key);
          throw error;
        }
      },
      remove: (key) => storage.removeItem(key),
    };
  } catch {
    return null;
  }
}
