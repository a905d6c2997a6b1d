// What comes on a turn's connection, and who takes it: the snapshot, listeners, and the loop over the stream. Events are
// made only if somebody takes them.
import type { Answers } from "./answers.js";
import type { CoreTurn } from "./boundary.js";
import { EventReader, lend, type StreamEvent } from "./delivery.js";
import type { ConnectionTopics, Driven } from "./drive.js";
import type { TurnwireError } from "./errors.js";
import { byLines } from "./lines.js";
import { Listeners } from "./listeners.js";
import type { Connection } from "./session.js";
import type { TurnStanding } from "./standing.js";
import { TurnStream } from "./stream.js";
import type { TurnTopics } from "./topics.js";
import type { Transport } from "./transport.js";

/** What has come waits in the core until somebody looks, but no more than so many bytes of the stream. */
const MOST_UNTAKEN = 1 << 17;

/** Takes what comes of one turn, and hands it on. */
export class Feed implements Driven {
  readonly core: CoreTurn;
  readonly #connection: Connection;
  readonly #standing: TurnStanding;
  readonly #answers: Answers;
  readonly #listeners = new Listeners<TurnTopics>();
  readonly #reader = new EventReader();
  /** Bytes that were read since what they say was taken from the core. */
  #untaken = 0;
  /** Who iterates over what is being read. */
  #stream: TurnStream | undefined;
  /** Who did so last, and may have left something. */
  #lastStream: TurnStream | undefined;

  constructor(connection: Connection, core: CoreTurn, standing: TurnStanding, answers: Answers) {
    this.#connection = connection;
    this.core = core;
    this.#standing = standing;
    this.#answers = answers;
  }

  get transport(): Transport {
    return this.#connection.transport;
  }

  /** Whether anybody listens. */
  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  /** Whether anybody iterates over what is being read. */
  get isIterated(): boolean {
    return this.#stream !== undefined;
  }

  isOver(): boolean {
    return this.#standing.isOver;
  }

  /** Adds a listener; gives what removes it. */
  on<T extends keyof TurnTopics>(topic: T, listener: (value: TurnTopics[T]) => void): () => void {
    const remove = this.#listeners.add(topic, listener);
    this.#wantEvents();
    return () => {
      remove();
      this.#wantEvents();
    };
  }

  /** A loop over what is being read begins. `release` ends the reading. */
  open(release: () => Promise<void>): TurnStream {
    const source = { drain: (events: StreamEvent[]) => this.#drain(events), release };
    this.#stream = this.#lastStream = new TurnStream(source, this.#lastStream?.unread());
    this.#wantEvents();
    return this.#stream;
  }

  /** What came while a loop was being left, as a stream of its own; nothing if it had everything. */
  rest(): TurnStream | undefined {
    const events = this.#lastStream?.unread();
    if (!events?.length) return undefined;
    this.#lastStream = new TurnStream({ drain() {}, release: async () => {} }, events);
    this.#lastStream.end();
    return this.#lastStream;
  }

  tell<T extends keyof ConnectionTopics>(topic: T, value: ConnectionTopics[T]): void {
    this.#standing.pauses({ [topic]: value });
    this.#listeners.tell(topic, value as never);
    this.#standing.changed();
  }

  opened(): void {
    this.#standing.pauses();
    // A socket takes answers without a word of its own: one that is asked for again on another has got lost.
    if (this.#connection.conventions.socket) this.#answers.forget();
    this.#standing.changed();
  }

  lines(): ReturnType<typeof byLines> {
    return byLines(this.#connection.settings.maxFrameBytes, (line) => {
      // Who wants frames as they come gets them whole.
      return this.#listeners.has("native") ? line : this.#standing.output.shorten(line);
    });
  }

  woken(length: number): void {
    this.#standing.changed();
    this.#untaken += length;
    if (this.#untaken > MOST_UNTAKEN) {
      this.#untaken = 0;
      this.#standing.mirror.follow();
    } else if (!this.isHeard && !this.#stream?.isAwaited) {
      return;
    }
    const events: StreamEvent[] = [];
    this.#drain(events);
    if (events.length > 0) this.#stream?.push(events);
  }

  /** Nothing more is read. Hands on what came last; gives what ends the loop, after which another one may have begun. */
  close(): (error?: TurnwireError) => void {
    const stream = this.#stream;
    this.#stream = undefined;
    const rest: StreamEvent[] = [];
    this.#drain(rest);
    stream?.push(rest);
    return (error) => {
      stream?.end(error);
      this.#wantEvents();
    };
  }

  /** The reading has failed. */
  fail(error: TurnwireError): void {
    this.#standing.error = error;
    this.#listeners.tell("error", error);
  }

  /** Events are made only if somebody takes them. */
  #wantEvents(): void {
    this.core.setWantsEvents(this.isIterated || this.isHeard);
    this.core.setWantsNative(this.#listeners.has("native"));
  }

  /** Takes the events that have come, and tells the listeners. */
  #drain(events: StreamEvent[]): void {
    const header = this.core.events();
    if (header === 0) return;
    const from = events.length;
    const natives: unknown[] = [];
    this.#reader.read(lend(this.#connection.memory, header), events, natives);
    for (const native of natives) this.#listeners.tell("native", native as TurnTopics["native"]);
    const last = events.at(-1);
    if (last?.type === "turn.done") this.#standing.output.complete(last.state);
    if (!this.isHeard) return;
    for (let at = from; at < events.length; at += 1) {
      const event = events[at]!;
      this.#listeners.tell(event.type, event as never);
      this.#listeners.tell("event", event);
    }
  }
}
