// A line: one WebSocket, on which JSON-RPC requests, their responses and notifications of many threads go by.
import { ConnectionError, InputError, onAbort, ProtocolError } from "../client/face.js";
import type { TurnwireError } from "../common/errors.js";
import type { Socket } from "../transport/platform.js";

/** A stream of what concerns a thread. */
export interface Listener {
  readonly thread: string;
  /** Its id in quotes, as messages have it. */
  readonly quoted: string;
  /** What gives the connection up if a response does not come. */
  readonly timers: Set<ReturnType<typeof setTimeout>>;
  /** A message has come; of a response, `method` is that of its request. */
  take(message: string, method?: string): void;
  /** There is a sign of life, just now. */
  alive(now: number): void;
  /** The server tells nothing more of the thread. */
  unloaded(): void;
  /** No more will come. */
  fail(error: ConnectionError): void;
}

/** A request whose response has not come. */
interface Pending {
  readonly method: string;
  readonly listener: Listener | undefined;
  resolve(response: string): void;
  reject(error: TurnwireError): void;
}

/** So much may wait to be sent, in bytes: what a socket takes it cannot give back. */
const MOST_BUFFERED = 16 * 1024 * 1024;
/** By this a server says that it tells nothing more of a thread, which it has unloaded. */
const UNLOADED = "thread/closed";
/**
 * What goes to all listeners: requests of the server's, what became of them, and turns that begin. They may be those of
 * a thread that a listener's own thread has made, which only the core can tell.
 */
