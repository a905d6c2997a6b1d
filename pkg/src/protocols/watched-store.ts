// A store of the page's own may throw, reject or never answer. None of it stops a page, and each failure is reported once.
import { InputError, messageOf, orAborted, within } from "../client/face.js";

/** What a store answers, if it does so in ten seconds: one that never answers must not stop a page for ever. */
export function inTime(stored: Promise<string | null>): Promise<string | null> {
  return within({ deadline: 10_000 }, ({ signal }) => orAborted(stored, signal));
}

/**
 * Uses a page's own store for a text of this name; without a text, to read or forget it. Resolves when that is done or has
 * failed.
 */
export type StoreUse = (name: string, text: string, use: () => unknown) => Promise<void>;

/** Reports what a page's own store throws, which stops nothing: each failure once, until a text of the name that failed first is kept. */
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
