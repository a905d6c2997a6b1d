// Every fault in every engine, for turns that relays keep: the package in a page, a gateway that makes the faults, one relay as a
// program of its own or two with one log, and agents behind them. Nothing is lost or repeated.
import { after, before, describe, test } from "node:test";
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { WITH_RELAY } from "../../pkg/test/support/relay.mjs";
import { IS_QUICK, tellRows } from "../rows.mjs";
import { isAlone, LANES } from "./case-runner.mjs";
import { ENGINES, openBrowser } from "./engines.mjs";
import { Player } from "./player.mjs";
import { GROUPS } from "./relay/cases.mjs";
import { run } from "./relay/run.mjs";
import { startRelayed } from "./relay/world.mjs";
import { Table } from "./table.mjs";

const CASES = GROUPS.flatMap(([group, cases]) => cases.map((one) => ({ group, ...one })));
const PROTOCOLS = ["aap", "tirea"];
/** One row stands for all: `pkg/test/relay` has a few more of each kind, in Node. */
const CHOSEN = IS_QUICK ? CASES.filter(({ name }) => name === "eof:3") : CASES;
const PLAYED = IS_QUICK ? ["chromium"] : ENGINES;

/** How many relays: one with a log in SQLite; two with a log in Redis, each of which gets every second request. */
const WORLDS = { "a relay": 1, "two relays": 2 };

/** Those that restart a relay, which all share, that close idle connections, or that are much work for a page. */
const isSingle = (one) => ["crashes", "sizes"].includes(one.group) || isAlone(one);

const rows = PROTOCOLS.length * Object.keys(WORLDS).length;
tellRows(CHOSEN.length * PLAYED.length * rows, CASES.length * ENGINES.length * rows, "rows behind relays");

test("every case has a name of its own", () => {
  const names = CASES.map(({ name }) => name);
  assert.deepEqual(names.filter((name, at) => names.indexOf(name) !== at), []);
});

for (const [title, count] of Object.entries(WORLDS)) describe(`behind ${title}`, WITH_RELAY, () => playAll(title, count));

/** Plays all cases, behind this many relays. */
function playAll(title, count) {
  const table = new Table();
  for (const { group, name } of CHOSEN) for (const protocol of PROTOCOLS) table.addRow(`${protocol}, ${group}`, name);
  let world;
  before(async () => (world = await startRelayed(count)));
  after(async () => {
    await world?.stop();
    console.log(`\n${title}\n\n${table}\n`);
  });

  for (const engine of PLAYED) {
    describe(`${engine}, ${title}`, () => {
      let browser;
      let player;

      before(async () => {
        browser = await openBrowser(engine);
        table.addEngine(engine, browser.version);
        player = new Player(browser.driver);
        await player.open(`${world.url}/relayed.html`);
      });
      after(() => browser?.close());

      const play = (protocol, one) =>
        test(`${engine}, ${title}: ${protocol}: ${one.group}: ${one.name}`, { timeout: 20_000 }, async () => {
          let took = null;
          try {
            took = await run(world, protocol, player, one);
          } finally {
            table.add(`${protocol}, ${one.group}`, one.name, engine, took);
          }
        });
      const playSome = (cases) => PROTOCOLS.forEach((protocol) => cases.forEach((one) => play(protocol, one)));
      describe(`${engine}, ${title}, faults`, { concurrency: LANES }, () => playSome(CHOSEN.filter((one) => !isSingle(one))));
      describe(`${engine}, ${title}, one after the other`, () => playSome(CHOSEN.filter(isSingle)));

      test(`${engine}, ${title}: no stream is left open`, async () => {
        for (let tries = 0; tries < 100 && (await world.front.openStreams()) > 0; tries += 1) await sleep(20);
        assert.equal(await world.front.openStreams(), 0);
      });
    });
  }
}
