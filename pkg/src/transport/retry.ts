// Repeats a request that failed because of a lost connection or a busy server. Only for requests that change nothing.
import { asTurnwireError, type TurnwireError } from "../common/errors.js";
import type { Reconnect } from "../common/reconnect.js";
import { isOffline, sleep } from "./clocks.js";
import { stopped } from "./transport.js";

/** The longest wait that a server may ask for, in milliseconds; the core has the same limit. */
const LONGEST_WAIT = 300_000;

/** Returns the response of the request, after retries if needed. */
export async function withRetry<T>(
  ask: () => Promise<T>,
  [maxAttempts, baseDelay, maxDelay]: Reconnect,
  signal: AbortSignal,
): Promise<T> {
  for (let attempt = 0; ; ) {
    try {
      return await ask();
    } catch (cause) {
      const error = asTurnwireError(cause);
      const { retryAfter = 0 } = error;
      if (signal.aborted || attempt >= maxAttempts || retryAfter > LONGEST_WAIT || !isTransient(error)) throw error;
      // Attempts do not count while offline.
      if (!isOffline()) attempt += 1;
      const longest = Math.min(maxDelay, baseDelay * 2 ** Math.max(0, attempt - 1));
      await sleep(retryAfter + longest * Math.random(), signal, retryAfter);
      if (signal.aborted) throw stopped(signal);
    }
  }
}

/** Whether the same request may succeed the next time. */
function isTransient({ code, status = 0 }: TurnwireError): boolean {
  if (code === "http") return [408, 409, 425, 429].includes(status) || (status >= 500 && status !== 501);
  return ["network", "timeout", "token"].includes(code);
}
