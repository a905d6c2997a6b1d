// Turns that follow each other automatically, because the page runs the tools for which they wait.

export class Chain {
  readonly #stopping = new AbortController();
  /** Aborts when the tools between the turns are stopped, and when the conversation is left. */
  readonly signal: AbortSignal;
  /** It has not begun: it may have to wait for another tab. */
  waits: boolean;
  /** No other tab may continue now. */
  isAlone = false;

  constructor(leaving: AbortSignal, waits: boolean) {
    this.signal = AbortSignal.any([leaving, this.#stopping.signal]);
    this.waits = waits;
  }

  /** Whether turns follow each other here. */
  get isBusy(): boolean {
    return !this.waits && !this.#stopping.signal.aborted;
  }

  /** Stops the tools between the turns. */
  stop(): void {
    this.#stopping.abort();
  }
}
