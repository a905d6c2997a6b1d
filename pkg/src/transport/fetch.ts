// Requests over `fetch`. The core decides what to request and what a response means; this file does the I/O.
import type { CoreClient } from "../boundary/boundary.js";
import { Call } from "../boundary/calls.js";
import { adopting, type Circumstances, ConnectionError, InputError, messageOf } from "../common/errors.js";
import { type Clocks, limited, type Limits, Watch } from "./clocks.js";
import type { Fetch, Token } from "./platform.js";
import { absolute, askToken, orAborted, pump, type Settings, stopped, type StreamBody, streams, type Transport, unsentOf } from "./transport.js";

interface CoreRequest {
  path: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
}

/** The options of a page's requests. */
export interface FetchOptions {
  token?: Token | null;
  headers?: Record<string, string>;
  fetch?: Fetch;
}

/** The response to a call that needs no server. */
interface LocalAnswer {
  local: unknown;
}

/** The transport to one server. */
export class FetchTransport implements Transport {
  readonly #core: CoreClient;
  readonly #baseUrl: string;
  readonly #token: Token | null | undefined;
  readonly #headers: [string, string][];
  readonly #fetch: Fetch;
  /** Whether the page's own `fetch` gets a relative URL as it is. */
  readonly #isOwnFetch: boolean;
  readonly #clocks: Clocks;

  constructor(core: CoreClient, baseUrl: string, { token, headers, fetch }: FetchOptions, settings: Settings) {
    this.#core = core;
    this.#baseUrl = baseUrl;
    this.#token = token;
    this.#clocks = settings;
    this.#headers = Object.entries(headers ?? {});
    // Look it up at each call: tests and tracers replace the platform's.
    this.#isOwnFetch = fetch != null;
    this.#fetch = fetch ?? ((url, init) => globalThis.fetch(url, init));
  }

  /** Requests JSON; returns it in turnwire's form. */
  async ask<T>(call: Call, params: object, limits: Limits = {}): Promise<T> {
    const answer = await this.#within(limits, (watch) => this.open(call, JSON.stringify(params), watch));
    return JSON.parse(answer as string) as T;
  }

  /** Makes a call with parameters as JSON. Returns the response as JSON, or for a streaming call the stream. */
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
    return this.#read(call, params, request, response, watch);
  }

  /** Requests a file. */
  download(params: object, limits: Limits): Promise<Blob> {
    return this.#within(limits, async (watch) => {
      const call = Call.DownloadSandboxFile;
      const request = this.#request(call, JSON.stringify(params)) as CoreRequest;
      const response = await this.#send(request, watch);
      if (!response.ok) await this.#read(call, "", request, response, watch);
      const chunks: BlobPart[] = [];
      await this.#readBody(request, response, watch, (chunk) => chunks.push(chunk as BlobPart));
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
      // The token may have just expired: get a new one, once.
      release(response);
      response = await this.#fetched(request, watch);
    }
    watch.opened();
    return response;
  }

  async #fetched(request: CoreRequest, watch: Watch): Promise<Response> {
    const { signal } = watch;
    if (typeof this.#token === "function") watch.asked = "the `token` function: ";
    // Get the token each time: it may have been renewed.
    const token = await askToken(this.#token, signal);
    watch.asked = `${this.#named(request)}: `;
    if (signal.aborted) throw unsentOf(signal);
    const { path, method, body = null } = request;
    const base = this.#isOwnFetch ? this.#baseUrl : absolute(this.#baseUrl);
    const url = at(base, path);
    const headers = this.#merged(request.headers, token);
    try {
      const sent = Promise.resolve(this.#fetch.call(undefined, url, { method, headers, body, signal }));
      // A custom fetch may ignore the signal. Release a response that arrives after the abort.
      sent.then((late) => signal.aborted && release(late)).catch(() => {});
      const response = await orAborted(sent, signal);
      if (typeof response?.headers?.get !== "function") throw new TypeError("`fetch` gave no Response");
      return response;
    } catch (cause) {
      return this.#failed(request, `did not get through: ${messageOf(cause)}. ${LIKELY_CAUSES}`, cause, signal);
    }
  }

  async #read(call: Call, params: string, request: CoreRequest, response: Response, watch: Watch): Promise<string> {
    const isDocument = response.ok && /\bjson\b/i.test(contentType(response));
    const decoder = new TextDecoder();
    let body = "";
    const take = (chunk: Uint8Array): void => void (body += decoder.decode(chunk, { stream: true }));
    await this.#readBody(request, response, watch, take, isDocument ? LARGEST_DOCUMENT : LARGEST_REFUSAL);
    body += decoder.decode();
    const { status, statusText } = response;
    const more = { ...waitAsked(response), asked: this.#named(request) };
    return adopting(() => this.#core.answer(call, status, statusText, contentType(response), params, body), undefined, more);
  }

  /** Reads the body of a response, up to about `most` bytes. */
  async #readBody(request: CoreRequest, response: Response, watch: Watch, take: (chunk: Uint8Array) => void, most = Infinity): Promise<void> {
    let left = most;
    const push = (chunk: Uint8Array): boolean => {
      take(chunk);
      return (left -= chunk.length) > 0;
    };
    try {
      if (response.body) await pump(response.body, push, watch);
    } catch (cause) {
      this.#failed(request, `got an answer that broke off: ${messageOf(cause)}`, cause, watch.signal);
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
        // Leave out the value and the platform's error, which quotes it: it may be a secret.
        throw new InputError("invalid_option", `HTTP does not allow the header "${name}", or its value`);
      }
    }
    return headers;
  }

  /** The request in words, without its query. */
  #named({ method, path }: CoreRequest): string {
    return `${method} ${at(this.#baseUrl, path.split("?")[0]!)}`;
  }

  #failed(request: CoreRequest, what: string, cause: unknown, signal: AbortSignal): never {
    if (signal.aborted) throw stopped(signal);
    throw new ConnectionError("network", `${this.#named(request)} ${what}`, { cause });
  }
}

/** Browsers do not tell these apart. */
const LIKELY_CAUSES = "The server may be down, `baseUrl` wrong, CORS headers missing, or this page's CSP (`connect-src`) forbids it";

/** The most bytes read of an error response or of one in a wrong format. Errors keep as much. */
const LARGEST_REFUSAL = 64 * 1024;
/** The most bytes read of any other response. */
const LARGEST_DOCUMENT = 64 * 1024 * 1024;

/** A path below the base URL, which can be the whole address. */
function at(baseUrl: string, path: string): string {
  return path ? `${baseUrl}/${path}` : baseUrl;
}

/** Releases a response that is not read. */
function release(response: Response): void {
  response.body?.cancel().catch(() => {});
}

/** The wait that the server asks for in `Retry-After`: seconds, or a date. */
function waitAsked(response: Response): Circumstances {
  const asked = response.headers.get("retry-after");
  if (!asked) return {};
  const retryAfter = /^\d+$/.test(asked) ? Number(asked) * 1000 : Date.parse(asked) - Date.now();
  return retryAfter > 0 ? { retryAfter: Math.min(retryAfter, 2 ** 31 - 1) } : {};
}

function contentType(response: Response): string {
  return response.headers.get("content-type") ?? "";
}
