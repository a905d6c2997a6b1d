// Whether the claims hold in a run's results.
import { growthOf } from "./parts/growth.mjs";
import { later } from "./parts/start.mjs";
import { median, ratio } from "./statistics.mjs";

/** The median of what a candidate's rounds of a chat page say. */
const inChat = ({ samples }, candidate, name) => median(samples[candidate].map((round) => round[name]));

/** What each kind measures of a row by a claim, and whether more of it is better. */
const KINDS = {
  faster: {
    measure: ({ processor }, { against, above }) => ratio(processor[against], processor.turnwire, above && processor[above]),
    atLeast: true,
    show: (value) => `${value.toFixed(2)}×`,
  },
  later: {
    measure: ({ samples }, { against }) => Math.min(...samples.turnwire) - Math.min(...samples[against]),
    show: (value) => `${value.toFixed(2)} ms`,
  },
  growth: {
    measure: ({ tenths }) => growthOf(tenths.turnwire),
    show: (value) => `${value.toFixed(2)}×`,
  },
  share: {
    measure: ({ samples }, { against, above }) => {
      const share = (candidate) => median(samples[candidate].map((round) => round.share));
      return (share("turnwire") - share(above)) / (share(against) - share(above));
    },
    show: (value) => `${value.toFixed(2)}×`,
  },
  frame: {
    measure: (row, { against }) => inChat(row, "turnwire", "scripting") / inChat(row, against, "scripting"),
    show: (value) => `${value.toFixed(2)}×`,
  },
  late: {
    measure: (row) => (100 * inChat(row, "turnwire", "late")) / inChat(row, "turnwire", "frames"),
    show: (value) => `${value.toFixed(1)} %`,
  },
  goes: {
    measure: (row) => inChat(row, "turnwire", "changing") / inChat(row, "turnwire", "rest"),
    show: (value) => `${value.toFixed(2)}×`,
  },
  start: {
    measure: ({ samples }, { against }) => later(samples, "turnwire", against),
    show: (value) => `${value.toFixed(1)} ms`,
  },
  least: {
    measure: ({ times }, { what }) => Math.min(...times[what]),
    show: (value) => `${value.toFixed(2)} ms`,
  },
  bytes: {
    measure: ({ bytes }, { family }) => bytes.turnwire[family] / 1024,
    show: (value) => `${value.toFixed(1)} KB`,
  },
};

/** Judges each claim: `{ name, goal, measured, holds, row }`; of what was not measured, `holds` is `null`. */
export function judge(claims, results) {
  return claims.map((claim) => {
    const { measure, atLeast = false, show } = KINDS[claim.kind];
    const goal = `${atLeast ? "≥" : "≤"} ${claim.bound}${show(0).replace(/^[\d.]+/, "")}`;
    const measured = results
      .filter((row) => isOf(row, claim) && (row.engine === "Chromium" || claim.kind === "bytes"))
      .map((row) => ({ row: row.name, value: measure(row, claim) }))
      .sort((a, b) => (atLeast ? a.value - b.value : b.value - a.value));
    if (measured.length === 0) return { name: claim.name, goal, measured: null, holds: null };
    const [{ row, value }] = measured;
    const holds = atLeast ? value >= claim.bound : value <= claim.bound;
    return { name: claim.name, goal, measured: show(value), holds, row };
  });
}

/** Whether a row is one of those that a claim names. */
export function isOf(row, { of }) {
  return Object.entries(of).every(([field, wanted]) => (Array.isArray(wanted) ? wanted.includes(row[field]) : row[field] === wanted));
}

/** What is printed of the claims. */
export function printClaims(judged) {
  const known = judged.filter(({ holds }) => holds !== null);
  if (known.length > 0) console.log("\nclaims");
  for (const { name, goal, measured, holds, row } of known) {
    console.log(`${holds ? "✔" : "✘"} ${name.padEnd(56)} ${goal.padStart(9)}   ${measured.padStart(9)}   ${holds ? "" : row}`);
  }
}
