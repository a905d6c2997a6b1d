// Every fault in Chromium, met by the crate's own client in place of the package: the same cases, the same outcomes, and
// the same events and snapshots as the package has of an uncut turn.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { IS_QUICK, representative, tellRows } from "../rows.mjs";
import { CASES, isAlone, kindsOf, LANES, run } from "./case-runner.mjs";
import { openBrowser } from "./engines.mjs";
import { Player } from "./player.mjs";
import { CLASSES, startWorld } from "./world.mjs";

/** What the crate does not have: a limit for a whole reading, and listeners beside a wait. */
const isPossible = ({ plan }) => plan.by !== "waiting" && plan.stream?.deadline === undefined;

const possible = CASES.filter(isPossible);
const chosen = IS_QUICK ? representative(possible, kindsOf) : possible;
tellRows(chosen.length, possible.length, "rows");

test("few cases are left out", () => assert.ok(CASES.length - possible.length <= 6));

describe("the crate in Chromium", () => {
  let world;
  let browser;
  let player;

  before(async () => {
    assert.ok(existsSync(CLASSES), "the crate's classes are built: `cargo xtask test --only engines` does that");
    world = await startWorld();
    browser = await openBrowser("chromium");
    player = new Player(browser.driver);
    await player.open(`${world.url}/crate.html`);
  });
  after(async () => {
    await browser?.close();
    await world?.stop();
  });

  const play = (one) =>
    test(`crate: ${one.group}: ${one.name}`, { timeout: 20_000 }, () => run(world.gateway, player, one));
  describe("crate, faults", { concurrency: LANES }, () => chosen.filter((one) => !isAlone(one)).forEach(play));
  describe("crate, no answer", () => chosen.filter(isAlone).forEach(play));

  test("crate: no stream is left open", async () => {
    for (let tries = 0; tries < 100 && (await world.gateway.openStreams()) > 0; tries += 1) await sleep(20);
    assert.equal(await world.gateway.openStreams(), 0);
  });
});
