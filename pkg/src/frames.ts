// Tells subscribers of changes, at most once per animation frame.
import { Listeners } from "./listeners.js";

/** In a hidden tab there are no frames; browsers let timers through about once a second there. */
const HIDDEN_DELAY = 250;

/** Gathers changes, and tells its listeners once per frame. */
export class FrameNotifier {
  readonly #listeners = new Listeners<{ frame: void }>();
  #cancel: (() => void) | undefined;

  /** Whether there are listeners. */
  get isHeard(): boolean {
    return this.#listeners.has("frame");
  }

  /** Adds a listener; returns what removes it. */
  add(listener: () => void): () => void {
    const remove = this.#listeners.add("frame", listener);
    return () => {
      remove();
      if (!this.isHeard) this.#cancel?.();
    };
  }

  /** Something has changed. */
  notify(): void {
    if (this.#cancel !== undefined || !this.isHeard) return;
    this.#cancel = soon(() => {
      this.#cancel = undefined;
      this.#listeners.tell("frame", undefined);
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
