// A turn: one request to the agent and everything that it answers.
import type { CoreTurn } from "../core/core.js";
import { EventReader, lend, type StreamEvent } from "./delivery.js";
import { adopt, adopting, StateError, TurnwireError } from "./errors.js";
import type { CreatedBy, Event, Subject, TerminalState, TurnCreated, TurnInputItem, TurnRecord, TurnState } from "./events.js";
import { FrameNotifier } from "./frames.js";
import { list, type ListOptions, type RequestOptions } from "./lists.js";
import { Listeners } from "./listeners.js";
import type { Connection, Session } from "./session.js";
import { SnapshotMirror, type TurnSnapshot, type TurnStatus } from "./snapshot.js";
import { type EventSource, TurnStream } from "./stream.js";
import { aborted, orAborted, pump, sleep } from "./transport.js";

/** What `stream` takes. */
export interface StreamOptions extends RequestOptions {
  /**
   * Only for a turn that has started: events after this one. By default after the last that this object
   * delivered; it never goes back behind that.
   */
  afterSequenceNumber?: number;
}

/** The topics of `on`: a type of event, `"event"` for all of them, `"error"` for the end of a stream. */
export type TurnTopics = { [E in StreamEvent as E["type"]]: E } & {
  event: StreamEvent;
  error: TurnwireError;
};

/** Between two questions how a turn stands, in milliseconds. */
const MAX_POLL_DELAY = 3000;

/** A call that the core plans. */
interface Plan {
  call: number;
  params: object;
}

/** What the core knows of a turn; what the server said of it comes once. */
interface Facts {
  id?: string;
  status: TurnStatus;
  last: number;
  created?: TurnCreated;
  state?: TerminalState;
}

/** One request to the agent and everything that it answers. */
export class Turn {
  /** The session that the turn belongs to. */
  readonly session: Session;
  readonly #connection: Connection;
  readonly #core: CoreTurn;
  readonly #listeners = new Listeners<TurnTopics>();
  readonly #reader = new EventReader();
  readonly #mirror: SnapshotMirror;
  readonly #frames = new FrameNotifier();
  #record: Partial<Pick<TurnRecord, "previous_turn_id" | "created_by" | "created_by_subject" | "created_at">>;
  #input: readonly TurnInputItem[];
  #state: TurnState | null = null;
  #error: TurnwireError | null = null;
  #stream: TurnStream | undefined;
  #lastStream: TurnStream | undefined;
  #reading: Promise<void> | undefined;
  /** Who waits for anything to change. */
  #waiting: (() => void)[] = [];

  /** @internal */
  constructor(session: Session, connection: Connection, core: CoreTurn, record: TurnRecord | null) {
    this.session = session;
    this.#connection = connection;
    this.#core = core;
    this.#mirror = new SnapshotMirror(core, connection.memory);
    this.#record = record ?? {};
    this.#input = record?.input ?? (JSON.parse(core.input() ?? "[]") as TurnInputItem[]);
  }

  /** The turn's id; `null` until it has started. */
  get id(): string | null {
    return this.#learn().id ?? null;
  }

  /** The turn that this one follows; `null` for a first turn, and until it has started. */
  get previousTurnId(): string | null {
    this.#learn();
    return this.#record.previous_turn_id ?? null;
  }

  /** Who created it, by name; `null` until it has started. */
  get createdBy(): string | null {
    this.#learn();
    const by: CreatedBy | undefined = this.#record.created_by ?? this.#record.created_by_subject ?? undefined;
    return typeof by === "object" ? by.subject_slug || by.subject_id : (by ?? null);
  }

  /** Who created it; `null` until it has started, and where the server gives only a name. */
  get createdBySubject(): Subject | null {
    this.#learn();
    return this.#record.created_by_subject ?? null;
  }

  /** ISO 8601; `null` until it has started. */
  get createdAt(): string | null {
    this.#learn();
    return this.#record.created_at ?? null;
  }

  /** What the turn was given. */
  get input(): readonly TurnInputItem[] {
    return this.#input;
  }

  /** Where the turn stands, as far as is known here. `state()` asks the server. */
  get status(): TurnStatus {
    return this.#learn().status;
  }

  /** The number of the last event that came; 0 before the first. */
  get lastSequenceNumber(): number {
    return this.#learn().last;
  }

