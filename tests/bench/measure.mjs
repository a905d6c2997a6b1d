// Runs inside of the engine: measures the candidates of one row side by side, in turns.
import { takeExempt } from "./exempt.mjs";
import { shapeOf, shapeOfSnapshot, textOf } from "./expected.mjs";
import { mark } from "./marks.mjs";
import { serve } from "./server.mjs";
import * as stories from "./stories.mjs";

globalThis.requestAnimationFrame ??= (task) => setTimeout(task, 1000 / 60);
globalThis.cancelAnimationFrame ??= clearTimeout;

/**
 * Measures one row: `{ protocol, form, story: [name, ...arguments], chunking, consumer, candidates, turns, rounds, warmups }`,
 * so many turns in a sample, so many rounds after the warm-ups. Returns the milliseconds of a turn by the wall, by candidate
 * and round, and `order`: of each sample, as they were taken, the candidate, or `null` for a warm-up. Fails if a candidate did
 * not make of the stream what its story says.
 *
 * `modules` has each candidate's module by `url`; `packageUrl` is the package that it measures, `wire` its own wire, if any.
 */
export async function measure(row, modules) {
  const { story: [name, ...given], chunking, consumer, candidates, turns, rounds, warmups } = row;
  const story = stories[name](...given);
  const expected = { text: textOf(story), shape: shapeOf(story) };
  const prepared = {};
  for (const candidate of candidates) prepared[candidate] = await prepare(row, story, modules[candidate]);
  const samples = Object.fromEntries(candidates.map((candidate) => [candidate, []]));
  const order = [];
  for (let round = -warmups; round < rounds; round += 1) {
    for (let at = 0; at < candidates.length; at += 1) {
      // Not always the same one after the same one.
      const candidate = candidates[(at + round + warmups) % candidates.length];
      const { time, outcomes } = await sample(prepared[candidate], consumer, turns);
      for (const outcome of outcomes) check(candidate, outcome, expected, round === -warmups);
      if (round >= 0) samples[candidate].push(time);
      order.push(round >= 0 ? candidate : null);
    }
  }
  for (const candidate of candidates) prepared[candidate].close?.();
  return { samples, order };
}

async function prepare(row, story, { url, packageUrl, wire = row.wire ?? row.protocol }) {
  const { prepare } = await import(url);
  return prepare({ protocol: row.protocol, packageUrl, ...serve({ ...row, wire }, story) });
}

/** The time of a turn, of so many one after the other. */
async function sample(candidate, consumer, turns) {
  const ready = [];
  for (let turn = 0; turn < turns; turn += 1) ready.push(await candidate.ready());
  const outcomes = [];
  globalThis.gc?.();
  takeExempt();
  mark("begin");
  const began = performance.now();
  for (const { consume } of ready) outcomes.push(await consume(consumer));
  const time = performance.now() - began - takeExempt();
  mark("end");
  return { time: time / turns, outcomes };
}

function check(candidate, { text, turn }, expected, isFirst) {
  if (text !== undefined && text !== expected.text) throw new Error(`${candidate} made another text: ${difference(text, expected.text)}`);
  if (!isFirst || !turn) return;
  const shape = shapeOfSnapshot(turn.snapshot());
  if (shape !== expected.shape) throw new Error(`${candidate} has another snapshot: ${difference(shape, expected.shape)}`);
}

function difference(actual, expected) {
  let at = 0;
  while (at < actual.length && actual[at] === expected[at]) at += 1;
  const near = (text) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 40));
  return `at ${at} of ${expected.length}: ${near(actual)} in place of ${near(expected)}`;
}
