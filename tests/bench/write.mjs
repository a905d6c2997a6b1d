// Writes what a run measured into the documentation.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chartOf } from "./chart.mjs";
import { summaryOf, tableOf } from "./summary.mjs";

const REGION = /(<!-- bench: begin -->\n)[^]*?(<!-- bench: end -->)/;

/** Writes `bench.svg` to the folder of the documentation, and the table into the marked region of its `bench.md`. */
export function write(docs, results, versions) {
  const lines = summaryOf(results);
  writeFileSync(join(docs, "bench.svg"), chartOf(lines));
  const file = join(docs, "bench.md");
  const text = readFileSync(file, "utf8");
  if (!REGION.test(text)) throw new Error(`${file} has no region between <!-- bench: begin --> and <!-- bench: end -->`);
  const region = `![Processor time of an event, by package](bench.svg)\n\n${tableOf(lines)}\n\nMeasured in ${versions.join(" and in ")}.\n`;
  writeFileSync(file, text.replace(REGION, (_, begin, end) => begin + region + end));
}
