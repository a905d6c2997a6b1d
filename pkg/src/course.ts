// The course of a turn: made ready, started, and read, or asked about, until it is over or stopped.
import { WAS_PAUSED } from "./answers.js";
import { Call } from "./calls.js";
import { limited, type Limits, onAbort, sleep, Watch } from "./clocks.js";
import { Drive, LOOK, START, STREAM } from "./drive.js";
import { AbortError, ApiError, asTurnwireError, StateError, type TurnwireError } from "./errors.js";
import type { Feed } from "./feed.js";
import { checkedReconnect, type Reconnect } from "./options.js";
import { mayPass, persist } from "./persist.js";
import type { Connection } from "./session.js";
import type { TurnStanding } from "./standing.js";
import type { TurnStream } from "./stream.js";
import { orAborted, stopped } from "./transport.js";
import type { ResumeOptions, StreamOptions, Turn } from "./turn.js";

/** Between two questions how a turn stands, in milliseconds. */
const MAX_POLL_DELAY = 3000;

/** How a question is asked again where no connection is to be recovered. */
const POLL_PERSISTENCE: Reconnect = [5, 250, MAX_POLL_DELAY];

/** How long its stream may take to say that it has paused, or is over, in milliseconds. */
const SOON = 5000;

/** The reason of the abort by which a loop that was left releases its connection. */
const LEFT = new Error("the loop over the stream was left");

/** The way of one turn to its end. */
export class Course {
  readonly #turn: Turn;
  readonly #connection: Connection;
  readonly #standing: TurnStanding;
  readonly #feed: Feed;
  readonly #whenBusy: "wait" | "fail";
  /** Whether its start is made ready. */
  #isPreparing = false;
  /** Whether others wait until it is over. */
  #isInside = false;
  /** Resolves when the stream that is being read has ended, with the error if there was one. */
  #reading: Promise<TurnwireError | undefined> | undefined;
  /** What ends the reading of its stream. */
  #reads: Watch | undefined;
  /** How many wait for a start that somebody else has asked for. */
  #joined = 0;
  /** What the last request for the turn failed with. */
  #failure: TurnwireError | undefined;
  /** Why it was not sent, if it was cancelled before. */
  #withdrawn: AbortError | undefined;

