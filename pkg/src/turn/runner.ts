// Runs a turn: prepares, starts and reads it, or polls it, until it has ended or is stopped.
import { Call } from "../boundary/calls.js";
import { AbortError, ApiError, asTurnwireError, StateError, type TurnwireError } from "../common/errors.js";
import { checkedReconnect } from "../common/reconnect.js";
import type { TurnStream } from "../delivery/stream.js";
import { limited, type Limits, onAbort, Watch } from "../transport/clocks.js";
import { orAborted, stopped } from "../transport/transport.js";
import type { TurnState } from "../wire/events.js";
import { WAS_PAUSED } from "./answers.js";
import type { Connection } from "./connection.js";
import { Drive, END, LOCATE, START, STREAM } from "./drive.js";
import type { Feed } from "./feed.js";
import type { TurnHost } from "./host.js";
import type { ResumeOptions, StreamOptions } from "./options.js";
import type { TurnStore } from "./store.js";

/** How long the stream may take to report that the turn has paused or ended, in milliseconds. */
const PAUSE_TIMEOUT = 5000;

/** The abort reason of a reading that nothing needs any more: its loops and waits were left or aborted. */
const LEFT = new Error("the loop over the stream was left");
/** The abort reason of a turn that its page has disposed of. */
const DISPOSED = new Error("the turn was disposed of");

/** One reading of a turn's stream, shared by all its users. */
interface Reading {
  /** Stops the reading. */
  readonly whole: Watch;
  /** Resolves when the reading has ended, with its error if it has one. Never rejects. */
  readonly over: Promise<TurnwireError | undefined>;
  /** The number of its users. */
  users: number;
  /** Ends its loop, if the next reading waits for its end. */
  end?: (error?: TurnwireError) => void;
}

/** The turn that the runner runs. */
interface Owner {
  readonly id: string | null;
  /** Passes the turn's results to the turn whose calls they answer. */
  forwardResults(): void;
}

/** Runs one turn to its end. */
export class TurnRunner<T extends Owner> {
  readonly #turn: T;
  readonly #host: TurnHost<T>;
  readonly #connection: Connection;
  readonly #store: TurnStore;
  readonly #feed: Feed;
  readonly #whenBusy: "wait" | "fail";
  /** Whether the start is being prepared. */
  #isPreparing = false;
  /** Whether this turn holds the session's place, so that other turns wait. */
  #holdsPlace = false;
  /** The current reading of the stream. */
  #reading: Reading | undefined;
  /** The number of calls that wait for a start which another call requested. */
  #joined = 0;
  /** The error of the last request for the turn. */
  #failure: TurnwireError | undefined;
  /** The error of a turn that was cancelled before its start was sent. */
  #withdrawn: AbortError | undefined;

  constructor(turn: T, host: TurnHost<T>, connection: Connection, store: TurnStore, feed: Feed, whenBusy: "wait" | "fail" = "wait") {
    this.#turn = turn;
    this.#host = host;
    this.#connection = connection;
    this.#store = store;
    this.#feed = feed;
    this.#whenBusy = whenBusy;
  }

  /** Whether the stream is being read. */
  get isRead(): boolean {
    return this.#reading !== undefined;
  }

  /** Whether the turn runs or is about to, as far as this client knows. */
  get isBusy(): boolean {
    const { id, status } = this.#store.learn();
    // Whether it runs can no longer be learnt if its core has failed: the server knows.
    if (this.#feed.core.coreFailure) return this.isRead;
    return this.#isPreparing || status === "starting" || (id !== undefined && ["running", "incomplete"].includes(status));
  }

  /** Reads the stream for a loop over it. The loop joins the current reading if it misses no event. */
  stream(options: StreamOptions): TurnStream {
    const after = options.afterSequenceNumber ?? 0;
    // If the loop cannot join, the core returns the error.
    const isPossible = Number.isSafeInteger(after) && after >= 0 && !options.signal?.aborted;
    const isJoined = isPossible && this.#reading?.whole.signal.aborted === false && this.#feed.isFree && !this.#store.isOver;
    return this.#attach(options, isJoined, (leave) => this.#feed.open(after, leave))!;
  }

  /** Reads the stream without a loop. */
  readOn(options: ResumeOptions): void {
    this.#attach(options, false, () => undefined);
  }

  /** Reads the stream until `options` stop that, or the loop that `open` returns calls its function. */
  #attach(options: StreamOptions, isJoined: boolean, open: (leave: () => Promise<void>) => TurnStream | undefined): TurnStream | undefined {
    const { signal, deadline = 0 } = options;
    const own = new Watch({ signal, deadline });
    let reading: Reading;
    try {
      reading = isJoined ? this.#reading! : this.#read(STREAM, options, own.signal);
    } catch (error) {
      own.end();
      throw error;
    }
    reading.users += 1;
    let leave = async (): Promise<void> => {
      leave = async () => {};
      forget();
      own.end();
      // In this task already: the next loop continues after what this one has delivered.
      if (loop) this.#feed.leave(loop);
      // The caller's own abort is no error of the turn. A deadline is: nothing else may wait for the turn.
      await this.#leaveReading(reading, signal?.aborted ? LEFT : own.signal.reason);
      loop?.end(stopped(own.signal));
    };
    let forget = (): void => {};
    const loop = open(() => leave());
    forget = onAbort(own.signal, () => void leave());
    void reading.over.then(() => {
      forget();
      own.end();
    });
    return loop;
  }

