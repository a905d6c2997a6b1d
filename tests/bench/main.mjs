// The benchmark: node main.mjs [NAME…] [--quick] [--package DIR] [--against DIR] [--engine node|chromium] [--rounds N]
//
// NAME       only rows with this in their name, or in that of their part
// --package  the built package, by default the one of this tree
// --against  another one, measured beside it as the candidate "other"
// --write    writes the table and the chart of the documentation, from a run that measured all of their rows
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bundle } from "./bundle.mjs";
import { CLAIMS } from "./claims.mjs";
import * as chromium from "./engines/chromium.mjs";
import * as node from "./engines/node.mjs";
import { judge, printClaims } from "./judge.mjs";
import { PARTS, rowsOf } from "./parts.mjs";
import { PEERS } from "./parts/turns.mjs";
import { write } from "./write.mjs";

const ROOT = join(import.meta.dirname, "..", "..");
const ENGINES = { node, chromium };

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    package: { type: "string", default: process.env.TURNWIRE_PACKAGE ?? join(ROOT, "pkg") },
    against: { type: "string" },
    engine: { type: "string", multiple: true, default: ["chromium", "node"] },
    rounds: { type: "string" },
    write: { type: "boolean", default: false },
    out: { type: "string", default: join(ROOT, "target") },
  },
});

const packages = [options.package, options.against].filter((path) => path !== undefined).map((path) => resolve(path));
const folder = join(options.out, "bench");
mkdirSync(folder, { recursive: true });
await bundle(folder);

const wanted = rowsOf(options).filter(({ part, name }) => names.every((word) => `${part}, ${name}`.includes(word)));
if (wanted.length === 0) throw new Error(`no row has ${names.join(" and ")} in its name`);
const results = [];
const versions = [];
for (const name of options.engine) await runIn(ENGINES[name]);
const claims = save();
printClaims(claims);
if (options.write) write(ROOT, results, versions);
// Of a part of the run, only what it measured is judged.
const isWhole = names.length === 0 && options.engine.includes("chromium");
if (claims.some(({ holds }) => holds === false || (holds === null && isWhole))) process.exitCode = 1;

/** Measures all rows in one engine; each group in a separate page or process. */
async function runIn({ name: engine, start }) {
  const running = await start({ folder, packages });
  versions.push(`${engine} ${running.version}`);
  console.log(`\n${engine} ${running.version}: milliseconds of processor time, median (least–most), times turnwire [the same above draining]`);
  const modules = modulesIn(running.urls);
  const here = wanted.filter((row) => (row.engine ? row.engine === engine : PARTS[row.part].engines.includes(engine)));
  const context = { running, modules, packages, folder };
  try {
    for (const group of new Set(here.map(({ group }) => group))) {
      const page = await running.open();
      for (const row of here.filter((row) => row.group === group)) {
        results.push({ ...(await measureRow(row, { ...context, page })), engine });
      }
      await page.close();
      // What a long run has measured is kept even if it does not come to its end.
      save();
    }
  } finally {
    await running.stop();
  }
}

/** Writes what was measured so far, and returns what it says of the claims. */
function save() {
  const claims = options.quick ? [] : judge(CLAIMS, results);
  writeFileSync(join(options.out, "bench.json"), JSON.stringify({ claims, rows: results }, null, 1));
  return claims;
}

async function measureRow(row, context) {
  const candidates = packages.length > 1 ? [...row.candidates, "other"] : row.candidates;
  const result = await PARTS[row.part].measure({ ...row, candidates, rounds: Number(options.rounds ?? row.rounds) }, context);
  console.log(`${row.name.padEnd(52)} ${PARTS[row.part].line(result)}`);
  return result;
}

/** Where each candidate's module lies, and what else it needs. */
function modulesIn(urls) {
  return {
    drain: { url: urls.bundle("drain") },
    plain: { url: urls.bundle("plain") },
    ...Object.fromEntries(PEERS.map((peer) => [peer, { url: urls.bundle(peer), wire: peer }])),
    turnwire: { url: urls.bundle("turnwire"), packageUrl: urls.package(0) },
    ...(options.against && { other: { url: `${urls.bundle("turnwire")}?other`, packageUrl: urls.package(1) } }),
  };
}
