// A turn: one request to the agent and everything that it answers.
import type { CoreTurn } from "../boundary/boundary.js";
import { Call } from "../boundary/calls.js";
import { demand } from "../common/check.js";
import { InputError, StateError } from "../common/errors.js";
import type { ListedEvent } from "../delivery/delivery.js";
import type { TurnStream } from "../delivery/stream.js";
import { demandTopic, type TurnTopics } from "../delivery/topics.js";
import type { TurnSnapshot, TurnStatus } from "../snapshot/snapshot.js";
import { type Limits, within } from "../transport/clocks.js";
import { demandOptions, list, type ListOptions, type RequestOptions } from "../transport/lists.js";
import type { CreatedBy, Event, Subject, TerminalState, TurnInputItem, TurnRecord, TurnState } from "../wire/events.js";
import { Answers } from "./answers.js";
import type { Connection } from "./connection.js";
import { Course } from "./course.js";
import { Feed } from "./feed.js";
import type { TurnHost } from "./host.js";
import type { CreateTurnOptions, ResumeOptions, StreamOptions, TurnInput } from "./options.js";
import { TurnStanding } from "./standing.js";

/** How a turn is started. */
type StartOptions = Pick<CreateTurnOptions, "discardPending" | "whenBusy">;

/** One request to the agent and everything that it answers. */
export class Turn {
  readonly #connection: Connection;
  readonly #core: CoreTurn;
  /** Whether it throws away what the turn before it waits for, and whether it waits for its place. */
  readonly #how: StartOptions;
  readonly #standing: TurnStanding;
  readonly #answers: Answers;
  readonly #feed: Feed;
  readonly #course: Course<Turn>;
  /** The turn that this one follows, if its results belong to calls of that one. */
  #before: Turn | undefined;

  /** @internal */
  constructor(session: TurnHost<Turn>, connection: Connection, core: CoreTurn, record: Partial<TurnRecord>, how: StartOptions = {}) {
    // `session.ts` says what it is.
    Object.assign(this, { session });
    this.#connection = connection;
    this.#core = core;
    this.#how = how;
    this.#standing = new TurnStanding(connection, core, record, (more) => session.params(more), (previous) => session.began(this, previous));
    this.#answers = new Answers(connection, core);
    this.#feed = new Feed(connection, core, this.#standing, this.#answers);
    this.#course = new Course(this, session, connection, this.#standing, this.#feed, how.whenBusy);
  }

  /** The turn's id; `null` until it has started. */
  get id(): string | null {
    return this.#standing.learn().id ?? null;
  }

  /** The turn that this one follows; `null` for a first turn, and until it has started. */
  get previousTurnId(): string | null {
    return this.#standing.origin.previous_turn_id ?? null;
  }

  /** Who created it, by name; `null` until it has started. */
  get createdBy(): string | null {
    const { created_by, created_by_subject } = this.#standing.origin;
    const by: CreatedBy | undefined = created_by ?? created_by_subject ?? undefined;
    return typeof by === "object" ? by.subject_slug || by.subject_id : (by ?? null);
  }

  /** Who created it; `null` until it has started, and where the server gives only a name. */
  get createdBySubject(): Subject | null {
    return this.#standing.origin.created_by_subject ?? null;
  }

  /** ISO 8601; `null` until it has started. */
  get createdAt(): string | null {
    return this.#standing.origin.created_at ?? null;
  }

  /** What the turn was given. */
  get input(): readonly TurnInputItem[] {
    return this.#standing.input;
  }

  /** Where the turn stands, as far as is known here. `state()` asks the server. */
  get status(): TurnStatus {
    return this.#standing.status;
  }

  /** The number of the last event that came; 0 before the first. */
  get lastSequenceNumber(): number {
    return this.#standing.learn().last;
  }

