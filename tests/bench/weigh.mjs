// What a page downloads: the bytes of files, compressed as web servers send them.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

/** The bytes of a file as brotli at its highest level. */
export function brotli(file) {
  const bytes = readFileSync(file);
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return brotliCompressSync(bytes, { params }).length;
}

/** Families of protocols: each has a core of its own. */
const FAMILIES = Object.keys(JSON.parse(readFileSync(join(import.meta.dirname, "..", "..", "pkg", "families.json"), "utf8")));

/** The bytes that a page of one protocol downloads of the package, by family. */
export function pageBytes(path) {
  return Object.fromEntries(FAMILIES.map((family) => [family, entryBytes(join(path, "dist"), "index.js", family)]));
}

/**
 * The bytes of an entry, of the files of its folder that it imports at once, and of a family's core, which it imports when that
 * is asked for.
 */
export function entryBytes(folder, entry = "entry.js", family = "truefoundry") {
  const core = new RegExp(`^${family}(?:-core)?[.-].*js$`);
  const names = readdirSync(folder);
  const reached = new Set([entry]);
  for (const name of reached) {
    const text = readFileSync(join(folder, name), "utf8");
    const isImported = (other) => text.includes(`from"./${other}"`) || (core.test(other) && text.includes(`import("./${other}")`));
    for (const other of names.filter(isImported)) reached.add(other);
  }
  return [...reached].reduce((sum, name) => sum + brotli(join(folder, name)), 0);
}
