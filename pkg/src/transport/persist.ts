// Asks once more what a lost connection or a busy server did not answer. For questions only: what changes
// nothing may be asked twice.
import { asTurnwireError, type TurnwireError } from "../common/errors.js";
import type { Reconnect } from "../common/reconnect.js";
import { isOffline, sleep } from "./clocks.js";
import { stopped } from "./transport.js";

/** Longer than this nobody waits, even if the server asks for it: the core's own limit, in milliseconds. */
const LONGEST_WAIT = 300_000;

/** Returns the answer to a question. */
export async function persist<T>(
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
      if (signal.aborted || attempt >= maxAttempts || retryAfter > LONGEST_WAIT || !mayPass(error)) throw error;
      // Without a network no try counts.
      if (!isOffline()) attempt += 1;
      const longest = Math.min(maxDelay, baseDelay * 2 ** Math.max(0, attempt - 1));
      await sleep(retryAfter + longest * Math.random(), signal, retryAfter);
      if (signal.aborted) throw stopped(signal);
    }
  }
}

/** Whether the same question may well be answered the next time. */
function mayPass({ code, status = 0 }: TurnwireError): boolean {
  if (code === "http") return [408, 409, 425, 429].includes(status) || (status >= 500 && status !== 501);
  return ["network", "timeout", "token"].includes(code);
}
