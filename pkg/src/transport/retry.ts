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
      const pause = signal.aborted ? "" : core.retry(error, isOffline(), attempts, settings.reconnect);
      if (pause === "") throw error;
      const next = JSON.parse(pause) as { attempts: number; delay: number; least: number };
      attempts = next.attempts;
      await sleep(next.delay, signal, next.least);
      if (signal.aborted) throw stopped(signal);
    }
  }
}
