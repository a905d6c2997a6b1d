// The judge finds errors; and the documents have all rows.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { judge } from "./judge.mjs";
import { ROWS } from "./rows.mjs";

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
  test(`${name} is found`, () => assert.match(verdict(change).join(), found));
}

test("errors, missing protocols and violations are found", () => {
  assert.match(judge({ results: { error: "Error: no\n at x" } }, ["aap"], "").join(), /^Error: no$/);
  assert.match(judge({ results: {} }, ["aap"], "").join(), /nothing was played/);
  assert.match(verdict({}, { failures: ["csp: eval"] }).join(), /csp: eval/);
});

test("the documents name all rows, in their order, and the README has their number", () => {
  const text = (name) => readFileSync(join(import.meta.dirname, "..", "..", name), "utf8");
  const [, table] = /<!-- matrix: begin -->([^]*?)<!-- matrix: end -->/.exec(text("docs/bundlers.md"));
  const named = [...table.matchAll(/^\| ([^|]+?) \| /gm)].map(([, name]) => name);
  assert.deepEqual(named, ROWS.map(({ name }) => name));
  assert.match(text("README.md"), new RegExp(`\\[${ROWS.length} ways to build and run it\\]\\(docs/bundlers.md\\)`));
});
