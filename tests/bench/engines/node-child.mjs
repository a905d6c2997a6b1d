// The process in which Node measures: calls come in as messages, results go out.
const inside = await import(process.argv[2]);

/** The bytes that live objects of JavaScript take. */
async function heapBytes() {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return process.memoryUsage().heapUsed;
}

/** Calls, and adds to the result the processor time of the spans that were marked. */
async function timed(name, ...given) {
  const result = await inside[name](...given);
  return { ...result, spans: inside.spansOf(inside.takeMarks()) };
}

const calls = { ...inside, heapBytes, timed };

process.on("message", async ([name, ...given]) => {
  try {
    process.send({ result: await calls[name](...given) });
  } catch (error) {
    process.send({ error: String(error.stack) });
  }
});
