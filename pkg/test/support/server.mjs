// A server that sends exactly a test's responses, and records the requests.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { connect } from "../../dist/index.js";
import { frames } from "./wire.mjs";

/** Every path of the server begins with this: a tenant, and the protocol's version. */
const PREFIX = "/acme/v1/";
export const SESSION = {
  type: "session",
  id: "s1",
  agent_name: "support-bot",
  title: null,
  created_by_subject: { subject_id: "u1", subject_type: "user", subject_slug: "ada@example.com" },
  created_at: "2026-11-20T09:00:00.000Z",
  updated_at: "2026-11-20T09:00:00.000Z",
};

/**
 * Starts a server that is stopped with the test.
 *
 * `routes` maps "METHOD path" (without the prefix; with the query where only that one is meant) to a reply, or to a list of
 * replies of which each serves one request. A part `*` of a path stands for any. A reply is a function of the exchange
 * `{ request, response }`. A request without a remaining reply fails the test.
 */
export async function serve(t, routes = {}) {
  const server = new ScriptedServer(routes);
  await server.start();
  t.after(async () => {
    await server.stop();
    assert.deepEqual(server.unscripted, [], "requests that the test did not expect");
  });
  return server;
}

/** A server with a session, and the package's view of both: only the session itself was read. */
export async function serveFetched(t, routes = {}, options = {}) {
  const server = await serve(t, { "GET agents/sessions/s1": json({ data: SESSION }), ...routes });
  const client = await connect({ baseUrl: server.baseUrl, reconnect: false, ...options });
  const session = await client.agents.getSession("s1");
  server.requests.length = 0;
  return { server, client, session };
}

/** The same, and the session is known to have no turns. */
export async function serveSession(t, routes = {}, options = {}) {
  const world = await serveFetched(t, { [`${LIST_TURNS}?limit=3`]: page([]), ...routes }, options);
  for await (const turn of world.session.listTurns({ limit: 3 })) assert.fail(`a turn ${turn.id}`);
  world.server.requests.length = 0;
  return world;
}

/** A turn that the server starts with these replies, one for each attempt. */
export async function serveTurn(t, start, { routes = {}, options = {}, turn = {} } = {}) {
  const world = await serveSession(t, { [START]: start, ...routes }, options);
  return { ...world, turn: world.session.createTurn({ input: "Hello", ...turn }) };
}

export const START = "POST agents/sessions/s1/turns";
export const SUBSCRIBE = "POST agents/sessions/s1/turns/t1/subscribe";
export const GET_TURN = "GET agents/sessions/s1/turns/t1";
export const TURN_EVENTS = "GET agents/sessions/s1/turns/t1/events";
export const SESSION_EVENTS = "GET agents/sessions/s1/events";
export const LIST_TURNS = "GET agents/sessions/s1/turns";
export const CANCEL = "POST agents/sessions/s1/cancel";

class ScriptedServer {
  /** The requests: `{ method, path, query, headers, body, at }`, in order; `at` is the time, in milliseconds. */
  requests = [];
  unscripted = [];
  #routes;
  #server = createServer((request, response) => void this.#take(request, response));

  constructor(routes) {
    this.#routes = Object.fromEntries(
      Object.entries(routes).map(([name, reply]) => [name, Array.isArray(reply) ? [...reply] : reply]),
    );
  }

  get baseUrl() {
    return `http://127.0.0.1:${this.#server.address().port}/acme`;
  }

  async start() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async stop() {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** The names of the requests, in order. */
  get asked() {
    return this.requests.map(({ method, path }) => `${method} ${path}`);
  }

  /** The number of requests with this name. */
  count(name) {
    return this.asked.filter((asked) => asked === name).length;
  }

  async #take(incoming, response) {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const url = new URL(incoming.url, "http://server");
    const text = Buffer.concat(chunks).toString("utf8");
    const request = {
      method: incoming.method,
      path: url.pathname.startsWith(PREFIX) ? url.pathname.slice(PREFIX.length) : url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: incoming.headers,
      body: text === "" ? undefined : JSON.parse(text),
      at: performance.now(),
    };
    this.requests.push(request);
    const name = `${request.method} ${request.path}`;
    const route = this.#routes[name + url.search] ?? this.#routes[name] ?? this.#routes[Object.keys(this.#routes).find((pattern) => fits(name, pattern))];
    const reply = Array.isArray(route) ? route.shift() : route;
    if (reply === undefined) {
      this.unscripted.push(name);
      return json({ error: { message: `unscripted: ${name}` } }, 501)({ request, response });
    }
    return reply({ request, response });
  }
}

/** Whether the name of a request is one of a pattern's. */
function fits(name, pattern) {
  const [parts, wanted] = [name.split("/"), pattern.split("/")];
  return parts.length === wanted.length && wanted.every((part, at) => part === "*" || part === parts[at]);
}

/** Replies with JSON. */
export function json(value, status = 200) {
  return body(JSON.stringify(value), { status, type: "application/json" });
}

/** Replies with a refusal of this status. */
export function refusal(status, headers = {}) {
  return body(JSON.stringify({ error: { message: "not now" } }), { status, type: "application/json", headers });
}

/** Cuts the connection without an answer. */
export function reset({ response }) {
  response.socket.resetAndDestroy();
}

/** Never answers. */
export function silence() {}

/** Replies with this body. */
export function body(content, { status = 200, type, headers = {} } = {}) {
  return ({ response }) => {
    response.writeHead(status, { ...(type && { "content-type": type }), ...headers });
    response.end(content);
  };
}

/** Replies with a list that has one page. */
export function page(items, next) {
  return json({ data: items, pagination: { limit: 25, ...(next && { next_page_token: next }) } });
}

/** Replies with an event stream of these bytes or texts, then ends it. */
export function stream(...chunks) {
  return ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const chunk of chunks) response.write(chunk);
    response.end();
  };
}

/** Replies with an event stream of these events, numbered from 1, then ends it. */
export function events(...list) {
  return stream(frames(list));
}

/** An event stream that the test writes as it goes. Its `reply` serves one request. */
export class LiveStream {
  #response;
  #opened = deferred();
  #closed = deferred();
  #next = 1;

  /** Resolves when the stream was requested. */
  opened = this.#opened.promise;
  /** Resolves when the connection is gone: to true if the client left before the end. */
  closed = this.#closed.promise;

  reply = ({ response }) => {
    this.#response = response;
    response.on("close", () => this.#closed.resolve(!response.writableEnded));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    this.#opened.resolve();
  };

  /** Sends events, with the numbers that follow. */
  async send(...list) {
    await this.opened;
    this.#response.write(frames(list, this.#next));
    this.#next += list.length;
  }

  /** Sends these bytes. */
  async write(bytes) {
    await this.opened;
    this.#response.write(bytes);
  }

  async end() {
    await this.opened;
    this.#response.end();
  }

  /** Cuts the connection. */
  async reset() {
    await this.opened;
    this.#response.socket.resetAndDestroy();
  }
}

/** A promise with the functions that settle it. */
export function deferred() {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
}
