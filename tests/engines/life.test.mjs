// A page's life: reloaded while a turn runs, opened twice, left and returned to.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { IS_QUICK, tellRows } from "../rows.mjs";
import { ENGINES, openBrowser } from "./engines.mjs";
import { judgeWhole } from "./judge.mjs";
import { Table } from "./table.mjs";
import { startWorld } from "./world.mjs";

const LIMIT_MS = 30_000;
/** A turn of some 150 events is held after this many, until the test has acted in its middle. */
const HOLD = "100";
const OFFLINE = "offline and online during a turn";

let world;
const table = new Table();
const rows = { chosen: 0, all: 0 };

before(async () => (world = await startWorld()));
after(async () => {
  await world?.stop();
  console.log(`\n${table}\n`);
});

for (const engine of ENGINES) {
  describe(engine, () => {
    let browser;

    before(async () => {
      browser = await openBrowser(engine);
      table.addEngine(engine, browser.version);
    });
    after(() => browser?.close());

    const kinds = new Set();

    /** One test, in a page of its own that is in the middle of a turn. A quick run has one of each kind outside of Chromium. */
    const live = (kind, name, play, path = "life") => {
      table.addRow("life", name);
      rows.all += 1;
      if (IS_QUICK && engine !== "chromium" && kinds.has(kind)) return;
      kinds.add(kind);
      rows.chosen += 1;
      test(`${engine}: ${name}`, { timeout: 3 * LIMIT_MS }, async () => {
        const began = Date.now();
        let outcome = null;
        try {
          const page = new Life(browser.driver, await world.gateway.createSession(), path);
          await page.open();
          await page.grown();
          const how = await play(page, browser);
          outcome = [`ok, ${Date.now() - began} ms`, how].filter(Boolean).join(", ");
        } finally {
          table.add("life", name, engine, outcome);
        }
      });
    };

    live("reload", "reload during a turn", async (page, { driver }) => {
      await driver.navigate().refresh();
      await page.grown();
      await page.judge();
    });

    live("reload", "two reloads during a turn", async (page, { driver }) => {
      for (let reload = 1; reload <= 2; reload += 1) {
        await driver.navigate().refresh();
        await page.grown();
      }
      await page.judge();
    });

    live("tabs", "two tabs on one session", async (page, { driver }) => {
      const first = await driver.getWindowHandle();
      await driver.switchTo().newWindow("tab");
      await page.open();
      await page.grown();
      const second = await page.judge();
      await driver.close();
      await driver.switchTo().window(first);
      const { snapshot } = await page.judge();
      assert.deepEqual(snapshot, second.snapshot);
    });

    if (engine === "webkit") {
      table.addRow("life", OFFLINE);
      table.add("life", OFFLINE, engine, "its driver has no such command");
    } else {
      live("offline", OFFLINE, async (page, { setOffline }) => {
        await setOffline(true);
        await world.gateway.release();
        await sleep(1500);
        await setOffline(false);
        await page.judge();
      });
    }

    live("away", "away and back during a turn", async (page, { driver }) => {
      await driver.get(`${world.url}/other.html`);
      // A page in the back/forward cache must not lose events that come meanwhile.
      await world.gateway.release();
      await driver.navigate().back();
      return (await page.judge()).persisted > 0 ? "kept" : "loaded again";
    });

    live("away", "away and back when the turn has ended", async (page, { driver }) => {
      await driver.get(`${world.url}/other.html`);
      await world.gateway.release();
      await world.gateway.ended(page.session);
      await driver.navigate().back();
      return (await page.judge()).persisted > 0 ? "kept" : "loaded again";
    });

    /** Waits for the end; each message is shown once. */
    const judgeChat = async (page) => {
      await world.gateway.release();
      await page.until(({ phase }) => phase === "idle");
      const { persisted, shown, snapshot } = await page.judge();
      assert.deepEqual(shown, [["user", "long 150"], ["assistant", snapshot.threads[0].messages[0].content]]);
      return persisted > 0 ? "kept" : "loaded again";
    };

    const away = async (page, { driver }) => {
      await driver.get(`${world.url}/other.html`);
      await driver.navigate().back();
      await page.grown();
      return judgeChat(page);
    };
    live("conversation", "a conversation, away and back during a turn", away, "chat");

    const reload = async (page, { driver }) => {
      await driver.navigate().refresh();
      await page.grown();
      await judgeChat(page);
    };
    live("conversation", "a conversation, reload during a turn", reload, "chat");
  });
}

tellRows(rows.chosen, rows.all, "rows");

/** A page that has a conversation, driven by the test. */
class Life {
  #driver;
  #path;

  constructor(driver, session, path) {
    this.#driver = driver;
    this.#path = path;
    this.session = session;
  }

  open() {
    const query = new URLSearchParams({ session: this.session, input: "long 150", hold: HOLD });
    return this.#driver.get(`${world.url}/${this.#path}.html?${query}`);
  }

  /** Waits until the page has read into the middle of the turn. */
  grown() {
    return this.until(({ numbers }) => numbers.length > 30);
  }

  /** Reads the turn until it is as wanted. */
  async until(holds) {
    const limit = Date.now() + LIMIT_MS;
    for (let state; Date.now() < limit; await sleep(50)) {
      state = await this.#driver.executeScript("return globalThis.life?.look?.() ?? null");
      if (state !== null && holds(state)) return state;
    }
    throw new Error("the page did not get there in time");
  }

  /** Waits for the end; the conversation is then whole, nothing was repeated, and one turn was begun. */
  async judge() {
    await world.gateway.release();
    const state = await this.until(({ status }) => status === "done");
    const script = "const done = arguments[0]; life.uncut().then(done, (error) => done({ failure: String(error) }));";
    const uncut = await this.#driver.executeAsyncScript(script);
    const requests = await world.gateway.requests(this.session);
    assert.deepEqual(requests.filter(({ on }) => on === "create").map(({ status }) => status).length, 1);
    judgeWhole(state, uncut, await world.gateway.log(state.turn));
    return state;
  }
}
