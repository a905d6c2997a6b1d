// A conversation with many turns: the time to its first rows, of a frame of an answer, and of something that a person does.
// What a page draws is not in it.
import { digits } from "../table.mjs";
import { median } from "../statistics.mjs";

export const engines = ["Node", "Chromium"];

const TURNS = [10, 1_000, 10_000];
/** To fill a session with more of them would take minutes. */
const READ = 1_000;

/** All rows; with `quick` with few turns and one round. */
export function rows({ quick = false } = {}) {
  return (quick ? [10] : TURNS).map((turns) => ({
    part: "conversation",
    group: "conversation",
    name: `conversation, ${turns.toLocaleString("en")} turns`,
    turns,
    reads: turns <= READ,
    candidates: ["turnwire"],
    rounds: quick ? 1 : 9,
  }));
}

/** Measures one row: milliseconds of the clock by what was measured. */
export async function measure(row, { page, running }) {
  const urls = ["index", "conversation", "testing"].map((entry) => running.urls.package(0, entry));
  return { ...row, times: await page.call("converse", row, urls) };
}

/** What is printed of a result. */
export function line({ times }) {
  return Object.entries(times)
    .map(([what, values]) => `${what} ${digits(median(values))} (${digits(Math.min(...values))}–${digits(Math.max(...values))}) ms`)
    .join("   ");
}
