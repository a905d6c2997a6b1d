// Clocks: how long an answer, a stream's silence, or the whole of a call may last; and the page's own life,
// which stops clocks and cuts connections.
import { ConnectionError } from "./errors.js";

/** How long things may take, in milliseconds; 0 switches a clock off. */
export interface Clocks {
  /** From a request to the head of its answer, the wait for its token included; 30 seconds by default. */
  connectTimeout?: number;
  /**
   * Between two chunks of an answer or a stream. Comments count. By default as long as the protocol's servers may
   * be silent: 60 seconds; 120 for `aap` and 300 for `tirea`, which have no heartbeat; 90 for `turn-rpc` and
   * `codex`, where a sign of life is asked for before.
   */
  idleTimeout?: number;
  /**
   * From the call to its end, over all requests, pages and waits; none by default. The turn itself goes on. Without it, a
   * turn is waited for as long as the server says that it runs (`"waiting"`).
   */
  deadline?: number;
}

/** Clocks, and the caller's signal. */
export interface Limits extends Clocks {
  signal?: AbortSignal | undefined;
}

/** The names of the clocks. */
export const CLOCKS = ["connectTimeout", "idleTimeout", "deadline"] as const;

/** Limits, and where they leave something open the defaults. */
export function limited(defaults: Clocks, given: Limits): Limits {
  const own = Object.fromEntries(CLOCKS.map((name) => [name, given[name] ?? defaults[name]]));
  return { ...own, signal: given.signal ?? undefined };
}

/** Cuts a call off when its caller aborts it, or when it takes too long. To be ended when the call has. */
export class Watch {
  readonly #controller = new AbortController();
  readonly #ends: (() => void)[] = [];
  /** How long the head of an answer may take, in milliseconds; 0 for any time. */
  readonly connectTimeout: number;
  /** The longest silence, in milliseconds; 0 if any is life. */
  readonly idleTimeout: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When something came last, by the clock on the wall: it goes on while the machine sleeps. */
  #last = 0;
  /** How long nothing had come when that cut the call off, in milliseconds. */
  silence = 0;

  constructor({ signal, connectTimeout = 0, idleTimeout = 0, deadline = 0 }: Limits) {
    this.connectTimeout = connectTimeout;
    this.idleTimeout = idleTimeout;
    this.#ends.push(onAbort(signal, () => this.cut(signal!.reason)));
    if (deadline > 0) {
      const timer = setTimeout(() => this.#overdue(`the call took longer than its \`deadline\`, ${deadline} ms`), deadline);
      this.#ends.push(() => clearTimeout(timer));
    }
    if (connectTimeout > 0) {
      this.#timer = setTimeout(() => this.#overdue(`no answer within ${connectTimeout} ms (\`connectTimeout\`)`), connectTimeout);
    }
  }

  /** Aborts when the call is cut off. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Cuts the call off. */
  cut(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Others watch for the answer. */
  spare(): void {
    clearTimeout(this.#timer);
  }

  /** The head of the answer has come: from now on its body must. */
  opened(): void {
    clearTimeout(this.#timer);
    this.alive();
    if (this.idleTimeout > 0) this.#check();
    this.#ends.push(
      onReturn((wasAway) => {
        // A connection from before may be dead without anybody knowing.
        if (wasAway) this.cut(new ConnectionError("network", "the page was away, or without a network"));
        // Timers may have been held back.
        else if (this.idleTimeout > 0) this.#check();
      }),
    );
  }

  /** Something has come, just `now`. */
  alive(now = Date.now()): void {
    this.#last = now;
  }

  /** The call is over. */
  end(): void {
    clearTimeout(this.#timer);
    for (const end of this.#ends.splice(0)) end();
  }

  #check = (): void => {
    clearTimeout(this.#timer);
    // The clock on the wall may be set back.
    if (Date.now() < this.#last) this.alive();
    const silence = Date.now() - this.#last;
    if (silence < this.idleTimeout) {
      this.#timer = setTimeout(this.#check, this.idleTimeout - silence);
    } else {
      this.silence = silence;
      this.#overdue(`nothing came for ${this.idleTimeout} ms (\`idleTimeout\`)`);
    }
  };

  #overdue(message: string): void {
    this.cut(new ConnectionError("timeout", message));
  }
}

/** Makes several requests of one call: its deadline is for all of them together. */
export async function within<L extends Limits, T>(
  limits: L,
  call: (limits: L & { signal: AbortSignal; deadline: 0 }) => Promise<T>,
): Promise<T> {
  const { signal, deadline } = limits;
  const whole = new Watch({ signal, deadline: deadline ?? 0 });
  try {
    return await call({ ...limits, signal: whole.signal, deadline: 0 });
  } finally {
    whole.end();
  }
}

/**
 * Resolves after `delay` milliseconds, or as soon as `signal` aborts; when the page comes back, after `least`
 * milliseconds.
 */
export function sleep(delay: number, signal: AbortSignal | undefined, least = delay): Promise<void> {
  return new Promise((resolve) => {
    const until = Date.now() + least;
    const wake = (): void => {
      clearTimeout(timer);
      forget();
      follow();
      resolve();
    };
    const hurry = (): void => {
      clearTimeout(timer);
      timer = setTimeout(wake, Math.min(least, Math.max(0, until - Date.now())));
    };
    const forget = onReturn(hurry);
    let timer = setTimeout(wake, delay);
    let follow = (): void => {};
    follow = onAbort(signal, wake);
  });
}

/** Calls `listener` when `signal` aborts: at once if it has. Gives what ends that. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal?.aborted) listener();
  else signal?.addEventListener("abort", listener, { once: true });
  return () => signal?.removeEventListener("abort", listener);
}

/** Whether there is no network at all, as far as the browser knows. */
export function isOffline(): boolean {
  return globalThis.navigator?.onLine === false;
}

/**
 * Calls `listener` when the page comes back: shown again, or (`wasAway`) from the back/forward cache, from being
 * frozen, or from having no network. Gives what ends that. Outside of pages nothing happens.
 */
export function onReturn(listener: (wasAway: boolean) => void): () => void {
  const document = globalThis.document as Document | undefined;
  const away = (event: Event): void => {
    if (event.type !== "pageshow" || (event as PageTransitionEvent).persisted) listener(true);
  };
  const shown = (): void => {
    if (document?.visibilityState === "visible") listener(false);
  };
  const events: [EventTarget | undefined, string, (event: Event) => void][] = [
    [globalThis, "online", away],
    [globalThis, "pageshow", away],
    [document, "resume", away],
    [document, "visibilitychange", shown],
  ];
  // Node has no events of this kind.
  for (const [target, type, heed] of events) target?.addEventListener?.(type, heed);
  return () => {
    for (const [target, type, heed] of events) target?.removeEventListener?.(type, heed);
  };
}
