// The events of a turn's connection while this page read it.

import type { ConnectionTopics, Turn } from "turnwire";
import { Store } from "../ui/Store";

export type Gap = ConnectionTopics["gap"];

export interface ConnectionState {
  /** How often the stream continued after it was lost. */
  readonly resumes: number;
  /** The number of the event after which it last continued. */
  readonly after: number;
  /** Events that the server has lost. */
  readonly gaps: readonly Gap[];
}

export class TurnConnection extends Store {
  #state: ConnectionState = { resumes: 0, after: 0, gaps: [] };

  readonly state = (): ConnectionState => this.#state;

  /** Counts from now on. Returns the function that ends it. */
  follow(turn: Pick<Turn, "on">): () => void {
    const ends = [
      turn.on("resumed", ({ after }) => this.#set({ resumes: this.#state.resumes + 1, after })),
      turn.on("gap", (gap) => this.#set({ gaps: [...this.#state.gaps, gap] })),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  #set(change: Partial<ConnectionState>): void {
    this.#state = { ...this.#state, ...change };
    this.notify();
  }
}
