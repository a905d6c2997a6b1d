// The judge sees what is wrong.
import assert from "node:assert/strict";
import { test } from "node:test";
import { judge } from "./judge.mjs";

const GOOD = { status: "done", text: "Hello", shown: "Hello", cuts: 2 };
const verdict = (change, more = {}) => judge({ results: { truefoundry: { ...GOOD, ...change } }, ...more }, ["truefoundry"], "Hello");

test("a row that has worked", () => assert.deepEqual(verdict({}), []));

for (const [name, change, found] of [
  ["a doubled piece", { text: "HelHello" }, /events' text/],
  ["a lost piece", { text: "Heo" }, /events' text/],
  ["another snapshot", { shown: "Hell" }, /snapshot/],
  ["a turn that did not end", { status: "incomplete" }, /incomplete/],
  ["a stream that was never cut", { cuts: 0 }, /cut/],
]) {
  test(`${name} is seen`, () => assert.match(verdict(change).join(), found));
}

test("errors, missing protocols and violations are seen", () => {
  assert.match(judge({ results: { error: "Error: no\n at x" } }, ["aap"], "").join(), /^Error: no$/);
  assert.match(judge({ results: {} }, ["aap"], "").join(), /nothing was played/);
  assert.match(verdict({}, { failures: ["csp: eval"] }).join(), /csp: eval/);
});
