// The options of `connect` and `createTurn`, checked.
import { type Clocks, CLOCKS } from "./clocks.js";
import { InputError } from "./errors.js";
import { CORES, OVER_SOCKETS, type Protocol, PROTOCOLS } from "./protocols.js";
import type { CreateTurnOptions } from "./session.js";
import type { Fetch } from "./fetch.js";
import type { OpenSocket } from "./transport.js";
import type { Token } from "./transport.js";

/** How persistently a lost connection of a turn is recovered. */
export interface ReconnectOptions {
  /**
   * Tries in a row that may bring nothing new; 10 by default. When they are used up the turn itself is asked, and waited for
   * if it runs (`"waiting"`): that uses up none.
   */
  maxAttempts?: number;
  /** The longest wait before the first of them, in milliseconds; 500 by default. It doubles with every try. */
  baseDelay?: number;
  /** The longest wait of all, in milliseconds, unless the server asks for more; 8000 by default. */
  maxDelay?: number;
}

/** The same, complete. */
export type Reconnect = readonly [maxAttempts: number, baseDelay: number, maxDelay: number];

/** What `connect` takes. */
export interface ConnectOptions extends Omit<Clocks, "deadline"> {
  /**
   * Where the server is, with the tenant if it has one: `https://gateway.truefoundry.ai/acme`. With `"trueforge"` its
   * origin, `http://localhost:8790`: `/api/v1` is added. A relative URL counts from the page.
   */
  baseUrl: string;
  /**
   * The server's protocol; `"truefoundry"` by default, `"trueforge"` for its open-source sibling. `connect` of an entry
   * with a core inside, such as `turnwire/aap`, takes the protocols of that core; its default is the first of these in
   * the order of this type.
   */
  protocol?: Protocol;
  /**
   * The bearer token, or a function that gives it. The function is asked before every request, so that it
   * may renew the token. Without one, no `Authorization` header is sent. For protocols that are spoken over a
   * `WebSocket`, which browsers send without headers, see `tokenInQuery`.
   */
  token?: Token;
  /**
   * With a protocol that is spoken over a `WebSocket`: sends the token in the address, as `?access_token=`, and asks
   * for it at each connection. Servers do not know that by themselves, the development gateway does
   * (`--token-in-query`), and addresses end up in logs; without it, such a protocol refuses a `token`.
   */
  tokenInQuery?: boolean;
  /** Headers for every request. They win over turnwire's own. Not for protocols that are spoken over a `WebSocket`. */
  headers?: Record<string, string>;
  /** Instead of the platform's `fetch`; called as `fetch(url, init)`. */
  fetch?: Fetch;
  /**
   * Instead of the platform's `WebSocket`, for protocols that are spoken over one: gives a socket for a URL. In Node
   * and the like it can send an `Authorization` header, which browsers do not.
   */
  webSocket?: OpenSocket;
  /**
   * The size of the largest event, in bytes; 8 MiB by default. Over a `WebSocket` that of the largest message, which may
   * hold all of a turn; 64 MiB by default.
   */
  maxFrameBytes?: number;
  /**
   * How persistently a lost connection of a turn is recovered; `false` not to recover any. A call's own
   * option wins.
   */
  reconnect?: ReconnectOptions | false;
}

const NAMES = ["baseUrl", "protocol", "token", "tokenInQuery", "headers", "fetch", "webSocket", "maxFrameBytes", "reconnect", "connectTimeout", "idleTimeout"];
const MAX_FRAME_BYTES = 8 * 1024 * 1024;
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** Lengths in the core are 32 bits wide. */
const MAX_LIMIT = 0xffff_ffff;
/** Timers' delays are 31 bits wide. */
const MAX_DELAY = 0x7fff_ffff;
const PERSISTENCE = ["maxAttempts", "baseDelay", "maxDelay"] as const;
const RECONNECT: Reconnect = [10, 500, 8000];

/** The settings of a client. */
export type Checked = Required<Pick<ConnectOptions, "baseUrl" | "protocol" | "maxFrameBytes" | "connectTimeout">> & {
  /** If it is left to the protocol, nothing. */
  idleTimeout: number | undefined;
  reconnect: Reconnect;
};

/** The options completed, for protocols of these families. Throws an `InputError` that names the wrong one. */
export function checked(options: ConnectOptions, families: readonly string[]): Checked {
  demandNames("connect", options, NAMES);
  const { baseUrl, token, tokenInQuery, headers, fetch, webSocket, connectTimeout = 30_000, idleTimeout } = options;
  const spoken = PROTOCOLS.filter((name) => families.includes(CORES[name]));
  const protocol = options.protocol ?? spoken[0]!;
  const isSocket = OVER_SOCKETS.includes(CORES[protocol]);
  const maxFrameBytes = options.maxFrameBytes ?? (isSocket ? MAX_MESSAGE_BYTES : MAX_FRAME_BYTES);
  demand(typeof baseUrl === "string", "`baseUrl` must be a string");
  demand(spoken.includes(protocol), `\`protocol\` must be one of ${spoken.join(", ")}`);
  demand(token == null || typeof token === "string" || typeof token === "function", "`token` must be a string, or a function that gives one");
  demand(fetch == null || typeof fetch === "function", "`fetch` must be a function like the platform's");
  demand(webSocket == null || typeof webSocket === "function", "`webSocket` must be a function that gives a socket");
  demand(
    headers == null ||
      (isObject(headers) && !(Symbol.iterator in headers) && Object.values(headers).every((value) => typeof value === "string")),
    "`headers` must be a plain object of strings",
  );
  demand(
    Number.isInteger(maxFrameBytes) && maxFrameBytes > 0 && maxFrameBytes <= MAX_LIMIT,
    "`maxFrameBytes` must be a whole number greater than 0",
  );
  demand(!tokenInQuery || (tokenInQuery === true && isSocket), "`tokenInQuery` must be true or false, and is for protocols over a WebSocket");
  demand(
    !isSocket || token == null || !!tokenInQuery,
    "`token` cannot be sent with a WebSocket of the platform's: a proxy can add it, or `webSocket`; `tokenInQuery: true` puts it in the address",
  );
  demand(!isSocket || headers == null, "`headers` cannot be sent with a WebSocket of the platform's: `webSocket` can give one that does");
  demandClocks(options);
  const reconnect = checkedReconnect(options.reconnect, RECONNECT);
  return { baseUrl: resolved(baseUrl, isSocket), protocol, maxFrameBytes, connectTimeout, idleTimeout, reconnect };
}

