// Turns that follow each other by themselves, since the page runs the tools that they wait for.

export class Chain {
  readonly #stopping = new AbortController();
  /** Aborts when the tools between the turns are stopped, and when the conversation is left. */
  readonly signal: AbortSignal;
  /** It has not begun: another tab may have to be waited for. */
  waits: boolean;
  /** No other tab may go on now. */
  isAlone = false;

  constructor(leaving: AbortSignal, waits: boolean) {
    this.signal = AbortSignal.any([leaving, this.#stopping.signal]);
    this.waits = waits;
  }

  /** Turns follow each other here. */
  get isBusy(): boolean {
    return !this.waits && !this.#stopping.signal.aborted;
  }

  /** Stops the tools between the turns. */
  stop(): void {
    this.#stopping.abort();
  }
}
