// Several tabs may show a conversation whose agent waits for tools of the page. Only one of them should run the tools.

/** Pages without TLS have no locks. */
const locks = (): LockManager | undefined => (globalThis.navigator as Partial<Navigator> | undefined)?.locks;
const nameOf = (sessionId: string): string => `turnwire.tools.${sessionId}`;

/**
 * Runs `work` as soon as no other tab runs the tools of this session; its argument says whether it had to wait. Rejects
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

/** Keeps other tabs from running the tools of this session while `lasting` is pending. */
export function keepAlone(sessionId: string, lasting: Promise<void>): void {
  // If the lock is not available, another tab has begun already.
  locks()
    ?.request(nameOf(sessionId), { ifAvailable: true }, (lock) => (lock ? lasting : undefined))
    .catch(() => {});
}
