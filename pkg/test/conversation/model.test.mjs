// The plan of a conversation under thousands of random schedules of people, tabs and a server that loses, refuses and delays,
// each from a seed, and what must be true after each step and at rest: each text in exactly one place, no input starts two
// turns, no answer is sent twice, keys that never change or collide, the path that the server lists, a phase of rest, the
// queue's order.
//
// `TURNWIRE_SEED` is the first seed, `TURNWIRE_SCHEDULES` the number of schedules. A failure prints its shortest schedule, as
// a case for tests/conformance/conversation.json, and all facts that the plans received and their effects, as JSON.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { IS_QUICK, tellRows } from "../../../tests/rows.mjs";
import { draw, play, shortened } from "./model/schedule.mjs";

const FIRST = Number(process.env.TURNWIRE_SEED ?? 1);
const ALL = 4_000;
const SCHEDULES = Number(process.env.TURNWIRE_SCHEDULES ?? (IS_QUICK ? 1_000 : ALL));
const CASES = join(import.meta.dirname, "..", "..", "..", "tests", "conformance", "conversation.json");

/** Prints what a case breaks, and fails. */
function fail(name, broken) {
  const { error, log, lives } = play(broken);
  console.error(log.map((entry) => JSON.stringify(entry)).join("\n"));
  console.error(JSON.stringify(lives.map(({ options, steps }) => ({ options, steps }))));
  console.error(JSON.stringify({ name, ...broken }));
  assert.fail(`${name}: ${error.message}`);
}

test("every schedule ends as it must", () => {
  tellRows(SCHEDULES, ALL, "schedules of a conversation");
  for (let seed = FIRST; seed < FIRST + SCHEDULES; seed += 1) {
    const drawn = draw(seed);
    if (play(drawn).error) fail(`seed ${seed}`, shortened(drawn));
  }
});

test("every recorded schedule ends as it must", () => {
  const cases = JSON.parse(readFileSync(CASES, "utf8"));
  assert.ok(cases.length > 0);
  for (const { name, ...recorded } of cases) if (play(recorded).error) fail(name, recorded);
});
