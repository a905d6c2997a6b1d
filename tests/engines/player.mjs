// Plays cases in one page of a browser, several at once, over a driver that takes one command at a time.
import { setTimeout as sleep } from "node:timers/promises";

/** How long a case may take. */
export const LIMIT_MS = 18_000;
const POLL_MS = 20;

export class Player {
  #driver;
  #commands = Promise.resolve();
  #pending = new Map();
  #count = 0;
  #isFollowing = false;

  constructor(driver) {
    this.#driver = driver;
  }

  /** Opens the page that plays. */
  async open(url) {
    await this.#driver.get(url);
    const limit = Date.now() + LIMIT_MS;
    while (!(await this.#run("return 'player' in globalThis"))) {
      if (Date.now() > limit) throw new Error(`${url} did not load the package`);
      await sleep(POLL_MS);
    }
  }

  /** Plays one case and returns what the page reports of it. */
  async play(plan) {
    const id = (this.#count += 1);
    const report = new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    const timer = setTimeout(() => void this.#giveUp(id), LIMIT_MS);
    try {
      await this.#run("player.start(arguments[0], arguments[1])", id, plan);
      if (!this.#isFollowing) void this.#follow();
      return await report;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
  }

  /** Takes reports while any is outstanding. */
  async #follow() {
    this.#isFollowing = true;
    try {
      while (this.#pending.size > 0) {
        for (const [id, { report, failure }] of await this.#run("return player.take()")) {
          const { resolve, reject } = this.#pending.get(id) ?? {};
          this.#pending.delete(id);
          if (failure === undefined) resolve?.(report);
          else reject?.(new Error(`the page failed: ${failure}`));
        }
        await sleep(POLL_MS);
      }
    } catch (error) {
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
    }
    this.#isFollowing = false;
  }

  async #giveUp(id) {
    this.#pending.get(id)?.reject(new Error(`it did not end within ${LIMIT_MS} ms`));
    await this.#run("player.drop(arguments[0])", id).catch(() => {});
  }

  #run(script, ...args) {
    const result = this.#commands.then(() => this.#driver.executeScript(script, ...args));
    this.#commands = result.catch(() => {});
    return result;
  }
}
