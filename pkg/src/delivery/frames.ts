// Notifies subscribers of changes, at most once per animation frame.
import { Listeners } from "../common/listeners.js";

/** A hidden tab has no frames, and browsers run its timers about once a second. */
const HIDDEN_DELAY = 250;

/** The tasks of the next frame. All turns of a page share one frame and one timer. */
const due = new Set<() => void>();
let forget = (): void => {};

/** Collects changes, and notifies its listeners once per frame. */
export class FrameNotifier {
  readonly #listeners = new Listeners<{ frame: void }>();
  readonly #tell = (): void => this.#listeners.tell("frame", undefined);

  /** Whether there are listeners. */
  get isHeard(): boolean {
    return this.#listeners.has("frame");
  }

  /** Adds a listener; returns the function that removes it. */
  add(listener: () => void): () => void {
    const remove = this.#listeners.add("frame", listener);
    return () => {
      remove();
      if (this.isHeard) return;
      due.delete(this.#tell);
      if (due.size === 0) forget();
    };
  }

  /** Something has changed. */
  notify(): void {
    if (!this.isHeard) return;
    if (due.size === 0) schedule();
    due.add(this.#tell);
  }
}

/** Waits for the next frame, or for a timer if the tab becomes hidden and no frame comes. */
function schedule(): void {
  const timer = setTimeout(run, HIDDEN_DELAY);
  const frame = globalThis.requestAnimationFrame?.(run);
  forget = () => {
    clearTimeout(timer);
    globalThis.cancelAnimationFrame?.(frame);
  };
}

function run(): void {
  forget();
  const tasks = [...due];
  due.clear();
  for (const task of tasks) task();
}
