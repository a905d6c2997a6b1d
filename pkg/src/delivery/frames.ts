// Publishes a changing value, at most once per animation frame.
import { Listeners } from "../common/listeners.js";

/** A hidden tab has no frames, and browsers run its timers about once a second. */
const HIDDEN_DELAY = 250;

/** The tasks of the next frame. All turns of a page share one frame and one timer. */
const due = new Set<() => void>();
let frame: number | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
/** Whether a frame has come since the timer was set. */
let hasFrames = false;

/** Holds what readers of a frame see of a value, and notifies listeners when that changes. */
export class FrameNotifier<T> {
  readonly #newest: () => T;
  readonly #listeners = new Listeners<{ frame: void }>();
  /** What was read since the last frame: all readers of a frame see the same. `undefined` if there were none. */
  #latched: T | undefined;
  readonly #publish = (): void => {
    this.#latched = undefined;
    this.#listeners.tell("frame", undefined);
  };

  /** `newest` returns the value as it is now, and the same object while it does not change. */
  constructor(newest: () => T) {
    this.#newest = newest;
  }

  /** Whether there are listeners. */
  get isHeard(): boolean {
    return this.#listeners.has("frame");
  }

  /** The published value. */
  get(): T {
    return (this.#latched ??= this.#newest());
  }

  /** Adds a listener; returns the function that removes it. */
  add(listener: () => void): () => void {
    const remove = this.#listeners.add("frame", listener);
    return () => {
      remove();
      // What is due is published without listeners, so that a later reader does not see the old value.
      if (!this.isHeard) this.flush();
    };
  }

  /** The value has changed. Without listeners and readers, this costs nothing. */
  notify(): void {
    if (!this.isHeard && this.#latched === undefined) return;
    if (due.size === 0) schedule();
    due.add(this.#publish);
  }

  /** Publishes at once what is due. */
  flush(): void {
    if (!due.delete(this.#publish)) return;
    if (due.size === 0) forget();
    this.#publish();
  }
}

/** Waits for the next frame, or for a timer if the tab is hidden and no frame comes. */
function schedule(): void {
  frame = globalThis.requestAnimationFrame?.(() => {
    hasFrames = true;
    run();
  });
  timer ??= setTimeout(late, HIDDEN_DELAY);
}

/** A timer for each frame would cost as much as a frame's changes. So one is set now and then, and looks whether frames come. */
function late(): void {
  const haveCome = hasFrames;
  hasFrames = false;
  timer = undefined;
  if (due.size === 0) return;
  if (haveCome) timer = setTimeout(late, HIDDEN_DELAY);
  else {
    globalThis.cancelAnimationFrame?.(frame!);
    run();
  }
}

/** Nothing is due any more. */
function forget(): void {
  clearTimeout(timer);
  timer = undefined;
  globalThis.cancelAnimationFrame?.(frame!);
}

function run(): void {
  const tasks = [...due];
  due.clear();
  for (const task of tasks) task();
}
