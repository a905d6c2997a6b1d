// How a turn stands, as far as is known here: what the core has learnt of it, what the server keeps of it, and what its
// last reading came to. Whoever waits for a change is told.
import type { CoreTurn } from "../boundary/boundary.js";
import { Call } from "../boundary/calls.js";
import { adopting, StateError, type TurnwireError } from "../common/errors.js";
import type { ConnectionTopics, Reconnecting, Waiting } from "../delivery/connection-topics.js";
import { FrameNotifier } from "../delivery/frames.js";
import { SparedOutput } from "../snapshot/output.js";
import { SnapshotMirror, type TurnSnapshot, type TurnStatus } from "../snapshot/snapshot.js";
import type { Limits } from "../transport/clocks.js";
import { orAborted } from "../transport/transport.js";
import type { Event, TerminalState, TurnCreated, TurnInputItem, TurnRecord, TurnState } from "../wire/events.js";
import type { Connection } from "./connection.js";

/** What the core knows of a turn; what the server said of it comes once. */
interface Learnt {
  id?: string;
  status: TurnStatus;
  last: number;
  lacks?: true;
  created?: TurnCreated;
  state?: TerminalState;
}

/** What the server says of a turn besides how it stands. */
type Origin = Partial<Pick<TurnRecord, "previous_turn_id" | "created_by" | "created_by_subject" | "created_at">>;

/** What is known of one turn. */
export class TurnStanding {
  readonly #connection: Connection;
  readonly #core: CoreTurn;
  /** What names the session in requests, with more parameters. */
  readonly #sessionParams: (more: object) => object;
  /** Tells the session that the turn has begun after another one. */
  readonly #began: (previousTurnId: string | null) => void;
  /** What was said in it. */
  readonly mirror: SnapshotMirror;
  /** What its end need not say once more. */
  readonly output: SparedOutput;
  /** Who wants to know of new snapshots. */
  readonly frames = new FrameNotifier();
  /** Who waits for anything to change. */
  #wakes: (() => void)[] = [];
  #origin: Origin;
  #input: readonly TurnInputItem[];
  #state: TurnState | null = null;
  /** Why its stream ended, if not with the turn. */
  error: TurnwireError | null = null;
  /** The next try to reach the server, while the connection is lost. */
  #reconnecting: Reconnecting | null = null;
  /** The next look at what the server has not said yet. */
  #waiting: Waiting | null = null;

  constructor(
    connection: Connection,
    core: CoreTurn,
    record: Partial<TurnRecord>,
    params: (more: object) => object,
    began: (previousTurnId: string | null) => void,
  ) {
    this.#connection = connection;
    this.#core = core;
    this.#sessionParams = params;
    this.#began = began;
    this.mirror = new SnapshotMirror(core);
    this.output = new SparedOutput(this.mirror);
    this.#origin = record;
    this.#input = record.input ?? [];
  }

  /** Takes what the core has learnt of the turn as a whole. */
  learn(): Learnt {
    const learnt = JSON.parse(this.#core.facts()) as Learnt;
    const { created, state } = learnt;
    if (created) {
      this.#origin = created;
      this.#began(created.previous_turn_id);
      // Records of some servers have none.
      if (created.input?.length) this.#input = created.input;
    }
    this.output.complete(state);
    if (state) this.#state = state;
    return learnt;
  }

  /** Where it comes from. */
  get origin(): Origin {
    this.learn();
    return this.#origin;
  }

  /** What it was given. */
  get input(): readonly TurnInputItem[] {
    return this.#input;
  }

  get status(): TurnStatus {
    return this.learn().status;
  }

  /** What the server said last of how it stands. */
  get state(): TurnState | null {
    return this.#state;
  }

  /** Whether it has ended. */
  get isOver(): boolean {
    return ["done", "cancelled", "error"].includes(this.status);
  }

  /** Whether it has ended, and all that it said is here. */
  get isWhole(): boolean {
    const { lacks } = this.learn();
    return this.isOver && !lacks;
  }

  /** Whether a request for its start went out, and nobody knows whether that arrived. */
  get isUncertain(): boolean {
    const { status, id } = this.learn();
    return status === "incomplete" && id === undefined;
  }

  snapshot(): TurnSnapshot {
    const { id = null, status, last } = this.learn();
    return this.mirror.take({
      turn_id: id,
      status,
      state: this.#state,
      error: this.error,
      reconnecting: this.#reconnecting,
      waiting: this.#waiting,
      last_sequence_number: last,
      input: this.#input,
    });
  }

  /** Whether something is waited for before the next request. */
  get isPaused(): boolean {
    return this.#reconnecting !== null || this.#waiting !== null;
  }

  /** This is waited for before the next request; by default nothing. A wait like the last one changes no snapshot. */
  pauses({ reconnecting, waiting }: Partial<ConnectionTopics> = {}): void {
    const last = this.#waiting;
    const isSame = last && waiting && last.for === waiting.for && last.delay === waiting.delay;
    this.#reconnecting = reconnecting ?? null;
    this.#waiting = isSame ? last : (waiting ?? null);
  }

  /** Something has changed. */
  changed(): void {
    this.frames.notify();
    if (this.#wakes.length > 0) for (const wake of this.#wakes.splice(0)) wake();
  }

  /** Waits until something changes. */
  change(signal: AbortSignal | undefined): Promise<void> {
    return orAborted(new Promise((resolve) => this.#wakes.push(resolve)), signal);
  }

  /** Takes listed events of a finished turn into the snapshot, all of them if `isAll`. */
  fill(events: readonly Event[], isAll: boolean): void {
    // Some servers keep what a turn was given among its events only.
    const created = this.#input.length === 0 && events.find((event) => event.type === "turn.created");
    if (created) this.#input = created.input;
    adopting(() => this.#core.applyListed(JSON.stringify(events), isAll));
    this.changed();
  }

  /** Reads the turn as the server keeps it. */
  async refresh(what: string, limits: Limits): Promise<TurnRecord> {
    const record = await this.#connection.transport.ask<TurnRecord>(Call.GetTurn, this.params(what), limits);
    adopting(() => this.#core.takeRecord(JSON.stringify(record)));
    this.#origin = record;
    this.changed();
    return record;
  }

  /** What names the turn in requests. `method` needs it. */
  params(method: string): object {
    const { unnamed } = this.#connection.conventions;
    const turnId = this.startedId(method);
    return this.#sessionParams({ turnId, ...(unnamed && { input: this.#input, isBegun: true }) });
  }

  /** The turn's id, without which `method` can do nothing. */
  startedId(method: string): string {
    const { id, status } = this.learn();
    if (id !== undefined) return id;
    if (status === "incomplete") {
      throw new StateError("turn_not_started", "whether the turn began is not known; session.listTurns() tells");
    }
    throw new StateError(
      "turn_not_started",
      `the turn has not started: call stream(), waitForCompletion() or state() before ${method}()`,
    );
  }
}
