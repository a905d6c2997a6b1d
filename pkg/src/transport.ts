// Requests over `fetch`. What to ask and what an answer means is the core's to say; here is the I/O.
import type { CoreClient } from "./boundary.js";
import type { ConnectOptions } from "./options.js";
import { AbortError, adopting, ConnectionError, InputError } from "./errors.js";

/** A bearer token, or what gives it. */
export type Token = string | (() => string | null | undefined | Promise<string | null | undefined>);

/** Instead of the platform's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

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

interface CoreRequest {
  path: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
}

/** The way to one server. */
export class Transport {
  readonly #core: CoreClient;
  readonly #baseUrl: string;
  readonly #token: Token | null | undefined;
  readonly #headers: [string, string][];
  readonly #fetch: Fetch;

  constructor(core: CoreClient, baseUrl: string, { token, headers, fetch }: ConnectOptions) {
    this.#core = core;
    this.#baseUrl = baseUrl;
    this.#token = token;
    this.#headers = Object.entries(headers ?? {});
    // Looked up at each call: tests and tracers replace the platform's.
    this.#fetch = fetch ?? ((url, init) => globalThis.fetch(url, init));
  }

  /** Asks for JSON; gives it in turnwire's form. */
  async ask<T>(name: CallName, params: object, signal?: AbortSignal): Promise<T> {
    return JSON.parse(await this.askText(CALLS.indexOf(name), JSON.stringify(params), signal)) as T;
  }

  /** The same by a call's number, with parameters and answer as JSON texts. */
  async askText(call: number, params: string, signal?: AbortSignal): Promise<string> {
    return this.#read(call, await this.#send(call, params, signal), signal);
  }

  /** Asks for a stream. */
  async open(call: number, params: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
    const response = await this.#send(call, params, signal);
    if (response.ok && /^\s*text\/event-stream\b/i.test(contentType(response))) return response.body;
    await this.#read(call, response, signal);
    return null;
  }

  /** Asks for a file. */
  async download(params: object, signal?: AbortSignal): Promise<Blob> {
    const call = CALLS.indexOf("downloadSandboxFile");
    const response = await this.#send(call, JSON.stringify(params), signal);
    if (!response.ok) await this.#read(call, response, signal);
    return orAborted(response.blob(), signal).catch((cause) => this.#failed("the file broke off", cause, signal));
  }

  async #send(call: number, params: string, signal?: AbortSignal): Promise<Response> {
    const request = JSON.parse(adopting(() => this.#core.request(call, params))) as CoreRequest;
    // The token is asked for each time: it may have been renewed.
    const token = await orAborted(this.#ask(), signal).catch((error: object) => {
      unsent.add(error);
      throw error;
    });
    const { path, method, body = null } = request;
    const url = `${this.#baseUrl}/${path}`;
    const headers = this.#merged(request.headers, token);
    try {
      const sent = Promise.resolve(this.#fetch.call(undefined, url, { method, headers, body, signal: signal ?? null }));
      // A custom fetch may not heed the signal: nobody waits for its answer then, and nobody reads it.
      sent.then((late) => (signal?.aborted ? late.body?.cancel() : undefined)).catch(() => {});
      const response = await orAborted(sent, signal);
      if (typeof response?.headers?.get !== "function") throw new TypeError("`fetch` gave no Response");
      return response;
    } catch (cause) {
      return this.#failed("the request did not get through", cause, signal);
    }
  }

  async #read(call: number, response: Response, signal?: AbortSignal): Promise<string> {
    const body = await orAborted(response.text(), signal).catch((cause) =>
      this.#failed("the answer broke off", cause, signal),
    );
    const { status, statusText } = response;
    return adopting(() => this.#core.answer(call, status, statusText, contentType(response), body));
  }

  #merged(own: Record<string, string>, token: string | undefined): Headers {
    const headers = new Headers();
    const bearer: [string, string][] = token === undefined ? [] : [["authorization", `Bearer ${token}`]];
    for (const [name, value] of [...Object.entries(own), ...bearer, ...this.#headers]) {
      try {
        headers.set(name, value);
      } catch {
        // Neither the value nor the platform's error, which quotes it: it may be a secret.
        throw new InputError("invalid_option", `HTTP does not allow the header "${name}", or its value`);
      }
    }
    return headers;
  }

  async #ask(): Promise<string | undefined> {
    if (typeof this.#token !== "function") return this.#token ?? undefined;
    let token: unknown;
    try {
      token = await this.#token();
    } catch (cause) {
      throw new ConnectionError("token", "the `token` function failed", { cause });
    }
    if (token != null && typeof token !== "string") {
      throw new ConnectionError("token", "the `token` function gave no string");
    }
    return token ?? undefined;
  }

  #failed(what: string, cause: unknown, signal: AbortSignal | undefined): never {
    if (signal?.aborted) throw aborted(signal);
    throw new ConnectionError("network", `${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Errors from before anything was sent. */
const unsent = new WeakSet<object>();

/** Whether the request that ended with this error may have reached the server. */
export function mayHaveArrived(error: object): boolean {
  return !unsent.has(error);
}

/** The error of an aborted signal. */
export function aborted(signal: AbortSignal): AbortError {
  return new AbortError("aborted", "the signal was aborted", { cause: signal.reason });
}

/** What becomes of `promise`, unless `signal` aborts before. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  let abort = (): void => {};
  const stopped = new Promise<never>((_, reject) => {
    abort = () => reject(aborted(signal));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
  return Promise.race([promise, stopped]).finally(() => signal.removeEventListener("abort", abort));
}

/**
 * Hands each chunk of `body` to `push` until the stream ends, `push` gives false or `signal` aborts. However
 * it ends, the connection is released: an open one holds one of the browser's few.
 */
export async function pump(
  body: ReadableStream<Uint8Array>,
  push: (chunk: Uint8Array) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const reader = body.getReader();
  // A custom fetch may not have passed the signal on.
  const release = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", release, { once: true });
  try {
    let turnBegan = performance.now();
    while (!signal.aborted) {
      const { done, value } = await reader.read();
      if (done || !push(value)) return;
      if (performance.now() - turnBegan > LONGEST_TURN) {
        await nextTask();
        turnBegan = performance.now();
      }
    }
  } finally {
    signal.removeEventListener("abort", release);
    release();
  }
}

/**
 * How long chunks that have come already are read without letting the page do anything else, in
 * milliseconds: their promises settle in one task, however many they are. Half a frame.
 */
const LONGEST_TURN = 8;

/** Resolves in a task of its own. Not by a timer, which hidden tabs hold back. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** Resolves after `delay` milliseconds, or as soon as `signal` aborts. */
export function sleep(delay: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, delay);
    signal?.addEventListener("abort", wake, { once: true });
    if (signal?.aborted) wake();
  });
}

function contentType(response: Response): string {
  return response.headers.get("content-type") ?? "";
}
