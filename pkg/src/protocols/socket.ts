// Calls over a WebSocket. The core makes the decisions; this file has the platform's parts: sockets, timers, tokens, and the page.
import type { CoreClient } from "../boundary/boundary.js";
import type { Call } from "../boundary/calls.js";
import { absolute, adopted, askToken, ConnectionError, InputError, limited, onAbort, onReturn, StateError, stopped, TurnwireError, unsent, unsentOf, Watch } from "../client/face.js";
import type { ConnectOptions } from "../client/options.js";
import type { CoreError } from "../common/errors.js";
import type { Clocks, Limits } from "../transport/clocks.js";
import type { OpenSocket, Socket, Token } from "../transport/platform.js";
import type { Settings, StreamBody, StreamReader, Transport } from "../transport/transport.js";
import {
  AWAY,
  BINARY,
  BROKEN,
  CLOSE,
  CLOSED,
  CONNECT,
  CoreSocket,
  COUNT,
  END,
  FAILED,
  FLAGS,
  FORGOTTEN,
  MORE,
  NOTHING,
  OPENED,
  OVERDUE,
  RESPOND_UNSENT,
  SEND,
  SHUT,
  TAKEN,
  TIME,
  WAKE,
} from "./core-socket.js";

export { isEmptyList, readHistory } from "./socket-lists.js";

/** `WebSocket.OPEN` */
const OPEN = 1;
/** The longest delay of a timer, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;
/** Runs callbacks passed to `then` after the current task. */
const SOON = Promise.resolve();
/** The mark of an error in place of a text. */
const MARK = "!";

/** A call that has not ended. */
interface Pending {
  readonly watch: Watch;
  resolve(answer?: string | StreamBody): void;
  reject(error: unknown): void;
  /** Removes the listeners to the signal and the page. */
  forget(): void;
  reader?: StreamReader;
}

/** The transport to one server. All calls share one connection, which is opened when needed. */
export class SocketTransport implements Transport {
  #core: CoreSocket;
  /** Opens a connection in the current core. */
  readonly #opened: () => CoreSocket;
  readonly #url: string;
  readonly #token: Token | null | undefined;
  readonly #open: OpenSocket;
  /** The subprotocol of a relay that holds the socket to the server. */
  readonly #protocols: string[] | undefined;
  readonly #clocks: Clocks;
  readonly #calls = new Map<number, Pending>();
  #count = 0;
  #socket: Socket | undefined;
  /** Aborts when the connection is no longer wanted. */
  #dial = new AbortController();
  /** The original error of the last failed attempt to connect. */
  #failure: unknown;
  #wake: ReturnType<typeof setTimeout> | undefined;
  /** Whether a reader is being notified of a message; messages that arrive meanwhile are queued. */
  #isTelling = false;
  readonly #late: unknown[] = [];

  constructor(core: CoreClient, baseUrl: string, { token, webSocket, relay }: ConnectOptions, settings: Settings & { maxFrameBytes: number }) {
    this.#opened = () => new CoreSocket(core, letters(13), settings.connectTimeout, settings.maxFrameBytes);
    this.#core = this.#opened();
    this.#url = baseUrl;
    this.#token = token;
    if (relay) this.#protocols = ["turnwire.v1"];
    this.#clocks = settings;
    // Looked up for each connection: tests and tracers replace the platform's.
    this.#open = webSocket ?? platformSocket;
  }

