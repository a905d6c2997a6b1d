// The course of a turn: made ready, started, and read, or asked about, until it is over or stopped.
import { Call } from "../boundary/calls.js";
import { AbortError, ApiError, asTurnwireError, StateError, type TurnwireError } from "../common/errors.js";
import { checkedReconnect } from "../common/reconnect.js";
import type { TurnStream } from "../delivery/stream.js";
import { limited, type Limits, onAbort, Watch } from "../transport/clocks.js";
import { orAborted, stopped } from "../transport/transport.js";
import type { TurnState } from "../wire/events.js";
import { WAS_PAUSED } from "./answers.js";
import type { Connection } from "./connection.js";
import { Drive, END, LOOK, START, STREAM } from "./drive.js";
import type { Feed } from "./feed.js";
import type { TurnHost } from "./host.js";
import type { ResumeOptions, StreamOptions } from "./options.js";
import type { TurnStanding } from "./standing.js";

/** How long its stream may take to say that it has paused, or is over, in milliseconds. */
const SOON = 5000;

/** The reason of the abort by which a loop that was left releases its connection. */
const LEFT = new Error("the loop over the stream was left");

/** A reading of what a turn says: one for all that want it. */
interface Reading {
  /** Ends it. */
  readonly whole: Watch;
  /** Resolves when it has ended, with the error if there was one. Never rejects. */
  readonly over: Promise<TurnwireError | undefined>;
  /** How many want it. */
  wanted: number;
}

/** The turn whose course it is. */
interface Owner {
  readonly id: string | null;
  /** Gives its results to the turn whose calls it answers. */
  passOn(): void;
}

/** The way of one turn to its end. */
export class Course<T extends Owner> {
  readonly #turn: T;
  readonly #host: TurnHost<T>;
  readonly #connection: Connection;
  readonly #standing: TurnStanding;
  readonly #feed: Feed;
  readonly #whenBusy: "wait" | "fail";
  /** Whether its start is made ready. */
  #isPreparing = false;
  /** Whether others wait until it is over. */
  #isInside = false;
  /** The reading of its stream, while there is one. */
  #reading: Reading | undefined;
  /** How many wait for a start that somebody else has asked for. */
  #joined = 0;
  /** What the last request for the turn failed with. */
  #failure: TurnwireError | undefined;
  /** Why it was not sent, if it was cancelled before. */
  #withdrawn: AbortError | undefined;

  constructor(turn: T, host: TurnHost<T>, connection: Connection, standing: TurnStanding, feed: Feed, whenBusy: "wait" | "fail" = "wait") {
    this.#turn = turn;
    this.#host = host;
    this.#connection = connection;
    this.#standing = standing;
    this.#feed = feed;
    this.#whenBusy = whenBusy;
  }

  /** Whether its stream is being read. */
  get isRead(): boolean {
    return this.#reading !== undefined;
  }

  /** Whether it runs or is about to, as far as is known. */
  get isBusy(): boolean {
    const { id, status } = this.#standing.learn();
    return this.#isPreparing || status === "starting" || (id !== undefined && ["running", "incomplete"].includes(status));
  }

  /** Reads the stream for a loop over it; a loop joins a reading in which it misses no event. */
  stream(options: StreamOptions): TurnStream {
    const after = options.afterSequenceNumber ?? 0;
    // The core refuses whatever cannot join.
    const isPossible = Number.isSafeInteger(after) && after >= 0 && !options.signal?.aborted;
    const isJoined = isPossible && this.isRead && this.#feed.isFree && !this.#standing.isOver;
    const leave = this.#attach(options, isJoined, (error) => this.#feed.leave(loop, error));
    const loop = this.#feed.open(after, () => leave(LEFT));
    return loop;
  }

  /** Reads the stream without anybody iterating over it. */
  attach(options: ResumeOptions): void {
    this.#attach(options, false, () => {});
  }

