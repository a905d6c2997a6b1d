// The messages of a stream that comes over a socket: they wait until the stream is read, and then go straight to the reader.
import { ConnectionError, onAbort, stopped, type Watch } from "./face.js";
import type { StreamBody } from "./transport.js";

/** Takes a message; returns whether to read on. */
type Push = (message: string) => boolean;

/** A stream of messages. */
export class MessageStream implements StreamBody {
  /** Says more on the socket; the answers become messages of the stream. */
  readonly say: (messages: string) => void;
  readonly #leave: () => void;
  readonly #waiting: string[] = [];
  #push: Push | undefined;
  /** A message is being taken; one that comes meanwhile is next. */
  #isBusy = false;
  #end: { error?: unknown } | undefined;
  #settle = (): void => {};

  /** `leave` is called once, when no more messages are wanted. */
  constructor(leave: () => void, say: (messages: string) => void) {
    this.#leave = leave;
    this.say = say;
  }

  /** Whether no more messages are taken. */
  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** A message has come. */
  add(message: string): void {
    if (this.#end) return;
    this.#waiting.push(message);
    if (this.#push && !this.#isBusy) this.#take(this.#push);
  }

  /** No more messages will come. What has come is still read. */
  end(error?: ConnectionError): void {
    this.#finish(error === undefined ? {} : { error });
  }

  read(push: Push, { signal }: Watch): Promise<void> {
    const read = new Promise<void>((resolve, reject) => {
      this.#settle = () => {
        if (!this.#end) return;
        if ("error" in this.#end) reject(this.#end.error);
        else resolve();
      };
    });
    const forget = onAbort(signal, () => {
      this.#waiting.length = 0;
      this.#finish({ error: stopped(signal) });
    });
    this.#push = push;
    this.#take(push);
    return read.finally(forget);
  }

  #take(push: Push): void {
    this.#isBusy = true;
    try {
      for (let message = this.#waiting.shift(); message !== undefined; message = this.#waiting.shift()) {
        if (push(message)) continue;
        this.#waiting.length = 0;
        this.#finish({});
      }
    } catch (error) {
      this.#waiting.length = 0;
      this.#finish({ error });
    }
    this.#isBusy = false;
    this.#settle();
  }

  #finish(end: { error?: unknown }): void {
    if (this.#end) return;
    this.#end = end;
    this.#leave();
    if (!this.#isBusy) this.#settle();
  }
}
