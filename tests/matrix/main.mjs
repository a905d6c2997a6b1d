// Plays the rows of the matrix, one after the other, and prints the table.
//   node main.mjs TARBALL WORK [--quick] [--list] [--write] [ROW…]
// Needs TURNWIRE_GATEWAY and CHROME. ROW is a part of a row's name. Exits with 1 if a row has failed.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { judge } from "./judge.mjs";
import { FIRST, prepare, ROWS } from "./rows.mjs";
import { World } from "./world.mjs";

const flags = process.argv.filter((word) => word.startsWith("--"));
const [tarball, work, ...names] = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const isAsked = ({ name, quick }) =>
  names.length > 0 ? names.some((part) => name.toLowerCase().includes(part.toLowerCase())) : quick || !flags.includes("--quick");
const rows = ROWS.filter(isAsked);
const DOCUMENT = join(import.meta.dirname, "..", "..", "docs", "bundlers.md");
const REGION = /(<!-- matrix: begin -->\n)[^]*?(<!-- matrix: end -->)/;

if (flags.includes("--list")) {
  for (const { name, quick } of ROWS) console.log(`${name}${quick ? " (quick)" : ""}`);
  process.exit();
}

if (flags.includes("--write") && rows.length < ROWS.length) {
  console.error("--write needs all rows: the table is written as a whole");
  process.exit(2);
}

if (rows.length < ROWS.length) console.log(`quick: ${rows.length} of ${ROWS.length} rows; --all has the rest`);
const world = await World.start();
const shared = new Map();
const lines = [];
let failed = 0;
try {
  for (const row of rows) {
    const began = performance.now();
    const protocols = row.protocols ?? FIRST;
    let wrong;
    try {
      const folder = await prepare(row, resolve(work), resolve(tarball));
      const once = (make) => {
        if (!shared.has(folder)) shared.set(folder, make());
        return shared.get(folder);
      };
      wrong = judge(await row.play({ folder, world, protocols, once }), protocols, world.expected);
    } catch (error) {
      wrong = [error.message];
    }
    if (wrong.length > 0) failed += 1;
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`${wrong.length > 0 ? "not ok" : "ok"}  ${row.name}  ${seconds} s${wrong.map((line) => `\n        ${line}`).join("")}`);
    lines.push(`| ${row.name} | ${protocols.join(", ")} | ${wrong.length > 0 ? "no" : "yes"} |`);
  }
} finally {
  for (const server of shared.values()) await server.then(({ stop }) => stop(), () => {});
  await world.stop();
}
const table = ["| | protocols | works |", "|---|---|---|", ...lines].join("\n");
console.log(`\n${table}\n`);
if (flags.includes("--write")) writeFileSync(DOCUMENT, readFileSync(DOCUMENT, "utf8").replace(REGION, (_, begin, end) => `${begin}${table}\n${end}`));
console.log(`test result: ${rows.length - failed} passed; ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
