// Calls over a WebSocket: JSON-RPC requests, and streams of the messages that concern a thread. What to say and what
// it means is the core's to say; here is the I/O.
import type { CoreClient } from "../boundary/boundary.js";
import { Call } from "../boundary/calls.js";
import { adopting, ApiError, askToken, ConnectionError, InputError, limited, messageOf, onAbort, orAborted, StateError, stopped, streams, TurnwireError, unconnected, unsent, Watch } from "../client/face.js";
import type { ConnectOptions } from "../client/options.js";
import type { Clocks, Limits } from "../transport/clocks.js";
import type { OpenSocket, Socket, Token } from "../transport/platform.js";
import type { Settings, Transport } from "../transport/transport.js";
import type { SessionRecord } from "../wire/events.js";
import { Line, type Listener } from "./line.js";
import { MessageStream } from "./message-stream.js";

export { isEmptyList, withTaskEvents } from "./socket-lists.js";

/** A message, as the core has it: a request, a notification or a response. */
interface Message {
  method: string;
  params: string;
  notifies?: true;
  id?: string;
  result?: string;
  error?: string;
}

/** What a call says. */
interface Messages {
  thread: string;
  /** Said before, once in a connection. */
  subscribe?: Message;
  /** The call itself makes the connection hear of the thread. */
  subscribes: boolean;
  /** A server that has lost the thread makes it anew by this, without what was said in it. */
  remakes?: boolean;
  messages: Message[];
}

/** How long a connection on which nothing is going on stays open, in milliseconds. */
const LINGER = 60_000;
/** The same once the client was closed: what is made all the same was asked for, and nothing is going to follow. */
const BRIEF = 1000;
/** How long a connection that says nothing is believed in where no clock says so, in milliseconds. */
const PATIENCE = 30_000;
/** After half of the silence that is allowed a sign of life is asked for. */
const PING_AFTER = 0.5;
/** The code of an error that says that a request was not carried out as things stand. */
const REFUSED = -32600;
/** By how much a clock may be early, in milliseconds. */
const GRAIN = 50;

/** The way to one server. All calls share one connection, which is made when it is needed. */
export class SocketTransport implements Transport {
  /** How persistently questions are asked again. */
  readonly #core: CoreClient;
  readonly #url: string;
  readonly #token: Token | null | undefined;
  readonly #open: OpenSocket;
  readonly #clocks: Clocks;
  /** The size of the largest response. */
  readonly #largest: number;
  /** The connection, or the one that is being made. */
  #line: Promise<Line> | undefined;
  /** The connection that stands. */
  #current: Line | undefined;
  /** What gives up the making of one. */
  #dialling: Watch | undefined;
  /** When the connection will not have been used for long. */
  #lingering: ReturnType<typeof setTimeout> | undefined;
  /** Whether the client was closed. */
  #isClosed = false;
  /** When the threads were made of which the server has told. */
  readonly #born = new Map<string, string | null>();

