// Timeouts of responses, of silent streams and of whole calls; and the page's lifecycle, which stops timers and breaks
// connections.
import { demandWhole } from "../common/check.js";
import { ConnectionError } from "../common/errors.js";

/** Timeouts in milliseconds; 0 disables one. */
export interface Clocks {
  /** From a request, including the wait for its token, to the head of its response; 30 seconds by default. */
  connectTimeout?: number | undefined;
  /**
   * Between two chunks of a response or a stream. Comments count. The default depends on the protocol: 60 seconds; 120
   * for `aap` and 300 for `tirea`, which send no heartbeats; 90 for `turn-rpc` and `codex`, where turnwire asks for a
   * sign of life before that.
   */
  idleTimeout?: number | undefined;
  /**
   * From the call to its end, over all requests, pages and waits; none by default. The turn itself continues. Without
   * it, turnwire waits for a turn as long as the server says that it runs (`"waiting"`).
   */
  deadline?: number | undefined;
}

/** Timeouts, and the caller's signal. */
export interface Limits extends Clocks {
  /** Aborts the call; none by default. */
  signal?: AbortSignal | undefined;
}

/** The names of the timeouts. */
export const CLOCKS = ["connectTimeout", "idleTimeout", "deadline"] as const;

/** Throws an `InputError` for a timeout that is not a valid number of milliseconds. */
export function demandClocks(options: Clocks): void {
  for (const name of CLOCKS) demandWhole(name, options[name] ?? 0);
}

/** The given limits, completed with the defaults. */
export function limited(defaults: Clocks, given: Limits): Limits {
  const own = Object.fromEntries(CLOCKS.map((name) => [name, given[name] ?? defaults[name]]));
  return { ...own, signal: given.signal ?? undefined };
}

/** Stops a call when its caller aborts it, or when it takes too long. Call `end` when the call has ended. */
export class Watch {
  readonly #controller = new AbortController();
  readonly #ends: (() => void)[] = [];
  /** How long to wait for the head of the response, in milliseconds; 0 disables the timeout. */
  readonly connectTimeout: number;
  /** The longest allowed silence, in milliseconds; 0 for any. */
  readonly idleTimeout: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the last data arrived, by the wall clock: it continues while the machine sleeps. */
  #last = 0;
  /** What the call waits for, for the messages of its errors. */
  asked = "";
  /** The length of the silence that stopped the call, in milliseconds. */
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

  /** Aborts when the call is stopped. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Stops the call. */
  cut(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Stops waiting for the head of the response: the caller has its own timeout for it. */
  spare(): void {
    clearTimeout(this.#timer);
  }

  /** The head of the response has arrived; the body must now follow. */
  opened(): void {
    clearTimeout(this.#timer);
    this.alive();
    if (this.idleTimeout > 0) this.#check();
    this.#ends.push(
      onReturn((wasAway) => {
        // The old connection may be dead without an error.
        if (wasAway) this.cut(new ConnectionError("network", "the page was suspended or offline"));
        // Timers may be late.
        else if (this.idleTimeout > 0) this.#check();
      }),
    );
  }

  /** Data has arrived. */
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
    // The wall clock may be set back.
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
    this.cut(new ConnectionError("timeout", this.asked + message));
  }
}

/** Makes several requests of one call, with one deadline for all of them. */
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
 * Resolves after `delay` milliseconds, or as soon as `signal` aborts. When the page returns, resolves after `least`
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

/** Calls `listener` when `signal` aborts, at once if it has. Returns the function that removes it. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal?.aborted) listener();
  else signal?.addEventListener("abort", listener, { once: true });
  return () => signal?.removeEventListener("abort", listener);
}

/** Whether the browser says that it is offline. */
export function isOffline(): boolean {
  return globalThis.navigator?.onLine === false;
}

/** What is called when the page returns. */
const returns = new Set<(wasAway: boolean) => void>();

/** The page whose events call them. */
let page: object | undefined;

/**
 * Calls `listener` when the page returns: when it is visible again, or (`wasAway`) from the back/forward cache, from
 * being frozen, or from being offline. Returns the function that removes it. Does nothing outside pages.
 */
export function onReturn(listener: (wasAway: boolean) => void): () => void {
  const document = globalThis.document as Document | undefined;
  // Workers have no document; Node has neither.
  const here = document ?? globalThis.addEventListener;
  if (here && here !== page) {
    page = here;
    followPage(document);
  }
  returns.add(listener);
  return () => void returns.delete(listener);
}

/** Listens to the page for good: to begin and stop it took a fifth of the time of a short turn. */
function followPage(document: Document | undefined): void {
  const tell = (wasAway: boolean): void => [...returns].forEach((listener) => listener(wasAway));
  const away = (event: Event): void => {
    if (event.type !== "pageshow" || (event as PageTransitionEvent).persisted) tell(true);
  };
  for (const type of ["online", "pageshow"]) globalThis.addEventListener(type, away);
  document?.addEventListener("resume", away);
  document?.addEventListener("visibilitychange", () => document.visibilityState === "visible" && tell(false));
}
