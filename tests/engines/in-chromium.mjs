// Plays cases in Chromium with another module in place of the package's main entry.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { IS_QUICK, representative, tellRows } from "../rows.mjs";
import { isAlone, kindsOf, LANES, run } from "./case-runner.mjs";
import { openBrowser } from "./engines.mjs";
import { Player } from "./player.mjs";
import { startWorld } from "./world.mjs";

/** Registers a test for each case, in a quick run for one of each kind. `path` is the page that plays them. */
export function playInChromium(name, path, cases) {
  const chosen = IS_QUICK ? representative(cases, kindsOf) : cases;
  tellRows(chosen.length, cases.length, "rows");
  describe(`${name} in Chromium`, () => {
    let world;
    let browser;
    let player;

    before(async () => {
      world = await startWorld();
      browser = await openBrowser("chromium");
      player = new Player(browser.driver);
      await player.open(world.url + path);
    });
    after(async () => {
      await browser?.close();
      await world?.stop();
    });

    const play = (one) => test(`${name}: ${one.group}: ${one.name}`, { timeout: 20_000 }, () => run(world.gateway, player, one));
    describe(`${name}, faults`, { concurrency: LANES }, () => chosen.filter((one) => !isAlone(one)).forEach(play));
    describe(`${name}, no answer`, () => chosen.filter(isAlone).forEach(play));

    test(`${name}: no stream is left open`, async () => {
      for (let tries = 0; tries < 100 && (await world.gateway.openStreams()) > 0; tries += 1) await sleep(20);
      assert.equal(await world.gateway.openStreams(), 0);
    });
  });
}
