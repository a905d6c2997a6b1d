// A turn of a conversation while it is followed: its object or its last snapshot, and what was told of it.
import type { TurnwireError } from "../common/errors.js";
import type { TurnSnapshot } from "../snapshot/snapshot.js";
import type { CreateTurnOptions } from "../turn/options.js";
import type { SettledTurn } from "../turn/settled.js";
import type { Turn } from "../turn/turn.js";
import type { TurnInputItem, TurnRecord } from "../wire/events.js";

/** What is known of a turn. */
export type Known = Turn | SettledTurn | TurnRecord;

/** Messages that were steered into a turn: the keys of their rows, and their items until the turn's own record has them. */
export type SteeredRows = readonly (readonly [key: string, input: readonly TurnInputItem[] | null])[];

/** A turn of the plan. */
export class TrackedTurn {
  /** The plan's key. */
  readonly key: number;
  /** The object, its frozen snapshot, or the server's record; `undefined` until it is started. */
  known: Known | undefined;
  /** What it says, while it is not started. */
  input: readonly TurnInputItem[] = [];
  /** More options of its start. */
  options: Pick<CreateTurnOptions, "turnOptions"> = {};
  /** Why it was not sent. */
  error: TurnwireError | null = null;
  /** Stops the reading; there is one while it is read. */
  reading: AbortController | undefined;
  /** What the plan was told last: the id, what it does, and what it waits for. */
  told = { id: false, activity: 0, waiting: "", steered: 0 };
  /** Ends the subscriptions to the turn. */
  release = (): void => {};
  #blank: TurnSnapshot | undefined;
  #steered: SteeredRows = [];

  constructor(key: number) {
    this.key = key;
  }

  /** The object, if it is one that can be acted on. */
  get turn(): Turn | undefined {
    return this.known && "cancel" in this.known ? this.known : undefined;
  }

  get createdAt(): string | null {
    const { known } = this;
    if (!known) return null;
    return "snapshot" in known ? known.createdAt : known.created_at;
  }

  /** The newest snapshot. */
  snapshot(): TurnSnapshot {
    const { known } = this;
    if (known && "snapshot" in known) return known.snapshot();
    this.#blank ??= blank(known, this.input);
    return this.#blank;
  }

  /** Keeps the messages that were steered into the turn here; returns the known list if they are the same. */
  steeredRows(steered: readonly (readonly [key: string, input: string])[]): SteeredRows {
    const isSame = steered.length === this.#steered.length && steered.every(([key, input], at) => this.#steered[at]![0] === key && (input === "") === (this.#steered[at]![1] === null));
    if (!isSame) this.#steered = steered.map(([key, input]) => [key, input === "" ? null : (JSON.parse(input) as TurnInputItem[])]);
    return this.#steered;
  }

  /** Takes what is known of the turn now. */
  take(known: Known): void {
    this.known = known;
    this.#blank = undefined;
  }

  /** Takes what the turn says, while it is not started. */
  takeInput(input: readonly TurnInputItem[]): void {
    this.input = input;
    this.#blank = undefined;
  }
}

/** A snapshot of a turn that was not read: its input, and how it ended if the server's record says so. */
function blank(record: TurnRecord | undefined, input: readonly TurnInputItem[]): TurnSnapshot {
  const state = record?.state ?? null;
  return Object.freeze({
    turn_id: record?.id ?? null,
    status: state?.status ?? "unstarted",
    state,
    error: null,
    reconnecting: null,
    waiting: null,
    last_sequence_number: 0,
    input: record?.input ?? input,
    threads: [],
    required_actions: [],
    mcp_servers: [],
    sandbox_id: null,
    agent_state: null,
    agent_state_problem: null,
    activities: [],
    notices: [],
  });
}
