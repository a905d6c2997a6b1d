// What runs in the worker of `turnwire/worker`: it sends the requests, reads the responses, and passes on at intervals
// what has come.

/** What the page tells the worker. */
export type ToWorker =
  | { readonly open: number; readonly url: string; readonly init: RequestInit }
  /** Of these responses more may come. */
  | { readonly want: readonly number[] }
  | { readonly stop: number };

/** What the worker tells the page. The first message is that it runs. */
export type ToPage = { readonly runs: true } | Head | { readonly batch: readonly Part[] };

/** The beginning of a response, or why there is none. */
export interface Head {
  readonly id: number;
  readonly init?: ResponseInit;
  readonly hasBody?: boolean;
  readonly failure?: string;
}

/** What has come of a response since the last part. */
export interface Part {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
  /** Why it is the last one, if the connection was lost. */
  readonly failure: string | undefined;
}

/**
 * The worker gets the text of this function. So it uses nothing from outside of it, and no syntax that bundlers for old
 * engines replace by calls of helpers.
 */
export function program(): void {
  /** About a frame of the page, in milliseconds. */
  const INTERVAL = 16;
  /** The bytes of a response that wait for the page before no more is read. */
  const MOST = 1 << 20;

  interface Open {
    readonly controller: AbortController;
    pieces: Uint8Array[];
    size: number;
    isWanted: boolean;
    isOver: boolean;
    failure: string | undefined;
    /** Reads on, if the reading waits for the page. */
    proceed: (() => void) | undefined;
  }

  const page = self as unknown as MessagePort;
  const open = new Map<number, Open>();
  let timer: number | undefined;
  let lastPost = -INTERVAL;

  const tell = (message: ToPage, transfer: Transferable[] = []): void => page.postMessage(message, transfer);
  const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
  const isDue = (one: Open): boolean => one.isWanted && (one.size > 0 || one.isOver);

  const takeBytes = (one: Open): Uint8Array => {
    const bytes = new Uint8Array(one.size);
    let at = 0;
    one.pieces.forEach((piece) => {
      bytes.set(piece, at);
      at += piece.length;
    });
    one.pieces = [];
    one.size = 0;
    return bytes;
  };

  /** Passes on what has come, of all responses in one message. */
  const post = (): void => {
    timer = undefined;
    lastPost = performance.now();
    const batch: Part[] = [];
    open.forEach((one, id) => {
      if (!isDue(one)) return;
      one.isWanted = false;
      batch.push({ id, bytes: takeBytes(one), isLast: one.isOver, failure: one.failure });
      if (one.isOver) open.delete(id);
      const { proceed } = one;
      one.proceed = undefined;
      proceed?.();
    });
    if (batch.length > 0) tell({ batch }, batch.map((part) => part.bytes.buffer as ArrayBuffer));
  };

  /** Something has come, or may be passed on. After a pause that happens at once. */
  const changed = (one: Open): void => {
    if (timer !== undefined || !isDue(one)) return;
    const wait = lastPost + INTERVAL - performance.now();
    if (wait > 0) timer = setTimeout(post, wait) as unknown as number;
    else post();
  };

  const end = (one: Open, failure?: string): void => {
    one.isOver = true;
    one.failure = failure;
    changed(one);
  };

  const read = (one: Open, reader: ReadableStreamDefaultReader<Uint8Array>): void => {
    reader.read().then(
      (result) => {
        if (result.done) return end(one);
        one.pieces.push(result.value);
        one.size += result.value.length;
        changed(one);
        if (one.size < MOST) read(one, reader);
        else one.proceed = () => read(one, reader);
      },
      (error: unknown) => end(one, textOf(error)),
    );
  };

  const send = (id: number, url: string, init: RequestInit): void => {
    const controller = new AbortController();
    const one: Open = { controller, pieces: [], size: 0, isWanted: false, isOver: false, failure: undefined, proceed: undefined };
    open.set(id, one);
    fetch(url, Object.assign(init, { signal: controller.signal })).then(
      (response) => {
        const headers: [string, string][] = [];
        response.headers.forEach((value, name) => headers.push([name, value]));
        const { status, statusText, body } = response;
        tell({ id, init: { status, statusText, headers }, hasBody: body !== null });
        if (body) read(one, body.getReader());
        else open.delete(id);
      },
      (error: unknown) => {
        open.delete(id);
        tell({ id, failure: textOf(error) });
      },
    );
  };

  page.onmessage = (event: MessageEvent<ToWorker>) => {
    const message = event.data;
    if ("open" in message) return send(message.open, message.url, message.init);
    if ("stop" in message) {
      open.get(message.stop)?.controller.abort();
      open.delete(message.stop);
      return;
    }
    message.want.forEach((id) => {
      const one = open.get(id);
      if (!one) return;
      one.isWanted = true;
      changed(one);
    });
  };
  tell({ runs: true });
}
