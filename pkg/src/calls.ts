// Asking the core for JSON: the calls by name, and lists over all their pages.
import type { CoreClient } from "../core/core.js";
import { adopting } from "./errors.js";

/** The calls, in the order of the core's `Call::ALL`. */
const CALLS = [
  "createSession",
  "listSessions",
  "getSession",
  "cancelSession",
  "listTurns",
  "createTurnStream",
  "createTurn",
  "getTurn",
  "subscribeTurn",
  "listTurnEvents",
  "listSessionEvents",
  "createDraftSession",
  "listDraftSessions",
  "getDraftSession",
  "updateDraftSession",
  "listOwnedSessions",
  "searchSessions",
  "downloadSandboxFile",
  "deleteSession",
] as const;

/** The name of a call. */
export type CallName = (typeof CALLS)[number];

/** What every request takes. */
export interface RequestOptions {
  /** Aborts the request. */
  signal?: AbortSignal;
}

/** What every list takes. */
export interface ListOptions extends RequestOptions {
  /** Items of a page, not of the list. */
  limit?: number;
  /** Where to begin: a page's `next`. */
  pageToken?: string;
}

interface Page<T> {
  items: T[];
  next: string | null;
}

/** Makes a call. Options go to the server under their wire names, `signal` aside. */
export function call<T>(core: CoreClient, name: CallName, params: object, signal?: AbortSignal): Promise<T> {
  return adopting(async () => JSON.parse(await core.call(CALLS.indexOf(name), JSON.stringify(params), signal)) as T);
}

/** Lists all pages; asks for a page when it is needed. */
export async function* list<T, U>(
  core: CoreClient,
  name: CallName,
  params: object,
  { signal, ...options }: ListOptions,
  make: (item: T) => U,
): AsyncGenerator<U, void, undefined> {
  let token = options.pageToken;
  do {
    const query = { ...params, ...options, ...(token === undefined ? {} : { pageToken: token }) };
    const page: Page<T> = await call(core, name, query, signal);
    for (const item of page.items) yield make(item);
    token = page.next ?? undefined;
  } while (token !== undefined);
}
