// A `fetch` whose responses are read in a worker. The page takes what has come once in about a frame, of all responses
// together; the browser would make a task of each chunk.
import { type Head, type Part, program, type ToPage, type ToWorker } from "./worker-program.js";

/** The calls whose responses are not read to their end, by their numbers in the worker. */
const calls = new Map<number, Call>();
let lastId = 0;
let starting: Promise<Worker | undefined> | undefined;

/** Sends a request from the worker; from the page, if it may not have the worker. */
export async function fetchInWorker(url: string, init: RequestInit): Promise<Response> {
  const worker = await (starting ??= startWorker());
  if (!worker) return fetch(url, init);
  const { signal, headers, ...more } = init;
  if (signal?.aborted) throw signal.reason;
  const call = new Call(worker, signal);
  const open = { open: call.id, url: new URL(url, globalThis.location.href).href, init: { ...more, headers: [...new Headers(headers)] } };
  worker.postMessage(open satisfies ToWorker);
  return call.response;
}

/** Starts the worker that all clients of the page share; `undefined` if the page's policy forbids it. */
function startWorker(): Promise<Worker | undefined> {
  return new Promise((resolve) => {
    const url = URL.createObjectURL(new Blob([`(${program})()`], { type: "text/javascript" }));
    const settle = (worker?: Worker): void => {
      URL.revokeObjectURL(url);
      resolve(worker);
    };
    try {
      const worker = new Worker(url);
      worker.onerror = () => settle();
      worker.onmessage = ({ data }: MessageEvent<ToPage>) => {
        if ("runs" in data) settle(worker);
        else if ("batch" in data) takeBatch(worker, data.batch);
        else calls.get(data.id)?.begin(data);
      };
    } catch {
      // Trusted Types refuse the URL.
      settle();
    }
  });
}

function takeBatch(worker: Worker, batch: readonly Part[]): void {
  const want = batch.filter((part) => calls.get(part.id)?.take(part)).map(({ id }) => id);
  if (want.length > 0) worker.postMessage({ want } satisfies ToWorker);
}

/** A request that the worker has sent. */
class Call {
  readonly id = (lastId += 1);
  /** The response, once it begins. */
  readonly response: Promise<Response>;
  readonly #worker: Worker;
  readonly #signal: AbortSignal | null | undefined;
  #resolve!: (response: Response) => void;
  #reject!: (error: unknown) => void;
  #body!: ReadableStreamDefaultController<Uint8Array>;
  /** Whether the worker may send more. */
  #isAsked = false;

  constructor(worker: Worker, signal: AbortSignal | null | undefined) {
    this.#worker = worker;
    this.#signal = signal;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    signal?.addEventListener("abort", this.#abort);
    calls.set(this.id, this);
  }

  /** The response begins, or there is none. */
  begin({ init, hasBody = false, failure }: Head): void {
    if (failure !== undefined) this.#reject(new TypeError(failure));
    else this.#resolve(new Response(hasBody ? this.#stream() : null, init));
    if (!hasBody) this.#forget();
  }

  /** Takes a part of the body. Returns whether the reader keeps up, so that more may come. */
  take({ bytes, isLast, failure }: Part): boolean {
    if (bytes.length > 0) this.#body.enqueue(bytes);
    if (isLast) {
      this.#forget();
      if (failure === undefined) this.#body.close();
      else this.#body.error(new TypeError(failure));
    }
    this.#isAsked = !isLast && this.#body.desiredSize === 0;
    return this.#isAsked;
  }

  /** The body. Nothing is queued while a reader waits for it. */
  #stream(): ReadableStream<Uint8Array> {
    return new ReadableStream(
      {
        start: (controller) => void (this.#body = controller),
        pull: () => {
          if (this.#isAsked) return;
          this.#isAsked = true;
          this.#worker.postMessage({ want: [this.id] } satisfies ToWorker);
        },
        cancel: () => this.#stop(),
      },
      { highWaterMark: 0 },
    );
  }

  readonly #abort = (): void => {
    this.#stop();
    const { reason } = this.#signal!;
    this.#reject(reason);
    this.#body?.error(reason);
  };

  #stop(): void {
    this.#forget();
    this.#worker.postMessage({ stop: this.id } satisfies ToWorker);
  }

  #forget(): void {
    this.#signal?.removeEventListener("abort", this.#abort);
    calls.delete(this.id);
  }
}
