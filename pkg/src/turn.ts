// A turn: one request to the agent and everything that it answers.
import type { CoreTurn } from "./boundary.js";
import { Call } from "./calls.js";
import { limited, type Limits, onAbort, sleep, Watch, within } from "./clocks.js";
import { EventReader, lend, type StreamEvent } from "./delivery.js";
import { Drive, LOOK, type Driven, type Reconnecting, START, STREAM } from "./drive.js";
import { AbortError, adopting, ApiError, asTurnwireError, InputError, StateError, TurnwireError } from "./errors.js";
import type { CreatedBy, Event, Subject, TerminalState, TurnCreated, TurnInputItem, TurnRecord, TurnState } from "./events.js";
import { FrameNotifier } from "./frames.js";
import { byLines } from "./lines.js";
import { demandOptions, list, type ListOptions, type RequestOptions } from "./lists.js";
import { Listeners } from "./listeners.js";
import type { Connection, CreateTurnOptions, Session, TurnInput } from "./session.js";
import { SnapshotMirror, type TurnSnapshot, type TurnStatus } from "./snapshot.js";
import { type EventSource, TurnStream } from "./stream.js";
import { SparedOutput } from "./output.js";
import { checkedInput, checkedReconnect, demand, type Reconnect, type ReconnectOptions } from "./options.js";
import { mayPass, persist } from "./persist.js";
import { demandTopic, type TurnTopics } from "./topics.js";
import { orAborted, stopped } from "./transport.js";

/** What everything takes that reads a stream. */
export interface ResumeOptions extends RequestOptions {
  /** How persistently a lost connection is recovered; `false` not at all. By default as `connect` was told. */
  reconnect?: ReconnectOptions | false;
}

/** What `stream` takes. */
export interface StreamOptions extends ResumeOptions {
  /**
   * Only for a turn that has started: events after this one. By default after the last that this object
   * delivered; it never goes back behind that.
   */
  afterSequenceNumber?: number;
}

/** How a turn is started. */
type StartOptions = Pick<CreateTurnOptions, "discardPending" | "whenBusy">;

/** What has come waits in the core until somebody looks, but no more than so many bytes of the stream. */
const MOST_UNTAKEN = 1 << 17;

/** Between two questions how a turn stands, in milliseconds. */
const MAX_POLL_DELAY = 3000;

/** How a question is asked again where no connection is to be recovered. */
const POLL_PERSISTENCE: Reconnect = [5, 250, MAX_POLL_DELAY];

/** How servers refuse an answer to a turn that has paused meanwhile. */
const WAS_PAUSED: readonly number[] = [400, 404, 409];

/** How long its stream may take to say that it has paused, in milliseconds. */
const SOON = 5000;

/** The reason of the abort by which a loop that was left releases its connection. */
const LEFT = new Error("the loop over the stream was left");

/** An answer to a call, with what was asked. */
interface AnswerItem {
  tool_call_id: string;
  suspension?: { id?: string };
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
  readonly #output: SparedOutput;
  /** Bytes that were read since what they say was taken from the core. */
  #untaken = 0;
  #record: Partial<Pick<TurnRecord, "previous_turn_id" | "created_by" | "created_by_subject" | "created_at">>;
  #input: readonly TurnInputItem[];
  #state: TurnState | null = null;
  #error: TurnwireError | null = null;
  #reconnecting: Reconnecting | null = null;
  #stream: TurnStream | undefined;
  #lastStream: TurnStream | undefined;
  /** Resolves when the stream that is being read has ended, with the error if there was one. */
  #reading: Promise<TurnwireError | undefined> | undefined;
  /** What was answered while it runs: by the server's request, where there is one for each question, or by the call. */
  readonly #answered = new Set<string>();
  /** Whether it throws away what the turn before it waits for, and whether it waits for its place. */
  readonly #how: StartOptions;
  /** Whether its start is made ready. */
  #isPreparing = false;
  /** Whether others wait until it is over. */
  #isInside = false;
  /** What ends the reading of its stream. */
  #reads: Watch | undefined;
  /** The turn that this one follows, if its results belong to calls of that one. */
  #before: Turn | undefined;
  /** Who waits for anything to change. */
  #waiting: (() => void)[] = [];
  /** How many wait for a start that somebody else has asked for. */
  #joined = 0;
  /** What the last request for the turn failed with. */
  #failure: TurnwireError | undefined;