  /**
   * Streams the turn: starts it, or attaches to it if it has started. The request goes out at once.
   *
   * Throws a `StateError` if the turn is streamed already or has ended. The iteration throws an
   * `IncompleteError` if the stream ends before the turn, and an `AbortError` when `signal` is aborted;
   * the turn itself goes on then. `cancel()` stops it.
   */
  stream(options: StreamOptions = {}): TurnStream {
    const release = new AbortController();
    this.#read(options, release);
    const reading = this.#reading!;
    const source: EventSource = {
      drain: (events) => this.#drain(events),
      release: async () => {
        release.abort();
        await reading.catch(() => {});
      },
    };
    const stream = new TurnStream(source, this.#lastStream?.unread());
    this.#lastStream = stream;
    this.#stream = stream;
    this.#wantEvents();
    // The iterator reports how it ended; a stream that nobody iterates must not raise an alarm.
    reading.then(
      () => this.#finish(stream),
      (error: TurnwireError) => this.#finish(stream, error),
    );
    return stream;
  }

  /** Asks the server how the turn stands. Starts the turn, without a stream, if it has not started. */
  async state(options: RequestOptions = {}): Promise<TurnState> {
    if (this.status === "unstarted") await this.#start(options);
    return (await this.#refresh("state", options.signal)).state;
  }

  /** Lists the events of a finished turn, over all pages. There are no deltas among them. */
  listEvents(options: ListOptions & { order?: "asc" | "desc" } = {}): AsyncGenerator<Event, void, undefined> {
    const params = { sessionId: this.session.id, turnId: this.#startedId("listEvents") };
    return list(this.#connection.transport, "listTurnEvents", params, options, (event: Event) => event);
  }

  /**
   * Waits until the turn has ended, and gives how. Starts the turn if it has not started: with a stream if
   * there are listeners or subscribers, otherwise without one, asking for the state now and then.
   *
   * Rejects with an `IncompleteError` if the stream that is being read ends before the turn does.
   */
  async waitForCompletion(options: RequestOptions = {}): Promise<TerminalState> {
    if (this.#reading === undefined && !this.#isOver && (this.#listeners.size > 0 || this.#frames.size > 0)) {
      this.#read(options, new AbortController());
      this.#reading!.then(() => this.#finish(), (error: TurnwireError) => this.#finish(undefined, error));
    }
    if (this.#reading !== undefined) await orAborted(this.#reading, options.signal);
    else if (!this.#isOver) await this.#poll(options);
    this.#learn();
    if (this.#state === null) throw new StateError("turn_not_running", "how the turn ended is not known");
    return this.#state as TerminalState;
  }

  /**
   * Stops the turn on the server. A few more events may come, `turn.done` last: keep reading. It may be
   * called more than once; while the turn is being started it waits until it has begun.
   */
  async cancel(options: RequestOptions = {}): Promise<void> {
    while (this.status === "starting") await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#startedId("cancel");
    await this.#connection.transport.ask("cancelSession", { sessionId: this.session.id }, options.signal);
  }

  /**
   * Calls `listener` with every event of a type, or with all of them (`"event"`), or with the error that
   * ended a stream (`"error"`). Gives the function that removes it. A listener that throws breaks nothing.
   */
  on<T extends keyof TurnTopics>(type: T, listener: (event: TurnTopics[T]) => void): () => void {
    const remove = this.#listeners.add(type, listener);
    this.#wantEvents();
    return () => {
      remove();
      this.#wantEvents();
    };
  }

  /** The turn as it stands. Immutable; what did not change since the last one is the same object. Bound. */
  readonly snapshot = (): TurnSnapshot => {
    const { id = null, status, last } = this.#learn();
    return this.#mirror.take({
      turn_id: id,
      status,
      state: this.#state,
      error: this.#error,
      last_sequence_number: last,
      input: this.#input,
    });
  };

  /**
   * Calls `listener` when there is a new snapshot, at most once per animation frame; in a hidden tab, where
   * there are no frames, by a timer. Gives the function that ends it. Bound, so that
   * `useSyncExternalStore(turn.subscribe, turn.snapshot)` works as it stands.
   */
  readonly subscribe = (listener: () => void): (() => void) => this.#frames.add(listener);

  /** Takes listed events of a finished turn into the snapshot. @internal */
  fill(events: readonly Event[]): void {
    adopting(() => this.#core.applyListed(JSON.stringify(events)));
    this.#changed();
  }

  get #isOver(): boolean {
    return ["done", "cancelled", "error"].includes(this.status);
  }

  /** Begins to read the turn's stream. */
  #read({ signal, afterSequenceNumber }: StreamOptions, release: AbortController): void {
    if (signal?.aborted && this.#reading === undefined) {
      // Nothing begins, so that the turn can still be started.
      this.#reading = Promise.reject(aborted(signal));
      return;
    }
    const plan = adopting(() => this.#core.beginStream(afterSequenceNumber));
    const follow = (): void => release.abort(signal?.reason);
    signal?.addEventListener("abort", follow, { once: true });
    this.#error = null;
    this.#reading = this.#readToEnd(plan, release.signal).finally(() => signal?.removeEventListener("abort", follow));
    this.#changed();
  }

  /** Opens a stream and reads it; rejects unless the turn ends with it. */
  async #readToEnd(plan: string, signal: AbortSignal): Promise<void> {
    const { call, params } = JSON.parse(plan) as Plan;
    try {
      const body = await this.#connection.transport.open(call, JSON.stringify(params), signal);
      if (body) await pump(body, (chunk) => this.#push(chunk), signal);
      if (signal.aborted) throw aborted(signal);
    } catch (broken) {
      // An abort breaks the body as well, with the signal's reason.
      const cause = signal.aborted ? aborted(signal) : broken;
      const { code, message, status } = asTurnwireError(cause);
      throw this.#reported(() => this.#core.end(code, message, status), cause);
    }
    adopting(() => this.#core.end("", "", undefined));
  }

  /** Takes a chunk; gives whether to read on. */
  #push(chunk: Uint8Array): boolean {
    try {
      return adopting(() => this.#core.push(chunk));
    } finally {
      this.#woken();
    }
  }

  /** The error that the core reports for `cause`; its own where it has nothing to say. */
  #reported(report: () => void, cause: unknown): TurnwireError {
    try {
      report();
    } catch (error) {
      return adopt(error, cause);
    }
    return asTurnwireError(cause);
  }

  /** Starts the turn without a stream. */
  async #start({ signal }: RequestOptions): Promise<void> {
    if (signal?.aborted) throw aborted(signal);
    const { call, params } = JSON.parse(adopting(() => this.#core.beginStart())) as Plan;
    this.#changed();
    try {
      this.#take(await this.#connection.transport.askText(call, JSON.stringify(params), signal));
    } catch (cause) {
      const { code, message, status } = asTurnwireError(cause);
      throw this.#reported(() => this.#core.end(code, message, status), cause);
    } finally {
      this.#changed();
    }
  }

  /** Reads the turn as the server keeps it. */
  async #refresh(what: string, signal: AbortSignal | undefined): Promise<TurnRecord> {
    const params = { sessionId: this.session.id, turnId: this.#startedId(what) };
    const record: TurnRecord = await this.#connection.transport.ask("getTurn", params, signal);
    this.#take(JSON.stringify(record));
    this.#changed();
    return record;
  }

  #take(json: string): void {
    adopting(() => this.#core.takeRecord(json));
    this.#record = JSON.parse(json) as TurnRecord;
  }

  /** Asks how the turn stands until it has ended: soon at first, for turns that are short. */
  async #poll({ signal }: RequestOptions): Promise<void> {
    if (this.status === "unstarted") await this.#start({ ...(signal && { signal }) });
    for (let delay = 250; !this.#isOver; delay = Math.min(2 * delay, MAX_POLL_DELAY)) {
      await sleep(delay, signal);
      if (signal?.aborted) throw aborted(signal);
      await this.#refresh("waitForCompletion", signal);
    }
  }

  /** A chunk was read. */
  #woken(): void {
    this.#changed();
    if (this.#listeners.size === 0 && !this.#stream?.isAwaited) return;
    const events: StreamEvent[] = [];
    this.#drain(events);
    if (events.length > 0) this.#stream?.push(events);
  }

  /** Events are made only if somebody takes them. */
  #wantEvents(): void {
    this.#core.setWantsEvents(this.#stream !== undefined || this.#listeners.size > 0);
  }

  /** Takes the events that have come, and tells the listeners. */
  #drain(events: StreamEvent[]): void {
    const header = this.#core.events();
    if (header === 0) return;
    const from = events.length;
    this.#reader.read(lend(this.#connection.memory, header), events);
    if (this.#listeners.size === 0) return;
    for (let at = from; at < events.length; at += 1) {
      const event = events[at]!;
      this.#listeners.tell(event.type, event as never);
      this.#listeners.tell("event", event);
    }
  }

  #finish(stream?: TurnStream, error?: TurnwireError): void {
    this.#reading = undefined;
    this.#stream = undefined;
    const rest: StreamEvent[] = [];
    this.#drain(rest);
    stream?.push(rest);
    // A loop that was left has had its end; only others learn of the abort that this makes.
    if (error !== undefined) {
      this.#error = error;
      this.#listeners.tell("error", error);
    }
    stream?.end(error);
    this.#changed();
  }

  #changed(): void {
    this.#frames.notify();
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Takes what the core has learnt of the turn as a whole. */
  #learn(): Facts {
    const facts = JSON.parse(this.#core.facts()) as Facts;
    if (facts.created) {
      this.#record = facts.created;
      if (facts.created.input.length > 0) this.#input = facts.created.input;
    }
    if (facts.state) this.#state = facts.state;
    return facts;
  }

  #startedId(method: string): string {
    const { id } = this.#learn();
    if (id !== undefined) return id;
    throw new StateError(
      "turn_not_started",
      `the turn has not started: call stream(), waitForCompletion() or state() before ${method}()`,
    );
  }
}

/** What broke a stream, as an error of this package. */
function asTurnwireError(cause: unknown): TurnwireError {
  if (cause instanceof TurnwireError) return cause;
  const message = `the connection broke: ${cause instanceof Error ? cause.message : String(cause)}`;
  return new TurnwireError("network", message, { cause });
}
