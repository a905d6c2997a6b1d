// Tells subscribers of changes, at most once per animation frame.
import { reportUncaught } from "./listeners.js";

/** In a hidden tab there are no frames; browsers let timers through about once a second there. */
const HIDDEN_DELAY = 250;

/** Gathers changes, and tells its listeners once per frame. */
export class FrameNotifier {
  readonly #listeners = new Set<() => void>();
  #cancel: (() => void) | undefined;

  /** How many listeners there are. */
  get size(): number {
    return this.#listeners.size;
  }

  /** Adds a listener; gives what removes it. */
  add(listener: () => void): () => void {
    // Its own function each time: one listener may be added twice, and is then removed once at a time.
    const entry = (): void => listener();
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
      if (this.#listeners.size === 0) this.#cancel?.();
    };
  }

  /** Something has changed. */
  notify(): void {
    if (this.#cancel !== undefined || this.#listeners.size === 0) return;
    this.#cancel = soon(() => {
      this.#cancel = undefined;
      for (const listener of [...this.#listeners]) {
        // One that was removed a moment ago is not called any more.
        if (!this.#listeners.has(listener)) continue;
        try {
          listener();
        } catch (error) {
          reportUncaught(error);
        }
      }
    }, () => (this.#cancel = undefined));
  }
}

/** Calls `task` in the next frame, or by a timer should no frame come. Gives what calls it off. */
function soon(task: () => void, calledOff: () => void): () => void {
  let frame: number | undefined;
  const off = (): void => {
    clearTimeout(timer);
    if (frame !== undefined) cancelAnimationFrame(frame);
  };
  const run = (): void => {
    off();
    task();
  };
  // The tab may be hidden while the frame is waited for, so the timer runs beside it.
  const timer = setTimeout(run, HIDDEN_DELAY);
  if (typeof requestAnimationFrame === "function") frame = requestAnimationFrame(run);
  return () => {
    off();
    calledOff();
  };
}