  /** @internal */
  constructor(session: Session, connection: Connection, core: CoreTurn, record: Partial<TurnRecord>, how: StartOptions = {}) {
    this.session = session;
    this.#connection = connection;
    this.#core = core;
    this.#mirror = new SnapshotMirror(core, connection.memory);
    this.#output = new SparedOutput(this.#mirror);
    this.#how = how;
    this.#record = record;
    this.#input = record.input ?? [];
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
   * A connection that is lost is recovered: each event comes once, in order. Throws a `StateError` if the
   * turn is streamed already or has ended. The iteration throws an `IncompleteError` if the connection cannot
   * be recovered, and an `AbortError` when `signal` is aborted; the turn itself goes on then, unless the server gives up turns that
   * nobody reads (`session.capabilities.resume` is `"none"`). `cancel()` stops
   * it.
   */
  stream(options: StreamOptions = {}): TurnStream {
    demandOptions("stream", options, "afterSequenceNumber", "reconnect");
    const rest = this.isOver ? this.#lastStream?.unread() : undefined;
    if (rest?.length) {
      // All of it came while a loop was being left.
      this.#lastStream = new TurnStream({ drain() {}, release: async () => {} }, rest);
      this.#lastStream.end();
      return this.#lastStream;
    }
    const whole = new Watch({ signal: options.signal, deadline: options.deadline ?? 0 });
    const reading = this.#read(options, whole);
    const source: EventSource = {
      drain: (events) => this.#drain(events),
      release: async () => {
        whole.cut(LEFT);
        await reading;
      },
    };
    const stream = new TurnStream(source, this.#lastStream?.unread());
    this.#lastStream = stream;
    this.#stream = stream;
    this.#wantEvents();
    return stream;
  }

  /**
   * Asks the server how the turn stands. Starts the turn, without a stream, if it has not started. Where servers know no
   * turns (`"aap"`), one that is read here stands as far as it was read.
   */
  async state(options: RequestOptions = {}): Promise<TurnState> {
    demandOptions("state", options);
    return within(options, async (limits) => {
      await this.#begun(limits);
      if (this.#connection.conventions.unnamed && this.#reading) return this.#state ?? { status: "running" };
      return (await this.#refresh("state", limits)).state;
    });
  }

  /** Lists the events of a finished turn, over all pages. There are no deltas among them. */
  listEvents(options: ListOptions & { order?: "asc" | "desc" } = {}): AsyncGenerator<Event, void, undefined> {
    demandOptions("listEvents", options, "limit", "pageToken", "order");
    const params = this.#params("listEvents");
    return list(this.#connection.transport, Call.ListTurnEvents, params, options, (event: Event) => event);
  }

  /**
   * Waits until the turn has ended, and gives how. Starts the turn if it has not started: with a stream if
   * there are listeners or subscribers, otherwise without one, asking for the state now and then.
   *
   * Rejects with an `IncompleteError` if the stream that is being read breaks before the turn ends, and cannot
   * be recovered. When it is only left, the wait goes on.
   */
  async waitForCompletion(options: ResumeOptions = {}): Promise<TerminalState> {
    demandOptions("waitForCompletion", options, "reconnect");
    await within(options, (limits) => this.#completed(limits));
    if (this.#state === null) throw new StateError("turn_not_running", "how the turn ended is not known");
    return this.#state as TerminalState;
  }

  async #completed(limits: ResumeOptions & { signal: AbortSignal }): Promise<void> {
    const { signal } = limits;
    const { detached } = this.#connection.conventions;
    const mayStream = (): boolean => this.#reading === undefined && !this.isOver;
    if (mayStream() && (!detached || this.#listeners.size > 0 || this.#frames.size > 0)) {
      if (signal.aborted) throw stopped(signal);
      if (this.status === "starting") await this.#begun(limits);
      // It is read to its end, whoever waits for that.
      if (mayStream()) void this.attach({ ...limits, signal: undefined! });
    }
    while (!this.isOver) {
      if (this.#isPreparing) await this.#settled(signal);
      const error = this.#reading && (await orAborted(this.#reading, signal));
      // Whoever reads may have stopped that, or have had less time.
      if (error !== undefined && !["aborted", "timeout"].includes(error.code)) throw error;
      if (mayStream()) await this.#poll(limits);
    }
    // Events that were missed may still be on their way.
    if (this.#reading) await orAborted(this.#reading, signal);
  }

  /**
   * Stops the turn on the server. A few more events may come, `turn.done` last: keep reading. It may be
   * called more than once, and does nothing once the turn has ended; while the turn is being started it waits
   * until it has begun. A server that cannot be told (`"aap"`) is left: the turn ends here, and may go on there.
   */
  async cancel(options: RequestOptions = {}): Promise<void> {
    demandOptions("cancel", options);
    await within(options, (limits) => this.#cancel(limits));
  }

  async #cancel(limits: Limits): Promise<void> {
    if (this.#connection.conventions.unnamed) return this.#hangUp();
    if (this.#isPreparing) {
      this.#withdraw();
      await this.#reading;
      return;
    }
    await this.#settled(limits.signal);
    if (this.status === "incomplete" && this.id === null) await this.#start(LOOK, limits);
    this.#startedId("cancel");
    // The server cancels whatever turn of the session runs: it must be this one.
    const isKnown = this.isOver || (this.#reading !== undefined && this.#reconnecting === null);
    if (!isKnown && (await this.#refresh("cancel", limits)).state.status !== "running") return;
    if (this.isOver) return;
    // The turn may end and the response get lost, or say that there is nothing to cancel any more.
    const asking = new Watch({ signal: limits.signal });
    const { signal } = asking;
    const ended = async (): Promise<void> => {
      while (!this.isOver) await orAborted(new Promise<void>((resolve) => this.#waiting.push(resolve)), signal);
    };
    try {
      await Promise.race([ended(), this.#connection.transport.ask(Call.CancelTurn, this.#params("cancel"), { ...limits, signal })]);
    } catch (error) {
      if (!this.isOver) throw error;
    } finally {
      asking.cut(LEFT);
      asking.end();
    }
  }

  /** The server cannot be told: its stream is left, and that is the turn's end. */
  async #hangUp(): Promise<void> {
    if (!this.isOver && this.#reading === undefined) {
      this.#startedId("cancel");
      throw new StateError("turn_not_running", "the turn is not read here, and this server cannot be told to stop it");
    }
    if (this.#isPreparing) this.#withdraw();
    else this.#core.hangUp();
    this.#reads?.cut(LEFT);
    await this.#reading;
  }

  /** It is not sent after all. */
  #withdraw(): void {
    this.#reads?.cut(new AbortError("aborted", "the turn was cancelled before it was sent"));
  }

  /**
   * Says more to the agent while the turn runs (`session.capabilities.steer`): the agent takes it up in this turn, as
   * soon as it can. While the turn is being started it waits until it has begun. What was said comes back as a `notice` of
   * code `"user_message"`.
   *
   * Throws a `StateError` if the turn has not started (`turn_not_started`) or is over (`turn_not_running`), and an
   * `ApiError` of code `rpc` if the server finds it over. It never begins a turn, and is never sent twice: after a
   * `ConnectionError`, the notices tell whether it arrived.
   */
  async steer(input: TurnInput, options: RequestOptions = {}): Promise<void> {
    demandOptions("steer", options);
    await within(options, (limits) => this.#steer(input, limits));
  }

  async #steer(input: TurnInput, limits: Limits): Promise<void> {
    const { transport, capabilities } = this.#connection;
    if (!capabilities.steer) throw new StateError("unsupported", "this protocol takes nothing more while a turn runs");
    // The rules are those of any input; the turn that it would make is never sent.
    const { input: items } = this.session.createTurn({ input });
    if (items.length === 0) throw new InputError("invalid_input", "there must be something to say");
    await this.#settled(limits.signal);
    const params = this.#params("steer");
    if (this.isOver) throw new StateError("turn_not_running", "the turn is over: what is to be said next is a turn of its own");
    await transport.ask(Call.SteerTurn, { ...params, input: items }, limits);
  }

  /**
   * Answers calls that wait, all of them or some, while the turn still runs (`session.capabilities.liveAnswers`).
   * Gives the turn in which the answers take effect: this one; or, if it has paused by now, the next one, which is
   * not started yet, as `session.createTurn({ input })` would give it.
   */
  async answer(input: TurnInput, options: RequestOptions = {}): Promise<Turn> {
    demandOptions("answer", options);
    if (!this.isOver && (await within(options, (limits) => this.#answer(input, limits)))) return this;
    return this.session.createTurn({ input, previousTurnId: this.id });
  }

  /** Gives whether the answers were taken while the turn runs. */
  async #answer(input: TurnInput, limits: Limits): Promise<boolean> {
    const { transport, capabilities, conventions } = this.#connection;
    if (!capabilities.liveAnswers) {
      throw new StateError("unsupported", "this protocol takes answers once the turn has paused, in a turn of their own");
    }
    const params = this.#params("answer");
    const taken = adopting(() => this.#core.takeAnswers(checkedInput(input)));
    const items = JSON.parse(taken) as AnswerItem[];
    // A call may be asked about more than once; where that is by messages, each has an id of its own.
    const asked = items.map(({ suspension, tool_call_id }) => suspension?.id ?? tool_call_id);
    const again = asked.findIndex((id) => this.#answered.has(id));
    if (again >= 0) throw new InputError("invalid_input", `call \`${items[again]!.tool_call_id}\` was answered already`);
    for (const id of asked) this.#answered.add(id);
    try {
      for (const group of conventions.answersApart ? items.map((item) => [item]) : [items]) {
        await transport.ask(Call.AnswerTurn, { ...params, input: group }, limits);
      }
      this.#core.answered(taken);
      return true;
    } catch (error) {
      for (const id of asked) this.#answered.delete(id);
      // It may have paused in this moment; then its stream says so, soon.
      if (!(error instanceof ApiError) || !WAS_PAUSED.includes(error.status!)) throw error;
      const soon = new Watch({ signal: limits.signal, deadline: SOON });
      try {
        if (this.#reading) await orAborted(this.#reading, soon.signal);
      } catch {
        if (limits.signal!.aborted) throw stopped(limits.signal!);
      } finally {
        soon.end();
      }
      if (!this.isOver) throw error;
      return false;
    }
  }

  /**
   * Calls `listener` with every event of a type, or with all of them (`"event"`), with the error that ended a
   * stream (`"error"`), or with what happens to the connection (`"reconnecting"`, `"resumed"`, `"gap"`,
   * `"idle"`). Gives the function that removes it. A listener that throws breaks nothing.
   */
  on<T extends keyof TurnTopics>(type: T, listener: (event: TurnTopics[T]) => void): () => void {
    demandListener(listener);
    demandTopic(type);
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
      reconnecting: this.#reconnecting,
      last_sequence_number: last,
      input: this.#input,
    });
  };

  /**
   * Calls `listener` when there is a new snapshot, at most once per animation frame; in a hidden tab, where
   * there are no frames, by a timer. Gives the function that ends it. Bound, so that
   * `useSyncExternalStore(turn.subscribe, turn.snapshot)` works as it stands.
   */
  readonly subscribe = (listener: () => void): (() => void) => {
    demandListener(listener);
    return this.#frames.add(listener);
  };

  /** Takes listed events of a finished turn into the snapshot. @internal */
  fill(events: readonly Event[]): void {
    // Some servers keep what a turn was given among its events only.
    const created = this.#input.length === 0 && events.find((event) => event.type === "turn.created");
    if (created) this.#input = created.input;
    adopting(() => this.#core.applyListed(JSON.stringify(events)));
    this.#changed();
  }

  /** This turn follows another one, whose calls it answers. @internal */
  follows(before: Turn): void {
    this.#before = before;
    before.settle(this);
  }

  /** A later turn has answered what this one waited for; the results are in that one. @internal */
  settle(next: Turn): void {
    this.#before = undefined;
    this.#core.settle(next.#how.discardPending === true);
    this.fill(next.snapshot().threads.flatMap((thread) => thread.tool_responses) as unknown as Event[]);
  }

  /** Whatever it waits for, a later turn has thrown away. @internal */
  discard(): void {
    this.#core.settle(true);
    this.#changed();
  }

  /** Whether it has ended. @internal */
  get isOver(): boolean {
    return ["done", "cancelled", "error"].includes(this.status);
  }

  /** Whether its stream is being read. @internal */
  get isRead(): boolean {
    return this.#reading !== undefined;
  }

  /** Whether it runs or is about to, as far as is known. @internal */
  get isBusy(): boolean {
    const { status } = this;
    return this.#isPreparing || status === "starting" || (this.id !== null && ["running", "incomplete"].includes(status));
  }

  /** Waits until it does not run: it is over, or was not started after all. @internal */
  async ended(signal: AbortSignal): Promise<void> {
    while (this.isBusy) {
      if (this.#isPreparing || this.status === "starting") await this.#settled(signal);
      else if (this.#reading) await orAborted(this.#reading, signal);
      // Nobody reads it here any more: the server knows.
      else await this.#poll({ signal });
    }
  }

  /** Reads the stream without anybody iterating over it. @internal */
  attach(options: ResumeOptions): void {
    const { signal, deadline = 0 } = options;
    void this.#read(options, new Watch({ signal, deadline }));
  }

  /**
   * Begins to read the turn's stream, until `whole` stops it. What is given resolves, with the error if there
   * was one, and never rejects.
   */
  #read(options: StreamOptions, whole: Watch): Promise<TurnwireError | undefined> {
    if (whole.signal.aborted && this.#reading === undefined) {
      // Nothing begins, so that the turn can still be started.
      return this.#follow(Promise.resolve(stopped(whole.signal)), whole);
    }
    try {
      const drive = this.#drive(options, whole.signal);
      const run = (): Promise<TurnwireError | undefined> => drive.run(drive.begin(STREAM, options.afterSequenceNumber));
      const ready = this.#prepare(whole.signal);
      const reading = ready ? this.#readied(ready, run) : run();
      this.#error = null;
      this.#reads = whole;
      return this.#follow(reading, whole);
    } catch (error) {
      this.#leave();
      whole.end();
      throw error;
    }
  }

  /** Makes ready for a start. Gives what to wait for; nothing if it can begin at once. */
  #prepare(signal: AbortSignal): Promise<void> | undefined {
    if (this.#isPreparing) throw new StateError("turn_already_streamed", "the turn is being started already");
    if (this.status !== "unstarted") return undefined;
    const ready = this.session.prepare(this, this.#how.whenBusy ?? "wait", signal);
    if (ready) return ready.then(() => void (this.#isInside = true));
    this.#isInside = true;
    return undefined;
  }

  /** Begins when all is ready. Never rejects. */
  async #readied(ready: Promise<void>, run: () => Promise<TurnwireError | undefined>): Promise<TurnwireError | undefined> {
    this.#isPreparing = true;
    try {
      try {
        await ready;
      } finally {
        // Nothing comes between this and the start: whoever waits for this turn finds it either not begun or on its way.
        this.#isPreparing = false;
      }
      return await run();
    } catch (error) {
      return asTurnwireError(error);
    }
  }

  /** Other turns of the session may start. */
  #leave(): void {
    if (!this.#isInside) return;
    this.#isInside = false;
    this.session.leave(this, this.#state);
  }

  /** Others wait for a reading, too; when it is over, whoever looks finds the turn as it then is. */
  #follow(reading: Promise<TurnwireError | undefined>, whole: Watch): Promise<TurnwireError | undefined> {
    this.#reading = reading.then((error) => {
      whole.end();
      this.#finish(error);
      return error;
    });
    this.#changed();
    return this.#reading;
  }

  #drive(options: Limits & Pick<ResumeOptions, "reconnect">, whole: AbortSignal): Drive {
    const { transport, settings, conventions } = this.#connection;
    const driven: Driven = {
      core: this.#core,
      transport,
      tell: (topic, value) => {
        this.#reconnecting = topic === "reconnecting" ? (value as Reconnecting) : null;
        this.#listeners.tell(topic, value as never);
        this.#changed();
      },
      opened: () => {
        this.#reconnecting = null;
        // A socket takes answers without a word of its own: one that is asked for again on another has got lost.
        if (conventions.socket) this.#answered.clear();
        this.#changed();
      },
      lines: () => byLines(settings.maxFrameBytes, (line) => {
        // Who wants frames as they come gets them whole.
        return this.#listeners.has("native") ? line : this.#output.shorten(line);
      }),
      woken: (length) => this.#woken(length),
      isOver: () => this.isOver,
    };
    const { connectTimeout = 0, idleTimeout = 0 } = limited(settings, options);
    const reconnect = checkedReconnect(options.reconnect, settings.reconnect);
    return new Drive(driven, { connectTimeout, idleTimeout, reconnect }, whole);
  }

  /**
   * Starts the turn without a stream, or looks whether it has started. An abort stops the request, unless
   * others wait for it as well.
   */
  async #start(goal: number, limits: Limits): Promise<void> {
    const { signal } = limits;
    if (signal?.aborted) throw stopped(signal);
    const whole = new Watch({});
    const drive = this.#drive(limits, whole.signal);
    const first = drive.begin(goal);
    this.#changed();
    let forget = (): void => {};
    const left = new Promise<never>((_, reject) => {
      forget = onAbort(signal, () => (this.#joined > 0 ? reject(stopped(signal!)) : whole.cut(signal!.reason)));
    });
    const started = drive.run(first).then((error) => {
      this.#reconnecting = null;
      this.#failure = error;
      this.#changed();
      if (error) throw error;
    });
    await Promise.race([started, left]).finally(forget);
  }

  /**
   * Starts the turn without a stream if nobody has started it, and waits until it has begun. Throws why it
   * did not, whoever has asked for the start.
   */
  async #begun(limits: Limits): Promise<void> {
    const { status } = this;
    if (this.#isPreparing) await this.#settled(limits.signal);
    else if (status === "unstarted" || (status === "incomplete" && this.id === null)) {
      const { detached } = this.#connection.conventions;
      if (detached && (status === "incomplete" || !this.session.hasOthers(this))) {
        if (status === "unstarted") this.#prepare(limits.signal!);
        return this.#start(START, limits);
      }
      // Whoever starts it must read it, or waits for its place.
      this.attach({ ...limits, signal: undefined! });
    } else if (status !== "starting") return;
    await this.#settled(limits.signal);
    if (this.id === null && this.#failure !== undefined) throw this.#failure;
  }

  /** Waits while the turn is being started. */
  async #settled(signal: AbortSignal | undefined): Promise<void> {
    this.#joined += 1;
    try {
      while (this.#isPreparing || this.status === "starting") {
        await orAborted(new Promise<void>((resolve) => this.#waiting.push(resolve)), signal);
      }
    } finally {
      this.#joined -= 1;
      this.#left(signal);
    }
  }

  /** Somebody waits no longer. What was not sent yet is not sent for nobody. */
  #left(signal: AbortSignal | undefined): void {
    const isWanted = this.#joined > 0 || this.#stream !== undefined;
    if (signal?.aborted && this.#isPreparing && !isWanted) this.#reads?.cut(signal.reason);
  }

  /** Reads the turn as the server keeps it. */
  async #refresh(what: string, limits: Limits): Promise<TurnRecord> {
    const params = this.#params(what);
    const record: TurnRecord = await this.#connection.transport.ask(Call.GetTurn, params, limits);
    adopting(() => this.#core.takeRecord(JSON.stringify(record)));
    this.#record = record;
    this.#changed();
    return record;
  }

  /**
   * Asks how the turn stands until it has ended, or somebody reads its stream: soon at first, for turns that
   * are short. A question that fails is asked again, some times: the turn goes on.
   */
  async #poll(limits: ResumeOptions & { signal: AbortSignal }): Promise<void> {
    const { signal } = limits;
    await this.#begun(limits);
    const reconnect = checkedReconnect(limits.reconnect, this.#connection.settings.reconnect);
    const persistence = reconnect[0] > 0 ? reconnect : POLL_PERSISTENCE;
    const isPassing = (error: TurnwireError): boolean => mayPass(error) || error.code === "unexpected_response";
    for (let delay = 250; !this.isOver && this.#reading === undefined; delay = Math.min(2 * delay, MAX_POLL_DELAY)) {
      await sleep(delay, signal, 0);
      if (signal.aborted) throw stopped(signal);
      await persist(() => this.#refresh("waitForCompletion", limits), persistence, signal, isPassing);
    }
  }

  /** A chunk was read. */
  #woken(length: number): void {
    this.#changed();
    this.#untaken += length;
    if (this.#untaken > MOST_UNTAKEN) {
      this.#untaken = 0;
      this.#mirror.follow();
    } else if (this.#listeners.size === 0 && !this.#stream?.isAwaited) {
      return;
    }
    const events: StreamEvent[] = [];
    this.#drain(events);
    if (events.length > 0) this.#stream?.push(events);
  }

  /** Events are made only if somebody takes them. */
  #wantEvents(): void {
    this.#core.setWantsEvents(this.#stream !== undefined || this.#listeners.size > 0);
    this.#core.setWantsNative(this.#listeners.has("native"));
  }

  /** Takes the events that have come, and tells the listeners. */
  #drain(events: StreamEvent[]): void {
    const header = this.#core.events();
    if (header === 0) return;
    const from = events.length;
    const natives: unknown[] = [];
    this.#reader.read(lend(this.#connection.memory, header), events, natives);
    for (const native of natives) this.#listeners.tell("native", native as TurnTopics["native"]);
    const last = events.at(-1);
    if (last?.type === "turn.done") this.#output.complete(last.state);
    if (this.#listeners.size === 0) return;
    for (let at = from; at < events.length; at += 1) {
      const event = events[at]!;
      this.#listeners.tell(event.type, event as never);
      this.#listeners.tell("event", event);
    }
  }

  #finish(error: TurnwireError | undefined): void {
    const stream = this.#stream;
    this.#failure = error;
    this.#reading = undefined;
    this.#stream = undefined;
    this.#reconnecting = null;
    const rest: StreamEvent[] = [];
    this.#drain(rest);
    stream?.push(rest);
    // To leave a loop is no failure.
    if (error !== undefined && error.cause !== LEFT) {
      this.#error = error;
      this.#listeners.tell("error", error);
    }
    this.#leave();
    stream?.end(error);
    this.#before?.settle(this);
    // The turns before this one are not kept alive by it.
    if (this.isOver) this.#before = undefined;
    this.#wantEvents();
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
      this.session.began(this, facts.created.previous_turn_id);
      // Records of some servers have none.
      if (facts.created.input?.length) this.#input = facts.created.input;
    }
    this.#output.complete(facts.state);
    if (facts.state) this.#state = facts.state;
    return facts;
  }

  /** What names the turn in requests. `method` needs it. */
  #params(method: string): object {
    const { unnamed } = this.#connection.conventions;
    return this.session.params({ turnId: this.#startedId(method), ...(unnamed && { input: this.#input, isBegun: true }) });
  }

  #startedId(method: string): string {
    const { id } = this.#learn();
    if (id !== undefined) return id;
    if (this.status === "incomplete") {
      throw new StateError("turn_not_started", "whether the turn began is not known; session.listTurns() tells");
    }
    throw new StateError(
      "turn_not_started",
      `the turn has not started: call stream(), waitForCompletion() or state() before ${method}()`,
    );
  }
}

function demandListener(listener: unknown): void {
  demand(typeof listener === "function", "a listener must be a function");
}
