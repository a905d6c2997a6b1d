// The raw events of a conversation, as many as are worth keeping, for the events panel.

import type { StreamEvent } from "turnwire";
import { Store } from "../ui/Store";

export interface LoggedEvent {
  /** The turn's place in the conversation, from 1. */
  readonly turn: number;
  readonly event: StreamEvent;
}

/** How many events are kept. Older ones are let go, so that a turn of any length costs the same memory. */
const KEPT = 5_000;
/** Events other than deltas are few and say more, so that they have a ring of their own. */
const KEPT_RARE = 1_000;

/** The newest `capacity` of a row of entries. Positions are counted from the first entry ever added. */
class Ring {
  readonly #capacity: number;
  readonly #entries: LoggedEvent[] = [];
  #total = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get total(): number {
    return this.#total;
  }

  /** The position of the oldest entry that is still here. */
  get first(): number {
    return this.#total - this.#entries.length;
  }

  push(entry: LoggedEvent): void {
    this.#entries[this.#total % this.#capacity] = entry;
    this.#total += 1;
  }

  at(position: number): LoggedEvent | undefined {
    return position >= this.first && position < this.#total ? this.#entries[position % this.#capacity] : undefined;
  }
}

export interface EventRow {
  readonly total: number;
  readonly first: number;
  at(position: number): LoggedEvent | undefined;
}

/** When more events than this came since the last time, nobody can follow them: telling of them may wait a little. */
const UNREADABLE = 20;
const UNREADABLE_PAUSE_MS = 100;

/** Adding an event is a store into a ring; who watches hears of it once per frame, or less often in a flood. */
export class EventLog extends Store {
  readonly #all = new Ring(KEPT);
  readonly #rare = new Ring(KEPT_RARE);
  #frame = 0;
  #toldTotal = 0;
  #toldAt = -Infinity;

  /** Changes whenever there is something new. */
  readonly version = (): number => this.#all.total;

  push(turn: number, event: StreamEvent): void {
    const entry = { turn, event };
    this.#all.push(entry);
    if (event.type !== "model.message.delta") this.#rare.push(entry);
    if (this.#frame === 0) this.#frame = requestAnimationFrame(this.#tell);
  }

  readonly #tell = (time: number): void => {
    this.#frame = 0;
    const { total } = this.#all;
    if (total - this.#toldTotal > UNREADABLE && time - this.#toldAt < UNREADABLE_PAUSE_MS) {
      this.#frame = requestAnimationFrame(this.#tell);
      return;
    }
    this.#toldTotal = total;
    this.#toldAt = time;
    this.notify();
  };

  rows(withDeltas: boolean): EventRow {
    return withDeltas ? this.#all : this.#rare;
  }
}
