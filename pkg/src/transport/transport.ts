// The transport to a server, and what all transports share.
import type { CoreTurn } from "../boundary/boundary.js";
import { Call } from "../boundary/calls.js";
import { AbortError, ConnectionError, InputError, messageOf, TurnwireError } from "../common/errors.js";
import type { Reconnect } from "../common/reconnect.js";
import { type Limits, onAbort, type Watch } from "./clocks.js";
import type { Token } from "./platform.js";

/** The timeouts and retries of a client. */
export type Settings = Required<Pick<Limits, "connectTimeout" | "idleTimeout">> & { readonly reconnect: Reconnect };

/** The transport to one server. */
export interface Transport {
  /** Requests JSON; returns it in turnwire's form. */
  ask<T>(call: Call, params: object, limits?: Limits): Promise<T>;
  /**
   * Makes a call with parameters as JSON. Returns the response as JSON, or for a streaming call the stream, which the
   * caller must read.
   */
  open(call: Call, params: string, watch: Watch): Promise<string | StreamBody>;
  /** Requests a file. */
  download(params: object, limits: Limits): Promise<Blob>;
  /** Closes the connection that is kept between calls. */
  close?(): void;
}

/** Reads a stream whose messages the core takes itself. */
export interface StreamReader {
  /** The turn that takes the messages. */
  readonly core: CoreTurn;
  /** The core has taken messages of this length and returned these flags. Returns whether to read on. */
  took(flags: number, length: number): boolean;
}

/** The body of a stream. */
export interface StreamBody {
  /**
   * Passes each chunk of bytes to `push` until the stream ends, `push` returns false or the watch stops it. Where the
   * core takes the messages itself, calls `reader` instead. Then the connection is released in any case.
   */
  read(push: (chunk: Uint8Array) => boolean, watch: Watch, reader: StreamReader): Promise<void>;
}

/** A server's base URL, resolved against the page if it is relative. */
export function absolute(baseUrl: string): string {
  if (/^\w+:/.test(baseUrl)) return baseUrl;
  const page = globalThis.location?.href;
  if (page?.startsWith("http")) return new URL(`${baseUrl}/.`, page).href.slice(0, -1);
  throw new InputError("invalid_url", `\`baseUrl\` is the relative URL ${baseUrl}, and there is no page here: a server needs the whole URL, or a \`fetch\` that resolves it`);
}

/** Whether the response is a stream. */
export function streams(call: Call): boolean {
  return call === Call.CreateTurnStream || call === Call.SubscribeTurn;
}

/** Errors from before anything was sent: because there was no token or the call was stopped, or no connection. */
export const unsent = new WeakMap<object, "token" | "unsent">();

/** Gets the token again: it may have been renewed. */
export async function askToken(token: Token | null | undefined, signal: AbortSignal): Promise<string | undefined> {
  if (typeof token !== "function" && !signal.aborted) return token ?? undefined;
  return orAborted(given(token), signal).catch((error: object) => {
    unsent.set(error, "token");
    throw error;
  });
}

async function given(token: Token | null | undefined): Promise<string | undefined> {
  if (typeof token !== "function") return token ?? undefined;
  let got: unknown;
  try {
    got = await token();
  } catch (cause) {
    throw new ConnectionError("token", `the \`token\` function failed: ${messageOf(cause)}`, { cause });
  }
  if (got != null && typeof got !== "string") {
    throw new ConnectionError("token", "the `token` function gave no string");
  }
  return got ?? undefined;
}

/** Whether the request with this error never reached the server. */
export function isUnsent(error: object): boolean {
  return unsent.get(error) === "token";
}

/** The error of a call that was stopped before anything was sent. */
export function unsentOf(signal: AbortSignal): TurnwireError {
  const error = stopped(signal);
  unsent.set(error, "token");
  return error;
}

/** The error of an aborted signal: its reason, or an `AbortError`. */
export function stopped({ reason }: AbortSignal): TurnwireError {
  if (reason instanceof TurnwireError) return reason;
  return new AbortError("aborted", "the signal was aborted", { cause: reason });
}

/** The result of `promise`, unless `signal` aborts first. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  let forget = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    forget = onAbort(signal, () => reject(stopped(signal!)));
  });
  return Promise.race([promise, aborted]).finally(forget);
}

/**
 * Passes each chunk of `body` to `push` until the stream ends, `push` returns false or the watch stops it. Then the
 * connection is released in any case: an open one uses one of the browser's few.
 */
export async function pump(
  body: ReadableStream<Uint8Array>,
  push: (chunk: Uint8Array) => boolean,
  watch: Watch,
): Promise<void> {
  const { signal } = watch;
  const reader = body.getReader();
  // A custom fetch may ignore the signal.
  const release = (): void => void reader.cancel().catch(() => {});
  let isCut = signal.aborted;
  const forget = onAbort(signal, () => {
    isCut = true;
    release();
  });
  // Kept for the whole stream: to make one costs more than to read many chunks.
  let channel: MessageChannel | undefined;
  try {
    while (!isCut) {
      const { done, value } = await reader.read();
      if (done) return;
      const now = Date.now();
      watch.alive(now);
      if (!push(value)) return;
      // The wall clock may be set back.
      if (Math.abs(now - turnBegan) > LONGEST_TURN) await (nextTurn ??= nextTask((channel ??= newChannel())));
    }
  } finally {
    channel?.port1.close();
    forget();
    release();
  }
}

/**
 * How long to read chunks that have already arrived without letting the page run, in milliseconds. Their promises
 * settle in one task, however many they are. Half a frame.
 */
const LONGEST_TURN = 8;

/** When the page last ran something else and streams were read again. All streams share this time. */
let turnBegan = 0;
let nextTurn: Promise<void> | undefined;

/** Resolves in a new task. Not by a timer if there is something better: hidden tabs delay timers. */
function nextTask(channel: MessageChannel | undefined): Promise<void> {
  return new Promise((resolve) => {
    const run = (): void => {
      turnBegan = Date.now();
      nextTurn = undefined;
      resolve();
    };
    if (!channel) return void (immediate ?? setTimeout)(run);
    channel.port1.onmessage = run;
    channel.port2.postMessage(null);
  });
}

/** Node's own way. It takes all messages of a channel in one task. */
const { setImmediate: immediate } = globalThis as { setImmediate?: (run: () => void) => unknown };

/** A channel; `undefined` in Node, and in runtimes at the edge that have none. The latter have no hidden tabs either. */
function newChannel(): MessageChannel | undefined {
  try {
    // By its whole name: Next.js warns of the short one when it builds for the edge.
    return immediate ? undefined : new globalThis.MessageChannel();
  } catch {
    return undefined;
  }
}
