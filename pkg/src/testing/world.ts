// The shared state of a fake server's protocols: the agents' script, ids that count up, and sessions.
import { Conversation } from "./conversation.js";
import type { Script } from "./script.js";

/** The parts of the server that a protocol uses. */
export class World {
  readonly #delay: number;
  readonly #counts = new Map<string, number>();
  readonly #demand: (script: Script, isInner: boolean) => void;
  #script!: Script;
  /** The agents in a list. */
  readonly agents: readonly string[];

  /** `delay` is the pause between two steps, in milliseconds. `demand` throws for a script that the protocol cannot play. */
  constructor(script: Script, delay: number, agents: readonly string[], demand: (script: Script, isInner: boolean) => void) {
    this.#demand = demand;
    this.script = script;
    this.#delay = delay;
    this.agents = agents;
  }

  get script(): Script {
    return this.#script;
  }

  set script(script: Script) {
    this.#demand(script, false);
    this.#script = script;
  }

  /** An id such as `turn_3`, the same in each run of a test. */
  readonly nextId = (kind: string): string => {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return `${kind}_${count}`;
  };

  converse(): Conversation {
    return new Conversation(() => this.script, { nextId: this.nextId, demand: this.#demand }, this.#delay);
  }
}

/** The current time in the servers' form. */
export const now = (): string => new Date().toISOString();
