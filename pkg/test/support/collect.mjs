// What tests often do with a turn.

/** Everything that an iteration delivers, and the error that ended it. */
export async function collect(iterable) {
  const events = [];
  try {
    for await (const event of iterable) events.push(event);
    return { events };
  } catch (error) {
    return { events, error };
  }
}

/** The error that a promise, or a call, fails with; fails itself if there is none. */
export async function failure(attempt) {
  try {
    await (typeof attempt === "function" ? attempt() : attempt);
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}

/** The text of a turn's main thread. */
export function textOf(turn) {
  return turn.snapshot().threads[0].messages.map((message) => message.content).join("");
}

/** Reads events until one of this type has come. */
export async function until(iterator, type) {
  for (;;) {
    const { done, value } = await iterator.next();
    if (done) throw new Error(`the stream ended before ${type}`);
    if (value.type === type) return value;
  }
}

/** Catches what listeners throw, where a browser would report it. */
export function reported(t) {
  const errors = [];
  const { reportError } = globalThis;
  globalThis.reportError = (error) => errors.push(error);
  t.after(() => (globalThis.reportError = reportError));
  return errors;
}

/** Waits until `holds` returns something. */
export async function eventually(holds) {
  for (;;) {
    const found = holds();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Cancels a turn once its text has begun; returns its status. */
export async function cancelledMidway(turn) {
  const wait = turn.waitForCompletion();
  await new Promise((resolve) => turn.on("model.message.delta", resolve));
  await turn.cancel();
  await wait;
  return turn.status;
}
