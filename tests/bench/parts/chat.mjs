// Chat pages in React with earlier messages, while an answer streams: what a frame costs, and how soon another page opens.
// Every candidate gets the same text at the same pace, in its own wire, and shows it by the same components.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { bundleChats } from "../bundle.mjs";
import { digits } from "../table.mjs";
import { median } from "../statistics.mjs";

const EARLIER = [10, 100, 1_000, 10_000];
/** `least` is what React itself takes to show a text that grows. */
const CANDIDATES = ["least", "turnwire", "use-chat", "use-chat-throttle", "use-chat-memo", "use-stream", "assistant-ui", "turnwire-assistant-ui", "tanstack"];
/** Deltas a second, as of a quick model. */
const RATE = 400;
/** For how long an answer streams before it is watched, and how long it is, in milliseconds. */
const BEFORE = 500;
const WATCHED = 2_000;
/** For how many seconds there is something to say. */
const LENGTH = 60;
/** A page that has not answered for so many milliseconds has stalled. */
const STALLED = 30_000;
/** A frame that came later than this is one that people may see, in milliseconds. */
const LATE = 25;

export const engines = ["Chromium"];

/** All rows; with `quick` one with few messages. */
export function rows({ quick = false } = {}) {
  const row = (name, more) => ({
    part: "chat",
    group: "chat",
    name: `chat, ${name}`,
    // A page of `useStream` takes five seconds to open another one.
    candidates: quick ? CANDIDATES.filter((name) => name !== "use-stream") : CANDIDATES,
    rate: RATE,
    deltas: RATE * LENGTH,
    most: RATE * LENGTH,
    rounds: 1,
    transitions: quick ? 1 : 3,
    before: quick ? 100 : BEFORE,
    watched: quick ? 200 : WATCHED,
    ...more,
  });
  const sizes = (quick ? [10] : EARLIER).map((earlier) => row(`${earlier} earlier messages`, { earlier, rounds: !quick && earlier === 1_000 ? 3 : 1 }));
  // In messages of a thousand: a row comes every tenth of a second.
  const flood = { earlier: 1_000, candidates: ["turnwire"], rate: 10_000, deltas: 120_000, most: 1_000, watched: 10_000, transitions: 0 };
  return quick ? sizes : [...sizes, row("1,000 earlier messages, 100,000 deltas in 10 s", flood)];
}

const bundles = new Map();

/** Measures one row. */
export async function measure(row, { running, packages, folder }) {
  const own = row.candidates.includes("other") ? ["", "other"] : [""];
  const urls = Object.fromEntries((await Promise.all(own.map((name, at) => urlsOf(folder, packages[at], name, running)))).flat());
  const candidates = row.candidates.filter((candidate) => candidate in urls);
  const samples = Object.fromEntries(candidates.map((candidate) => [candidate, []]));
  for (let round = 0; round < row.rounds; round += 1) {
    for (const candidate of candidates) {
      samples[candidate].push(
        await watch(row, urls[candidate], running).catch((cause) => {
          throw new Error(`${candidate}: ${cause.message}`, { cause });
        }),
      );
    }
  }
  return { ...row, candidates, samples };
}

/** The addresses of the pages by their candidates; of another package only its own one, as `other`. */
async function urlsOf(folder, path, other, running) {
  const place = `chats${other}`;
  if (!bundles.has(place)) {
    mkdirSync(join(folder, place), { recursive: true });
    bundles.set(place, bundleChats(join(folder, place), path));
  }
  const names = await bundles.get(place);
  return (other ? ["turnwire"] : names).map((name) => [other || name, running.urls.bundle(`${place}/${name}`)]);
}

async function watch({ earlier, rate, deltas, most, before, watched, transitions }, url, running) {
  const page = await running.open();
  try {
    // A page that has more to do than time shows nothing, and answers nothing: all of its time is one frame.
    const stalled = { scripting: STALLED, share: 1, frames: 1, late: 1, long: 1, longest: STALLED, shown: 0, rest: STALLED, changing: STALLED };
    const isOpen = await orStalled(page.call("openChat", url, { earlier, deltas, most, rate }));
    if (!isOpen) return stalled;
    const rest = await several(transitions, page);
    const seen = await orStalled(watchAnswer(page, { before, watched }));
    if (!seen) return { ...stalled, rest };
    const changing = await orStalled(several(transitions, page));
    return { ...seen, rest, changing: changing === undefined ? STALLED : changing };
  } finally {
    await page.close();
  }
}

/** What comes of this; `undefined` if the page does not answer, or shows nothing more. */
function orStalled(asked) {
  asked.catch(() => {});
  return Promise.race([asked, sleep(STALLED)]);
}

async function watchAnswer(page, { before, watched }) {
  await page.call("sendMessage");
  await sleep(before);
  await page.call("takeLongTasks");
  await page.call("watchFrames");
  const began = [await page.scripting(), await page.call("answered")];
  await sleep(watched);
  const frames = await page.call("frameTimes");
  const scripting = (await page.scripting()) - began[0];
  const shown = (await page.call("answered")) - began[1];
  if (shown === 0) return undefined;
  const long = await page.call("takeLongTasks");
  const late = frames.filter((time) => time > LATE).length;
  return { scripting: scripting / Math.max(1, frames.length), share: scripting / watched, frames: frames.length, late, long: long.length, longest: Math.max(0, ...long), shown };
}

/** How long it takes to go to the slow page: the median of so many times. */
async function several(count, page) {
  const times = [];
  for (let at = 0; at < count; at += 1) times.push(await page.call("goElsewhere"));
  return count > 0 ? median(times) : null;
}

/** What is printed of a result. */
export function line({ samples }) {
  return Object.entries(samples)
    .map(([candidate, rounds]) => {
      const of = (name) => median(rounds.map((round) => round[name]));
      const transition = rounds[0].rest === null ? "" : `, 200 ms take ${of("rest").toFixed()} at rest, ${of("changing").toFixed()} while it streams`;
      if (of("scripting") >= STALLED) return `\n    ${candidate.padEnd(22)} showed nothing more`;
      return `\n    ${candidate.padEnd(22)} ${digits(of("scripting"))} ms a frame, ${of("late")}/${of("frames")} late, ${of("long")} long tasks${transition}`;
    })
    .join("");
}

const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));
