// A server without a network, as a replacement for `WebSocket`: JSON messages both ways, with the faults of that connection.
import { type Faults, written } from "./faults.js";
import type { FakeRequest } from "./http.js";

/** A connection as a protocol sees it. */
export interface Peer {
  /** Sends the response to a request. */
  reply(message: object): void;
  /** Begins the events of a turn on this connection: planned faults apply to them. */
  begin(): void;
  /** Sends an event of a turn, and marks the last one. */
  tell(message: object, isLast?: boolean): void;
}

/** A protocol's handlers for a connection. */
export interface Speak {
  take(message: Record<string, any>, peer: Peer): void;
  leave(peer: Peer): void;
}

/** Opens connections to one server. */
export class FakeSockets {
  readonly #speak: Speak;
  readonly #requests: FakeRequest[];
  readonly #nextFaults: () => Faults;
  readonly #open = new Set<FakeSocket>();

  constructor(speak: Speak, requests: FakeRequest[], nextFaults: () => Faults) {
    this.#speak = speak;
    this.#requests = requests;
    this.#nextFaults = nextFaults;
  }

  readonly open = (url: string): WebSocket => {
    const take = (text: string, peer: Peer) => {
      const message = JSON.parse(text) as Record<string, any>;
      if (message["method"] !== undefined) this.#requests.push({ method: "SEND", url: message["method"], headers: {}, body: message["params"] ?? null });
      this.#speak.take(message, peer);
    };
    const socket = new FakeSocket(url, take, this.#nextFaults, () => {
      this.#open.delete(socket);
      this.#speak.leave(socket);
    });
    this.#open.add(socket);
    return socket as unknown as WebSocket;
  };

  /** Breaks all connections. */
  disconnect(): void {
    for (const socket of [...this.#open]) socket.cut(1006);
  }
}

/** One end of a connection: a `WebSocket` for the page, a peer for the server. */
class FakeSocket extends EventTarget implements Peer {
  readonly url: string;
  readonly bufferedAmount = 0;
  readonly extensions = "";
  readonly protocol = "";
  binaryType = "blob";
  readyState = 0;
  readonly #take: (text: string, peer: Peer) => void;
  readonly #nextFaults: () => Faults;
  readonly #left: () => void;
  #faults: Faults = {};
  #events = 0;
  #before: string[] = [];
  #isSilent = false;

  constructor(url: string, take: (text: string, peer: Peer) => void, nextFaults: () => Faults, left: () => void) {
    super();
    this.url = url;
    this.#take = take;
    this.#nextFaults = nextFaults;
    this.#left = left;
    this.#later(() => {
      this.readyState = 1;
      this.#emit("open");
    });
  }

  send(text: string): void {
    if (this.readyState !== 1) return;
    this.#later(() => !this.#isSilent && this.#take(text, this));
  }

  close(code = 1005): void {
    this.readyState = 2;
    this.cut(code);
  }

  /** Ends the connection: code 1006 means that it broke. */
  cut(code: number): void {
    if (this.readyState === 3) return;
    this.#later(() => {
      this.readyState = 3;
      this.#emit("close", { code, reason: "", wasClean: code !== 1006 });
    });
    this.#left();
  }

  reply(message: object): void {
    this.#say(JSON.stringify(message));
  }

  begin(): void {
    this.#faults = this.#nextFaults();
    this.#events = 0;
    this.#before = [];
    this.#endIfDue();
  }

  tell(message: object, isLast = false): void {
    const text = JSON.stringify(message);
    const texts = written(text, this.#before.length + 1, isLast, this.#faults, this.#before);
    this.#before.push(text);
    if (!texts) return this.cut(1006);
    for (const one of texts) {
      if (!this.#endIfDue()) this.#say(one);
      this.#events += 1;
    }
    this.#endIfDue();
  }

  /** Ends the connection after the events that its faults allow. */
  #endIfDue(): boolean {
    const { end } = this.#faults;
    if (!end || this.#events < end.after) return false;
    if (end.how === "stall") this.#isSilent = true;
    else this.cut(end.how === "eof" ? 1000 : 1006);
    return true;
  }

  #say(text: string): void {
    if (!this.#isSilent && this.readyState < 2) this.#later(() => this.readyState === 1 && this.#emit("message", { data: text }));
  }

  #emit(type: string, more: object = {}): void {
    this.dispatchEvent(Object.assign(new Event(type), more));
  }

  /** Delivers asynchronously, and in order. */
  #later(act: () => unknown): void {
    queueMicrotask(act);
  }
}