const FOR_ALL = /^\s*\{(?:\s*"jsonrpc"[^,]*,)?\s*(?:"id"[^,]*,\s*"method"|"method"\s*:\s*"(?:turn\/started"|serverRequest\/resolved"|[^"]*"\s*,\s*"id"))/;
/** What is about an item: never a response, and for the listeners to its own thread only, unless it is a request. */
const NEWS = /^\{(?:"jsonrpc":"2\.0",)?"method":"item\/[\w/]*","params"/;
/** `WebSocket.OPEN` */
const OPEN = 1;

/** An open connection. */
export class Line {
  /** What the server answered to what was said first, as JSON. */
  connection = "null";
  /** The threads that the server tells of on this connection. */
  readonly threads = new Set<string>();
  /** When something came last, by the clock on the wall: it goes on while the machine sleeps. */
  heard = Date.now();
  /** How many messages have come. */
  received = 0;
  /** A sign of life was asked for, and has not come. */
  isPinged = false;
  readonly #socket: Socket;
  /** The size of the largest response. */
  readonly #largest: number;
  /**
   * What the ids of this line's requests begin with, and nobody else's do: a response is known as one also when nobody
   * waits for it any more, and such requests need not be kept.
   */
  readonly #mark = letters(13);
  /** Ids of requests, in what comes. Quotes inside of texts are escaped: nothing that an agent says looks like one. */
  readonly #ids = new RegExp(`"id"\\s*:\\s*"(${this.#mark}\\w{8})"`);
  /** How many requests were sent. */
  #sent = 0;
  readonly #pending = new Map<string, Pending>();
  readonly #listeners = new Set<Listener>();
  readonly #closed: () => void;
  #end: ConnectionError | undefined;

  /** Takes a socket that is open. `closed` is called when it no longer is. Responses may be so `largest`. */
  constructor(socket: Socket, largest: number, closed: () => void) {
    this.#socket = socket;
    this.#largest = largest;
    this.#closed = closed;
    socket.addEventListener("message", ({ data }) => this.#take(data));
    socket.addEventListener("error", () => this.close(new ConnectionError("network", "the connection broke")));
    socket.addEventListener("close", ({ code, reason }) => {
      this.close(new ConnectionError("network", `the server closed the connection (${code}${reason && `: ${reason}`})`));
    });
  }

  /** Whether something can be said. A server that says goodbye is told nothing more, long before the socket is closed. */
  get isOpen(): boolean {
    return this.#end === undefined && this.#socket.readyState === OPEN;
  }

  /** Whether nobody waits for anything. */
  get isIdle(): boolean {
    return this.#listeners.size === 0 && this.#pending.size === 0;
  }

  /**
   * Sends a request, or throws as `send` does; gives the response as it came. A `listener` gets it as well, in its place
   * among the others. Who aborts `signal` waits for it no longer.
   */
  request(method: string, params: string, listener?: Listener, signal?: AbortSignal): Promise<string> {
    // Of 21 characters, which some servers demand.
    const id = this.#mark + (this.#sent += 1).toString(36).padStart(8, "0");
    const answer = new Promise<string>((resolve, reject) => this.#pending.set(id, { method, listener, resolve, reject }));
    try {
      this.send(`{"jsonrpc":"2.0","id":"${id}","method":"${method}","params":${params}}`);
    } catch (error) {
      this.#pending.delete(id);
      throw error;
    }
    onAbort(signal, () => this.#pending.delete(id));
    // Who waits for several is told of a broken line by one of them.
    answer.catch(() => {});
    return answer;
  }

  /**
   * Sends a message. Throws a `ConnectionError` if that is not possible now, and an `InputError` if it never will be:
   * then nothing of it was sent.
   */
  send(message: string): void {
    const { readyState, bufferedAmount } = this.#socket;
    if (this.#end) throw this.#end;
    if (readyState !== OPEN) throw new ConnectionError("network", "the connection is closing");
    // In bytes it is as long as in characters, or longer.
    if (message.length > MOST_BUFFERED) {
      throw new InputError("invalid_input", `${message.length} bytes are too large a message: at most ${MOST_BUFFERED} can be sent`);
    }
    if (bufferedAmount + message.length > MOST_BUFFERED) {
      throw new ConnectionError("network", `the server takes nothing: ${bufferedAmount} bytes wait to be sent`);
    }
    this.#socket.send(message);
  }

  /** Hands a thread's messages to a listener, from now on. Gives what ends that. */
  listen(listener: Listener): () => void {
    if (this.#end) listener.fail(this.#end);
    else this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      // Responses that were to be part of it are nobody's, either.
      for (const [id, pending] of this.#pending) if (pending.listener === listener) this.#pending.delete(id);
    };
  }

  /** Ends the connection; whoever waits for something is told why. */
  close(error: ConnectionError): void {
    if (this.#end) return;
    this.#end = error;
    this.#closed();
    this.#socket.close();
    const [pending, listeners] = [[...this.#pending.values()], [...this.#listeners]];
    this.#pending.clear();
    this.#listeners.clear();
    for (const { reject } of pending) reject(error);
    for (const listener of listeners) listener.fail(error);
  }

  #take(data: unknown): void {
    // Some sockets have more to say while they are being closed.
    if (this.#end) return;
    this.heard = Date.now();
    this.received += 1;
    for (const listener of this.#listeners) listener.alive(this.heard);
    // Binary messages are for uploads only, which the server does not send.
    if (typeof data !== "string") return;
    // Of most messages the first words say that they are about a thread, and no response.
    const isNews = NEWS.test(data);
    if (!isNews && data.includes(this.#mark)) {
      const [, id] = this.#ids.exec(data) ?? [];
      if (id !== undefined) return this.#answered(id, data);
    }
    if (!isNews && data.includes(UNLOADED)) this.#unloaded(data);
    for (const listener of this.#listeners) {
      if (data.includes(listener.quoted) || (!isNews && FOR_ALL.test(data))) listener.take(data);
    }
  }

  /** A request has its response. To parse each message here as well would double the work. */
  #answered(id: string, response: string): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    const { method, listener, resolve, reject } = pending;
    listener?.take(response, method);
    // The core limits what streams bring.
    if (listener || response.length <= this.#largest) return resolve(response);
    reject(new ProtocolError("frame_too_large", `a response is larger than \`maxFrameBytes\` (${this.#largest} bytes)`));
  }

  /** A thread is subscribed to anew before it is used again, whether anybody listens to it now or not. */
  #unloaded(message: string): void {
    try {
      const { method, params } = JSON.parse(message) as { method?: string; params: { threadId: string } };
      if (method !== UNLOADED) return;
      this.threads.delete(params.threadId);
      for (const listener of this.#listeners) if (listener.thread === params.threadId) listener.unloaded();
    } catch {
      // It is something else.
    }
  }
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** So many characters that nobody else draws. */
function letters(count: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(count)), (byte) => LETTERS[byte % 64]).join("");
}