  constructor(core: CoreClient, baseUrl: string, { token, webSocket }: ConnectOptions, settings: Settings & { maxFrameBytes: number }) {
    this.#core = core;
    this.#url = baseUrl.replace(/^http/, "ws");
    this.#token = token;
    this.#clocks = settings;
    this.#largest = settings.maxFrameBytes;
    // Looked up at each connection: tests and tracers replace the platform's.
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

  async open(call: Call, params: string, watch: Watch): Promise<string | MessageStream> {
    const line = await this.#connected(watch);
    const undoubt = this.#doubt(line, watch);
    try {
      const messages = this.#messages(call, params, line);
      if ("local" in messages) return JSON.stringify(messages.local);
      const { thread, subscribe, remakes = false } = messages;
      if (!subscribe) return await this.#carried(call, params, messages, line, watch);
      const wasHeard = line.threads.has(thread);
      // Not in one go: a server that does several things at once might begin before it tells of it.
      const isHeard = wasHeard || (await this.#subscribed(thread, subscribe, remakes, line, watch));
      try {
        return await this.#carried(call, params, messages, line, watch, isHeard);
      } catch (error) {
        if (!wasHeard || !isRefused(error)) throw error;
        // The server may have unloaded the thread, and told nobody that this connection hears of it no longer. All
        // refusals have one code, and texts are not to be relied upon: whatever it was, the thread is subscribed to
        // anew, which changes nothing of a thread that is there. What was refused has not been done, so that to say it
        // once more, as it was and once only, starts no second turn. A lost response, or any other error, is no refusal.
        line.threads.delete(thread);
        if (!(await this.#subscribed(thread, subscribe, remakes, line, watch))) throw error;
        return await this.#carried(call, params, messages, line, watch);
      }
    } finally {
      undoubt();
      this.#linger(line);
    }
  }

  download(): Promise<Blob> {
    throw new StateError("unsupported", "this protocol has no files to download");
  }

  close(): void {
    const error = new ConnectionError("network", "the client was closed");
    this.#isClosed = true;
    this.#dialling?.cut(error);
    this.#current?.close(error);
  }

  /** Has the connection hear of a thread. Gives whether the server agrees; throws if it has lost what was said in it. */
  async #subscribed(thread: string, subscribe: Message, remakes: boolean, line: Line, watch: Watch): Promise<boolean> {
    const [heard] = this.#said({ thread, subscribes: true, remakes, messages: [subscribe] }, line, undefined, watch.signal);
    const response = await orAborted(heard!, watch.signal);
    if (isError(response)) return false;
    if (this.#isAnother(response, remakes)) {
      throw new ApiError("rpc", "the server no longer has this conversation: create another session", { status: 404 });
    }
    return true;
  }

  /** Whether a thread is not the one that had its id before: the server has lost that, and made one anew. */
  #isAnother(response: string, remakes: boolean): boolean {
    try {
      const record = JSON.parse(this.#core.answer(Call.GetSession, 0, "", "", "{}", response)) as SessionRecord;
      const known = this.#born.get(record.id);
      if (!known || !remakes) this.#born.set(record.id, record.created_at);
      return remakes && !!known && !!record.created_at && known !== record.created_at;
    } catch {
      return false;
    }
  }

  /** Says what a call says; gives what it brings. `isHeard`: the server tells of the thread. */
  async #carried(
    call: Call,
    params: string,
    messages: Messages,
    line: Line,
    watch: Watch,
    isHeard = true,
  ): Promise<string | MessageStream> {
    if (streams(call)) return this.#stream(call, params, messages, line, watch, isHeard);
    const [answer] = this.#said(messages, line, undefined, watch.signal);
    const read = await this.#read(call, params, answer, watch);
    // It is the server that names the thread.
    if (messages.subscribes && messages.thread === "") line.threads.add((JSON.parse(read) as { id: string }).id);
    return read;
  }

  /** Gives the messages of a thread, from those that answer the call on. */
  async #stream(
    call: Call,
    params: string,
    said: Messages,
    line: Line,
    watch: Watch,
    isHeard: boolean,
  ): Promise<MessageStream> {
    let isBegun = false;
    let leave = (): void => {};
    const stream = new MessageStream(
      () => {
        leave();
        for (const timer of listener.timers) clearTimeout(timer);
        unping();
        unwatch();
        this.#linger(line);
      },
      (text) => {
        if (stream.isOver) return;
        try {
          this.#expect(this.#said(JSON.parse(text) as Messages, line, listener), line, listener);
        } catch (cause) {
          // The turn would wait for the answer for ever. Who comes back on another connection reads all of it.
          line.close(new ConnectionError("network", messageOf(cause), { cause }));
        }
      },
    );
    const listener: Listener = {
      thread: said.thread,
      quoted: JSON.stringify(said.thread),
      timers: new Set(),
      take: (message, method) => {
        isBegun ||= method !== undefined;
        // Responses may come after the stream was left.
        stream.add(lineOf(message, method));
      },
      alive: (now) => watch.alive(now),
      unloaded: () => {
        // Of a request that is under way its response tells.
        if (isBegun) stream.end();
      },
      fail: (error) => stream.end(error),
    };
    const unping = this.#ping(line, watch);
    // A connection that is given up for its silence, or because the page was away, is dead for all.
    const unwatch = onAbort(watch.signal, () => {
      const { reason } = watch.signal;
      if (reason instanceof ConnectionError && (reason.code !== "timeout" || watch.silence > 0)) line.close(reason);
    });
    leave = line.listen(listener);
    try {
      const { subscribes, messages: list } = said;
      // What is read before the server tells of the thread would miss what comes in between.
      const [now, later] = subscribes ? [list.slice(0, 1), list.slice(1)] : [list, []];
      const [answer, ...others] = this.#begun({ ...said, messages: now }, line, listener, watch.signal);
      await this.#read(call, params, answer, watch);
      this.#expect([...others, ...this.#said({ ...said, subscribes: false, messages: later }, line, listener)], line, listener);
      if (!isHeard) {
        // A thread of Codex is there to be subscribed to with its first turn only. That has begun now, and is read.
        stream.end();
      }
      return stream;
    } catch (error) {
      stream.end();
      throw error;
    }
  }

  /** As `#said`, of what begins a call: if that cannot be sent, nothing was. */
  #begun(messages: Messages, line: Line, listener: Listener, signal: AbortSignal): (Promise<string> | undefined)[] {
    try {
      return this.#said(messages, line, listener, signal);
    } catch (error) {
      if (error instanceof ConnectionError) unconnected.add(error);
      throw error;
    }
  }

