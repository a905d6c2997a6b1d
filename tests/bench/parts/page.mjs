// A page that shows streams of a real server: how much of its main thread's time that takes, and how its frames are affected.
import { startServer } from "../child.mjs";
import { median } from "../statistics.mjs";

const RATES = [100, 1_000, 10_000];
const COUNTS = [1, 20];
/** `idle` shows nothing: what the page's frames cost by themselves. */
const CANDIDATES = ["idle", "drain", "plain", "turnwire", "ai"];
/** Of streams that are on their way this long, so long is watched, in milliseconds. */
const BEFORE = 1_000;
const WATCHED = 2_000;
/** So many of 127.0.0.0/8 for twenty streams: a browser opens six connections to each. */
const ADDRESSES = 4;
/** A frame that came later than this is one that people may see, in milliseconds. */
const LATE = 25;

export const engines = ["Chromium"];

/** All rows; with `quick` one with few events. */
export function rows({ quick = false } = {}) {
  return (quick ? [100] : RATES).flatMap((rate) =>
    (quick ? [1] : COUNTS).map((count) => ({
      part: "page",
      group: "page",
      // All streams together.
      name: `page, ${rate} events/s, ${count === 1 ? "one stream" : `${count} streams`}`,
      protocol: "truefoundry",
      rate,
      count,
      candidates: CANDIDATES,
      // What is said of the highest rate is claimed.
      rounds: quick ? 1 : rate === 10_000 ? 5 : 3,
      before: quick ? 100 : BEFORE,
      watched: quick ? 300 : WATCHED,
    })),
  );
}

/** Measures one row. */
export async function measure(row, { running, modules }) {
  const server = await startServer("paced.mjs");
  try {
    const samples = Object.fromEntries(row.candidates.map((candidate) => [candidate, []]));
    for (let round = 0; round < row.rounds; round += 1) {
      for (const candidate of row.candidates) samples[candidate].push(await watch(row, candidate, server.port, running, modules));
    }
    return { ...row, samples };
  } finally {
    await server.stop();
  }
}

async function watch({ protocol, rate, count, before, watched }, candidate, port, running, modules) {
  const { wire = protocol } = modules[candidate] ?? {};
  const consumer = wire === protocol ? "subscribe" : "for await";
  const addresses = Array.from({ length: ADDRESSES }, (_, at) => `http://127.0.0.${at + 1}:${port}/${wire}/${rate / count}`);
  const page = await running.open();
  try {
    if (candidate !== "idle") await page.call("play", { candidate, protocol, consumer, addresses, count }, modules);
    await sleep(before);
    await page.call("watchFrames");
    const tasks = await page.traceTasks(() => sleep(watched));
    const frames = await page.call("frameTimes");
    return {
      share: tasks.reduce((sum, task) => sum + task, 0) / watched,
      longest: Math.max(...tasks),
      late: frames.filter((time) => time > LATE).length,
      frames: frames.length,
    };
  } finally {
    await page.close();
  }
}

/** What is printed of a result. */
export function line({ samples }) {
  return Object.entries(samples)
    .map(([candidate, rounds]) => {
      const of = (name) => median(rounds.map((round) => round[name]));
      return `${candidate} ${(100 * of("share")).toFixed(1)} % busy, longest ${of("longest").toFixed(1)} ms, ${of("late")}/${of("frames")} late`;
    })
    .join("   ");
}

const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));
