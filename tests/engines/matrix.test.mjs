// Every fault in every engine: the package in a page, against the gateway, over real connections.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { KINDS, STATUSES } from "./cases/index.mjs";
import { CASES, isAlone, kindsOf, LANES, partsOf, run } from "./case-runner.mjs";
import { ENGINES, openBrowser } from "./engines.mjs";
import { IS_QUICK, representative, tellRows } from "../rows.mjs";
import { Player } from "./player.mjs";
import { Table } from "./table.mjs";
import { startWorld } from "./world.mjs";

/** And in Chromium: each kind of fault on each request, each status, and each other action of a case. */
function finerKindsOf(one) {
  const { script, headers = {}, stream = {}, connect, at = {}, expects: _, ...more } = one.plan;
  const does = [headers, stream, connect, more].flatMap((given) => Object.keys(given).filter((name) => given[name] !== undefined));
  const faults = partsOf(one).map(([request, kind, first]) => `${request} ${kind}${/status/.test(kind) ? ` ${first}` : ""}`);
  return [...kindsOf(one), `${one.group} ${one.expects.outcome}`, ...faults, ...does, ...Object.values(at), script.split(" ")[0]];
}

const CHOSEN = Object.fromEntries(
  ENGINES.map((engine) => [engine, representative(CASES, engine === "chromium" ? finerKindsOf : kindsOf)]),
);

let world;
const table = new Table();
for (const { group, name } of new Set(Object.values(CHOSEN).flat())) table.addRow(group, name);
tellRows(Object.values(CHOSEN).flat().length, ENGINES.length * CASES.length, "rows");

before(async () => (world = await startWorld()));
after(async () => {
  await world?.stop();
  console.log(`\n${table}\n`);
});

test("every kind of fault and every status has a case, and every case a name", () => {
  const parts = CASES.flatMap(partsOf);
  const kinds = new Set(parts.map(([, kind]) => kind));
  assert.deepEqual(KINDS.filter((kind) => !kinds.has(kind)), []);
  assert.deepEqual([...kinds].filter((kind) => !KINDS.includes(kind)), []);
  for (const request of ["create", "subscribe"]) {
    const isMet = (status) => parts.some((part) => part.slice(0, 3).join() === `${request},status,${status}`);
    assert.deepEqual(STATUSES.filter((status) => !isMet(status)), [], request);
  }
  const names = CASES.map(({ name }) => name);
  assert.deepEqual(names.filter((name, at) => names.indexOf(name) !== at), []);
});

test("every engine has every kind of fault, and Chromium each request and status", { skip: !IS_QUICK && "all run" }, () => {
  for (const engine of ENGINES) {
    const kinds = new Set(CHOSEN[engine].flatMap(partsOf).map(([, kind]) => kind));
    assert.deepEqual(KINDS.filter((kind) => !kinds.has(kind)), [], engine);
  }
  const finer = (cases) => [...new Set(cases.flatMap(partsOf).map((part) => part.slice(0, 3).join(":")).filter((part) => /status/.test(part)))].sort();
  assert.deepEqual(finer(CHOSEN.chromium), finer(CASES));
});

for (const engine of ENGINES) {
  describe(engine, () => {
    let browser;
    let player;

    before(async () => {
      browser = await openBrowser(engine);
      table.addEngine(engine, browser.version);
      player = new Player(browser.driver);
      await player.open(`${world.url}/`);
    });
    after(() => browser?.close());

    const play = (one) =>
      test(`${engine}: ${one.group}: ${one.name}`, { timeout: 20_000 }, () => runTold(engine, player, one));
    describe(`${engine}, faults`, { concurrency: LANES }, () => {
      CHOSEN[engine].filter((one) => !isAlone(one)).forEach(play);
    });
    describe(`${engine}, no answer`, () => {
      CHOSEN[engine].filter(isAlone).forEach(play);
    });

    test(`${engine}: no stream is left open`, async () => {
      for (let tries = 0; tries < 100 && (await world.gateway.openStreams()) > 0; tries += 1) await sleep(20);
      assert.equal(await world.gateway.openStreams(), 0);
    });
  });
}

async function runTold(engine, player, one) {
  let took = null;
  try {
    took = await run(world.gateway, player, one);
  } finally {
    table.add(one.group, one.name, engine, took);
  }
}