  /**
   * Streams the turn: starts it, or attaches to it if it has started. The request goes out at once.
   *
   * A connection that is lost is recovered: each event comes once, in order. While `waitForCompletion()` or
   * `session.resume()` reads the turn, the loop joins that reading and gets every event from the first one on, or after
   * `afterSequenceNumber`. Throws a `StateError` if the loop would miss events (`turn_already_streamed`: another loop goes on,
   * listeners had some before, or more than 1 MiB of the stream has come), and if the turn has ended. The iteration throws an `IncompleteError` if the connection cannot
   * be recovered, and an `AbortError` when `signal` is aborted; the turn itself goes on then, unless the server gives up turns that
   * nobody reads (`session.capabilities.resume` is `"none"`). `cancel()` stops
   * it.
   */
  stream(options: StreamOptions = {}): TurnStream {
    demandOptions("stream", options, "afterSequenceNumber", "reconnect");
    return (this.isOver && this.#feed.rest()) || this.#course.stream(options);
  }

  /**
   * Asks the server how the turn stands. Starts the turn, without a stream, if it has not started. Where servers know no
   * turns (`"aap"`), one that is read here stands as far as it was read.
   *
   * If the turn has ended, the snapshot has all that it said when this resolves: of a turn that was not streamed, from its
   * list of events. Rejects with an `IncompleteError` if that cannot be read; `snapshot().state` has the state all the same.
   */
  async state(options: RequestOptions = {}): Promise<TurnState> {
    demandOptions("state", options);
    return within(options, (limits) => this.#course.state(limits));
  }

  /** Lists the events of a finished turn, over all pages. There are no deltas among them; few servers number them. */
  listEvents(options: ListOptions & { order?: "asc" | "desc" } = {}): AsyncGenerator<ListedEvent, void, undefined> {
    demandOptions("listEvents", options, "limit", "pageToken", "order");
    const params = this.#standing.params("listEvents");
    return list(this.#connection.transport, Call.ListTurnEvents, params, options, (event: ListedEvent) => event);
  }

  /**
   * Waits until the turn has ended, and returns its state. Starts the turn if it has not started.
   *
   * It reads the stream, unless that is read already. Events wait for the first listener or loop, so that `on()` and
   * `stream()` can come later; `snapshot()` has all that has come. Of a turn that has ended without being streamed, its list
   * of events is read.
   *
   * Rejects with an `IncompleteError` if the stream breaks before the turn ends and cannot be recovered, or if the turn has
   * ended and its list of events cannot be read; `snapshot().state` has the state then. When a loop over the stream is
   * left, the wait goes on. Aborting `signal` ends the wait only; the reading stops if nothing else wants it.
   */
  async waitForCompletion(options: ResumeOptions = {}): Promise<TerminalState> {
    demandOptions("waitForCompletion", options, "reconnect");
    await within(options, (limits) => this.#course.completed(limits));
    const { state } = this.#standing;
    if (state === null) throw new StateError("turn_not_running", "how the turn ended is not known");
    return state as TerminalState;
  }

  /**
   * Stops the turn on the server. A few more events may come, `turn.done` last: keep reading. It may be
   * called more than once, and does nothing once the turn has ended; while the turn is being started it waits
   * until it has begun. A server that cannot be told (`"aap"`) is left: the turn ends here, and may go on there.
   */
  async cancel(options: RequestOptions = {}): Promise<void> {
    demandOptions("cancel", options);
    await within(options, (limits) => this.#course.cancel(limits));
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
    await this.#course.settled(limits.signal);
    const params = this.#standing.params("steer");
    if (this.isOver) throw new StateError("turn_not_running", "the turn is over: what is to be said next is a turn of its own");
    await transport.ask(Call.SteerTurn, { ...params, input: items }, limits);
  }

  /**
   * Answers calls that wait, all of them or some, while the turn still runs (`session.capabilities.liveAnswers`).
   * Gives the turn in which the answers take effect: this one; or, if it has paused by now, the next one, which is
   * not started yet, as `session.createTurn({ input })` would give it. Where a turn's calls wait only while it runs
   * (`"codex"`), a turn that is over throws a `StateError` (`turn_not_running`).
   */
  async answer(input: TurnInput, options: RequestOptions = {}): Promise<Turn> {
    demandOptions("answer", options);
    if (!this.isOver && (await within(options, (limits) => this.#answer(input, limits)))) return this;
    if (this.#connection.conventions.socket) {
      throw new StateError("turn_not_running", "the turn is over: what it asked for waited only while it ran");
    }
    return this.session.createTurn({ input, previousTurnId: this.id });
  }

  /** Gives whether the answers were taken while the turn runs. */
  async #answer(input: TurnInput, limits: Limits & { signal: AbortSignal }): Promise<boolean> {
    if (!this.#connection.capabilities.liveAnswers) {
      throw new StateError("unsupported", "this protocol takes answers once the turn has paused, in a turn of their own");
    }
    const refusal = await this.#answers.send(input, this.#standing.params("answer"), limits);
    if (refusal === undefined) return true;
    await this.#course.pauses(limits.signal);
    if (!this.isOver) throw refusal;
    return false;
  }

  /**
   * Calls `listener` with every event of a type, or with all of them (`"event"`), with the error that ended a
   * stream (`"error"`), or with what happens to the connection (`"reconnecting"`, `"waiting"`, `"resumed"`, `"gap"`,
   * `"mismatch"`, `"idle"`). Returns the function that removes it. A listener that throws breaks nothing. While the turn is
   * read and nothing takes its events, they wait for the first listener, up to 1 MiB of the stream.
   */
  on<T extends keyof TurnTopics>(type: T, listener: (event: TurnTopics[T]) => void): () => void {
    demandListener(listener);
    demandTopic(type);
    return this.#feed.on(type, listener);
  }

  /** The turn as it stands. Immutable; what did not change since the last one is the same object. Bound. */
  readonly snapshot = (): TurnSnapshot => this.#standing.snapshot();

  /**
   * Calls `listener` when there is a new snapshot, at most once per animation frame; in a hidden tab, where
   * there are no frames, by a timer. Gives the function that ends it. Bound, so that
   * `useSyncExternalStore(turn.subscribe, turn.snapshot)` works as it stands.
   */
  readonly subscribe = (listener: () => void): (() => void) => {
    demandListener(listener);
    return this.#standing.frames.add(listener);
  };

  /** Takes all the listed events of a finished turn into the snapshot. @internal */
  fill(events: readonly Event[]): void {
    this.#standing.fill(events, true);
  }

  /** Reads what led to an end that is known. @internal */
  filled(limits: Limits & { signal: AbortSignal }): Promise<void> {
    return this.#course.filled(limits);
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
    this.#standing.fill(next.snapshot().threads.flatMap((thread) => thread.tool_responses) as unknown as Event[], false);
  }

  /** It may have results for the turn whose calls it answers. @internal */
  passOn(): void {
    this.#before?.settle(this);
    // The turns before this one are not kept alive by it.
    if (this.isOver) this.#before = undefined;
  }

  /** Whatever it waits for, a later turn has thrown away. @internal */
  discard(): void {
    this.#core.settle(true);
    this.#standing.changed();
  }

  /** Whether it has ended. @internal */
  get isOver(): boolean {
    return this.#standing.isOver;
  }

  /** Whether its stream is being read. @internal */
  get isRead(): boolean {
    return this.#course.isRead;
  }

  /** Whether it runs or is about to, as far as is known. @internal */
  get isBusy(): boolean {
    return this.#course.isBusy;
  }

  /** Waits until it does not run: it is over, or was not started after all. @internal */
  ended(signal: AbortSignal): Promise<void> {
    return this.#course.ended(signal);
  }

  /** Reads the stream without anybody iterating over it. @internal */
  attach(options: ResumeOptions): void {
    this.#course.attach(options);
  }
}

function demandListener(listener: unknown): void {
  demand(typeof listener === "function", "a listener must be a function");
}
