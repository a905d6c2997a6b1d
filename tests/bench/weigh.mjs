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

/** What each family of protocols adds to `index.js`. */
const CHUNKS = { truefoundry: [], aap: ["aap.js"], "agent-event": ["agent-event.js"], "turn-rpc": ["turn-rpc.js"] };

/**
 * The bytes that a page of one protocol downloads of the package, by family. This is the one place that knows which files of
 * `dist/` those are.
 */
export function pageBytes(path) {
  const bytes = (name) => brotli(join(path, "dist", name));
  return Object.fromEntries(Object.entries(CHUNKS).map(([family, chunks]) => [family, ["index.js", ...chunks].map(bytes).reduce((sum, size) => sum + size, 0)]));
}

/** The bytes of an entry, and of the chunks of its folder that it imports at once. */
export function entryBytes(folder, entry = "entry.js") {
  const reached = new Set([entry]);
  for (const name of reached) {
    const text = readFileSync(join(folder, name), "utf8");
    for (const other of readdirSync(folder)) if (text.includes(`from"./${other}"`)) reached.add(other);
  }
  return [...reached].reduce((sum, name) => sum + brotli(join(folder, name)), 0);
}
