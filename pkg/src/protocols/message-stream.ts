// The messages of a stream that comes over a socket: they wait until the stream is read, and then go straight to the reader.
import { onAbort, stopped, type Watch } from "../client/face.js";
import type { StreamBody } from "../transport/transport.js";

/** Takes a message; returns whether to read on. */
type Push = (message: string) => boolean;

/** A stream of messages. */
export class MessageStream implements StreamBody {
  /** Says more on the socket; the answers become messages of the stream. */
  readonly say: (messages: string) => void;
  /** Whether no more messages are taken. */
  isOver = false;
  readonly #leave: () => void;
  readonly #waiting: string[] = [];
  #push: Push | undefined;
  /** A message is being taken; one that comes meanwhile is next. */
  #isBusy = false;
  #error: unknown;
  #settle!: () => void;

  /** `leave` is called once, when no more messages are wanted. */
  constructor(leave: () => void, say: (messages: string) => void) {
    this.#leave = leave;
    this.say = say;
  }

  /** A message has come. */
  add(message: string): void {
    if (this.isOver) return;
    this.#waiting.push(message);
    this.#take();
  }

  /** No more messages will come. What has come is still read. */
  end(error?: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#error = error;
    this.#leave();
    this.#take();
  }

  read(push: Push, { signal }: Watch): Promise<void> {
    const forget = onAbort(signal, () => this.end(stopped(signal)));
    return new Promise<void>((resolve, reject) => {
      this.#settle = () => (this.#error ? reject(this.#error) : resolve());
      this.#push = push;
      this.#take();
    }).finally(forget);
  }

  #take(): void {
    if (!this.#push || this.#isBusy) return;
    this.#isBusy = true;
    try {
      while (this.#waiting.length > 0) if (!this.#push(this.#waiting.shift()!)) this.#drop();
    } catch (error) {
      this.#drop(error);
    }
    this.#isBusy = false;
    if (this.isOver) this.#settle();
  }

  /** Nothing more is read, also of what has come. */
  #drop(error?: unknown): void {
    this.#waiting.length = 0;
    this.end(error);
  }
}
