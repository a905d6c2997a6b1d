// A server in memory: a `fetch` whose answer is a stream of chunks that are there already.

/** After how long, in milliseconds, others get their turn, such as the page's frames. A network leaves such gaps as well. */
const LONGEST_TASK = 8;

/** A `ReadableStream` of these chunks. `asked` is called before each one, and before the end. */
export function streamOf(chunks, asked = () => {}) {
  let at = 0;
  let began = performance.now();
  const next = (controller) => {
    asked();
    if (at < chunks.length) controller.enqueue(chunks[at++]);
    else controller.close();
  };
  const pull = (controller) => {
    if (performance.now() - began < LONGEST_TASK) return next(controller);
    return task().then(() => {
      began = performance.now();
      next(controller);
    });
  };
  // Nothing is queued ahead: a chunk comes when it is read.
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

/** Resolves in a separate task. */
function task() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** An answer with these chunks as its event stream. */
export function eventStream(chunks, asked) {
  return new Response(streamOf(chunks, asked), { headers: { "content-type": "text/event-stream" } });
}

/** The same with so many chunks a second, as a server sends them that makes them up as it goes. */
export function pacedStream(chunks, rate) {
  const began = performance.now();
  let at = 0;
  let timer;
  const start = (controller) => {
    timer = setInterval(() => {
      const due = Math.min(Math.floor(((performance.now() - began) * rate) / 1000), chunks.length);
      while (at < due) controller.enqueue(chunks[at++]);
      if (at < chunks.length) return;
      clearInterval(timer);
      controller.close();
    });
  };
  const body = new ReadableStream({ start, cancel: () => clearInterval(timer) });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
