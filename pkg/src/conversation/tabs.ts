// The tabs of a browser that show the same conversation. The tab that holds the conversation's lock runs the page's tools. Each tab
// notifies the others when its turns have progressed.

/** The used part of the platform's lock manager. */
interface LockManager {
  request(name: string, options: { signal: AbortSignal }, held: () => Promise<void>): Promise<void>;
}

/**
 * Waits for the lock, and calls back when it is held. Returns the function that releases it. If there are no locks, or none may be used, as
 * in a sandboxed frame, there are no other tabs.
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
  // In quotes: the cores have an export with this name, which gets shortened.
  locks["request"](name, { signal: waiting.signal }, hold).catch(() => waiting.signal.aborted || tell(true));
  return () => {
    waiting.abort();
    release();
  };
}

/** The channel to the other tabs. */
export interface News {
  /** Notifies them that there is something to read. */
  tell(): void;
  close(): void;
}

/** Calls `look` when another tab has something to read. Returns nothing if tabs cannot notify each other. */
export function news(name: string, look: () => void): News | undefined {
  if (typeof BroadcastChannel === "undefined") return undefined;
  const channel = new BroadcastChannel(name);
  channel.onmessage = look;
  // In Node it would keep the process alive.
  (channel as { unref?: () => void }).unref?.();
  return { tell: () => channel.postMessage(""), close: () => channel.close() };
}