  /** The stream goes on with these responses only: a server that does not give them is given up. */
  #expect(answers: (Promise<string> | undefined)[], line: Line, { timers }: Listener): void {
    const patience = this.#clocks.connectTimeout || PATIENCE;
    for (const answer of answers) {
      const timer = setTimeout(() => {
        line.close(new ConnectionError("timeout", `a request had no response within ${patience} ms`));
      }, patience);
      timers.add(timer);
      const clear = (): void => {
        clearTimeout(timer);
        timers.delete(timer);
      };
      // Of a broken line whoever listens is told.
      if (answer) answer.then(clear, clear);
      else clear();
    }
  }

  /** Says what a call says, or throws. Gives the responses to come, in order; nothing for what has none. */
  #said(
    { thread, subscribes, remakes = false, messages }: Messages,
    line: Line,
    listener?: Listener,
    signal?: AbortSignal,
  ): (Promise<string> | undefined)[] {
    const say = ({ method, params, notifies, id, result, error }: Message): Promise<string> | undefined => {
      if (id !== undefined) line.send(`{"jsonrpc":"2.0","id":${id},${error ? `"error":${error}` : `"result":${result!}`}}`);
      else if (notifies) line.send(`{"jsonrpc":"2.0","method":"${method}","params":${params}}`);
      else return line.request(method, params, listener, signal);
      return undefined;
    };
    const said = messages.map(say);
    const { threads } = line;
    if (subscribes && thread !== "") {
      said[0]?.then(
        // A goodbye from before is overtaken.
        (response) => (isError(response) || this.#isAnother(response, remakes) ? threads.delete(thread) : threads.add(thread)),
        () => {},
      );
    }
    return said;
  }

  /** The connection; it is made if there is none. */
  async #connected(watch: Watch): Promise<Line> {
    try {
      if (watch.signal.aborted) throw stopped(watch.signal);
      const current = this.#current;
      // A machine that slept wakes up with a connection that is dead, as far as anybody knows.
      const isStale = current?.isIdle && Date.now() - current.heard > LINGER;
      if (current && (isStale || !current.isOpen)) current.close(new ConnectionError("network", "the connection is closing"));
      const line = await orAborted((this.#line ??= this.#connect()), watch.signal);
      if (!line.isOpen) throw new ConnectionError("network", "the connection is closing");
      clearTimeout(this.#lingering);
      return line;
    } catch (error) {
      // Nothing of the call was sent.
      if (watch.signal.aborted) unsent.add(error as object);
      else if (error instanceof ConnectionError) unconnected.add(error);
      throw error;
    }
  }

  #connect(): Promise<Line> {
    const watch = new Watch({ connectTimeout: this.#clocks.connectTimeout ?? 0 });
    this.#dialling = watch;
    const made = this.#greeted(watch, () => {
      // Another one may be on its way by then.
      if (this.#line === made) this.#line = undefined;
    }).finally(() => {
      watch.end();
      if (this.#dialling === watch) this.#dialling = undefined;
    });
    return made;
  }

  /** A connection on which the first words were exchanged. `gone` is called when there is none, or no longer. */
  async #greeted(watch: Watch, gone: () => void): Promise<Line> {
    let line: Line | undefined;
    try {
      const token = await askToken(this.#token, watch.signal);
      line = await this.#dialled(token, watch, gone);
      const hello = this.#messages(Call.Connect, "{}", undefined) as Messages;
      const [answer] = this.#said(hello, line);
      line.connection = await this.#read(Call.Connect, "{}", answer, watch);
      // Whoever wanted it may have gone.
      this.#linger(line);
      return (this.#current = line);
    } catch (error) {
      gone();
      line?.close(new ConnectionError("network", "the server did not say who it is"));
      throw error;
    }
  }

  async #dialled(token: string | undefined, { signal }: Watch, gone: () => void): Promise<Line> {
    const url = new URL(this.#url);
    // Browsers send no headers of a page's with a WebSocket.
    if (token !== undefined) url.searchParams.set("access_token", token);
    const socket = this.#made(url.href);
    const opened = new Promise<Line>((resolve, reject) => {
      const refused = (): void => reject(new ConnectionError("network", "the connection was refused, or did not get through"));
      socket.addEventListener("open", () => {
        if (signal.aborted) return socket.close();
        const line = new Line(socket, this.#largest, () => {
          gone();
          if (this.#current === line) this.#current = undefined;
        });
        resolve(line);
      });
      socket.addEventListener("error", refused);
      socket.addEventListener("close", refused);
    });
    try {
      return await orAborted(opened, signal);
    } catch (error) {
      socket.close();
      throw error;
    }
  }

  #made(url: string): Socket {
    let socket: Socket | undefined;
    try {
      socket = this.#open.call(undefined, url);
    } catch (error) {
      if (error instanceof TurnwireError) throw error;
      // Not the platform's error, which quotes the address, and in it the token.
      throw new ConnectionError("network", "no connection can be made to this address from here");
    }
    if (typeof socket?.addEventListener !== "function") throw new InputError("invalid_option", "`webSocket` gave no socket");
    return socket;
  }

  /**
   * A request that nothing answers, while nothing else comes either, was said to nobody: then the connection is given
   * up, so that the next request is not. Gives what ends that.
   */
  #doubt(line: Line, watch: Watch): () => void {
    const began = Date.now();
    const { received } = line;
    return onAbort(watch.signal, () => {
      const { reason } = watch.signal;
      if (!(reason instanceof ConnectionError)) return;
      // The caller may have less patience than is due to the server.
      const rest = began + (this.#clocks.connectTimeout || PATIENCE) - Date.now();
      const judge = (): void => {
        if (line.received === received) line.close(reason);
      };
      if (rest > GRAIN) unreffed(setTimeout(judge, rest));
      else judge();
    });
  }

  /** Asks for a sign of life when there is none for long. The answer is one; without it the watch ends the stream. */
  #ping(line: Line, { idleTimeout }: Watch): () => void {
    if (idleTimeout === 0) return () => {};
    const timer = setInterval(() => {
      if (line.isPinged || Date.now() - line.heard < idleTimeout * PING_AFTER) return;
      const ping = this.#messages(Call.Ping, "{}", line) as Messages;
      const answered = (): void => void (line.isPinged = false);
      try {
        const [pong] = this.#said(ping, line);
        line.isPinged = true;
        pong!.then(answered, answered);
      } catch {
        // Much waits to be sent; it may yet go. If it does not, silence ends the stream.
      }
    }, idleTimeout * PING_AFTER * PING_AFTER);
    return () => clearInterval(timer);
  }

  /** A connection that nobody uses is closed after a while. */
  #linger(line: Line): void {
    if (!line.isIdle || !line.isOpen) return;
    clearTimeout(this.#lingering);
    this.#lingering = setTimeout(() => {
      if (line.isIdle) line.close(new ConnectionError("network", "it was not used"));
    }, this.#isClosed ? BRIEF : LINGER);
    unreffed(this.#lingering);
  }

  #messages(call: Call, params: string, line: Line | undefined): Messages | { local: unknown } {
    const told = line ? `${params.slice(0, -1)}${params === "{}" ? "" : ","}"connection":${line.connection}}` : params;
    return JSON.parse(adopting(() => this.#core.request(call, told))) as Messages | { local: unknown };
  }

  /** What a response says, unless the watch cuts the call off before it comes. */
  async #read(call: Call, params: string, answer: Promise<string> | undefined, watch: Watch): Promise<string> {
    // A response to the server has none of its own.
    const response = answer ? await orAborted(answer, watch.signal) : '{"result":null}';
    const read = adopting(() => this.#core.answer(call, 0, "", "", params, response));
    if (call === Call.GetSession) this.#isAnother(response, true);
    watch.opened();
    return read;
  }
}

/** A message as one line; a response names the method of its request. */
function lineOf(message: string, method: string | undefined): string {
  // Outside of texts, where JSON has no line ends, they mean nothing.
  const line = message.replace(/[\r\n]+/g, " ");
  return method === undefined ? line : `{"response_to":"${method}",${line.trimStart().slice(1)}`;
}

/** Whether the server has refused the request. */
function isRefused(error: unknown): boolean {
  return error instanceof ApiError && (error.body as { code?: number } | null | undefined)?.code === REFUSED;
}

function isError(response: string): boolean {
  try {
    return "error" in (JSON.parse(response) as object);
  } catch {
    return true;
  }
}

/** A timer that keeps no process alive, where there are processes. */
function unreffed(timer: unknown): void {
  (timer as { unref?: () => void }).unref?.();
}

function platformSocket(url: string): Socket {
  if (typeof globalThis.WebSocket !== "function") {
    throw new StateError("unsupported", "this platform has no WebSocket: `connect` takes one as `webSocket`");
  }
  return new globalThis.WebSocket(url);
}
