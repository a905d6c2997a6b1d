// A page's own store may throw, reject or never respond. None of this stops the page, and each failure is reported once.
import { InputError, messageOf, orAborted, within } from "../client/face.js";

/** The result of a store, if it responds within ten seconds: a store that never responds must not stop a page for ever. */
export function inTime(stored: Promise<string | null>): Promise<string | null> {
  return within({ deadline: 10_000 }, ({ signal }) => orAborted(stored, signal));
}

/**
 * Uses a page's own store for a text with this name; an empty text means reading or deleting. Resolves when that is done or has
 * failed.
 */
export type StoreUse = (name: string, text: string, use: () => unknown) => Promise<void>;

/**
 * Reports the failures of a page's own store, and continues: each failure once, until a text with the name that failed first is
 * stored.
 */
export function watchedStore(tell: (error: InputError) => void): StoreUse {
  const told = new Set<string>();
  let failing: string;
  return async (name, text, use) => {
    try {
      const done = use();
      if (done) await done;
      // A deleted text does not show that new texts fit.
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
