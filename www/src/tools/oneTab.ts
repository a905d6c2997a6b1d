// Several tabs may show a conversation whose agent waits for tools of the page. One of them is enough.

/** Pages without TLS have no locks. */
const locks = (): LockManager | undefined => (globalThis.navigator as Partial<Navigator> | undefined)?.locks;
const nameOf = (sessionId: string): string => `turnwire.tools.${sessionId}`;

/**
 * Does the work as soon as no other tab runs the tools of this session; it is told whether it had to wait. Rejects
 * when `signal` aborts before that.
 */
export async function alone(
  sessionId: string,
  signal: AbortSignal,
  work: (waited: boolean) => Promise<void>,
): Promise<void> {
  const manager = locks();
  if (!manager) return work(false);
  const name = nameOf(sessionId);
  const isDone = await manager.request(name, { ifAvailable: true }, async (lock) => {
    if (lock) await work(false);
    return lock !== null;
  });
  if (!isDone) await manager.request(name, { signal }, () => work(true));
}

/** Keeps other tabs from running the tools of this session, as long as this lasts. */
export function keepAlone(sessionId: string, lasting: Promise<void>): void {
  // Where it is not to be had, another tab has begun already.
  locks()
    ?.request(nameOf(sessionId), { ifAvailable: true }, (lock) => (lock ? lasting : undefined))
    .catch(() => {});
}
