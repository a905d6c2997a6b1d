// Runs cases one after the other, each with a page of its own, and counts them.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { pause, startWorld } from "./parts.mjs";

/** A case that takes longer has hung. */
const CASE_LIMIT_MS = 30_000;

/** The tools of a case: a page of its own, and an id. */
export class Case {
  /** A browser page with the package. */
  page;
  /** An id that no other case uses, such as a thread's. */
  id = randomUUID();

  constructor(page) {
    this.page = page;
  }

  /** Runs a function in the page; `kit` and `turnwire` are there. */
  run(action, argument) {
    return this.page.evaluate(action, argument);
  }

  /** Waits until something holds. */
  async until(holds, what = "it") {
    for (const until = Date.now() + 10_000; !(await holds()); await pause(10)) {
      if (Date.now() > until) throw new Error(`${what} did not come to be`);
    }
  }
}

/**
 * Runs the cases whose names contain the word, each with what `make` makes for a page; then `last`, which belongs to
 * every run. Prints the closing line, and returns how many failed.
 */
export async function runCases(world, make, cases, last, word = "") {
  let [passed, failed] = [0, 0];
  const count = async (name, action) => {
    const began = Date.now();
    try {
      await within(action());
      passed += 1;
      console.log(`ok      ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name} (${Date.now() - began} ms)\n${error?.stack ?? error}`.replaceAll("\n", "\n        "));
    }
  };
  for (const [name, action] of cases.filter(([name]) => name.includes(word))) {
    const page = await world.openPage();
    await count(name, async () => {
      await action(make(page));
      assert.deepEqual(page.failures, [], "uncaught errors in the page");
    });
    await page.context().close();
  }
  for (const [name, action] of last) await count(name, async () => action());
  console.log(`${passed} passed, ${failed} failed`);
  return failed;
}

async function within(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${CASE_LIMIT_MS} ms`)), CASE_LIMIT_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Starts a world, runs it with `action`, which returns how many cases failed, and ends it, also on a signal. */
export async function inWorld(start, action) {
  const world = await startWorld(start);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.once(signal, () => void world.stop().finally(() => process.exit(1)));
  }
  try {
    process.exitCode = (await action(world)) === 0 ? 0 : 1;
  } finally {
    await world.stop();
  }
}
