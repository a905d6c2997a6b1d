// The two loops that must run in JavaScript: reading a network stream, and waiting.

/**
 * Hands each chunk of `body` to `push` until the stream ends, `push` gives false or `signal` aborts.
 * However it ends, the connection is released: an open one holds one of the browser's few.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @param {(chunk: Uint8Array) => boolean} push
 * @param {AbortSignal | undefined} signal
 */
export async function pump(body, push, signal) {
  const reader = body.getReader();
  // A custom fetch may not have passed the signal on.
  const release = () => void reader.cancel().catch(() => {});
  signal?.addEventListener("abort", release, { once: true });
  try {
    while (!signal?.aborted) {
      const { done, value } = await reader.read();
      if (done || !push(value)) return;
    }
  } finally {
    signal?.removeEventListener("abort", release);
    release();
  }
}

/**
 * Resolves after `delay` milliseconds, or as soon as `signal` aborts.
 *
 * @param {number} delay
 * @param {AbortSignal | undefined} signal
 */
export function sleep(delay, signal) {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve(undefined);
    };
    const timer = setTimeout(wake, delay);
    signal?.addEventListener("abort", wake, { once: true });
    if (signal?.aborted) wake();
  });
}
