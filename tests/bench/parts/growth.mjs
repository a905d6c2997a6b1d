// Whether the same work costs more when more is behind it: the last tenth of a turn against the first.
import { mean } from "../statistics.mjs";
import { bySample } from "./turns.mjs";

const STORIES = [
  // About 1 MB. At full speed some 4,000 deltas come in a frame of the screen.
  { what: "one message of 250,000 deltas, its text in each frame", story: ["talk", 250_000, 250_000], few: ["talk", 500, 500], every: 4_000, look: "subscribe" },
  { what: "after 1,000 messages, a frame every 10 deltas", story: ["talk", 20_000, 20], few: ["talk", 200, 20], every: 10, look: "subscribe" },
  { what: "AG-UI, after 1,000 messages, a frame every 10 deltas", protocol: "ag-ui", story: ["talk", 20_000, 20], few: ["talk", 200, 20], every: 10, look: "subscribe" },
  // A snapshot has the text of the arguments; a conversation reads them while they are incomplete.
  { what: "arguments of 16,000 pieces, a snapshot at each", story: ["calling", 16_000], few: ["calling", 100], every: 1, look: "calls" },
  { what: "arguments of 16,000 pieces, the object of a conversation at each", story: ["calling", 16_000], few: ["calling", 100], every: 1, look: "conversation", candidates: ["turnwire"] },
];

export const engines = ["Node", "Chromium"];

/** All rows; with `quick` with little work and one round. */
export function rows({ quick = false } = {}) {
  return STORIES.map(({ what, protocol = "truefoundry", story, few, every, look, candidates = ["plain", "turnwire"] }) => ({
    part: "growth",
    group: "growth",
    name: `growth, ${what}`,
    protocol,
    candidates,
    story: quick ? few : story,
    every,
    look,
    rounds: quick ? 1 : 8,
    warmups: quick ? 0 : 2,
  }));
}

/** Measures one row. */
export async function measure(row, { page, modules }) {
  const { samples, order, spans } = await page.timed("grow", row, modules);
  const times = bySample(row.candidates, order, order.map((_, at) => spans.slice(10 * at, 10 * at + 10)));
  const tenths = Object.fromEntries(Object.entries(times).map(([candidate, rounds]) => [candidate, rounds[0].map((_, at) => mean(rounds.map((round) => round[at])))]));
  return { ...row, samples, tenths };
}

/** The last tenth's time over the first one's. */
export const growthOf = (tenths) => tenths.at(-1) / tenths[0];

/** What is printed of a result. */
export function line({ tenths }) {
  return Object.entries(tenths)
    .map(([candidate, times]) => `${candidate} ${times[0].toFixed(1)} → ${times.at(-1).toFixed(1)} ms a tenth, ${growthOf(times).toFixed(2)}×`)
    .join("   ");
}