  /**
   * Has the stream read until `options` stop that, or the function that this returns. If others want it to be read on,
   * `left` is called, with the error if there is one.
   */
  #attach(options: StreamOptions, isJoined: boolean, left: (error?: TurnwireError) => void): (reason: unknown) => Promise<void> {
    const { signal, deadline = 0 } = options;
    const own = new Watch({ signal, deadline });
    let reading: Reading;
    try {
      reading = isJoined ? this.#reading! : this.#read(STREAM, options, own.signal);
    } catch (error) {
      own.end();
      throw error;
    }
    reading.wanted += 1;
    let leave = async (reason: unknown): Promise<void> => {
      leave = async () => {};
      forget();
      own.end();
      if (reading.wanted > 1) left(reason === LEFT ? undefined : stopped(own.signal));
      await this.#left(reading, reason);
    };
    let forget = (): void => {};
    forget = onAbort(own.signal, () => void leave(own.signal.reason));
    void reading.over.then(() => {
      forget();
      own.end();
    });
    return (reason) => leave(reason);
  }

  /** The reading of the turn, which begins unless there is one. It is wanted once more, until `#left` is called. */
  #join(goal: number, options: ResumeOptions): Reading {
    const reading = this.#reading ?? this.#read(goal, options);
    reading.wanted += 1;
    return reading;
  }

  /** A reading is wanted once less. With the last one it stops, and this resolves when it has. */
  async #left(reading: Reading, reason: unknown): Promise<void> {
    reading.wanted -= 1;
    if (reading.wanted > 0) return;
    reading.whole.cut(reason);
    await reading.over;
  }

  /**
   * A call that waited for the turn is over. A turn that was not sent is not sent then, unless others want it. One that
   * has begun is read on where a stream cannot be asked for again, and for listeners and subscribers.
   */
  async #giveUp(reading: Reading): Promise<void> {
    const { detached } = this.#connection.conventions;
    const isHeard = this.#feed.isHeard || this.#standing.frames.isHeard;
    if (this.#isPreparing || (detached && !isHeard)) await this.#left(reading, LEFT);
  }

  /** Begins to read what the turn says. If `signal` has aborted, nothing is sent, so that the turn can still be started. */
  #read(goal: number, options: StreamOptions, signal?: AbortSignal): Reading {
    const whole = new Watch({});
    const wasInside = this.#isInside;
    try {
      const drive = this.#drive(options, whole.signal);
      const run = (): Promise<TurnwireError | undefined> => this.#run(drive, drive.begin(goal, options.afterSequenceNumber));
      if (signal?.aborted && !this.isRead) {
        whole.cut(signal.reason);
        return this.#follow(Promise.resolve(stopped(signal)), whole);
      }
      const ready = this.#prepare(whole.signal);
      const reading = ready ? this.#readied(ready, run, whole.signal) : run();
      this.#standing.error = null;
      this.#feed.begin();
      return this.#follow(reading, whole);
    } catch (error) {
      if (!wasInside) this.#leave();
      throw error;
    }
  }

  #drive(options: Limits & Pick<ResumeOptions, "reconnect">, whole: AbortSignal): Drive {
    const { settings } = this.#connection;
    const { connectTimeout = 0, idleTimeout = 0 } = limited(settings, options);
    const reconnect = checkedReconnect(options.reconnect, settings.reconnect);
    return new Drive(this.#feed, { connectTimeout, idleTimeout, reconnect }, whole);
  }

  /** Makes ready for a start. Gives what to wait for; nothing if it can begin at once. */
  #prepare(signal: AbortSignal): Promise<void> | undefined {
    if (this.#isPreparing) throw new StateError("turn_already_streamed", "the turn is being started already");
    if (this.#standing.status !== "unstarted") return undefined;
    const ready = this.#host.prepare(this.#turn, this.#whenBusy, signal);
    if (ready) return ready.then(() => void (this.#isInside = true));
    this.#isInside = true;
    return this.#host.unsent;
  }

  /** Goes on from a first step. Starts that come before this one is sent wait for that. */
  #run(drive: Drive, first: string): Promise<TurnwireError | undefined> {
    const running = drive.run(first);
    if (drive.sent) this.#host.hold(drive.sent);
    return running;
  }

  /** Begins when all is ready. Never rejects. */
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
        // Nothing comes between this and the start: whoever waits for this turn finds it either not begun or on its way.
        this.#isPreparing = false;
      }
      return await run();
    } catch (error) {
      return asTurnwireError(error);
    }
  }

  /** Others wait for a reading, too; when it is over, whoever looks finds the turn as it then is. */
  #follow(reading: Promise<TurnwireError | undefined>, whole: Watch): Reading {
    const over = reading.then((error) => {
      this.#finish(error);
      return error;
    });
    this.#reading = { whole, over, wanted: 0 };
    this.#standing.changed();
    return this.#reading;
  }

  #finish(error: TurnwireError | undefined): void {
    this.#failure = error;
    this.#reading = undefined;
    this.#standing.pauses();
    const end = this.#feed.close();
    // To leave a loop is no failure.
    if (error !== undefined && error.cause !== LEFT) this.#feed.fail(error);
    this.#leave();
    end(error);
    this.#turn.passOn();
    this.#standing.changed();
  }

  /** Other turns of the session may start. */
  #leave(): void {
    if (!this.#isInside) return;
    this.#isInside = false;
    this.#host.leave(this.#turn, this.#standing.state);
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
    this.#standing.changed();
    let forget = (): void => {};
    const left = new Promise<never>((_, reject) => {
      forget = onAbort(signal, () => (this.#joined > 0 ? reject(stopped(signal!)) : whole.cut(signal!.reason)));
    });
    const started = this.#run(drive, first).then((error) => {
      this.#standing.pauses();
      this.#failure = error;
      this.#standing.changed();
      if (error) throw error;
    });
    await Promise.race([started, left]).finally(forget);
  }

  /**
   * Starts the turn if it has not started, without a stream where the protocol can, and waits until it has begun. Throws
   * why it did not, also if another call has started it.
   */
  async begun(limits: Limits): Promise<void> {
    const { status } = this.#standing;
    if (!this.#isPreparing && status !== "starting") {
      if (status !== "unstarted" && !this.#standing.isUncertain) return;
      const { detached } = this.#connection.conventions;
      if (detached && (status === "incomplete" || !this.#host.hasOthers(this.#turn))) {
        if (status === "unstarted") this.#prepare(limits.signal!);
        return this.#start(START, limits);
      }
    }
    // It starts with a stream, or waits for its place.
    const reading = status === "starting" ? undefined : this.#join(STREAM, limits);
    try {
      await this.settled(limits.signal);
    } finally {
      if (reading) await this.#giveUp(reading);
    }
    if (this.#turn.id === null && this.#failure !== undefined) throw this.#failure;
  }

  /** Waits while the turn is being started. */
  async settled(signal: AbortSignal | undefined): Promise<void> {
    this.#joined += 1;
    try {
      while (this.#isPreparing || this.#standing.status === "starting") await this.#standing.change(signal);
    } finally {
      this.#joined -= 1;
    }
  }

  /** Asks the server how the turn stands. An end is returned once the snapshot has all that led to it. */
  async state(limits: Limits & { signal: AbortSignal }): Promise<TurnState> {
    await this.begun(limits);
    const { conventions, capabilities } = this.#connection;
    if (conventions.unnamed && this.isRead) return this.#standing.state ?? { status: "running" };
    const { state } = await this.#standing.refresh("state", limits);
    // Where calls are answered while a turn runs, it may go on; and each action names its call.
    const waits = state.status === "done" && state.required_actions.length > 0 && !capabilities.liveAnswers;
    if (waits || this.#standing.isOver) await this.completed(limits);
    const known = this.#standing.state;
    return known?.status === state.status ? known : state;
  }

  /** Reads what led to an end that is known. If that fails, the snapshot says why. */
  async filled(limits: Limits & { signal: AbortSignal }): Promise<void> {
    if (!this.#standing.isOver) return;
    await this.completed(limits).catch((cause) => {
      if (limits.signal.aborted) throw cause;
    });
  }

  /** Waits until the turn has ended, and the snapshot has all that it said. */
  async completed(limits: ResumeOptions & { signal: AbortSignal }): Promise<void> {
    const { signal } = limits;
    while (!this.#standing.isWhole) {
      if (signal.aborted) throw stopped(signal);
      if (!this.isRead && this.#standing.status === "starting") await this.begun(limits);
      const reading = this.#join(END, limits);
      const error = await orAborted(reading.over, signal).catch(async (cause) => {
        await this.#giveUp(reading);
        throw cause;
      });
      // A loop that read it may have been left; but what was cancelled before it was sent is not sent at all.
      if (error !== undefined && (error === this.#withdrawn || !reading.whole.signal.aborted)) throw error;
    }
    // Its last words may still be on their way.
    if (this.#reading) await orAborted(this.#reading.over, signal);
  }

  /** Waits until the turn does not run: it is over, or was not started after all. */
  async ended(signal: AbortSignal): Promise<void> {
    while (this.isBusy) {
      if (this.#isPreparing || this.#standing.status === "starting") await this.settled(signal);
      else if (this.#reading) await orAborted(this.#reading.over, signal);
      // It is not read here any more. A loop that was left can go on with what comes meanwhile.
      else await this.completed({ signal });
    }
  }

  /** Gives the stream a moment to say that the turn has paused, or is over. */
  async pauses(signal: AbortSignal): Promise<void> {
    const soon = new Watch({ signal, deadline: SOON });
    try {
      if (this.#reading) await orAborted(this.#reading.over, soon.signal);
    } catch {
      if (signal.aborted) throw stopped(signal);
    } finally {
      soon.end();
    }
  }

  /** Stops the turn, whatever it is at. */
  async cancel(limits: Limits): Promise<void> {
    if (this.#connection.conventions.unnamed) return this.#hangUp();
    if (this.#isPreparing) {
      this.#withdraw();
      await this.#reading?.over;
      return;
    }
    await this.settled(limits.signal);
    if (this.#standing.isUncertain) await this.#start(LOOK, limits);
    this.#standing.startedId("cancel");
    // The server cancels whatever turn of the session runs: it must be this one.
    const isKnown = this.#standing.isOver || (this.isRead && !this.#standing.isPaused);
    if (!isKnown && (await this.#standing.refresh("cancel", limits)).state.status !== "running") return;
    if (!this.#standing.isOver) await this.#stop(limits);
  }

  /** Tells the server to stop the turn. */
  async #stop(limits: Limits): Promise<void> {
    // The turn may end and the response get lost, or say that there is nothing to cancel any more.
    const asking = new Watch({ signal: limits.signal });
    const { signal } = asking;
    const ended = async (): Promise<void> => {
      while (!this.#standing.isOver) await this.#standing.change(signal);
    };
    try {
      const { transport } = this.#connection;
      await Promise.race([ended(), transport.ask(Call.CancelTurn, this.#standing.params("cancel"), { ...limits, signal })]);
    } catch (error) {
      // It may have ended just now, of which a server may say first that there is nothing to cancel.
      if (error instanceof ApiError && (error.status === undefined || WAS_PAUSED.includes(error.status))) {
        if (this.isRead) await this.pauses(signal);
        else await this.#standing.refresh("cancel", { ...limits, signal }).catch(() => {});
      }
      if (!this.#standing.isOver) throw error;
    } finally {
      asking.cut(LEFT);
      asking.end();
    }
  }

  /** The server cannot be told: its stream is left, and that is the turn's end. */
  async #hangUp(): Promise<void> {
    if (this.#standing.isOver) return;
    if (!this.isRead) {
      this.#standing.startedId("cancel");
      throw new StateError("turn_not_running", "the turn is not read here, and this server cannot be told to stop it");
    }
    if (this.#isPreparing) this.#withdraw();
    else this.#feed.core.hangUp();
    this.#reading?.whole.cut(LEFT);
    await this.#reading?.over;
  }

  /** It is not sent after all. */
  #withdraw(): void {
    this.#withdrawn ??= new AbortError("aborted", "the turn was cancelled before it was sent");
    this.#reading?.whole.cut(this.#withdrawn);
  }
}
