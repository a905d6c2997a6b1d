// What comes on a turn's connection, and who takes it: the snapshot, listeners, and the loop over the stream. Events are
// made only if somebody takes them.
import type { CoreTurn } from "../boundary/boundary.js";
import type { TurnwireError } from "../common/errors.js";
import { Listeners } from "../common/listeners.js";
import type { ConnectionTopics } from "../delivery/connection-topics.js";
import { EventReader, lend, type StreamEvent } from "../delivery/delivery.js";
import { Lines } from "../delivery/lines.js";
import { TurnStream } from "../delivery/stream.js";
import { takesEvents, type TurnTopics } from "../delivery/topics.js";
import type { Transport } from "../transport/transport.js";
import type { Answers } from "./answers.js";
import type { Connection } from "./connection.js";
import type { Driven } from "./drive.js";
import type { TurnStanding } from "./standing.js";

/** How many bytes of the stream wait in the core: what the snapshot lacks, and events for the first listener or loop. */
const MOST_KEPT = 1 << 20;

/** How many bytes a loop may lag behind before its events, which take more, are taken from the core. */
const MOST_UNTAKEN = 1 << 17;

/** Takes what comes of one turn, and hands it on. */
export class Feed implements Driven {
  readonly core: CoreTurn;
  readonly #connection: Connection;
  readonly #standing: TurnStanding;
  readonly #answers: Answers;
  readonly #listeners = new Listeners<TurnTopics>();
  /** Whether a listener takes events. */
  isHeard = false;
  #reader = new EventReader();
  /** Bytes that were read since the snapshot had all that they say. */
  #unseen = 0;
  /** Bytes that were read since a loop that lags had all of their events. */
  #untaken = 0;
  /** Bytes that were read of which nothing has taken the events. */
  #kept = 0;
  /** Whether a loop that begins now would miss events of what is being read. */
  #isMissed = false;
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

  /** Whether a loop can begin that gets every event of what is being read. */
  get isFree(): boolean {
    return this.#stream === undefined && !this.#isMissed;
  }

  isOver(): boolean {
    return this.#standing.isOver;
  }

  /** Adds a listener; gives what removes it. */
  on<T extends keyof TurnTopics>(topic: T, listener: (value: TurnTopics[T]) => void): () => void {
    const remove = this.#listeners.add(topic, listener);
    this.#want();
    return () => {
      remove();
      this.#want();
    };
  }

  /** A reading begins. */
  begin(): void {
    this.#isMissed = false;
    this.#want();
  }

  /** A loop over what is being read begins, after the event of this number. `release` ends it. */
  open(after: number, release: () => Promise<void>): TurnStream {
    const source = { drain: (events: StreamEvent[]) => this.#drain(events), release };
    this.#stream = this.#lastStream = new TurnStream(source, after, this.#lastStream?.unread());
    this.#want();
    return this.#stream;
  }

  /** A loop ends before the reading does. What it was left with is for the next one. */
  leave(stream: TurnStream, error?: TurnwireError): void {
    if (this.#stream === stream) this.#stream = undefined;
    stream.end(error);
  }

  /** What came since a loop was left, as a stream of its own; nothing if it had everything. */
  rest(): TurnStream | undefined {
    if (!this.isFree) return undefined;
    const events = this.#lastStream?.unread() ?? [];
    this.#drain(events);
    if (!events.length) return undefined;
    this.#lastStream = new TurnStream({ drain() {}, release: async () => {} }, 0, events);
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

  lines(): Lines {
    return new Lines(this.#connection.settings.maxFrameBytes, (line) => {
      // Who wants frames as they come gets them whole.
      return this.#listeners.has("native") ? line : this.#standing.output.shorten(line);
    });
  }

  woken(length: number, hasEvents: boolean): void {
    this.#standing.changed();
    this.#untaken += length;
    if ((this.#unseen += length) > MOST_KEPT) {
      this.#unseen = 0;
      this.#standing.mirror.follow();
    }
    const isFull = this.#untaken > MOST_UNTAKEN;
    if (isFull) this.#untaken = 0;
    if (this.isHeard || (isFull && this.#stream)) {
      if (hasEvents || isFull) this.#handOn();
    } else if (this.#stream) {
      if (hasEvents) this.#stream.wake();
    } else if ((this.#kept += length) > MOST_KEPT) {
      this.#forget();
    }
  }

  /** Nothing more is read. Hands on what came last; gives what ends the loop, after which another one may have begun. */
  close(): (error?: TurnwireError) => void {
    const stream = this.#stream;
    if (stream || this.isHeard) this.#handOn();
    this.#stream = undefined;
    // Only a loop that was left can be gone on with.
    if (!stream && !this.#lastStream?.isLeft) this.#forget();
    return (error) => stream?.end(error);
  }

  /** The reading has failed. */
  fail(error: TurnwireError): void {
    this.#standing.error = error;
    this.#listeners.tell("error", error);
  }

  /** Has the core keep events for a listener or a loop, unless a loop would have missed some already. */
  #want(): void {
    this.isHeard = this.#listeners.hasAny(takesEvents);
    const wantsEvents = !this.#isMissed || this.#stream !== undefined || this.isHeard;
    // What is dropped takes the names along that it announced.
    if (!wantsEvents) this.#reader = new EventReader();
    this.core.setWantsEvents(wantsEvents);
    this.core.setWantsNative(this.#listeners.has("native"));
  }

  /** Drops the events that were not taken. */
  #forget(): void {
    this.#isMissed = true;
    this.#want();
  }

  /** Hands the events that have come to the listeners and the loop, also to one that was left. */
  #handOn(): void {
    const events: StreamEvent[] = [];
    this.#drain(events);
    if (this.#stream || this.#lastStream?.isLeft) this.#lastStream!.push(events);
    else this.#isMissed ||= events.length > 0;
  }

  /** Takes the events that have come, and tells the listeners. */
  #drain(events: StreamEvent[]): void {
    const header = this.core.events();
    if (header === 0) return;
    this.#kept = 0;
    const from = events.length;
    const natives = this.#reader.read(lend(this.core.memory, header), events);
    natives?.forEach((native) => this.#listeners.tell("native", native as TurnTopics["native"]));
    const last = events[events.length - 1];
    if (last?.type === "turn.done") this.#standing.output.complete(last.state);
    if (!this.isHeard) return;
    for (let at = from; at < events.length; at += 1) {
      const event = events[at]!;
      this.#listeners.tell(event.type, event as never);
      this.#listeners.tell("event", event);
    }
  }
}
