// Of all tabs that show a conversation, one runs the page's tools: the one that holds the conversation's lock.

/** The part of the platform's lock manager that is used. */
interface LockManager {
  request(name: string, options: { signal: AbortSignal }, held: () => Promise<void>): Promise<void>;
}

/**
 * Waits for the lock, and tells when it is held. Returns the function that lets it go. Where there are no locks, there are
 * no other tabs.
 */
export function lead(name: string, tell: (isLeading: boolean) => void): () => void {
  const locks = (globalThis.navigator as { locks?: LockManager } | undefined)?.locks;
  if (!locks) {
    tell(true);
    return () => {};
  }
  const waiting = new AbortController();
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const hold = (): Promise<void> => {
    tell(true);
    return held;
  };
  // Rejects if it is let go before it was held.
  locks.request(name, { signal: waiting.signal }, hold).catch(() => {});
  return () => {
    waiting.abort();
    release();
  };
}