  constructor(turn: Turn, connection: Connection, standing: TurnStanding, feed: Feed, whenBusy: "wait" | "fail" = "wait") {
    this.#turn = turn;
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

  /** Reads the stream for a loop over it. */
  stream(options: StreamOptions): TurnStream {
    const whole = new Watch({ signal: options.signal, deadline: options.deadline ?? 0 });
    const reading = this.#read(options, whole);
    return this.#feed.open(async () => {
      whole.cut(LEFT);
      await reading;
    });
  }

  /** Reads the stream without anybody iterating over it. */
  attach(options: ResumeOptions): void {
    const { signal, deadline = 0 } = options;
    void this.#read(options, new Watch({ signal, deadline }));
  }

  /**
   * Begins to read the turn's stream, until `whole` stops it. What is given resolves, with the error if there
   * was one, and never rejects.
   */
  #read(options: StreamOptions, whole: Watch): Promise<TurnwireError | undefined> {
    if (whole.signal.aborted && !this.isRead) {
      // Nothing begins, so that the turn can still be started.
      return this.#follow(Promise.resolve(stopped(whole.signal)), whole);
    }
    try {
      const drive = this.#drive(options, whole.signal);
      const run = (): Promise<TurnwireError | undefined> => this.#run(drive, drive.begin(STREAM, options.afterSequenceNumber));
      const ready = this.#prepare(whole.signal);
      const reading = ready ? this.#readied(ready, run, whole.signal) : run();
      this.#standing.error = null;
      this.#reads = whole;
      return this.#follow(reading, whole);
    } catch (error) {
      this.#leave();
      whole.end();
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
    const ready = this.#turn.session.prepare(this.#turn, this.#whenBusy, signal);
    if (ready) return ready.then(() => void (this.#isInside = true));
    this.#isInside = true;
    return this.#turn.session.unsent;
  }

  /** Goes on from a first step. Starts that come before this one is sent wait for that. */
  #run(drive: Drive, first: string): Promise<TurnwireError | undefined> {
    const running = drive.run(first);
    if (drive.sent) this.#turn.session.hold(drive.sent);
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
        for (let next: Promise<void> | undefined = ready; next; next = this.#turn.session.unsent) await orAborted(next, signal);
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
  #follow(reading: Promise<TurnwireError | undefined>, whole: Watch): Promise<TurnwireError | undefined> {
    this.#reading = reading.then((error) => {
      whole.end();
      this.#finish(error);
      return error;
    });
    this.#standing.changed();
    return this.#reading;
  }

  #finish(error: TurnwireError | undefined): void {
    this.#failure = error;
    this.#reading = undefined;
    this.#standing.reconnecting = null;
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
    this.#turn.session.leave(this.#turn, this.#standing.state);
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
      this.#standing.reconnecting = null;
      this.#failure = error;
      this.#standing.changed();
      if (error) throw error;
    });
    await Promise.race([started, left]).finally(forget);
  }

  /**
   * Starts the turn without a stream if nobody has started it, and waits until it has begun. Throws why it
   * did not, whoever has asked for the start.
   */
  async begun(limits: Limits): Promise<void> {
    const { status } = this.#standing;
    if (this.#isPreparing) await this.settled(limits.signal);
    else if (status === "unstarted" || this.#standing.isUncertain) {
      const { detached } = this.#connection.conventions;
      if (detached && (status === "incomplete" || !this.#turn.session.hasOthers(this.#turn))) {
        if (status === "unstarted") this.#prepare(limits.signal!);
        return this.#start(START, limits);
      }
      // Whoever starts it must read it, or waits for its place.
      this.attach({ ...limits, signal: undefined! });
    } else if (status !== "starting") return;
    await this.settled(limits.signal);
    if (this.#turn.id === null && this.#failure !== undefined) throw this.#failure;
  }

  /** Waits while the turn is being started. */
  async settled(signal: AbortSignal | undefined): Promise<void> {
    this.#joined += 1;
    try {
      while (this.#isPreparing || this.#standing.status === "starting") await this.#standing.change(signal);
    } finally {
      this.#joined -= 1;
      this.#left(signal);
    }
  }

  /** Somebody waits no longer. What was not sent yet is not sent for nobody. */
  #left(signal: AbortSignal | undefined): void {
    const isWanted = this.#joined > 0 || this.#feed.isIterated;
    if (signal?.aborted && this.#isPreparing && !isWanted) this.#reads?.cut(signal.reason);
  }

  /** Sees to it that the turn comes to its end, and waits for that. */
  async completed(limits: ResumeOptions & { signal: AbortSignal }): Promise<void> {
    const { signal } = limits;
    const { detached, socket } = this.#connection.conventions;
    const mayStream = (): boolean => !this.isRead && !this.#standing.isOver;
    // On a socket it costs nothing to read, and what the agent asks for meanwhile can be answered.
    if (mayStream() && (!detached || socket || this.#feed.isHeard || this.#standing.frames.size > 0)) {
      if (signal.aborted) throw stopped(signal);
      if (this.#standing.status === "starting") await this.begun(limits);
      // It is read to its end, whoever waits for that.
      if (mayStream()) void this.attach({ ...limits, signal: undefined! });
    }
    while (!this.#standing.isOver) {
      const reading = this.#reading;
      if (this.#isPreparing) await this.settled(signal);
      const error = reading && (await orAborted(reading, signal));
      // Whoever reads may have stopped that, or have had less time; what was cancelled before it was sent is not sent at all.
      const isLeft = error === undefined || (error !== this.#withdrawn && ["aborted", "timeout"].includes(error.code));
      if (!isLeft) throw error;
      if (mayStream()) await this.#poll(limits);
    }
    // Events that were missed may still be on their way.
    if (this.#reading) await orAborted(this.#reading, signal);
  }

  /** Waits until the turn does not run: it is over, or was not started after all. */
  async ended(signal: AbortSignal): Promise<void> {
    while (this.isBusy) {
      if (this.#isPreparing || this.#standing.status === "starting") await this.settled(signal);
      else if (this.#reading) await orAborted(this.#reading, signal);
      // Nobody reads it here any more, and who did may want to go on with that: the server knows.
      else await this.#poll({ signal });
    }
  }

  /**
   * Asks how the turn stands until it has ended, or somebody reads its stream: soon at first, for turns that
   * are short. A question that fails is asked again, some times: the turn goes on.
   */
  async #poll(limits: ResumeOptions & { signal: AbortSignal }): Promise<void> {
    const { signal } = limits;
    await this.begun(limits);
    const reconnect = checkedReconnect(limits.reconnect, this.#connection.settings.reconnect);
    const persistence = reconnect[0] > 0 ? reconnect : POLL_PERSISTENCE;
    const isPassing = (error: TurnwireError): boolean => mayPass(error) || error.code === "unexpected_response";
    for (let delay = 250; !this.#standing.isOver && !this.isRead; delay = Math.min(2 * delay, MAX_POLL_DELAY)) {
      await sleep(delay, signal, 0);
      if (signal.aborted) throw stopped(signal);
      await persist(() => this.#standing.refresh("waitForCompletion", limits), persistence, signal, isPassing);
    }
  }

  /** Gives the stream a moment to say that the turn has paused, or is over. */
  async pauses(signal: AbortSignal): Promise<void> {
    const soon = new Watch({ signal, deadline: SOON });
    try {
      if (this.#reading) await orAborted(this.#reading, soon.signal);
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
      await this.#reading;
      return;
    }
    await this.settled(limits.signal);
    if (this.#standing.isUncertain) await this.#start(LOOK, limits);
    this.#standing.startedId("cancel");
    // The server cancels whatever turn of the session runs: it must be this one.
    const isKnown = this.#standing.isOver || (this.isRead && this.#standing.reconnecting === null);
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
    if (!this.#standing.isOver && !this.isRead) {
      this.#standing.startedId("cancel");
      throw new StateError("turn_not_running", "the turn is not read here, and this server cannot be told to stop it");
    }
    if (this.#isPreparing) this.#withdraw();
    else this.#feed.core.hangUp();
    this.#reads?.cut(LEFT);
    await this.#reading;
  }

  /** It is not sent after all. */
  #withdraw(): void {
    this.#withdrawn ??= new AbortError("aborted", "the turn was cancelled before it was sent");
    this.#reads?.cut(this.#withdrawn);
  }
}
