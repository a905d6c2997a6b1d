// The way to a server, whatever carries it; and what all ways share.
import type { CoreTurn } from "./boundary.js";
import { Call } from "./calls.js";
import { type Limits, onAbort, type Watch } from "./clocks.js";
import { AbortError, ConnectionError, TurnwireError } from "./errors.js";
import type { Reconnect } from "./options.js";

/** A bearer token, or what gives it. */
export type Token = string | (() => string | null | undefined | Promise<string | null | undefined>);

/** What the platform's `WebSocket` is needed for. */
export type Socket = Pick<WebSocket, "send" | "close" | "addEventListener" | "readyState" | "bufferedAmount">;

/** Makes a connection, instead of the platform's `WebSocket`; where requests can have headers, with those. */
export type OpenSocket = (url: string) => Socket;

/** The way to one server. */
export interface Transport {
  /** How persistently questions are asked again. */
  readonly reconnect: Reconnect;
  /** Asks for JSON; gives it in turnwire's form. */
  ask<T>(call: Call, params: object, limits?: Limits): Promise<T>;
  /**
   * Makes a call, with its parameters as JSON. Returns the answer as JSON; of a call that streams, the stream, which is
   * to be read.
   */
  open(call: Call, params: string, watch: Watch): Promise<string | StreamBody>;
  /** Asks for a file. */
  download(params: object, limits: Limits): Promise<Blob>;
  /** Ends what stands between calls. */
  close?(): void;
}

/** What reads a stream. */
export interface StreamReader {
  /** The turn that takes what comes. */
  readonly core: CoreTurn;
  /** The core has taken so much by itself, with these flags; returns whether to read on. */
  took(flags: number, length: number): boolean;
}

/** What a stream brings. */
export interface StreamBody {
  /**
   * Hands each chunk of bytes to `push` until the stream ends, `push` returns false or the watch cuts it off. Where the core
   * takes what comes by itself, `reader` is told instead. However it ends, the connection is released.
   */
  read(push: (chunk: Uint8Array) => boolean, watch: Watch, reader: StreamReader): Promise<void>;
}

/** Whether the answer is a stream. */
export function streams(call: Call): boolean {
  return call === Call.CreateTurnStream || call === Call.SubscribeTurn;
}

/** Errors from before anything was sent, and why: for want of a token or since it was stopped, or for want of a connection. */
export const unsent = new WeakMap<object, "token" | "unsent">();

/** The token, asked for anew: it may have been renewed. */
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
    throw new ConnectionError("token", "the `token` function failed", { cause });
  }
  if (got != null && typeof got !== "string") {
    throw new ConnectionError("token", "the `token` function gave no string");
  }
  return got ?? undefined;
}

/** Whether the request that ended with this error never reached the server. */
export function isUnsent(error: object): boolean {
  return unsent.get(error) === "token";
}

/** The error of a signal that aborted: its own, or that the caller aborted it. */
export function stopped({ reason }: AbortSignal): TurnwireError {
  if (reason instanceof TurnwireError) return reason;
  return new AbortError("aborted", "the signal was aborted", { cause: reason });
}

/** What becomes of `promise`, unless `signal` aborts before. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  let forget = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    forget = onAbort(signal, () => reject(stopped(signal!)));
  });
  return Promise.race([promise, aborted]).finally(forget);
}

/**
 * Hands each chunk of `body` to `push` until the stream ends, `push` gives false or the watch cuts it off.
 * However it ends, the connection is released: an open one holds one of the browser's few.
 */
export async function pump(
  body: ReadableStream<Uint8Array>,
  push: (chunk: Uint8Array) => boolean,
  watch: Watch,
): Promise<void> {
  const { signal } = watch;
  const reader = body.getReader();
  // A custom fetch may not have passed the signal on.
  const release = (): void => void reader.cancel().catch(() => {});
  let isCut = signal.aborted;
  const forget = onAbort(signal, () => {
    isCut = true;
    release();
  });
  try {
    while (!isCut) {
      const { done, value } = await reader.read();
      if (done) return;
      const now = Date.now();
      watch.alive(now);
      if (!push(value)) return;
      // A clock on the wall may be set back.
      if (Math.abs(now - turnBegan) > LONGEST_TURN) await (nextTurn ??= nextTask());
    }
  } finally {
    forget();
    release();
  }
}

/**
 * How long chunks that have come already are read without letting the page do anything else, in
 * milliseconds: their promises settle in one task, however many they are. Half a frame.
 */
const LONGEST_TURN = 8;

/** When streams were read first since the page did something else: all of them share its time. */
let turnBegan = 0;
let nextTurn: Promise<void> | undefined;

/** Resolves in a task of its own. Not by a timer, which hidden tabs hold back. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      turnBegan = Date.now();
      nextTurn = undefined;
      resolve();
    };
    port2.postMessage(null);
  });
}
