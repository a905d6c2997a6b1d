// One after the other: who comes while somebody is inside waits for their turn.
import { orAborted } from "../client/face.js";

/** Lets one in at a time, in the order in which they came. */
export class Turnstile {
  #isTaken = false;
  readonly #queue: (() => void)[] = [];

  /** Whether somebody is inside. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Takes the place at once; it must be free. */
  take(): void {
    this.#isTaken = true;
  }

  /** Waits for the place, and takes it. */
  async enter(signal: AbortSignal): Promise<void> {
    if (!this.#isTaken) return this.take();
    let enter!: () => void;
    const entered = new Promise<void>((resolve) => this.#queue.push((enter = resolve)));
    try {
      await orAborted(entered, signal);
    } catch (error) {
      const at = this.#queue.indexOf(enter);
      // Who was let in at the same moment lets in the next one.
      if (at < 0) this.leave();
      else this.#queue.splice(at, 1);
      throw error;
    }
  }

  /** Gives the place to the next one. */
  leave(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.#isTaken = false;
  }
}
