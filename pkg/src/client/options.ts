// The options of `connect` and `createTurn`, checked.
import { CORES, OVER_SOCKETS, type Protocol, PROTOCOLS } from "../boundary/protocols.js";
import { demand, demandNames, isObject } from "../common/check.js";
import { InputError } from "../common/errors.js";
import { checkedReconnect, RECONNECT, type Reconnect, type ReconnectOptions } from "../common/reconnect.js";
import type { TextStore } from "../common/store.js";
import { type Clocks, demandClocks } from "../transport/clocks.js";
import type { Fetch, OpenSocket, Token } from "../transport/platform.js";

/** The options of `connect`. */
export interface ConnectOptions extends Omit<Clocks, "deadline"> {
  /**
   * The URL of the server, with the tenant if it has one: `https://gateway.truefoundry.ai/acme`. With `"trueforge"` its
   * origin, `http://localhost:8790`: `/api/v1` is added. A relative URL begins with `/` or `.`, and is resolved against the page;
   * your own `fetch` gets it as it is, if there is no page.
   */
  baseUrl: string;
  /**
   * The server's protocol; `"truefoundry"` by default, `"trueforge"` for its open-source sibling. `connect` of an entry
   * with a core inside, such as `turnwire/aap`, takes the protocols of that core; its default is the first of these in
   * the order of this type.
   */
  protocol?: Protocol | undefined;
  /**
   * Whether `baseUrl` is that of a turnwire relay before a server that speaks `protocol`. It keeps the turns of `"aap"` and
   * `"tirea"`, so that other tabs and devices can read the same turn, and holds the socket to `"turn-rpc"` and `"codex"`.
   * Then a broken connection loses nothing. `false` by default.
   */
  relay?: boolean | undefined;
  /**
   * The bearer token, or a function that returns it. The function is called before every request, so that it may renew
   * the token. None by default; then no `Authorization` header is sent. Browsers send no headers with a `WebSocket`:
   * for protocols that use one, see `tokenInQuery`.
   */
  token?: Token | undefined;
  /**
   * For a protocol over a `WebSocket`: sends the token in the URL, as `?access_token=`, and gets it again for each
   * connection. The development gateway supports this (`--token-in-query`), the real servers do not, and URLs end up in
   * logs. `false` by default; then such a protocol refuses a `token`.
   */
  tokenInQuery?: boolean | undefined;
  /** Headers for every request; none by default. They override turnwire's own. Not for protocols over a `WebSocket`. */
  headers?: Record<string, string> | undefined;
  /** A replacement for the platform's `fetch`, which is the default; called as `fetch(url, init)`. */
  fetch?: Fetch | undefined;
  /**
   * A replacement for the platform's `WebSocket`, which is the default, for protocols that use one: returns a socket
   * for a URL, and for subprotocols with `relay`. Outside browsers it can send an `Authorization` header.
   */
  webSocket?: OpenSocket | undefined;
  /**
   * The size of the largest event, in bytes; 8 MiB by default. Over a `WebSocket` the size of the largest message,
   * which may contain a whole turn; 64 MiB by default.
   */
  maxFrameBytes?: number | undefined;
  /**
   * How often and how fast to recover a turn's lost connection; `false` for never. Each part has its own default. The
   * option of a call overrides it.
   */
  reconnect?: ReconnectOptions | false | undefined;
  /**
   * Where the client stores the conversations that only it keeps, by the ids of their sessions, so that a page continues after a
   * reload; the tab's `sessionStorage` by default, `null` for nowhere.
   */
  store?: TextStore | null | undefined;
}

const NAMES = ["baseUrl", "protocol", "relay", "token", "tokenInQuery", "headers", "fetch", "webSocket", "maxFrameBytes", "reconnect", "store", "connectTimeout", "idleTimeout"];
const MAX_FRAME_BYTES = 8 * 1024 * 1024;
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** Lengths in the core have 32 bits. */
const MAX_LIMIT = 0xffff_ffff;

/** The settings of a client. */
export type Checked = Required<Pick<ConnectOptions, "baseUrl" | "protocol" | "maxFrameBytes" | "connectTimeout">> & {
  /** `undefined` for the protocol's default. */
  idleTimeout: number | undefined;
  reconnect: Reconnect;
  relay: boolean;
};

/** The complete options, for protocols of these families. Throws an `InputError` that names the wrong one. */
export function checked(options: ConnectOptions, families: readonly string[]): Checked {
  demandNames("connect", options, NAMES);
  const { baseUrl, token, tokenInQuery, headers, fetch, webSocket, connectTimeout = 30_000, idleTimeout, relay = false } = options;
  const spoken = PROTOCOLS.filter((name) => families.includes(CORES[name]));
  const protocol = options.protocol ?? spoken[0]!;
  const isSocket = OVER_SOCKETS.includes(CORES[protocol]);
  const maxFrameBytes = options.maxFrameBytes ?? (isSocket ? MAX_MESSAGE_BYTES : MAX_FRAME_BYTES);
  demand(typeof baseUrl === "string", "`baseUrl` must be a string");
  demand(spoken.includes(protocol), `\`protocol\` must be one of ${spoken.join(", ")}`);
  demand(typeof relay === "boolean", "`relay` must be true or false");
  demand(token == null || typeof token === "string" || typeof token === "function", "`token` must be a string, or a function that returns one");
  demand(fetch == null || typeof fetch === "function", "`fetch` must be a function like the platform's");
  demand(webSocket == null || typeof webSocket === "function", "`webSocket` must be a function that returns a socket");
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
  demand(!isSocket || headers == null, "`headers` cannot be sent with the WebSocket of the platform: `webSocket` can return one that sends them");
  demandClocks(options);
  const reconnect = checkedReconnect(options.reconnect, RECONNECT);
  return { baseUrl: resolved(baseUrl, isSocket), protocol, maxFrameBytes, connectTimeout, idleTimeout, reconnect, relay };
}

/**
 * The base URL without a trailing slash. A relative one is resolved against the page; if there is no page yet, the first request does that.
 * No error shows it: it may contain a secret.
 */
function resolved(baseUrl: string, isSocket: boolean): string {
  const page = globalThis.location?.href;
  const isRelative = /^\.{0,2}\/(?!\/)/.test(baseUrl);
  let url: URL;
  try {
    url = new URL(baseUrl, isRelative ? (page?.startsWith("http") ? page : NO_PAGE) : undefined);
  } catch {
    throw new InputError("invalid_url", `\`baseUrl\` is not a URL: ${FORMS}`);
  }
  if (!/^https?:$/.test(isSocket ? url.protocol.replace("ws", "http") : url.protocol)) {
    throw new InputError("invalid_url", `\`baseUrl\` is not an http or https URL: ${FORMS}`);
  }
  if (url.search || url.hash) {
    throw new InputError("invalid_url", "`baseUrl` must not have a query or a fragment");
  }
  if (url.username || url.password) {
    throw new InputError("invalid_url", "`baseUrl` must not hold a name or a password: there are `token` and `headers`");
  }
  return (url.href.startsWith(NO_PAGE) ? baseUrl : url.href).replace(/\/+$/, "");
}

const FORMS = "it begins with https:// or http://, or with / for one of this page's own server";
/** Stands for the page that a relative URL will be resolved against. */
const NO_PAGE = "http://page.invalid/";
