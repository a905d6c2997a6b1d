// Prints what each page downloads: its family, its way, and the bytes raw, by gzip and by brotli, of all of its files.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildPage, PAGES, weigh } from "./build.mjs";

const folder = mkdtempSync(join(tmpdir(), "turnwire-pages-"));
try {
  for (const [family, way] of PAGES) {
    const files = await buildPage(folder, family, way);
    console.log(family, way, ...weigh(files.values()));
    if (process.argv.includes("--files")) for (const [name, contents] of files) console.log(" ", name, ...weigh([contents]));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
