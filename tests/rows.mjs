// How much of a test runs. `cargo xtask test` wants some rows of each kind, with `--all` every one; a test that is run by
// itself runs all of them.
import { readFileSync } from "node:fs";

/** Whether some rows of each kind are enough. */
export const IS_QUICK = process.env.TURNWIRE_TEST === "quick";

/**
 * The rows to run: in a quick run each that is of a kind which none before it was of. `kindsOf` tells a row's kinds, more
 * than one perhaps. A row that is `slow` is for whole runs.
 */
export function representative(rows, kindsOf) {
  if (!IS_QUICK) return rows;
  const met = new Set();
  return rows.filter((row) => {
    const kinds = row.slow ? [] : kindsOf(row).filter((kind) => !met.has(kind));
    for (const kind of kinds) met.add(kind);
    return kinds.length > 0;
  });
}

const FAMILIES = JSON.parse(readFileSync(new URL("../pkg/families.json", import.meta.url), "utf8"));

/** Of these protocols those to play: in a quick run none whose family another one before it is of. */
export function protocolsToPlay(protocols) {
  return representative(protocols, (protocol) => [Object.values(FAMILIES).findIndex((family) => family.protocols.includes(protocol))]);
}

/** Says how many of all there are, if that is not all. */
export function tellRows(count, all, what) {
  if (count < all) console.log(`quick: ${count} of ${all} ${what}; --all has the rest`);
}
