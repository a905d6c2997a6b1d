// The tools of a case: a page, the server's records, and the recorded traffic.
import assert from "node:assert/strict";
import { Case } from "../runner.mjs";
import { framesOf } from "./tap.mjs";

/** The tools of a case. */
export class TireaCase extends Case {
  #world;

  constructor(world, page) {
    super(page);
    this.#world = world;
  }

  /** Where the relay listens. */
  get url() {
    return this.#world.url;
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

  /** What the server keeps: the thread, its messages with the run of each, and its runs. */
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
}
