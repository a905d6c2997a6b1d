// A turn's frames as the body of a response, with the faults of that connection.
import { type Faults, written } from "./faults.js";
import type { FrameLog } from "./log.js";

/** The error of a broken connection for a reader without a network: the same as in browsers. */
export const broken = () => new TypeError("network error");

/** A body that is being read. */
export interface Body {
  readonly stream: ReadableStream<Uint8Array>;
  /** Ends it like a broken connection. */
  reset(): void;
}

/**
 * The frames from index `from` on, each in a separate chunk. `signal` is the request's. `onLeave` is called if the reader leaves, or the
 * connection breaks, before the end.
 */
export function bodyOf(log: FrameLog, from: number, faults: Faults, signal: AbortSignal | undefined, onLeave: () => void): Body {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let isOver = false;
  const over = (end: () => void) => {
    if (isOver) return;
    isOver = true;
    signal?.removeEventListener("abort", abort);
    end();
  };
  const leave = (error: unknown) =>
    over(() => {
      onLeave();
      controller.error(error);
    });
  const abort = () => leave(signal!.reason);
  const chunks = faulty(log, faults.restart ? 0 : from, faults);
  const stream = new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own;
        signal?.addEventListener("abort", abort);
      },
      async pull() {
        const { done, value } = await chunks.next();
        if (isOver) return;
        if (!done) return controller.enqueue(value);
        if (value === "eof") over(() => controller.close());
        else if (value === "reset") leave(broken());
        // Silence: the server continues, and the reader must leave.
        else await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
      },
      cancel: () => over(onLeave),
    },
    { highWaterMark: 0 },
  );
  return { stream, reset: () => leave(broken()) };
}

/** The chunks of a stream, and its end. */
async function* faulty(log: FrameLog, from: number, faults: Faults): AsyncGenerator<Uint8Array, "eof" | "reset" | "stall"> {
  const encoder = new TextEncoder();
  const { end } = faults;
  let [events, bytes] = [0, 0];
  const before: string[] = [];
  if (faults.retry !== undefined) yield encoder.encode(`retry: ${faults.retry}\n\n`);
  for (let at = from; ; at += 1) {
    if (end?.unit === "events" && events >= end.after) return over(log, end.how);
    log.taken(at);
    await log.more(at);
    const frame = log.frames[at];
    if (frame === undefined) return "eof";
    const frames = written(frame, at - from + 1, log.isClosed && at === log.frames.length - 1, faults, before);
    if (!frames) return "eof";
    before.push(frame);
    for (const text of frames) {
      const chunk = encoder.encode(text);
      events += 1;
      if (end?.unit === "bytes" && bytes + chunk.length > end.after) {
        if (end.after > bytes) yield chunk.subarray(0, end.after - bytes);
        return over(log, end.how);
      }
      bytes += chunk.length;
      yield chunk;
    }
  }
}

/** A server cannot see that its stream is not being read. */
function over<How extends string>(log: FrameLog, how: How): How {
  if (how === "stall") log.taken(Infinity);
  return how;
}
