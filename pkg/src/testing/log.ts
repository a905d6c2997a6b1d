// The frames of one turn: written once, read by each connection from any position.

/** Frames in order, and whether more will come. */
export class FrameLog {
  readonly frames: string[] = [];
  isClosed = false;
  #read = 0;
  #wake: (() => void)[] = [];

  append(frame: string): void {
    this.frames.push(frame);
    this.#notify();
  }

  /** Closes the log, until something is appended again. */
  close(): void {
    this.isClosed = true;
    this.#notify();
  }

  /** Resolves when there are more frames than `count`, or the log is closed. */
  async more(count: number): Promise<void> {
    while (this.frames.length <= count && !this.isClosed) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** A reader has taken so many frames. */
  taken(count: number): void {
    this.#read = Math.max(this.#read, count);
    this.#notify();
  }

  /** Resolves when a reader has taken all frames, or `isOver`. */
  async drained(isOver: () => boolean): Promise<void> {
    while (this.#read < this.frames.length && !isOver()) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
