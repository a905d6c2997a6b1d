// Distributes what arrives on a turn's connection: to the snapshot, to listeners, and to the loop over the stream.
// Creates event objects only if something consumes them.
import { type CoreTurn, HAS_EVENTS } from "../boundary/boundary.js";
import type { TurnwireError } from "../common/errors.js";
import { Listeners } from "../common/listeners.js";
import type { ConnectionTopics } from "../delivery/connection-topics.js";
import { EventReader, lend, NONE, type StreamEvent } from "../delivery/delivery.js";
import { TurnStream } from "../delivery/stream.js";
import { takesEvents, type TurnTopics } from "../delivery/topics.js";
import type { Transport } from "../transport/transport.js";
import type { Answers } from "./answers.js";
import type { Connection, StreamLines } from "./connection.js";
import type { Driven } from "./drive.js";
import type { TurnStore } from "./store.js";

/** The most bytes of the stream that wait in the core: for the snapshot, and as events for the first listener or loop. */
const MAX_KEPT = 1 << 20;

/** The most bytes by which a loop may lag before its events are taken from the core, where they need more memory. */
const MAX_UNTAKEN = 1 << 17;

/** Receives a turn's events and delivers them. */
export class Feed implements Driven {
  readonly core: CoreTurn;
  readonly #connection: Connection;
  readonly #store: TurnStore;
  readonly #answers: Answers;
  readonly #listeners = new Listeners<TurnTopics>();
  /** Whether a listener takes events. */
  isHeard = false;
  #reader: EventReader;
  /** Bytes read since the snapshot was last complete. */
  #unseen = 0;
  /** Bytes read since a slow loop last had all of their events. */
  #untaken = 0;
  /** Bytes read whose events nothing has taken. */
  #kept = 0;
  /** Whether a loop that begins now would miss events of this reading. */
  #isMissed = false;
  /** The loop over the current reading. */
  #stream: TurnStream | undefined;
  /** The last loop. If it was left, it may have undelivered events. */
  #lastStream: TurnStream | undefined;

  constructor(connection: Connection, core: CoreTurn, store: TurnStore, answers: Answers) {
    this.#connection = connection;
    this.core = core;
    this.#store = store;
    this.#reader = new EventReader(store.json);
    this.#answers = answers;
  }

  get transport(): Transport {
    return this.#connection.transport;
  }

  /** Whether a new loop would get every event of this reading. */
  get isFree(): boolean {
    return this.#stream === undefined && !this.#isMissed;
  }

  isOver(): boolean {
    return this.#store.isOver;
  }

  /** Adds a listener; returns the function that removes it. */
  on<T extends keyof TurnTopics>(topic: T, listener: (value: TurnTopics[T]) => void): () => void {
    const remove = this.#listeners.add(topic, listener);
    this.#updateWants();
    return () => {
      remove();
      this.#updateWants();
    };
  }

  /** A reading begins. */
  begin(): void {
    this.#isMissed = false;
    this.#updateWants();
  }

  /** Opens a loop over the current reading, for events after this number. `release` ends it. */
  open(after: number, release: () => Promise<void>): TurnStream {
    const source = { drain: () => this.#read(this.core.events()), release };
    this.#stream = this.#lastStream = new TurnStream(source, after, this.#lastStream?.unread());
    this.#updateWants();
    return this.#stream;
  }

  /** A loop reads no further. Its undelivered events go to the next loop. */
  leave(stream: TurnStream): void {
    if (this.#stream === stream) this.#stream = undefined;
    stream.leave();
  }

  /** The events since a loop was left, as a new stream; `undefined` if it had all of them. */
  rest(): TurnStream | undefined {
    if (!this.isFree) return undefined;
    const events = [...(this.#lastStream?.unread() ?? []), ...this.#read(this.core.events())];
    if (!events.length) return undefined;
    this.#lastStream = new TurnStream({ drain: () => NONE, release: async () => {} }, 0, events);
    this.#lastStream.end();
    return this.#lastStream;
  }

  tell<T extends keyof ConnectionTopics>(topic: T, value: ConnectionTopics[T]): void {
    this.#store.setPause({ [topic]: value });
    this.#listeners.tell(topic, value as never);
    this.#store.changed();
  }

  opened(): void {
    this.#store.setPause();
    // A socket does not confirm answers. A question that the server asks again on a new one was not answered.
    if (this.#connection.conventions.socket) this.#answers.forget();
    this.#store.changed();
  }

  lines(): StreamLines | undefined {
    // Listeners to native frames get them unshortened.
    return this.#store.elision?.lines(this.#connection.settings.maxFrameBytes, () => this.#listeners.has("native"));
  }

  get takesEvents(): boolean {
    return this.isHeard || this.#stream?.isWaiting === true;
  }

  chunkRead(length: number, address: number): void {
    if (address > HAS_EVENTS) this.#deliver(address);
    this.#store.changed();
    if ((this.#unseen += length) > MAX_KEPT) {
      this.#unseen = 0;
      this.#store.mirror.follow();
    }
    const isLate = (this.#untaken += length) > MAX_UNTAKEN && this.#stream !== undefined;
    if (isLate) this.#untaken = 0;
    if (isLate || this.takesEvents) this.#deliver(this.core.events());
    else if (!this.#stream && (this.#kept += length) > MAX_KEPT) this.#forget();
  }

  /**
   * Reading has ended. Delivers the last events, and returns the function that ends the loop; another one may begin
   * before that.
   */
  close(): (error?: TurnwireError) => void {
    const stream = this.#stream;
    if (stream || this.isHeard) this.#deliver(this.core.events());
    this.#stream = undefined;
    // Only a loop that was left can be continued.
    if (!stream && !this.#lastStream?.isLeft) this.#forget();
    return (error) => stream?.end(error);
  }

  /** The reading has failed. */
  fail(error: TurnwireError): void {
    this.#store.error = error;
    this.#listeners.tell("error", error);
  }

  /** Has the core keep events for a listener or a loop, unless a loop would already have missed some. */
  #updateWants(): void {
    this.isHeard = this.#listeners.hasAny(takesEvents);
    const wantsEvents = !this.#isMissed || this.#stream !== undefined || this.isHeard;
    // Dropped events also drop the names that they defined.
    if (!wantsEvents) this.#reader = new EventReader(this.#store.json);
    this.core.setWantsEvents(wantsEvents);
    this.core.setWantsNative(this.#listeners.has("native"));
  }

  /** Drops the events that nothing has taken. */
  #forget(): void {
    this.#isMissed = true;
    this.#updateWants();
  }

  /** Delivers the events at this address to the listeners and the loop, even to a loop that was left. */
  #deliver(address: number): void {
    if (address === 0) return;
    const events = this.#read(address);
    if (this.#stream || this.#lastStream?.isLeft) this.#lastStream!.push(events);
    else this.#isMissed ||= events.length > 0;
  }

  /** Creates the events at this address, and calls the listeners. */
  #read(address: number): StreamEvent[] {
    if (address === 0) return NONE;
    this.#kept = 0;
    const events = this.#reader.read(lend(this.core.memory, address));
    this.#reader.natives?.forEach((native) => this.#listeners.tell("native", native as TurnTopics["native"]));
    if (this.isHeard) {
      for (const event of events) {
        this.#listeners.tell(event.type, event as never);
        this.#listeners.tell("event", event);
      }
    }
    return events;
  }
}
