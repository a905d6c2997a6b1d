// The state of a turn as this client knows it: from the core, from the server's record, and from the last reading.
// Wakes the code that waits for a change.
import type { CoreTurn } from "../boundary/boundary.js";
import { Call } from "../boundary/calls.js";
import { adopting, StateError, TurnFailedError, type TurnwireError } from "../common/errors.js";
import type { ConnectionTopics, Reconnecting, Waiting } from "../delivery/connection-topics.js";
import { FrameNotifier } from "../delivery/frames.js";
import type { JsonParser } from "../delivery/delivery.js";
import { SnapshotMirror, type TurnSnapshot, type TurnStatus } from "../snapshot/snapshot.js";
import type { Limits } from "../transport/clocks.js";
import { orAborted } from "../transport/transport.js";
import type { Event, TerminalState, TurnCreated, TurnInputItem, TurnRecord, TurnState } from "../wire/events.js";
import type { Connection, TextElision } from "./connection.js";

/** What the core knows of a turn. It returns the server's statements once. */
interface Facts {
  id?: string;
  status: TurnStatus;
  last: number;
  lacks?: true;
  created?: TurnCreated;
  state?: TerminalState;
}

/** What the server says of a turn besides its state. */
type Origin = Partial<Pick<TurnRecord, "previous_turn_id" | "created_by" | "created_by_subject" | "created_at">>;

/** The state of one turn. */
export class TurnStore {
  readonly #connection: Connection;
  readonly #core: CoreTurn;
  /** The parameters that name the session in requests, with more parameters. */
  readonly #sessionParams: (more: object) => object;
  /** Reports to the session that the turn has begun, and which turn it follows. */
  readonly #began: (previousTurnId: string | null) => void;
  /** The turn's threads and messages. */
  readonly mirror: SnapshotMirror;
  /** Leaves long texts out of what the core reads. */
  readonly elision: TextElision | undefined;
  /** Parses JSON from the core. */
  readonly json: JsonParser;
  /** The snapshot that readers of a frame see, and its subscribers. */
  readonly frames = new FrameNotifier(() => this.snapshot());
  /** The functions that wake code waiting for a change. */
  #wakes: (() => void)[] = [];
  #origin: Origin;
  #input: readonly TurnInputItem[];
  #state: TurnState | null = null;
  /** Why the last reading ended without the turn's end. */
  error: TurnwireError | null = null;
  /** The error with which the server ended the turn. */
  #failure: TurnFailedError | null = null;
  /** The next attempt to reach the server, while the connection is lost. */
  #reconnecting: Reconnecting | null = null;
  /** The next poll of the server. */
  #waiting: Waiting | null = null;
  /** What the core knew when it was asked last. */
  #facts: Facts | undefined;

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
    const { Elision } = connection.extras;
    this.elision = Elision && new Elision();
    this.json = this.elision ?? JSON;
    this.mirror = new SnapshotMirror(core, this.json);
    this.#origin = record;
    this.#input = record.input ?? [];
  }

  /** The turn's facts. Asks the core only if they may have changed. */
  learn(): Facts {
    if (this.#facts && !this.#core.isChanged) return this.#facts;
    const facts = this.#core.facts();
    // A core that has failed may have none.
    if (facts === "" && this.#facts) return this.#facts;
    const learnt = (this.#facts = this.json.parse(facts) as Facts);
    const { created, state } = learnt;
    if (created) {
      this.#origin = created;
      this.#began(created.previous_turn_id);
      // Records of some servers have no input.
      if (created.input?.length) this.#input = created.input;
    }
    if (state) this.#state = state;
    if (state?.status === "error") this.#failure = new TurnFailedError("turn_failed", state.message, { body: state });
    return learnt;
  }

  /** The turn's origin. */
  get origin(): Origin {
    this.learn();
    return this.#origin;
  }

  /** The turn's input. */
  get input(): readonly TurnInputItem[] {
    return this.#input;
  }

  get status(): TurnStatus {
    return this.learn().status;
  }

  /** The last state that the server reported. */
  get state(): TurnState | null {
    return this.#state;
  }

  /** Whether the turn has ended. */
  get isOver(): boolean {
    return ["done", "cancelled", "error"].includes(this.status);
  }

  /** Whether the turn has ended and the snapshot is complete. */
  get isWhole(): boolean {
    const { lacks } = this.learn();
    return this.isOver && !lacks;
  }

  /** Whether a start was sent, but it is unknown whether the turn began. */
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
      error: this.error ?? this.#failure,
      reconnecting: this.#reconnecting,
      waiting: this.#waiting,
      last_sequence_number: last,
      input: this.#input,
    });
  }

  /** Whether a wait before the next request is in progress. */
  get isPaused(): boolean {
    return this.#reconnecting !== null || this.#waiting !== null;
  }

  /**
   * Sets the wait before the next request; without an argument there is none. A wait like the last one changes no
   * snapshot.
   */
  setPause({ reconnecting, waiting }: Partial<ConnectionTopics> = {}): void {
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

  /** Merges listed events of a finished turn into the snapshot; `isAll` says that the list is complete. */
  fill(events: readonly Event[], isAll: boolean): void {
    // Some servers keep a turn's input only among its events.
    const created = this.#input.length === 0 && events.find((event) => event.type === "turn.created");
    if (created) this.#input = created.input;
    adopting(() => this.#core.applyListed(JSON.stringify(events), isAll));
    this.changed();
  }

  /** Reads the turn's record from the server. */
  async refresh(what: string, limits: Limits): Promise<TurnRecord> {
    const record = await this.#connection.transport.ask<TurnRecord>(Call.GetTurn, this.params(what), limits);
    adopting(() => this.#core.takeRecord(JSON.stringify(record)));
    this.#origin = record;
    this.changed();
    return record;
  }

  /** The parameters that name the turn in requests. Errors mention `method`. */
  params(method: string): object {
    const { unnamed } = this.#connection.conventions;
    const turnId = this.startedId(method);
    return this.#sessionParams({ turnId, ...(unnamed && { input: this.#input, isBegun: true }) });
  }

  /** The turn's id. Throws a `StateError` that mentions `method` if there is none. */
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
