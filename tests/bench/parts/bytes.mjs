// What a page of one protocol downloads of the package.
import { pageBytes } from "../weigh.mjs";

export const engines = ["Node"];

/** One row for all protocols. */
export function rows() {
  return [{ part: "bytes", group: "bytes", name: "bytes, a page of one protocol", candidates: ["turnwire"], rounds: 1 }];
}

/** Measures it: the bytes by candidate and family. */
export async function measure(row, { packages }) {
  return { ...row, bytes: Object.fromEntries(row.candidates.map((candidate) => [candidate, pageBytes(packages[candidate === "other" ? 1 : 0])])) };
}

/** What is printed of a result. */
export function line({ bytes }) {
  return Object.entries(bytes)
    .map(([candidate, families]) => `${candidate} ${Object.entries(families).map(([family, size]) => `${family} ${(size / 1024).toFixed(1)} KB`).join(", ")}`)
    .join("   ");
}
