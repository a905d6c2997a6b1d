// Options of requests, and lists over all their pages.
import type { Call } from "../boundary/calls.js";
import { demand, demandNames, isObject } from "../common/check.js";
import { ProtocolError } from "../common/errors.js";
import { checkedReconnect, type ReconnectOptions } from "../common/reconnect.js";
import { type Clocks, CLOCKS, demandClocks, type Limits, Watch } from "./clocks.js";
import { type Server, withRetry } from "./retry.js";

/** The options of every request. */
export interface RequestOptions extends Clocks {
  /** Aborts the request, or the wait; none by default. The turn itself continues. */
  signal?: AbortSignal | undefined;
}

/** The options of every list. */
export interface ListOptions extends RequestOptions {
  /** The most items of a page, not of the whole list; by default the server's number. */
  limit?: number | undefined;
  /** The token of the page to begin with; by default the first one. */
  pageToken?: string | undefined;
}

/**
 * Throws an `InputError` for a name that is not an option of `method`, and for an invalid signal, timeout or
 * `reconnect`.
 */
export function demandOptions(method: string, options: object, ...names: string[]): void {
  demandNames(method, options, [...LIMITS, ...names]);
  demandLimits(options);
  checkedReconnect((options as { reconnect?: ReconnectOptions }).reconnect, [0, 0, 0]);
}

const LIMITS: readonly string[] = ["signal", ...CLOCKS];

function demandLimits(options: RequestOptions): void {
  const { signal } = options;
  demand(signal == null || typeof signal.addEventListener === "function", "`signal` must be an AbortSignal");
  demandClocks(options);
}

/** Separates the limits of a request from its other options. */
export function split<T extends RequestOptions>(options: T): [Limits, Omit<T, keyof RequestOptions>] {
  const entries = Object.entries(options);
  const pick = (isLimit: boolean): object =>
    Object.fromEntries(entries.filter(([name, value]) => value != null && LIMITS.includes(name) === isLimit));
  return [pick(true) as Limits, pick(false) as Omit<T, keyof RequestOptions>];
}

interface Page<T> {
  items: T[];
  next: string | null;
}

/** Lists all pages; requests each page when it is needed. */
export async function* list<T, U>(
  server: Server,
  call: Call,
  params: object,
  given: ListOptions,
  make: (item: T, pageToken: string | undefined) => U,
): AsyncGenerator<U, void, undefined> {
  demand(isObject(given), "a list takes an object of options");
  demandLimits(given);
  // The core checks the names: they depend on the protocol's list.
  const [limits, options] = split(given);
  const isFree = (option: string): boolean => option === "limit" || !(option in params);
  demand(Object.keys(options).every(isFree), "what a list is of is no option of it");
  const { signal, deadline = 0 } = limits;
  const whole = new Watch({ signal, deadline });
  try {
    let token = options.pageToken;
    const tokens = new Set([token]);
    do {
      const query = { ...params, ...options, ...(token === undefined ? {} : { pageToken: token }) };
      const own = { ...limits, signal: whole.signal, deadline: 0 };
      const page = await withRetry(server, () => server.transport.ask<Page<T>>(call, query, own), whole.signal);
      for (const item of page.items) {
        if (typeof item !== "object" || item === null) {
          throw new ProtocolError("unexpected_response", "an item of a list is no object");
        }
        yield make(item, token);
      }
      token = page.next ?? undefined;
      if (token !== undefined && tokens.has(token)) {
        throw new ProtocolError("unexpected_response", "a list leads back to a page that it had before");
      }
      tokens.add(token!);
    } while (token !== undefined);
  } finally {
    whole.end();
  }
}
