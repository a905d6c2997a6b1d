// The options of `connect` and `createTurn`, checked.
import { type Clocks, CLOCKS } from "./clocks.js";
import { InputError } from "./errors.js";
import { type Protocol, PROTOCOLS } from "./protocols.js";
import type { CreateTurnOptions } from "./session.js";
import type { Fetch, Token } from "./transport.js";

/** How persistently a lost connection of a turn is recovered. */
export interface ReconnectOptions {
  /** Tries in a row that may bring nothing new; 10 by default. */
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
   * Where the server is, with the tenant if it has one: `https://gateway.truefoundry.ai/acme`. A relative
   * URL counts from the page.
   */
  baseUrl: string;
  /**
   * The server's protocol; `"truefoundry"` by default, `"trueforge"` for its open-source sibling. For `"tirea"`
   * and `"awaken"`, and for `"aap"`, a core of their own is loaded.
   */
  protocol?: Protocol;
  /**
   * The bearer token, or a function that gives it. The function is asked before every request, so that it
   * may renew the token. Without one, no `Authorization` header is sent.
   */
  token?: Token;
  /** Headers for every request. They win over turnwire's own. */
  headers?: Record<string, string>;
  /** Instead of the platform's `fetch`; called as `fetch(url, init)`. */
  fetch?: Fetch;
  /** The size of the largest event, in bytes; 8 MiB by default. */
  maxFrameBytes?: number;
  /**
   * How persistently a lost connection of a turn is recovered; `false` not to recover any. A call's own
   * option wins.
   */
  reconnect?: ReconnectOptions | false;
}

const NAMES = ["baseUrl", "protocol", "token", "headers", "fetch", "maxFrameBytes", "reconnect", "connectTimeout", "idleTimeout"];
const MAX_FRAME_BYTES = 8 * 1024 * 1024;
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

/** What the options come to. Throws an `InputError` that names the wrong one. */
export function checked(options: ConnectOptions): Checked {
  demandNames("connect", options, NAMES);
  const { baseUrl, token, headers, fetch, connectTimeout = 30_000, idleTimeout } = options;
  const protocol = options.protocol ?? "truefoundry";
  const maxFrameBytes = options.maxFrameBytes ?? MAX_FRAME_BYTES;
  demand(typeof baseUrl === "string", "`baseUrl` must be a string");
  demand(PROTOCOLS.includes(protocol), `\`protocol\` must be one of ${PROTOCOLS.join(", ")}`);
  demand(token == null || typeof token === "string" || typeof token === "function", "`token` must be a string, or a function that gives one");
  demand(fetch == null || typeof fetch === "function", "`fetch` must be a function like the platform's");
  demand(
    headers == null ||
      (isObject(headers) && !(Symbol.iterator in headers) && Object.values(headers).every((value) => typeof value === "string")),
    "`headers` must be a plain object of strings",
  );
  demand(
    Number.isInteger(maxFrameBytes) && maxFrameBytes > 0 && maxFrameBytes <= MAX_LIMIT,
    "`maxFrameBytes` must be a whole number greater than 0",
  );
  demandClocks(options);
  const reconnect = checkedReconnect(options.reconnect, RECONNECT);
  return { baseUrl: resolved(baseUrl), protocol, maxFrameBytes, connectTimeout, idleTimeout, reconnect };
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
export function checkedTurn(options: CreateTurnOptions): {
  input: string;
  previousTurnId: string | undefined;
  discardPending: boolean;
  whenBusy: "wait" | "fail";
} {
  // A turn without input makes the model run again: no misspelt name may come to that.
  demandNames("createTurn", options, ["input", "previousTurnId", "discardPending", "whenBusy"]);
  const previousTurnId = options.previousTurnId ?? undefined;
  demand(previousTurnId === undefined || typeof previousTurnId === "string", "`previousTurnId` must be a string");
  const { discardPending = false, whenBusy = "wait" } = options;
  demand(typeof discardPending === "boolean", "`discardPending` must be true or false");
  demand(whenBusy === "wait" || whenBusy === "fail", '`whenBusy` must be "wait" or "fail"');
  return { input: checkedInput(options.input ?? null), previousTurnId, discardPending, whenBusy };
}

/** An input as JSON. */
export function checkedInput(given: unknown): string {
  let input: string | undefined;
  try {
    input = JSON.stringify(given);
  } catch (cause) {
    throw new InputError("invalid_input", "`input` cannot be written as JSON", { cause });
  }
  if (input === undefined) throw new InputError("invalid_input", "`input` cannot be written as JSON");
  return input;
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
function resolved(baseUrl: string): string {
  const page = globalThis.location?.href;
  let url: URL;
  try {
    url = new URL(baseUrl, page?.startsWith("http") ? page : undefined);
  } catch {
    throw new InputError("invalid_url", "`baseUrl` is not a URL");
  }
  if (!/^https?:$/.test(url.protocol)) {
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
