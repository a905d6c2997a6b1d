// Runs cases one after the other, each with a page and a thread of its own, and counts them.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { framesOf } from "./tap.mjs";
import { KEY, pause } from "./world.mjs";

/** A case that takes longer has hung. */
const CASE_LIMIT_MS = 30_000;

/** What a case works with. */
class Case {
  /** A browser page with the package. */
  page;
  /** An id that no other case uses, for a thread or whatever. */
  id = randomUUID();
  #world;

  constructor(world, page) {
    this.#world = world;
    this.page = page;
  }

  /** Runs a function in the page; `kit` and `turnwire` are there. */
  run(action, argument) {
    return this.page.evaluate(action, argument);
  }

  /** Asks the server, through the relay; the answer must have the status. */
  async ask(path, { method = "GET", body, status = 200 } = {}) {
    const answer = await fetch(this.#world.url + path, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: body === undefined ? {} : { "content-type": "application/json" },
    });
    const text = await answer.text();
    assert.equal(answer.status, status, `${method} ${path}: ${text}`);
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }

  /** What the server keeps: the thread, its messages with the run that each is of, and its runs. */
  async stored(thread) {
    const path = `/v1/threads/${encodeURIComponent(thread)}`;
    const { messages } = await this.ask(`${path}/messages?limit=200`);
    const runs = await this.ask(`/v1/runs?thread_id=${encodeURIComponent(thread)}&limit=100`);
    return { thread: await this.ask(path), messages, runs: runs.items };
  }

  /** The requests that started or resumed runs of a thread, as they passed before the server. */
  starts(thread) {
    return this.#world.tap.starts(thread);
  }

  /** Cuts the next start of a thread before its answer begins. */
  lose(thread) {
    this.#world.tap.lose(thread);
  }

  /** Refuses the next start of a thread with 503 and Retry-After. */
  refuse(thread) {
    this.#world.tap.refuse(thread);
  }

  /** What passed before the server, of this method and a path like this. */
  requests(method, path) {
    return this.#world.tap.records.filter((record) => record.method === method && path.test(record.path));
  }

  /** How many requests of this kind the relay has passed on. */
  relayed(request) {
    return this.#world.relayLog.filter((line) => line.startsWith(`${request} `)).length;
  }

  /** What the server sent for the nth start of a thread. */
  frames(thread, at = 0) {
    return framesOf(this.starts(thread)[at]);
  }

  /** Waits until something holds. */
  async until(holds, what = "it") {
    for (const until = Date.now() + 10_000; !(await holds()); await pause(10)) {
      if (Date.now() > until) throw new Error(`${what} did not come to be`);
    }
  }
}

/** Runs the cases whose names contain the word, and prints the closing line. Gives how many failed. */
export async function runCases(world, cases, word = "") {
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
      await action(new Case(world, page));
      assert.deepEqual(page.failures, [], "uncaught errors in the page");
    });
    await page.context().close();
  }
  await count("relay: its key, and no page's, was on every request", () => {
    const keys = world.tap.records.map(({ headers }) => headers.authorization);
    assert.deepEqual([...new Set(keys)], [KEY]);
  });
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
