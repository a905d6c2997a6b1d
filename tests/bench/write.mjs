// Writes what a run measured into the documentation.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chartOf } from "./chart.mjs";
import { numberOf, summaryOf, tableOf } from "./summary.mjs";

const REGION = /(<!-- bench: begin -->\n)[^]*?(<!-- bench: end -->)/;

/** Writes the chart, the table of docs/bench.md, and the number of the README; `root` is the top of the tree. */
export function write(root, results, versions) {
  const lines = summaryOf(results);
  writeFileSync(join(root, "docs/bench.svg"), chartOf(lines));
  const chart = "![Processor time of an event, by package](bench.svg)";
  fill(join(root, "docs/bench.md"), `${chart}\n\n${tableOf(lines)}\n\nMeasured in ${versions.join(" and in ")}.\n`);
  fill(join(root, "README.md"), `${numberOf(lines)}\n`);
}

/** Writes the marked region of a file. */
function fill(file, region) {
  const text = readFileSync(file, "utf8");
  if (!REGION.test(text)) throw new Error(`${file} has no region between <!-- bench: begin --> and <!-- bench: end -->`);
  writeFileSync(file, text.replace(REGION, (_, begin, end) => begin + region + end));
}
