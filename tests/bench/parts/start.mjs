// A page's start: from the import of the module to a turn's first event, when nothing is cached, and when the browser keeps
// what it compiled the scripts to; and what the page downloads for it.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { bundlePage } from "../bundle.mjs";
import { median, summary } from "../statistics.mjs";
import { entryBytes } from "../weigh.mjs";
import { PEERS } from "./turns.mjs";

/** Visits that are not counted: by the first one the server has compressed its files, after more browsers keep compiled code. */
const VISITS = { cold: 1, warm: 4 };

export const engines = ["Chromium"];

/** All rows; with `quick` one round. */
export function rows({ quick = false } = {}) {
  return ["cold", "warm"].map((cache) => ({
    part: "start",
    group: "start",
    name: `start, ${cache}`,
    cache,
    protocol: "truefoundry",
    candidates: ["plain", "turnwire", ...PEERS],
    rounds: quick ? 1 : 15,
    visits: quick ? 0 : VISITS[cache],
  }));
}

/** Measures one row. */
export async function measure(row, { running, modules, folder, packages }) {
  const bytes = {};
  for (const candidate of row.candidates) {
    const out = join(folder, "start", candidate);
    rmSync(out, { recursive: true, force: true });
    const isOther = candidate === "other";
    await bundlePage(out, isOther ? "turnwire" : candidate, packages[isOther ? 1 : 0]);
    bytes[candidate] = entryBytes(out);
  }
  const begin = (page, candidate) => page.call("begin", { protocol: row.protocol, url: `/bundles/start/${candidate}/entry.js`, wire: modules[candidate].wire });
  const profile = row.cache === "warm" ? await running.profile() : running;
  const visit = async (candidate) => {
    const page = await profile.open();
    try {
      return await begin(page, candidate);
    } finally {
      await page.close();
    }
  };
  try {
    await rounded(row.candidates, row.visits, visit);
    return { ...row, samples: await rounded(row.candidates, row.rounds, visit), bytes };
  } finally {
    if (profile !== running) await profile.stop();
  }
}

async function rounded(candidates, rounds, visit) {
  const samples = Object.fromEntries(candidates.map((candidate) => [candidate, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const candidate of candidates) samples[candidate].push(await visit(candidate));
  }
  return samples;
}

/** By how many milliseconds one candidate starts later than another. */
export const later = (samples, candidate, other) => median(samples[candidate].map((time, round) => time - samples[other][round]));

/** What is printed of a result. */
export function line({ samples, bytes }) {
  return Object.entries(samples)
    .map(([candidate, times]) => {
      const { median, min, max } = summary(times);
      return `${candidate} ${median.toFixed(1)} ms (${min.toFixed(1)}–${max.toFixed(1)}), ${(bytes[candidate] / 1024).toFixed(1)} KB`;
    })
    .join("   ");
}
