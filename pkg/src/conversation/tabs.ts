// The tabs of a browser that show the same conversation. One runs the page's tools: the one that holds the conversation's
// lock. Each tells the others when its turns go on.

/** The part of the platform's lock manager that is used. */
interface LockManager {
  request(name: string, options: { signal: AbortSignal }, held: () => Promise<void>): Promise<void>;
}

/**
 * Waits for the lock, and tells when it is held. Returns the function that lets it go. Where there are no locks, or none may
 * be used, as in a sandboxed frame, there are no other tabs.
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
  // In quotes: the cores have an export of this name, which is shortened.
  locks["request"](name, { signal: waiting.signal }, hold).catch(() => waiting.signal.aborted || tell(true));
  return () => {
    waiting.abort();
    release();
  };
}

/** The way to the other tabs. */
export interface News {
  /** Tells them that there is something to read. */
  tell(): void;
  close(): void;
}

/** Calls `look` when another tab tells that there is something to read. Returns nothing where tabs cannot tell each other. */
export function news(name: string, look: () => void): News | undefined {
  if (typeof BroadcastChannel === "undefined") return undefined;
  const channel = new BroadcastChannel(name);
  channel.onmessage = look;
  // In Node it would keep the process alive.
  (channel as { unref?: () => void }).unref?.();
  return { tell: () => channel.postMessage(""), close: () => channel.close() };
}
