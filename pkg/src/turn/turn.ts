// A turn: one request to the agent, and everything that it answers.
import type { CoreTurn } from "../boundary/boundary.js";
import { Call } from "../boundary/calls.js";
import { demand } from "../common/check.js";
import { ASYNC_DISPOSE, DISPOSE } from "../common/dispose.js";
import { InputError, StateError } from "../common/errors.js";
import type { Readable } from "../common/readable.js";
import type { ListedEvent } from "../delivery/delivery.js";
import type { TurnStream } from "../delivery/stream.js";
import { demandTopic, type TurnTopics } from "../delivery/topics.js";
import type { TurnSnapshot, TurnStatus } from "../snapshot/snapshot.js";
import { type Limits, within } from "../transport/clocks.js";
import { demandOptions, list, type ListOptions, type RequestOptions } from "../transport/lists.js";
import type { CreatedBy, Event, Subject, TerminalState, TurnInputItem, TurnRecord, TurnState } from "../wire/events.js";
import { Answers } from "./answers.js";
import type { Connection } from "./connection.js";
import { TurnRunner } from "./runner.js";
import { Feed } from "./feed.js";
import type { TurnHost } from "./host.js";
import type { CreateTurnOptions, ResumeOptions, StreamOptions, TurnInput } from "./options.js";
import type { SettledTurn } from "./settled.js";
import { TurnStore } from "./store.js";

/** The number of turns that this page has prepared. */
let prepared = 0;

/** How a turn is started. */
type StartOptions = Pick<CreateTurnOptions, "discardPending" | "whenBusy">;

/**
 * One request to the agent, and everything that it answers.
 *
 * `using turn = session.createTurn(…)` stops reading when the block ends; the turn itself continues.
 */
export class Turn {
  /** Tells the turn apart from others in a list, from its creation on: for a `key` in React. */
  readonly key: string;
  readonly #connection: Connection;
  readonly #core: CoreTurn;
  /** Whether the turn discards waiting calls, and whether it waits for its place. */
  readonly #how: StartOptions;
  readonly #store: TurnStore;
  readonly #answers: Answers;
  readonly #feed: Feed;
  readonly #runner: TurnRunner<Turn>;
  /** The turn that this one follows, if this turn's results belong to calls of that one. */
  #before: Turn | undefined;