  async ask<T>(call: Call, params: object, limits: Limits = {}): Promise<T> {
    const watch = new Watch(limited(this.#clocks, limits));
    try {
      return JSON.parse((await this.open(call, JSON.stringify(params), watch)) as string) as T;
    } finally {
      watch.end();
    }
  }

  open(call: Call, params: string, watch: Watch): Promise<string | StreamBody> {
    const { connectTimeout, idleTimeout, signal } = watch;
    // The core keeps these time limits.
    watch.spare();
    if (signal.aborted) return Promise.reject(unsentOf(signal));
    // The core may have failed in another call.
    if (this.#core.coreFailure) this.#crash(this.#core.coreFailure);
    return new Promise((resolve, reject) => {
      const id = (this.#count += 1);
      const forget = onAbort(signal, () => this.#stop(id, signal));
      this.#calls.set(id, { watch, resolve: resolve as Pending["resolve"], reject, forget });
      ref(this.#wake, "ref");
      this.#carry(() => this.#core.ask(id, call, params, connectTimeout, idleTimeout, this.#buffered));
    });
  }

  download(): Promise<Blob> {
    throw new StateError("unsupported", "this protocol has no files to download");
  }

  close(): void {
    this.#heed(SHUT);
  }

  /** Ends a call that the caller no longer waits for. */
  #stop(id: number, signal: AbortSignal): void {
    this.#heed(signal.reason instanceof ConnectionError ? OVERDUE : FORGOTTEN, id);
  }

  /** Removes a call that has ended. */
  #end(id: number): Pending | undefined {
    const pending = this.#calls.get(id);
    pending?.forget();
    this.#calls.delete(id);
    // A timer must not keep the process alive if nothing waits for it.
    if (this.#calls.size === 0) ref(this.#wake, "unref");
    return pending;
  }

  /** The number of bytes in the socket's buffer; -1 if nothing can be sent. */
  get #buffered(): number {
    const socket = this.#socket;
    return socket?.readyState === OPEN ? socket.bufferedAmount : -1;
  }

  /** Passes an event to the core, and carries out its outputs. */
  #heed(event: number, number = 0, text = ""): void {
    this.#carry(() => this.#core.heed(event, number, text, this.#buffered));
  }

  #carry(begin: () => number): void {
    this.#takeGathered();
    try {
      this.#carryOut(begin());
    } catch (cause) {
      this.#crash(cause);
    }
    while (!this.#isTelling && this.#late.length > 0) this.#received(this.#late.shift());
  }

  #received(message: unknown): void {
    if (this.#isTelling) return void this.#late.push(message);
    if (typeof message !== "string") return this.#heed(BINARY);
    const template = this.#core.templateOf(message);
    if (template !== this.#core.gathering) this.#takeGathered();
    // Queued messages come first.
    if (!template || this.#late.length > 0) return this.#receivedWhole(message);
    this.#core.gather(template, message);
    // All messages that arrive in one task are passed to the core together.
    if (this.#core.gathered.length === 1) void SOON.then(this.#flush);
  }

  /** Passes a message to the core. */
  #receivedWhole(message: string): void {
    try {
      this.#carryOut(this.#core.received(message));
    } catch (cause) {
      this.#crash(cause);
    }
    if (this.#late.length > 0) this.#heed(NOTHING);
  }

  /** Passes the gathered messages to the core, and notifies their reader. */
  #takeGathered(): void {
    const { gathered, gathering } = this.#core;
    if (!gathering) return;
    try {
      const taken = this.#core.takeGathered();
      const count = taken >>> COUNT;
      if (count > 0) this.#tell(gathering.call, taken & FLAGS, this.#core.takenLength);
      if (taken & MORE) this.#carryOut(this.#core.heed(NOTHING, 0, "", this.#buffered));
      for (let at = count; at < gathered.length; at += 1) this.#carryOut(this.#core.received(gathered[at]!));
    } catch (cause) {
      this.#crash(cause);
    }
  }

  readonly #flush = (): void => {
    this.#takeGathered();
    if (this.#late.length > 0) this.#heed(NOTHING);
  };

  /** Carries out the core's outputs from this one on. */
  #carryOut(first: number): void {
    for (let output = first; output !== 0; ) {
      const more = this.#core.word(output, 5);
      this.#do(output, this.#core.word(output, 2), this.#core.word(output, 3), this.#core.word(output, 4));
      output = more ? this.#core.heed(NOTHING, 0, "", this.#buffered) : 0;
    }
  }

  #do(output: number, kind: number, id: number, number: number): void {
    switch (kind) {
      case TAKEN:
        this.#core.learn(output, id);
        return this.#tell(id, number & FLAGS, number >>> 4);
      case SEND:
        return this.#send(this.#core.text(output));
      case CONNECT:
        return void this.#connect();
      case WAKE:
        clearTimeout(this.#wake);
        this.#wake = setTimeout(() => this.#heed(TIME), Math.min(number, LONGEST_TIMER));
        if (this.#calls.size === 0) ref(this.#wake, "unref");
        return;
      case CLOSE:
        this.#late.length = 0;
        this.#dial.abort();
        return this.#drop();
      case END:
        return this.#ended(id, number, this.#core.text(output));
      default:
        this.#responded(id, this.#core.text(output), kind === RESPOND_UNSENT);
    }
  }

  /** Notifies the reader of a call that its turn has taken messages in the core. */
  #tell(id: number, flags: number, length: number): void {
    const pending = this.#calls.get(id);
    if (!pending?.reader) return;
    const wasTelling = this.#isTelling;
    this.#isTelling = true;
    try {
      if (!pending.reader.took(flags, length)) this.#end(id)?.resolve();
    } catch (error) {
      this.#end(id)?.reject(error);
      this.#heed(FORGOTTEN, id);
    } finally {
      this.#isTelling = wasTelling;
    }
  }

  #send(text: string): void {
    try {
      this.#socket?.send(text);
    } catch {
      this.#heed(BROKEN);
    }
  }

  #responded(id: number, text: string, isUnsent: boolean): void {
    if (text === "") {
      const pending = this.#calls.get(id);
      return pending?.resolve({ read: (_, __, reader) => this.#read(id, pending, reader) });
    }
    const pending = this.#end(id);
    if (!text.startsWith(MARK)) return pending?.resolve(text);
    const signal = pending?.watch.signal;
    const error = signal?.aborted ? stopped(signal) : this.#adopted(text);
    if (isUnsent && !unsent.has(error)) unsent.set(error, signal?.aborted ? "token" : "unsent");
    pending?.reject(error);
  }

  #ended(id: number, silence: number, text: string): void {
    const pending = this.#end(id);
    if (!pending) return;
    pending.watch.silence = silence;
    if (text === "") pending.resolve();
    else pending.reject(this.#adopted(text));
  }

  /** The error for the core's report: the original error if it was thrown here. */
  #adopted(text: string): object {
    const error = JSON.parse(text.slice(MARK.length)) as CoreError;
    if (this.#failure instanceof Error && this.#failure.message === error.message) return this.#failure;
    return adopted(error, undefined, { asked: this.#url });
  }

  #read(id: number, pending: Pending, reader: StreamReader): Promise<void> {
    const { signal } = pending.watch;
    return new Promise((resolve, reject) => {
      if (!this.#calls.has(id)) return reject(stopped(signal));
      const unreturn = onReturn((wasAway) => this.#heed(wasAway ? AWAY : TIME));
      const { forget } = pending;
      Object.assign(pending, { reader, resolve, reject });
      pending.forget = () => {
        forget();
        unreturn();
      };
      this.#carry(() => this.#core.read(id, reader.core.coreNumber, this.#buffered));
    });
  }

  async #connect(): Promise<void> {
    const { signal } = (this.#dial = new AbortController());
    try {
      const token = await askToken(this.#token, signal);
      if (signal.aborted) return;
      const url = new URL(absolute(this.#url).replace(/^http/, "ws"));
      // A page cannot set headers for a WebSocket.
      if (token !== undefined) url.searchParams.set("access_token", token);
      const socket = (this.#socket = this.#made(url.href));
      const heed = (event: number, number?: number, text?: string): void => {
        // Some sockets send more events while they are closing.
        if (this.#socket === socket) this.#heed(event, number, text);
      };
      socket.addEventListener("open", () => heed(OPENED));
      socket.addEventListener("message", ({ data }) => {
        if (this.#socket === socket) this.#received(data);
      });
      socket.addEventListener("error", () => heed(BROKEN));
      socket.addEventListener("close", ({ code, reason }) => heed(CLOSED, code, reason));
    } catch (error) {
      if (signal.aborted) return;
      this.#failure = error;
      const { code, message } = error as TurnwireError;
      this.#heed(FAILED, 0, `${code}\0${message}`);
    }
  }

  #made(url: string): Socket {
    let socket: Socket | undefined;
    try {
      socket = this.#open.call(undefined, url, this.#protocols);
    } catch (error) {
      if (error instanceof TurnwireError) throw error;
      // Not the platform's error: it quotes the URL, which may contain the token.
      throw new ConnectionError("network", "no connection can be made to this address from here");
    }
    if (typeof socket?.addEventListener !== "function") throw new InputError("invalid_option", "`webSocket` gave no socket");
    return socket;
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  /** The core itself has failed, and so do all pending calls. Later calls use another core. */
  #crash(error: unknown): void {
    for (const id of [...this.#calls.keys()]) this.#end(id)?.reject(error);
    this.#drop();
    this.#core = this.#opened();
  }
}

/** Sets whether a timer keeps the process alive, on platforms with processes. */
function ref(timer: unknown, how: "ref" | "unref"): void {
  (timer as Partial<Record<typeof how, () => void>> | undefined)?.[how]?.();
}

function platformSocket(url: string, protocols?: string[]): Socket {
  if (typeof globalThis.WebSocket !== "function") {
    throw new StateError("unsupported", "this platform has no WebSocket: `connect` takes one as `webSocket`");
  }
  return new globalThis.WebSocket(url, protocols);
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** So many random letters, digits, `-` and `_`. */
function letters(count: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(count)), (byte) => LETTERS[byte % 64]).join("");
}
