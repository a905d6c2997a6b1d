// Writes what a run measured into the documentation.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chartOf } from "./chart.mjs";
import { summaryOf, tableOf } from "./summary.mjs";

const REGION = /(<!-- bench: begin -->\n)[^]*?(<!-- bench: end -->)/;

/** The files with a marked region for the table, and where the chart lies from there. */
const FILES = { "README.md": "docs/bench.svg", "docs/bench.md": "bench.svg" };

/** Writes the chart, and with the table into the marked region of each file; `root` is the top of the tree. */
export function write(root, results, versions) {
  const lines = summaryOf(results);
  writeFileSync(join(root, "docs/bench.svg"), chartOf(lines));
  for (const [name, chart] of Object.entries(FILES)) {
    const file = join(root, name);
    const text = readFileSync(file, "utf8");
    if (!REGION.test(text)) throw new Error(`${file} has no region between <!-- bench: begin --> and <!-- bench: end -->`);
    const region = `![Processor time of an event, by package](${chart})\n\n${tableOf(lines)}\n\nMeasured in ${versions.join(" and in ")}.\n`;
    writeFileSync(file, text.replace(REGION, (_, begin, end) => begin + region + end));
  }
}
