// Runs inside of the engine: whether work costs more when there is more behind it. A turn's events come one by one, after so
// many of them there is a frame, and the clock is read at each tenth of the turn.
import { shapeOf, shapeOfSnapshot } from "./expected.mjs";
import { mark } from "./marks.mjs";
import { serve } from "./server.mjs";
import { eventStream } from "./source.mjs";
import * as stories from "./stories.mjs";

/** Frames come when the workload says so, and not by the screen's clock. */
const frames = new Map();
let requested = 0;
const request = (task) => {
  requested += 1;
  frames.set(requested, task);
  return requested;
};
const cancel = (id) => frames.delete(id);

/**
 * Measures one row: `{ protocol, story, look, every, candidates, rounds, warmups }`, with a frame `every` so many events, in
 * which `look` is done. Returns the milliseconds of each tenth by the wall, by candidate and round, and `order` as `measure` does.
 */
export async function grow(row, modules) {
  const { story: [name, ...given], candidates, rounds, warmups } = row;
  const story = stories[name](...given);
  const shape = shapeOf(story);
  const real = [globalThis.requestAnimationFrame, globalThis.cancelAnimationFrame];
  [globalThis.requestAnimationFrame, globalThis.cancelAnimationFrame] = [request, cancel];
  try {
    const samples = Object.fromEntries(candidates.map((candidate) => [candidate, []]));
    const order = [];
    const prepared = {};
    const marks = {};
    for (const candidate of candidates) {
      const { url, packageUrl } = modules[candidate];
      const { prepare } = await import(url);
      marks[candidate] = [];
      const server = serve({ wire: row.protocol, chunking: "event", source: (chunks) => marked(chunks, row.every, marks[candidate]) }, story);
      prepared[candidate] = await prepare({ protocol: row.protocol, packageUrl, ...server });
    }
    for (let round = -warmups; round < rounds; round += 1) {
      for (const candidate of candidates) {
        const turn = await prepared[candidate].ready();
        marks[candidate].length = 0;
        globalThis.gc?.();
        litter(round / rounds);
        const outcome = await turn.consume(row.look);
        check(candidate, outcome, shape);
        const tenths = marks[candidate].slice(1).map((mark, at) => mark - marks[candidate][at]);
        if (round >= 0) samples[candidate].push(tenths);
        order.push(round >= 0 ? candidate : null);
      }
    }
    return { samples, order };
  } finally {
    [globalThis.requestAnimationFrame, globalThis.cancelAnimationFrame] = real;
  }
}

/** What a page's young objects may take until they are collected, in bytes. */
const YOUNG = 16 << 20;

/**
 * Leaves a part of that as garbage, another part in each round: else the few collections of a turn come at the same events in
 * every round, and the tenths in which they come seem to cost more.
 */
function litter(part) {
  for (let left = part * YOUNG; left > 0; left -= 1024) new Array(128).fill(left);
}

/** A stream that has a frame after so many chunks, and notes the time at each tenth. */
function marked(chunks, every, marks) {
  let at = 0;
  return eventStream(chunks, () => {
    if (at % every === 0) frame();
    // The last chunk ends the turn: no reader asks for more.
    if (at === Math.floor((marks.length * (chunks.length - 1)) / 10)) {
      if (marks.length > 0) mark("end");
      if (marks.length < 10) mark("begin");
      marks.push(performance.now());
    }
    at += 1;
  });
}

function frame() {
  const tasks = [...frames.values()];
  frames.clear();
  for (const task of tasks) task(performance.now());
}

function check(candidate, { turn }, expected) {
  if (shapeOfSnapshot(turn.snapshot()) !== expected) throw new Error(`${candidate} has another snapshot`);
}
