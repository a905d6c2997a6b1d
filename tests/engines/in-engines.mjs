// Plays the rows of a protocol in a page of each engine, and ends the run with a table of them.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { tellRows } from "../rows.mjs";
import { LANES } from "./case-runner.mjs";
import { ENGINES, openBrowser } from "./engines.mjs";
import { Player } from "./player.mjs";
import { Table } from "./table.mjs";
import { startWorld } from "./world.mjs";

/**
 * Registers a test for each row that `choose(engine)` returns of `rows`; an engine without any is not started. `path` is the
 * page that plays them, and `play(row, player, gateway)` returns how long the page took; it throws unless the row ended as
 * it must. Rows play four at a time, except those for which `isLonely(row)` is true.
 */
export function playInEngines(about, path, rows, choose, play, isLonely = () => false) {
  const chosen = Object.fromEntries(ENGINES.map((engine) => [engine, choose(engine)]));
  const table = new Table();
  for (const { name } of rows) table.addRow(about, name);
  tellRows(Object.values(chosen).flat().length, ENGINES.length * rows.length, "rows");

  let world;
  before(async () => (world = await startWorld()));
  after(async () => {
    await world?.stop();
    console.log(`\n${table}\n`);
  });

  for (const engine of ENGINES.filter((engine) => chosen[engine].length > 0)) {
    describe(`${engine}, ${about}`, () => {
      let browser;
      let player;

      before(async () => {
        browser = await openBrowser(engine);
        table.addEngine(engine, browser.version);
        player = new Player(browser.driver);
        await player.open(world.url + path);
      });
      after(() => browser?.close());

      const register = (row) =>
        test(`${engine}: ${about}: ${row.name}`, { timeout: 20_000 }, async () => {
          let took = null;
          try {
            took = await play(row, player, world.gateway);
          } finally {
            table.add(about, row.name, engine, took);
          }
        });
      describe(`${engine}, ${about}, together`, { concurrency: LANES }, () => chosen[engine].filter((row) => !isLonely(row)).forEach(register));
      describe(`${engine}, ${about}, alone`, () => chosen[engine].filter(isLonely).forEach(register));
    });

    test(`${engine}: no connection is left open, of ${about}`, async () => {
      for (let tries = 0; tries < 100 && (await world.gateway.openStreams()) > 0; tries += 1) await sleep(20);
      assert.equal(await world.gateway.openStreams(), 0);
    });
  }
}
