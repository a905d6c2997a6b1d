// A server without a network, as a replacement for `fetch`: routes requests, and adds faults to streams.
import { type Faults } from "./faults.js";
import type { FrameLog } from "./log.js";
import type { FileStep } from "./script.js";
import { bodyOf, broken } from "./stream.js";

/** A request as a test can look at it. */
export interface FakeRequest {
  /** The HTTP method; over a socket `"SEND"`. */
  method: string;
  /** The whole address; over a socket the method's name. */
  url: string;
  /** The headers, with names in lower case; none over a socket. */
  headers: Record<string, string>;
  /** The JSON that was sent, or `null`. */
  body: unknown;
}

/** A request to a route. */
export interface Asked {
  /** The values of the route pattern's names, in order. */
  readonly names: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: Record<string, any>;
}

/** A reply: JSON, a file, or a turn's frames from one on. `onLeave` is called if the reader leaves before the end. */
export type Reply = { status?: number; json: unknown } | { file: FileStep } | { log: FrameLog; from: number; onLeave?: () => void };

export type Routes = Record<string, (asked: Asked) => Reply | undefined>;

/** Replies to all requests below one URL. */
export class FakeHttp {
  readonly #base: string;
  readonly #routes: readonly { method: string; pattern: RegExp; answer: (asked: Asked) => Reply | undefined }[];
  readonly #requests: FakeRequest[];
  readonly #nextFaults: () => Faults;
  readonly #resets = new Set<() => void>();

  /** Routes are written `METHOD path/:name`, below `base`. */
  constructor(base: string, routes: Routes, requests: FakeRequest[], nextFaults: () => Faults) {
    this.#base = base;
    this.#routes = Object.entries(routes).map(([route, answer]) => {
      const [method, path] = route.split(" ") as [string, string];
      return { method, pattern: new RegExp(`^${path.replace(/:\w+/g, "([^/]+)")}$`), answer };
    });
    this.#requests = requests;
    this.#nextFaults = nextFaults;
  }

  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = typeof input === "object" && "method" in input ? input : undefined;
    const url = new URL(request?.url ?? String(input));
    const method = (init?.method ?? request?.method ?? "GET").toUpperCase();
    const headers = new Headers(init?.headers ?? request?.headers);
    const signal = init?.signal ?? request?.signal ?? undefined;
    const sent = init?.body === undefined || init.body === null ? await request?.text() : String(init.body);
    const body = sent ? JSON.parse(sent) : null;
    signal?.throwIfAborted();
    this.#requests.push({ method, url: url.href, headers: Object.fromEntries(headers), body });
    // Faults apply to streams only: lists and records always arrive.
    const faults = headers.get("accept") === "text/event-stream" ? this.#nextFaults() : {};
    if (faults.slowHead) await new Promise((resolve) => setTimeout(resolve, faults.slowHead));
    signal?.throwIfAborted();
    if (faults.unanswered === "refuse") throw broken();
    if (faults.status) return refused(faults.status.code, `fault ${faults.status.code}`, faults.status.retryAfter);
    if (faults.portal) return new Response("<!doctype html><title>Sign in</title>", { headers: { "content-type": "text/html" } });
    const reply = this.#reply(method, url, headers, body ?? {});
    if (faults.unanswered === "lost") throw broken();
    if (!reply) return refused(404, `${method} ${url.pathname} is not there`);
    if ("json" in reply) return json(reply.json, reply.status ?? 200);
    if ("file" in reply) return new Response(reply.file.content as string, { headers: { "content-type": reply.file.type ?? "application/octet-stream" } });
    const { stream, reset } = bodyOf(reply.log, reply.from, faults, signal, () => {
      this.#resets.delete(reset);
      reply.onLeave?.();
    });
    this.#resets.add(reset);
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  };

  /** Breaks all streams that are being read. */
  disconnect(): void {
    for (const reset of [...this.#resets]) reset();
  }

  #reply(method: string, url: URL, headers: Headers, body: Record<string, any>): Reply | undefined {
    if (!url.href.startsWith(this.#base)) return undefined;
    const path = url.pathname.slice(new URL(this.#base).pathname.length + 1);
    for (const route of this.#routes) {
      const found = route.method === method && route.pattern.exec(path);
      if (found) return route.answer({ names: found.slice(1).map(decodeURIComponent), query: url.searchParams, headers, body });
    }
    return undefined;
  }
}

function refused(status: number, message: string, retryAfter?: number): Response {
  return json({ error: { message, code: "fake", type: "fake" } }, status, retryAfter === undefined ? {} : { "retry-after": String(retryAfter) });
}

function json(value: unknown, status: number, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } });
}

/** A refusal in the servers' wording. */
export const missing = (what: string): Reply => ({ status: 404, json: { error: { message: `${what} was not found`, code: "not_found", type: "not_found" } } });
