// A turn of a conversation while it is followed: its object or its last snapshot, and what was last reported of it.
import type { TurnwireError } from "../common/errors.js";
import type { TurnSnapshot } from "../snapshot/snapshot.js";
import type { CreateTurnOptions } from "../turn/options.js";
import type { SettledTurn } from "../turn/settled.js";
import type { Turn } from "../turn/turn.js";
import type { TurnInputItem, TurnRecord } from "../wire/events.js";
import type { Branch } from "./types.js";
import type { Activity } from "./plan/facts.js";

/** The known facts about a turn. */
export type Known = Turn | SettledTurn | TurnRecord;

/** Messages steered into a turn: the keys of their rows, and their items until the turn's own record has them. */
export type SteeredRows = readonly (readonly [key: string, input: readonly TurnInputItem[] | null])[];

const NONE: readonly never[] = Object.freeze([]);

/** A turn of the plan. */
export class TrackedTurn {
  /** The plan's key. */
  readonly key: number;
  /** The object, its frozen snapshot, or the server's record; `undefined` until it is started. */
  known: Known | undefined;
  /** More options of its start. */
  options: Pick<CreateTurnOptions, "turnOptions"> = {};
  /** Why it was not sent. */
  error: TurnwireError | null = null;
  /** Whether it was started here. */
  isOwn = false;
  /** Whether it was cancelled before there was an object. */
  isCancelled = false;
  /** Stops the reading; set while it is read. */
  reading: AbortController | undefined;
  /** The plan's last report: the id, the activity, the pending calls, and the number of steered messages. */
  told: { id: boolean; activity: Activity; waiting: string; steered: number } = { id: false, activity: "thinking", waiting: "[]", steered: 0 };
  /** Ends the subscription to the turn. */
  release = (): void => {};
  /** Its state before its core failed. */
  #before: Known | undefined;
  #text = "";
  #blank: TurnSnapshot | undefined;
  #steered: SteeredRows = NONE;
  #branch: Branch | null = null;

  constructor(key: number) {
    this.key = key;
  }

  /** The object, if it accepts actions. */
  get turn(): Turn | undefined {
    return this.known && "cancel" in this.known && !this.known.isBroken ? this.known : undefined;
  }

  /** The object's core has failed: the turn must be read again. */
  get isBroken(): boolean {
    return !!this.known && "cancel" in this.known && this.known.isBroken;
  }

  /** ISO 8601; `null` if unknown. */
  get createdAt(): string | null {
    const { known } = this;
    return (known && ("snapshot" in known ? known.createdAt : known.created_at)) ?? null;
  }

  /** The newest snapshot. */
  snapshot(): TurnSnapshot {
    const { known } = this;
    if (known && "snapshot" in known) return known.snapshot();
    return (this.#blank ??= blank(known, this.#text === "" ? NONE : (JSON.parse(this.#text) as TurnInputItem[])));
  }

  /** Keeps the messages steered into the turn here; returns the known list if they are unchanged. */
  steeredRows(steered: readonly (readonly [key: string, input: string])[]): SteeredRows {
    const isSame = steered.length === this.#steered.length && steered.every(([key, input], at) => this.#steered[at]![0] === key && (input === "") === (this.#steered[at]![1] === null));
    if (!isSame) this.#steered = steered.map(([key, input]) => [key, input === "" ? null : (JSON.parse(input) as TurnInputItem[])]);
    return this.#steered;
  }

  /** Its siblings by their names, and its index among them; the known object if they are unchanged. */
  branchOf(at: number, of: readonly string[]): Branch | null {
    if (String(this.#branch?.of ?? []) !== String(of)) this.#branch = of.length > 0 ? Object.freeze({ at, of: Object.freeze(of) }) : null;
    return this.#branch;
  }

  /** Takes the turn's current facts. */
  take(known: Known): void {
    if (this.isBroken) this.#before = this.known;
    this.known = known;
    this.#blank = undefined;
  }

  /** Shows the snapshot from before its core failed, if nothing could be read again: some servers keep nothing. Returns whether it does. */
  takeBack(): boolean {
    const before = this.#before;
    if (!before || this.snapshot().threads.some(({ messages }) => messages.length > 0)) return false;
    this.take(before);
    return true;
  }

  /** Takes the message (JSON) with which the turn will start. */
  takeText(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    this.#blank = this.known = undefined;
  }
}

/** A snapshot of a turn that was not read: its input, and its end if the server's record has it. */
function blank(record: TurnRecord | undefined, input: readonly TurnInputItem[]): TurnSnapshot {
  const state = record?.state ?? null;
  return Object.freeze({
    turn_id: record?.id ?? null,
    status: state?.status ?? "unstarted",
    state,
    input: record?.input ?? input,
    error: null,
    reconnecting: null,
    waiting: null,
    last_sequence_number: 0,
    threads: NONE,
    required_actions: NONE,
    mcp_servers: NONE,
    sandbox_id: null,
    agent_state: null,
    agent_state_problem: null,
    activities: NONE,
    notices: NONE,
  });
}
