// Requests over `fetch`. What to ask and what an answer means is the core's to say; here is the I/O.
import type { CoreClient } from "./boundary.js";
import { Call } from "./calls.js";
import { type Clocks, limited, type Limits, Watch } from "./clocks.js";
import type { Settings } from "./drive.js";
import { adopting, ConnectionError, type ErrorDetails, InputError, messageOf } from "./errors.js";
import type { ConnectOptions, Reconnect } from "./options.js";
import { askToken, orAborted, pump, stopped, type StreamBody, streams, type Token, type Transport } from "./transport.js";

/** Instead of the platform's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

interface CoreRequest {
  path: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
}

/** The answer to a call that needs no server. */
interface LocalAnswer {
  local: unknown;
}

/** The way to one server. */
export class FetchTransport implements Transport {
  /** How persistently questions are asked again. */
  readonly reconnect: Reconnect;
  readonly #core: CoreClient;
  readonly #baseUrl: string;
  readonly #token: Token | null | undefined;
  readonly #headers: [string, string][];
  readonly #fetch: Fetch;
  readonly #clocks: Clocks;

  constructor(core: CoreClient, baseUrl: string, { token, headers, fetch }: ConnectOptions, settings: Settings) {
    this.#core = core;
    this.#baseUrl = baseUrl;
    this.#token = token;
    this.#clocks = settings;
    this.reconnect = settings.reconnect;
    this.#headers = Object.entries(headers ?? {});
    // Looked up at each call: tests and tracers replace the platform's.
    this.#fetch = fetch ?? ((url, init) => globalThis.fetch(url, init));
  }

  /** Asks for JSON; gives it in turnwire's form. */
  async ask<T>(call: Call, params: object, limits: Limits = {}): Promise<T> {
    const answer = await this.#within(limits, (watch) => this.open(call, JSON.stringify(params), watch));
    return JSON.parse(answer as string) as T;
  }

  /**
   * Makes a call, with its parameters as JSON. Gives the answer as JSON; of a call that streams,
   * the stream.
   */
  async open(call: Call, params: string, watch: Watch): Promise<string | StreamBody> {
    const request = this.#request(call, params);
    if ("local" in request) {
      if (watch.signal.aborted) throw stopped(watch.signal);
      return JSON.stringify(request.local);
    }
    const response = await this.#send(request, watch);
    if (response.ok && streams(call) && /^\s*text\/event-stream\b/i.test(contentType(response))) {
      const { body } = response;
      return { read: (push, watch) => (body ? pump(body, push, watch) : Promise.resolve()) };
    }
    return this.#read(call, params, response, watch);
  }

  /** Asks for a file. */
  download(params: object, limits: Limits): Promise<Blob> {
    return this.#within(limits, async (watch) => {
      const call = Call.DownloadSandboxFile;
      const response = await this.#send(this.#request(call, JSON.stringify(params)) as CoreRequest, watch);
      if (!response.ok) await this.#read(call, "", response, watch);
      const chunks: BlobPart[] = [];
      await this.#readBody(response, watch, (chunk) => chunks.push(chunk as BlobPart));
      return new Blob(chunks, { type: contentType(response) });
    });
  }

  async #within<T>(limits: Limits, call: (watch: Watch) => Promise<T>): Promise<T> {
    const watch = new Watch(limited(this.#clocks, limits));
    try {
      return await call(watch);
    } finally {
      watch.end();
    }
  }

  #request(call: Call, params: string): CoreRequest | LocalAnswer {
    return JSON.parse(adopting(() => this.#core.request(call, params))) as CoreRequest | LocalAnswer;
  }

  async #send(request: CoreRequest, watch: Watch): Promise<Response> {
    let response = await this.#fetched(request, watch);
    if (response.status === 401 && typeof this.#token === "function") {
      // The token may have run out a moment ago: whoever gives it is asked once more.
      release(response);
      response = await this.#fetched(request, watch);
    }
    watch.opened();
    return response;
  }

  async #fetched(request: CoreRequest, { signal }: Watch): Promise<Response> {
    // The token is asked for each time: it may have been renewed.
    const token = await askToken(this.#token, signal);
    const { path, method, body = null } = request;
    const url = `${this.#baseUrl}/${path}`;
    const headers = this.#merged(request.headers, token);
    try {
      const sent = Promise.resolve(this.#fetch.call(undefined, url, { method, headers, body, signal }));
      // A custom fetch may not heed the signal: nobody waits for its answer then, and nobody reads it.
      sent.then((late) => signal.aborted && release(late)).catch(() => {});
      const response = await orAborted(sent, signal);
      if (typeof response?.headers?.get !== "function") throw new TypeError("`fetch` gave no Response");
      return response;
    } catch (cause) {
      return this.#failed("the request did not get through", cause, signal);
    }
  }

  async #read(call: Call, params: string, response: Response, watch: Watch): Promise<string> {
    const isDocument = response.ok && /\bjson\b/i.test(contentType(response));
    const decoder = new TextDecoder();
    let body = "";
    const take = (chunk: Uint8Array): void => void (body += decoder.decode(chunk, { stream: true }));
    await this.#readBody(response, watch, take, isDocument ? LARGEST_DOCUMENT : LARGEST_REFUSAL);
    body += decoder.decode();
    const { status, statusText } = response;
    const more = waitAsked(response);
    return adopting(() => this.#core.answer(call, status, statusText, contentType(response), params, body), undefined, more);
  }

  /** Reads the body of an answer; no more of it than about `most` bytes. */
  async #readBody(response: Response, watch: Watch, take: (chunk: Uint8Array) => void, most = Infinity): Promise<void> {
    let left = most;
    const push = (chunk: Uint8Array): boolean => {
      take(chunk);
      return (left -= chunk.length) > 0;
    };
    try {
      if (response.body) await pump(response.body, push, watch);
    } catch (cause) {
      this.#failed("the answer broke off", cause, watch.signal);
    }
    if (watch.signal.aborted) throw stopped(watch.signal);
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

  #failed(what: string, cause: unknown, signal: AbortSignal): never {
    if (signal.aborted) throw stopped(signal);
    throw new ConnectionError("network", `${what}: ${messageOf(cause)}`, { cause });
  }
}

/** How much is read of an answer that is a failure, or not what was asked for, in bytes: as much as errors keep. */
const LARGEST_REFUSAL = 64 * 1024;
/** How much is read of any other, in bytes. */
const LARGEST_DOCUMENT = 64 * 1024 * 1024;

/** Nobody reads this answer. */
function release(response: Response): void {
  response.body?.cancel().catch(() => {});
}

/** What the server asks for by `Retry-After`: seconds, or a date. */
function waitAsked(response: Response): ErrorDetails {
  const asked = response.headers.get("retry-after");
  if (!asked) return {};
  const retryAfter = /^\d+$/.test(asked) ? Number(asked) * 1000 : Date.parse(asked) - Date.now();
  return retryAfter > 0 ? { retryAfter: Math.min(retryAfter, 2 ** 31 - 1) } : {};
}

function contentType(response: Response): string {
  return response.headers.get("content-type") ?? "";
}
