// Repeats a request that changes nothing, as the core decides.
import type { CoreClient } from "../boundary/boundary.js";
import { asTurnwireError } from "../common/errors.js";
import { isOffline, sleep } from "./clocks.js";
import { type Settings, stopped, type Transport } from "./transport.js";

/** A server, and how to repeat requests to it. */
export interface Server {
  readonly core: CoreClient;
  readonly transport: Transport;
  readonly settings: Settings;
}

/** Returns the response of the request, after retries if needed. */
export async function withRetry<T>({ core, settings }: Server, ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempts = 0; ; ) {
    try {
      return await ask();
    } catch (cause) {
      const error = asTurnwireError(cause);
      if (signal.aborted) throw error;
      const [next, delay, least] = core.retry(error, isOffline(), attempts, settings.reconnect);
      if (next === undefined) throw error;
      attempts = next;
      await sleep(delay!, signal, least);
      if (signal.aborted) throw stopped(signal);
    }
  }
}
