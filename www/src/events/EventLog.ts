// The latest raw events of a conversation, for the events panel, and between them the events of the connection.

import type { ConnectionTopics, NativeEvent, StreamEvent, Turn } from "turnwire";
import { Value } from "../ui/Value";

export interface LoggedEvent {
  /** The number of the turn in the conversation, from 1. */
  readonly turn: number;
  readonly event: StreamEvent;
}

/** An event of the connection, with its details. */
export type Mark = {
  [Topic in keyof ConnectionTopics]: { readonly topic: Topic; readonly told: ConnectionTopics[Topic] };
}[keyof ConnectionTopics];

export interface LoggedMark {
  readonly turn: number;
  readonly mark: Mark;
}

/** A frame in the server's own form. */
export interface LoggedFrame {
  readonly turn: number;
  readonly frame: NativeEvent;
}

export type LogEntry = LoggedEvent | LoggedMark | LoggedFrame;

/** What is listed: all events, events without deltas, or the frames. */
export type Choice = "all" | "rare" | "frames";

export function isMark(entry: LogEntry): entry is LoggedMark {
  return "mark" in entry;
}

export function isFrame(entry: LogEntry): entry is LoggedFrame {
  return "frame" in entry;
}

/** How many events are kept. Older ones are dropped, so that a turn of any length needs the same memory. */
const KEPT = 5_000;
/** Events other than deltas are fewer and say more, so they have a ring of their own. */
const KEPT_RARE = 1_000;

/** The newest `capacity` entries. Positions are counted from the first entry ever added. */
class Ring {
  readonly #capacity: number;
  readonly #entries: LogEntry[] = [];
  #total = 0;
  #marks = 0;
  #keptMarks = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get total(): number {
    return this.#total;
  }

  /** The position of the oldest kept entry. */
  get first(): number {
    return this.#total - this.#entries.length;
  }

  /** How many of the entries were events. */
  get events(): number {
    return this.#total - this.#marks;
  }

  /** How many events are still here. */
  get keptEvents(): number {
    return this.#entries.length - this.#keptMarks;
  }

  push(entry: LogEntry): void {
    const slot = this.#total % this.#capacity;
    const gone = this.#entries[slot];
    if (gone && isMark(gone)) this.#keptMarks -= 1;
    if (isMark(entry)) {
      this.#marks += 1;
      this.#keptMarks += 1;
    }
    this.#entries[slot] = entry;
    this.#total += 1;
  }

  at(position: number): LogEntry | undefined {
    return position >= this.first && position < this.#total ? this.#entries[position % this.#capacity] : undefined;
  }
}

/** A turn whose events are logged, and its frames as well if they are wanted. */
interface Followed {
  readonly turn: () => number;
  readonly source: Pick<Turn, "on">;
  stop: (() => void) | null;
}

export interface EventRows {
  readonly total: number;
  readonly first: number;
  readonly events: number;
  readonly keptEvents: number;
  at(position: number): LogEntry | undefined;
}

/** The number of new events beyond which a reader cannot follow: notifications may then wait a little. */
const UNREADABLE = 20;
const UNREADABLE_PAUSE_MS = 100;

/**
 * Adding an event writes into a ring. The value, which counts everything, is set once per frame, or less often when many
 * events come.
 */
export class EventLog extends Value<number> {
  readonly #all = new Ring(KEPT);
  readonly #rare = new Ring(KEPT_RARE);
  readonly #frames = new Ring(KEPT);
  readonly #followed = new Set<Followed>();
  #wantsFrames = false;
  #frame = 0;
  #toldAt = -Infinity;

  constructor() {
    super(0);
  }

  /**
   * Logs the events of a turn and of its connection from now on. `numberOf` is asked once there is one. Returns the function
   * that ends it.
   */
  follow(numberOf: () => number, source: Pick<Turn, "on">): () => void {
    let number = 0;
    const turn = () => (number ||= numberOf());
    let waitedFor: string | undefined;
    const ends = [
      source.on("event", (event) => this.push(turn(), event)),
      source.on("reconnecting", (told) => {
        waitedFor = undefined;
        this.mark(turn(), { topic: "reconnecting", told });
      }),
      // Reported before every poll, but worth listing only once.
      source.on("waiting", (told) => {
        if (told.for !== waitedFor) this.mark(turn(), { topic: "waiting", told });
        waitedFor = told.for;
      }),
      source.on("idle", (told) => this.mark(turn(), { topic: "idle", told })),
      source.on("resumed", (told) => this.mark(turn(), { topic: "resumed", told })),
      source.on("gap", (told) => this.mark(turn(), { topic: "gap", told })),
      source.on("mismatch", (told) => this.mark(turn(), { topic: "mismatch", told })),
    ];
    const followed: Followed = { turn, source, stop: null };
    this.#followed.add(followed);
    this.#arrange(followed);
    return () => {
      for (const end of ends) end();
      followed.stop?.();
      this.#followed.delete(followed);
    };
  }

  /** Frames are expensive: they are kept only while they are wanted. */
  wantFrames(wants: boolean): void {
    this.#wantsFrames = wants;
    for (const followed of this.#followed) this.#arrange(followed);
  }

  #arrange(followed: Followed): void {
    const { turn, source } = followed;
    if (!this.#wantsFrames) {
      followed.stop?.();
      followed.stop = null;
    } else followed.stop ??= source.on("native", (frame) => this.#keep(this.#frames, { turn: turn(), frame }));
  }

  push(turn: number, event: StreamEvent): void {
    this.#add({ turn, event }, event.type !== "model.message.delta");
  }

  mark(turn: number, mark: Mark): void {
    this.#add({ turn, mark }, true);
  }

  #add(entry: LogEntry, isRare: boolean): void {
    if (isRare) this.#rare.push(entry);
    this.#keep(this.#all, entry);
  }

  #keep(ring: Ring, entry: LogEntry): void {
    ring.push(entry);
    if (this.#frame === 0) this.#frame = requestAnimationFrame(this.#tell);
  }

  readonly #tell = (time: number): void => {
    this.#frame = 0;
    const total = this.#all.total + this.#frames.total;
    if (total - this.get() > UNREADABLE && time - this.#toldAt < UNREADABLE_PAUSE_MS) {
      this.#frame = requestAnimationFrame(this.#tell);
      return;
    }
    this.#toldAt = time;
    this.set(total);
  };

  rows(choice: Choice): EventRows {
    return { all: this.#all, rare: this.#rare, frames: this.#frames }[choice];
  }
}