/** The option `reconnect`, completed. Throws an `InputError` that names what is wrong with it. */
export function checkedReconnect(given: ReconnectOptions | false | undefined, defaults: Reconnect): Reconnect {
  if (given == null) return defaults;
  if (given === false) return [0, 0, 0];
  demandNames("reconnect", given, PERSISTENCE);
  // A client that recovers nothing has no delays for a call that does.
  const known = defaults[0] > 0 ? defaults : RECONNECT;
  return PERSISTENCE.map((name, at) => {
    const value = given[name] ?? known[at]!;
    demandWhole(name, value);
    return value;
  }) as [number, number, number];
}

/** Throws an `InputError` for a clock that is no number of milliseconds. */
export function demandClocks(options: Clocks): void {
  for (const name of CLOCKS) demandWhole(name, options[name] ?? 0);
}

/** Throws an `InputError` unless it is a whole number that a timer can take. */
export function demandWhole(name: string, value: number): void {
  demand(Number.isInteger(value) && value >= 0 && value <= MAX_DELAY, `\`${name}\` must be a whole number from 0 to ${MAX_DELAY}`);
}

/** The input of a turn as JSON, and what it follows. Throws an `InputError` that names the wrong option. */
export function checkedTurn(options: CreateTurnOptions, isSocket: boolean): {
  input: string;
  previousTurnId: string | undefined;
  discardPending: boolean;
  whenBusy: "wait" | "fail";
  turnOptions: string;
} {
  // A turn without input makes the model run again: no misspelt name may come to that.
  demandNames("createTurn", options, ["input", "previousTurnId", "discardPending", "whenBusy", ...(isSocket ? ["turnOptions"] : [])]);
  const previousTurnId = options.previousTurnId ?? undefined;
  demand(previousTurnId === undefined || typeof previousTurnId === "string", "`previousTurnId` must be a string");
  const { discardPending = false, whenBusy = "wait", turnOptions } = options;
  demand(typeof discardPending === "boolean", "`discardPending` must be true or false");
  demand(whenBusy === "wait" || whenBusy === "fail", '`whenBusy` must be "wait" or "fail"');
  return {
    input: checkedInput(options.input ?? null),
    previousTurnId,
    discardPending,
    whenBusy,
    turnOptions: turnOptions == null ? "" : checkedOptions("turnOptions", turnOptions),
  };
}

/** Options that the core checks, as JSON. */
export function checkedOptions(name: string, given: object): string {
  demand(isObject(given) && !Array.isArray(given), `\`${name}\` must be an object of options`);
  return asJson(given, "invalid_option", name);
}

/** An input as JSON. */
export function checkedInput(given: unknown): string {
  return asJson(given, "invalid_input", "input");
}

function asJson(given: unknown, code: "invalid_input" | "invalid_option", name: string): string {
  let json: string | undefined;
  let cause: unknown;
  try {
    json = JSON.stringify(given);
  } catch (error) {
    cause = error;
  }
  if (json === undefined) throw new InputError(code, `\`${name}\` cannot be written as JSON`, cause ? { cause } : {});
  return json;
}

/** Throws an `InputError` for a name that is no option of `method`. */
export function demandNames(method: string, options: object, names: readonly string[]): void {
  demand(isObject(options), `\`${method}\` takes an object of options`);
  for (const name of Object.keys(options)) {
    demand(names.includes(name), `\`${name}\` is not an option of \`${method}\`; there are ${names.join(", ")}`);
  }
}

/**
 * The base URL without a slash at its end. A relative one counts from the page. No error shows it: it may
 * hold a secret.
 */
function resolved(baseUrl: string, isSocket: boolean): string {
  const page = globalThis.location?.href;
  let url: URL;
  try {
    url = new URL(baseUrl, page?.startsWith("http") ? page : undefined);
  } catch {
    throw new InputError("invalid_url", "`baseUrl` is not a URL");
  }
  if (!/^https?:$/.test(isSocket ? url.protocol.replace("ws", "http") : url.protocol)) {
    throw new InputError("invalid_url", "`baseUrl` is not an http or https URL");
  }
  if (url.search || url.hash) {
    throw new InputError("invalid_url", "`baseUrl` must not have a query or a fragment");
  }
  if (url.username || url.password) {
    throw new InputError("invalid_url", "`baseUrl` must not hold a name or a password: there are `token` and `headers`");
  }
  return url.href.replace(/\/+$/, "");
}

/** Whether it has members. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Throws an `InputError` unless `holds`. */
export function demand(holds: boolean, message: string): asserts holds {
  if (!holds) throw new InputError("invalid_option", message);
}