  /** `how` is null for a turn of the past: that it had begun is no news to its session. @internal */
  constructor(session: TurnHost<Turn>, connection: Connection, core: CoreTurn, record: Partial<TurnRecord>, how: StartOptions | null) {
    // `session.ts` declares its type.
    Object.assign(this, { session });
    this.key = record.id ?? `prepared-${(prepared += 1)}`;
    this.#connection = connection;
    this.#core = core;
    this.#how = how ?? {};
    this.#store = new TurnStore(connection, core, record, (more) => session.params(more), (previous) => {
      if (how) session.began(this, previous);
    });
    this.#answers = new Answers(connection, core);
    this.#feed = new Feed(connection, core, this.#store, this.#answers);
    this.#runner = new TurnRunner(this, session, connection, this.#store, this.#feed, this.#how.whenBusy);
  }

  /** The turn's id; `null` until it has started. */
  get id(): string | null {
    return this.#store.learn().id ?? null;
  }

  /** The turn that this one follows; `null` for a first turn, and until it has started. */
  get previousTurnId(): string | null {
    return this.#store.origin.previous_turn_id ?? null;
  }

  /** The name of the turn's creator; `null` until it has started. */
  get createdBy(): string | null {
    const { created_by, created_by_subject } = this.#store.origin;
    const by: CreatedBy | undefined = created_by ?? created_by_subject ?? undefined;
    return typeof by === "object" ? by.subject_slug || by.subject_id : (by ?? null);
  }

  /** The turn's creator; `null` until it has started, and if the server has only a name. */
  get createdBySubject(): Subject | null {
    return this.#store.origin.created_by_subject ?? null;
  }

  /** ISO 8601; `null` until it has started. */
  get createdAt(): string | null {
    return this.#store.origin.created_at ?? null;
  }

  /** The turn's input. */
  get input(): readonly TurnInputItem[] {
    return this.#store.input;
  }

  /** The turn's status, as this client knows it. `state()` asks the server. */
  get status(): TurnStatus {
    return this.#store.status;
  }

  /** The number of the last received event; 0 before the first. */
  get lastSequenceNumber(): number {
    return this.#store.learn().last;
  }

  /**
   * Streams the turn: starts it, or attaches to it if it has started. Sends the request at once.
   *
   * A lost connection is recovered: each event arrives once, in order. While `waitForCompletion()` or
   * `session.resume()` reads the turn, the loop joins that reading and gets every event from the first one on, or after
   * `afterSequenceNumber`.
   *
   * Throws a `StateError` if the turn has ended, and if the loop would miss events (`turn_already_streamed`: another
   * loop is running, listeners had earlier events, or more than 1 MiB of the stream has arrived). The iteration throws
   * an `IncompleteError` if the connection cannot be recovered, and an `AbortError` when `signal` is aborted, which is no
   * error of the turn. The turn itself then continues, unless the server gives up turns without a reader
   * (`session.capabilities.resume` is `"none"`). `cancel()` stops it. After an abort you may call `stream()` again at
   * once: it continues after the last event that was delivered.
   */
  stream(options: StreamOptions = {}): TurnStream {
    demandOptions("stream", options, "afterSequenceNumber", "reconnect");
    return (this.isOver && this.#feed.rest()) || this.#runner.stream(options);
  }

  /**
   * Asks the server for the turn's state. Starts the turn, without a stream, if it has not started. If the server has
   * no ids for turns (`"aap"`), returns the state as far as this client has read it.
   *
   * If the turn has ended, the snapshot is complete when this resolves; for a turn that was not streamed, from its list
   * of events. Rejects with an `IncompleteError` if the list cannot be read; `snapshot().state` still has the state.
   */
  async state(options: RequestOptions = {}): Promise<TurnState> {
    demandOptions("state", options);
    return within(options, (limits) => this.#runner.state(limits));
  }

  /** Lists the events of a finished turn, over all pages. The list has no deltas; few servers number its events. */
  listEvents(options: ListOptions & { order?: "asc" | "desc" } = {}): AsyncGenerator<ListedEvent, void, undefined> {
    demandOptions("listEvents", options, "limit", "pageToken", "order");
    const params = this.#store.params("listEvents");
    return list(this.#connection, Call.ListTurnEvents, params, options, (event: ListedEvent) => event);
  }

  /**
   * Waits until the turn has ended, and returns its state. Starts the turn if it has not started.
   *
   * Reads the stream, unless it is already being read. Events wait for the first listener or loop, so you can call
   * `on()` and `stream()` later; `snapshot()` has everything received so far. If a turn has ended without being
   * streamed, reads its list of events.
   *
   * Rejects with an `IncompleteError` if the stream breaks before the turn ends and cannot be recovered, or if the turn
   * has ended and its list of events cannot be read; `snapshot().state` has the state then. The wait continues when a
   * loop over the stream is left. Aborting `signal` ends only the wait; the reading stops if nothing else needs it.
   */
  async waitForCompletion(options: ResumeOptions = {}): Promise<TerminalState> {
    demandOptions("waitForCompletion", options, "reconnect");
    await within(options, (limits) => this.#runner.completed(limits));
    const { state } = this.#store;
    if (state === null) throw new StateError("turn_not_running", "how the turn ended is not known");
    return state as TerminalState;
  }

  /**
   * Stops the turn on the server. A few more events may arrive, `turn.done` last, so keep reading. You may call it more
   * than once; it does nothing once the turn has ended. While the turn is starting, waits until it has begun. If the
   * protocol has no request to cancel (`"aap"`), closes the stream: the turn ends here, and may continue on the server.
   */
  async cancel(options: RequestOptions = {}): Promise<void> {
    demandOptions("cancel", options);
    await this.#act(options, (limits) => this.#runner.cancel(limits));
  }

  /** What the page itself has done is published at once. */
  #act<T>(options: RequestOptions, act: (limits: Limits & { signal: AbortSignal }) => Promise<T>): Promise<T> {
    return within(options, act).finally(() => this.#store.frames.flush());
  }

  /**
   * Sends the agent another message while the turn runs (`session.capabilities.steer`). The agent reads it in this
   * turn, as soon as it can. While the turn is starting, waits until it has begun. The message comes back as a `notice`
   * of code `"user_message"`.
   *
   * Throws a `StateError` if the turn has not started (`turn_not_started`) or is over (`turn_not_running`), and an
   * `ApiError` of code `rpc` if only the server knows that it is over. Never starts a turn, and never sends the message
   * twice: after a `ConnectionError`, the notices show whether it arrived.
   */
  async steer(input: TurnInput, options: RequestOptions = {}): Promise<void> {
    demandOptions("steer", options);
    await within(options, (limits) => this.#steer(input, limits));
  }

  async #steer(input: TurnInput, limits: Limits): Promise<void> {
    const { transport, capabilities } = this.#connection;
    if (!capabilities.steer) throw new StateError("unsupported", "this protocol takes nothing more while a turn runs");
    // Applies the rules of any input. The turn that this creates is never sent.
    const { input: items } = this.session.createTurn({ input });
    if (items.length === 0) throw new InputError("invalid_input", "there must be something to say");
    await this.#runner.startSettled(limits.signal);
    const params = this.#store.params("steer");
    if (this.isOver) throw new StateError("turn_not_running", "the turn is over: what is to be said next is a turn of its own");
    await transport.ask(Call.SteerTurn, { ...params, input: items }, limits);
  }

  /**
   * Answers some or all waiting calls while the turn still runs (`session.capabilities.liveAnswers`). Returns the turn
   * in which the answers take effect: this one, or if it has paused by now the next one. The next one is not started
   * yet, as if `session.createTurn({ input })` had returned it. If calls wait only while their turn runs (`"codex"`),
   * throws a `StateError` (`turn_not_running`) for a turn that is over.
   */
  async answer(input: TurnInput, options: RequestOptions = {}): Promise<Turn> {
    demandOptions("answer", options);
    if (!this.isOver && (await this.#act(options, (limits) => this.#answer(input, limits)))) return this;
    if (this.#connection.conventions.socket) {
      throw new StateError("turn_not_running", "the turn is over: what it asked for waited only while it ran");
    }
    return this.session.createTurn({ input, previousTurnId: this.id });
  }

  /** Returns whether the running turn took the answers. */
  async #answer(input: TurnInput, limits: Limits & { signal: AbortSignal }): Promise<boolean> {
    if (!this.#connection.capabilities.liveAnswers) {
      throw new StateError("unsupported", "this protocol takes answers once the turn has paused, in a turn of their own");
    }
    const refusal = await this.#answers.send(input, this.#store.params("answer"), limits);
    this.#store.changed();
    if (refusal === undefined) return true;
    await this.#runner.whenPaused(limits.signal);
    if (!this.isOver) throw refusal;
    return false;
  }

  /**
   * Calls `listener` for every event of a type, for all events (`"event"`), for the error that ended a stream
   * (`"error"`), or for events of the connection (`"reconnecting"`, `"waiting"`, `"resumed"`, `"gap"`, `"mismatch"`,
   * `"idle"`). Returns the function that removes it. A listener that throws does not affect the others. While the turn
   * is read and nothing takes its events, they wait for the first listener, up to 1 MiB of the stream.
   */
  on<T extends keyof TurnTopics>(type: T, listener: (event: TurnTopics[T]) => void): () => void {
    demandListener(listener);
    demandTopic(type);
    return this.#feed.on(type, listener);
  }

  /**
   * The turn's newest snapshot. Immutable: parts that did not change since the last one are the same objects. Bound.
   * Components read `view`, which does not change while they render.
   */
  readonly snapshot = (): TurnSnapshot => this.#store.snapshot();

  /**
   * Calls `listener` when a new snapshot is published: at most once per animation frame, for all turns of the page in
   * the same one, and at once after the page has started the turn, answered its calls or cancelled it. In a hidden tab,
   * which has no frames, a timer publishes. Returns the function that removes the listener. Bound.
   */
  readonly subscribe = (listener: () => void): (() => void) => {
    demandListener(listener);
    return this.#store.frames.add(listener);
  };

  /**
   * The turn for components: `view.get()` returns the same snapshot until the next one is published, which notifies
   * `subscribe`, so that all components of a rendering show the same. Works before the turn starts, and on a server.
   */
  readonly view: Readable<TurnSnapshot> = { get: () => this.#store.frames.get(), subscribe: this.subscribe };

  /**
   * Stops reading the turn, which itself continues. A loop or a wait elsewhere ends with an `AbortError`. Called at the end of a block with
   * `using`.
   */
  [DISPOSE](): void {
    void this.#runner.release();
  }

  /** The same, and waits until the connection is released. Called at the end of a block with `await using`. */
  [ASYNC_DISPOSE](): Promise<void> {
    return this.#runner.release();
  }

  /** Merges all listed events of a finished turn into the snapshot. @internal */
  fill(events: readonly Event[]): void {
    this.#store.fill(events, true);
  }

  /** Reads the events of a turn that has ended. @internal */
  filled(limits: Limits & { signal: AbortSignal }): Promise<void> {
    return this.#runner.filled(limits);
  }

  /** This turn follows another one, and answers its calls. @internal */
  follows(before: Turn): void {
    if (!this.isWhole) this.#before = before;
    before.resolveActions(this);
  }

  /** Whether the turn has ended, and its snapshot is complete. @internal */
  get isWhole(): boolean {
    return this.#store.isWhole;
  }

  /** Whether the turn's core has failed: this object cannot go on, but another one of the same turn can. @internal */
  get isBroken(): boolean {
    return this.#core.coreFailure !== undefined;
  }

  /** What remains of a turn that has ended. Frees the core's turn, so nothing else may use this one. @internal */
  settled(): SettledTurn {
    const { key, id, previousTurnId, createdBy, createdBySubject, createdAt, input, status } = this;
    const last = this.snapshot();
    const snapshot = (): TurnSnapshot => last;
    this.#core.free();
    const view = Object.freeze({ get: snapshot, subscribe: subscribeToNothing });
    const facts = { key, id: id!, previousTurnId, createdBy, createdBySubject, createdAt, input, status };
    return Object.freeze({ ...facts, view, snapshot, subscribe: subscribeToNothing });
  }

  /** A later turn has answered the actions of this one; takes the results from it. @internal */
  resolveActions(next: Turn): void {
    this.#before = undefined;
    this.#core.resolveActions(next.#how.discardPending === true);
    this.#store.fill(next.snapshot().threads.flatMap((thread) => thread.tool_responses) as unknown as Event[], false);
  }

  /** Passes results to the turn whose calls they answer. @internal */
  forwardResults(): void {
    this.#before?.resolveActions(this);
    // Do not keep the earlier turns alive.
    if (this.isOver) this.#before = undefined;
  }

  /** A later turn has discarded the actions of this one. @internal */
  discard(): void {
    this.#core.resolveActions(true);
    this.#store.changed();
  }

  /** Whether the turn has ended. @internal */
  get isOver(): boolean {
    return this.#store.isOver;
  }

  /** Whether the stream is being read. @internal */
  get isRead(): boolean {
    return this.#runner.isRead;
  }

  /** Whether the turn runs or is about to, as far as this client knows. @internal */
  get isBusy(): boolean {
    return this.#runner.isBusy;
  }

  /** Waits until the turn does not run: it has ended, or was not started after all. @internal */
  ended(signal: AbortSignal): Promise<void> {
    return this.#runner.ended(signal);
  }

  /** Reads the stream without a loop. @internal */
  readOn(options: ResumeOptions): void {
    this.#runner.readOn(options);
  }
}

/** Nothing changes any more. */
function subscribeToNothing(listener: () => void): () => void {
  demandListener(listener);
  return () => {};
}

function demandListener(listener: unknown): void {
  demand(typeof listener === "function", "a listener must be a function");
}
