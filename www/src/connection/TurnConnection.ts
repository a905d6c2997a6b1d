// The events of a turn's connection while this page read it.

import type { ConnectionTopics, Turn } from "turnwire";
import { Value } from "../ui/Value";

export type Gap = ConnectionTopics["gap"];

export interface ConnectionState {
  /** How often the stream continued after it was lost. */
  readonly resumes: number;
  /** The number of the event after which it last continued. */
  readonly after: number;
  /** Events that the server has lost. */
  readonly gaps: readonly Gap[];
}

export class TurnConnection extends Value<ConnectionState> {
  constructor() {
    super({ resumes: 0, after: 0, gaps: [] });
  }

  /** Counts from now on. Returns the function that ends it. */
  follow(turn: Pick<Turn, "on">): () => void {
    const ends = [
      turn.on("resumed", ({ after }) => this.#change({ resumes: this.get().resumes + 1, after })),
      turn.on("gap", (gap) => this.#change({ gaps: [...this.get().gaps, gap] })),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  #change(change: Partial<ConnectionState>): void {
    this.set({ ...this.get(), ...change });
  }
}