  /** Uses the current reading, or begins one. Call `#leaveReading` when done. */
  #join(goal: number, options: ResumeOptions): Reading {
    const reading = this.#reading ?? this.#read(goal, options);
    reading.users += 1;
    return reading;
  }

  /** Removes a user of a reading. The last one stops it, unless another one follows at once; then this resolves when the reading has ended. */
  async #leaveReading(reading: Reading, reason: unknown = LEFT): Promise<void> {
    reading.users -= 1;
    // A loop that begins in this task takes over: not every server sends a stream again.
    if (this.#store.status === "running") await undefined;
    if (reading.users > 0) return;
    reading.whole.cut(reason);
    await reading.over;
  }

  /** Stops the current reading for all its users: their loops and waits end with an `AbortError`. */
  async release(): Promise<void> {
    const reading = this.#reading;
    reading?.whole.cut(DISPOSED);
    await reading?.over;
  }

  /**
   * A call stopped waiting for the turn. If it was the only user, a turn that was not sent yet is not sent. A turn that
   * has begun is still read if its stream cannot be requested again, or if there are listeners or subscribers.
   */
  async #leaveIfUnused(reading: Reading): Promise<void> {
    const { detached } = this.#connection.capabilities;
    const isHeard = this.#feed.isHeard || this.#store.frames.isHeard;
    if (this.#isPreparing || (detached && !isHeard)) await this.#leaveReading(reading);
  }

  /** Begins to read the turn. If `signal` has aborted, sends nothing, so that the turn can still be started. */
  #read(goal: number, options: StreamOptions, signal?: AbortSignal): Reading {
    const whole = new Watch({});
    const heldPlace = this.#holdsPlace;
    try {
      const drive = this.#drive(options, whole.signal);
      const run = (): Promise<TurnwireError | undefined> => this.#run(drive, drive.begin(goal, options.afterSequenceNumber));
      if (signal?.aborted && !this.isRead) {
        whole.cut(LEFT);
        return this.#follow(Promise.resolve(stopped(whole.signal)), whole);
      }
      const begin = (): Promise<TurnwireError | undefined> => {
        const ready = this.#prepare(whole.signal);
        return ready ? this.#readied(ready, run, whole.signal) : run();
      };
      const last = this.#reading;
      let reading: Promise<TurnwireError | undefined>;
      if (last?.whole.signal.aborted && !this.#store.isOver) {
        // The core has one reading at a time, and the last one is about to end; perhaps with the turn.
        last.end = this.#feed.close();
        reading = last.over.then(() => {
          if (whole.signal.aborted) throw stopped(whole.signal);
          return this.#store.isOver ? undefined : begin();
        }).catch(asTurnwireError);
      } else reading = begin();
      this.#store.error = null;
      this.#feed.begin();
      return this.#follow(reading, whole);
    } catch (error) {
      if (!heldPlace) this.#leave();
      throw error;
    }
  }

  #drive(options: Limits & Pick<ResumeOptions, "reconnect">, whole: AbortSignal): Drive {
    const { settings } = this.#connection;
    const { connectTimeout = 0, idleTimeout = 0 } = limited(settings, options);
    const reconnect = checkedReconnect(options.reconnect, settings.reconnect);
    return new Drive(this.#feed, { connectTimeout, idleTimeout, reconnect }, whole);
  }

  /** Prepares a start. Returns what to wait for; `undefined` if the turn can start at once. */
  #prepare(signal: AbortSignal): Promise<void> | undefined {
    if (this.#isPreparing) throw new StateError("turn_already_streamed", "the turn is being started already");
    if (this.#store.status !== "unstarted") return undefined;
    const ready = this.#host.prepare(this.#turn, this.#whenBusy, signal);
    if (ready) return ready.then(() => void (this.#holdsPlace = true));
    this.#holdsPlace = true;
    return this.#host.unsent;
  }

  /** Drives the turn from its first step. Later starts wait until this one is sent. */
  #run(drive: Drive, first: string): Promise<TurnwireError | undefined> {
    const running = drive.run(first);
    if (drive.sent) this.#host.hold(drive.sent);
    return running;
  }

  /** Runs when the preparation has finished. Never rejects. */
  async #readied(
    ready: Promise<void>,
    run: () => Promise<TurnwireError | undefined>,
    signal: AbortSignal,
  ): Promise<TurnwireError | undefined> {
    this.#isPreparing = true;
    try {
      try {
        for (let next: Promise<void> | undefined = ready; next; next = this.#host.unsent) await orAborted(next, signal);
      } finally {
        // Nothing may run between this and the start: other calls must see the turn either as not begun or as starting.
        this.#isPreparing = false;
      }
      return await run();
    } catch (error) {
      return asTurnwireError(error);
    }
  }

  /** Follows a reading to its end. Code that waits for `over` must then see the turn's final state. */
  #follow(reading: Promise<TurnwireError | undefined>, whole: Watch): Reading {
    const over = reading.then((error) => {
      this.#finish(followed, error);
      return error;
    });
    const followed: Reading = { whole, over, users: 0 };
    this.#reading = followed;
    this.#store.changed();
    // A person who sends something sees it in the same event.
    this.#store.frames.flush();
    return followed;
  }

  #finish(reading: Reading, error: TurnwireError | undefined): void {
    this.#failure = error;
    if (!reading.end) this.#reading = undefined;
    this.#store.setPause();
    const end = reading.end ?? this.#feed.close();
    // Not to read on is not a failure.
    if (error !== undefined && !reading.end && error.cause !== LEFT && error.cause !== DISPOSED) this.#feed.fail(error);
    this.#leave();
    end(error);
    this.#turn.forwardResults();
    this.#store.changed();
  }

  /** Other turns of the session may start. */
  #leave(): void {
    if (!this.#holdsPlace) return;
    this.#holdsPlace = false;
    this.#host.leave(this.#turn, this.#store.state);
  }

  /**
   * Starts the turn without a stream, or looks whether it has started. An abort stops the request, unless other calls
   * wait for it as well.
   */
  async #start(goal: number, limits: Limits): Promise<void> {
    const { signal } = limits;
    if (signal?.aborted) throw stopped(signal);
    const whole = new Watch({});
    const drive = this.#drive(limits, whole.signal);
    const first = drive.begin(goal);
    this.#store.changed();
    let forget = (): void => {};
    const left = new Promise<never>((_, reject) => {
      forget = onAbort(signal, () => (this.#joined > 0 ? reject(stopped(signal!)) : whole.cut(signal!.reason)));
    });
    const started = this.#run(drive, first).then((error) => {
      this.#store.setPause();
      this.#failure = error;
      this.#store.changed();
      if (error) throw error;
    });
    await Promise.race([started, left]).finally(forget);
  }

  /**
   * Starts the turn if it has not started, without a stream if the protocol can, and waits until it has begun. Throws
   * the error of the start, even if another call started it.
   */
  async begun(limits: Limits): Promise<void> {
    const { status } = this.#store;
    if (!this.#isPreparing && status !== "starting") {
      if (status !== "unstarted" && !this.#store.isUncertain) return;
      const { detached } = this.#connection.capabilities;
      if (detached && (status === "incomplete" || !this.#host.hasOthers(this.#turn))) {
        if (status === "unstarted") this.#prepare(limits.signal!);
        return this.#start(START, limits);
      }
    }
    // The turn starts with a stream, or waits for its place.
    const reading = status === "starting" ? undefined : this.#join(STREAM, limits);
    try {
      await this.startSettled(limits.signal);
    } finally {
      if (reading) await this.#leaveIfUnused(reading);
    }
    if (this.#turn.id === null && this.#failure !== undefined) throw this.#failure;
  }

  /** Waits while the turn is starting. */
  async startSettled(signal: AbortSignal | undefined): Promise<void> {
    this.#joined += 1;
    try {
      while (this.#isPreparing || this.#store.status === "starting") await this.#store.change(signal);
    } finally {
      this.#joined -= 1;
    }
  }

  /** Asks the server for the turn's state. If the turn has ended, resolves when the snapshot is complete. */
  async state(limits: Limits & { signal: AbortSignal }): Promise<TurnState> {
    await this.begun(limits);
    const { conventions, capabilities } = this.#connection;
    if (conventions.unnamed && this.isRead) return this.#store.state ?? { status: "running" };
    const { state } = await this.#store.refresh("state", limits);
    // A turn may continue while its calls are answered, and each action must show its call.
    const waits = state.status === "done" && state.required_actions.length > 0 && !capabilities.liveAnswers;
    if (waits || this.#store.isOver) await this.completed(limits);
    const known = this.#store.state;
    return known?.status === state.status ? known : state;
  }

  /** Reads the events of a turn that has ended. If that fails, the snapshot has the error. */
  async filled(limits: Limits & { signal: AbortSignal }): Promise<void> {
    if (!this.#store.isOver) return;
    await this.completed(limits).catch((cause) => {
      if (limits.signal.aborted) throw cause;
    });
  }

  /** Waits until the turn has ended and the snapshot is complete. */
  async completed(limits: ResumeOptions & { signal: AbortSignal }): Promise<void> {
    const { signal } = limits;
    while (!this.#store.isWhole) {
      if (signal.aborted) throw stopped(signal);
      if (!this.isRead && this.#store.status === "starting") await this.begun(limits);
      const reading = this.#join(END, limits);
      const error = await orAborted(reading.over, signal).catch(async (cause) => {
        await this.#leaveIfUnused(reading);
        throw cause;
      });
      // A left loop is not an error of this call. But a turn that was cancelled before it was sent is never sent.
      const isLeft = reading.whole.signal.aborted && reading.whole.signal.reason !== DISPOSED;
      if (error !== undefined && (error === this.#withdrawn || !isLeft)) throw error;
    }
    // The last events may still be in flight.
    if (this.#reading) await orAborted(this.#reading.over, signal);
  }

  /** Waits until the turn does not run: it has ended, or was not started after all. */
  async ended(signal: AbortSignal): Promise<void> {
    while (this.isBusy) {
      if (this.#isPreparing || this.#store.status === "starting") await this.startSettled(signal);
      else if (this.#reading) await orAborted(this.#reading.over, signal);
      // This client has stopped reading the turn. A loop that was left can continue with the events that arrive
      // meanwhile.
      else await this.completed({ signal });
    }
  }

  /** Waits a moment for the stream to report that the turn has paused or ended. */
  async whenPaused(signal: AbortSignal): Promise<void> {
    const soon = new Watch({ signal, deadline: PAUSE_TIMEOUT });
    try {
      if (this.#reading) await orAborted(this.#reading.over, soon.signal);
    } catch {
      if (signal.aborted) throw stopped(signal);
    } finally {
      soon.end();
    }
  }

  /** Stops the turn in any state. */
  async cancel(limits: Limits): Promise<void> {
    const { conventions, capabilities } = this.#connection;
    // A relay can be told to stop a turn of any server.
    if (conventions.unnamed && capabilities.resume !== "cursor") return this.#cancelByDisconnect();
    if (this.#isPreparing) {
      this.#withdraw();
      await this.#reading?.over;
      return;
    }
    await this.startSettled(limits.signal);
    if (this.#store.isUncertain) await this.#start(LOCATE, limits);
    this.#store.startedId("cancel");
    // The server cancels whichever turn of the session runs, so make sure that it is this one.
    const isKnown = this.#store.isOver || (this.isRead && !this.#store.isPaused);
    if (!isKnown && (await this.#store.refresh("cancel", limits)).state.status !== "running") return;
    if (!this.#store.isOver) await this.#stop(limits);
  }

  /** Asks the server to stop the turn. */
  async #stop(limits: Limits): Promise<void> {
    // The turn may end before the response: the response may get lost, or say that nothing is left to cancel.
    const asking = new Watch({ signal: limits.signal });
    const { signal } = asking;
    const ended = async (): Promise<void> => {
      while (!this.#store.isOver) await this.#store.change(signal);
    };
    try {
      const { transport } = this.#connection;
      await Promise.race([ended(), transport.ask(Call.CancelTurn, this.#store.params("cancel"), { ...limits, signal })]);
    } catch (error) {
      // The turn may have just ended, and the server then says that nothing is left to cancel.
      if (error instanceof ApiError && (error.status === undefined || WAS_PAUSED.includes(error.status))) {
        if (this.isRead) await this.whenPaused(signal);
        else await this.#store.refresh("cancel", { ...limits, signal }).catch(() => {});
      }
      if (!this.#store.isOver) throw error;
    } finally {
      asking.cut(LEFT);
      asking.end();
    }
  }

  /** For a server without a request to cancel: closes the stream, which ends the turn here. */
  async #cancelByDisconnect(): Promise<void> {
    if (this.#store.isOver) return;
    if (!this.isRead) {
      this.#store.startedId("cancel");
      throw new StateError("turn_not_running", "the turn is not read here, and this server cannot be told to stop it");
    }
    if (this.#isPreparing) this.#withdraw();
    else this.#feed.core.cancelByDisconnect();
    this.#reading?.whole.cut(LEFT);
    await this.#reading?.over;
  }

  /** Abandons a start that was not sent. */
  #withdraw(): void {
    this.#withdrawn ??= new AbortError("aborted", "the turn was cancelled before it was sent");
    this.#reading?.whole.cut(this.#withdrawn);
  }
}
