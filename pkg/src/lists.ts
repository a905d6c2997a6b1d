// Options of requests, and lists over all their pages.
import { ProtocolError } from "./errors.js";
import { demand, demandNames, isObject } from "./options.js";
import type { CallName, Transport } from "./transport.js";

/** What every request takes. */
export interface RequestOptions {
  /** Aborts the request. */
  signal?: AbortSignal;
}

/** What every list takes. */
export interface ListOptions extends RequestOptions {
  /** Items of a page, not of the list. */
  limit?: number;
  /** Where to begin: a page's token. */
  pageToken?: string;
}

/** Throws an `InputError` for a name that is no option of `method`, and for a signal that is none. */
export function demandOptions(method: string, options: object, ...names: string[]): void {
  demandNames(method, options, ["signal", ...names]);
  demandSignal(options);
}

function demandSignal({ signal }: RequestOptions): void {
  demand(signal == null || typeof signal.addEventListener === "function", "`signal` must be an AbortSignal");
}

interface Page<T> {
  items: T[];
  next: string | null;
}

/** Lists all pages; asks for a page when it is needed. */
export async function* list<T, U>(
  transport: Transport,
  name: CallName,
  params: object,
  given: ListOptions,
  make: (item: T) => U,
): AsyncGenerator<U, void, undefined> {
  demand(isObject(given), "a list takes an object of options");
  demandSignal(given);
  // The core checks the names: they are those of the protocol's list.
  const { signal, ...options } = given;
  const isFree = (option: string): boolean => option === "limit" || !(option in params);
  demand(Object.keys(options).every(isFree), "what a list is of is no option of it");
  let token = options.pageToken;
  do {
    const query = { ...params, ...options, ...(token === undefined ? {} : { pageToken: token }) };
    const page: Page<T> = await transport.ask(name, query, signal);
    for (const item of page.items) {
      if (typeof item !== "object" || item === null) {
        throw new ProtocolError("unexpected_response", "an item of a list is no object");
      }
      yield make(item);
    }
    const next = page.next ?? undefined;
    if (next !== undefined && next === token) {
      throw new ProtocolError("unexpected_response", "a page of a list names itself as the next one");
    }
    token = next;
  } while (token !== undefined);
}
