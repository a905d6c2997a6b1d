// A lock: callers wait in order while another caller holds it.
import { orAborted } from "../client/face.js";

/** A lock for one caller at a time, in the order of their calls. */
export class Turnstile {
  #isTaken = false;
  readonly #queue: (() => void)[] = [];

  /** Whether a caller holds the lock. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Takes the lock, which must be free. */
  take(): void {
    this.#isTaken = true;
  }

  /** Waits for the lock, and takes it. */
  async enter(signal: AbortSignal): Promise<void> {
    if (!this.#isTaken) return this.take();
    let enter!: () => void;
    const entered = new Promise<void>((resolve) => this.#queue.push((enter = resolve)));
    try {
      await orAborted(entered, signal);
    } catch (error) {
      const at = this.#queue.indexOf(enter);
      // The lock was passed to this caller at the same moment: pass it on.
      if (at < 0) this.leave();
      else this.#queue.splice(at, 1);
      throw error;
    }
  }

  /** Passes the lock to the next caller. */
  leave(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.#isTaken = false;
  }
}
