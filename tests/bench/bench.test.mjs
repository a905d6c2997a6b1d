// The benchmark's own tests: what it makes of samples, what it claims, and that it refuses a candidate that reads wrongly.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CLAIMS } from "./claims.mjs";
import { isOf, judge } from "./judge.mjs";
import { spansOf } from "./marks.mjs";
import { measure } from "./measure.mjs";
import { rowsOf } from "./parts.mjs";
import { median, ratio } from "./statistics.mjs";
import { LINES } from "./summary.mjs";
import { brotli, pageBytes } from "./weigh.mjs";
import { write } from "./write.mjs";

test("a ratio is of each round, and may be of what lies above a floor", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1]), 2.5);
  assert.equal(ratio([4, 40, 9], [2, 20, 3]), 2);
  assert.equal(ratio([5, 5], [3, 3], [1, 1]), 2);
});

test("what the server in memory does is not counted", () => {
  const at = (name, time) => ({ name, time });
  const marks = [at("begin", 1), at("pause", 3), at("resume", 7), at("end", 10), at("begin", 20), at("end", 22)];
  assert.deepEqual(spansOf(marks), [5, 2]);
});

test("a claim holds or does not by the worst of its rows, and is open without any", () => {
  const row = (name, plain, engine = "Chromium") => ({ part: "turns", name, engine, processor: { plain: [plain], turnwire: [10] } });
  const claim = { name: "fast", kind: "faster", of: { part: "turns" }, against: "plain", bound: 2 };
  const results = [row("one", 40), row("two", 15), row("three", 1, "Node")];
  assert.deepEqual(judge([claim], results), [{ name: "fast", goal: "≥ 2×", measured: "1.50×", holds: false, row: "two" }]);
  assert.equal(judge([claim], [row("one", 40)])[0].holds, true);
  assert.equal(judge([claim], [])[0].holds, null);
});

test("growth, shares, starts and bytes are judged by their most", () => {
  const results = [
    { part: "growth", name: "growth", engine: "Chromium", tenths: { turnwire: [2, 3] } },
    { part: "page", name: "page", engine: "Chromium", samples: { drain: [{ share: 1 }], plain: [{ share: 3 }], turnwire: [{ share: 2 }] } },
    { part: "start", name: "start", engine: "Chromium", samples: { plain: [10, 20], turnwire: [30, 40] } },
    { part: "conversation", name: "conversation", engine: "Chromium", times: { frame: [0.3, 0.1] } },
    { part: "bytes", name: "bytes", engine: "Node", bytes: { turnwire: { aap: 2048 } } },
  ];
  const claims = [
    { name: "growth", kind: "growth", of: { part: "growth" }, bound: 1.2 },
    { name: "share", kind: "share", of: { part: "page" }, against: "plain", above: "drain", bound: 0.5 },
    { name: "start", kind: "start", of: { part: "start" }, against: "plain", bound: 15 },
    { name: "frame", kind: "least", of: { part: "conversation" }, what: "frame", bound: 0.15 },
    { name: "bytes", kind: "bytes", of: { part: "bytes" }, family: "aap", bound: 2 },
  ];
  const judged = judge(claims, results);
  assert.deepEqual(judged.map(({ measured }) => measured), ["1.50×", "0.50×", "20.0 ms", "0.10 ms", "2.0 KB"]);
  assert.deepEqual(judged.map(({ holds }) => holds), [false, true, false, true, true]);
});

test("chat pages are judged by scripts, late frames, and how soon another page opens", () => {
  const chat = (earlier, turnwire, other) => ({ part: "chat", name: `chat ${earlier}`, engine: "Chromium", rate: 400, earlier, samples: { turnwire: [turnwire], other: [other] } });
  const results = [chat(10, { scripting: 1, late: 1, frames: 50, changing: 250 }, { scripting: 5 }), chat(100, { scripting: 2, late: 0, frames: 50, rest: 200, changing: 300 }, { scripting: 5 })];
  const of = { part: "chat", earlier: 100 };
  const claims = [
    { name: "frame", kind: "frame", of, against: "other", bound: 0.5 },
    { name: "late", kind: "late", of: { part: "chat", earlier: 10 }, bound: 1 },
    { name: "goes", kind: "goes", of, bound: 1.3 },
  ];
  const judged = judge(claims, results);
  assert.deepEqual(judged.map(({ measured }) => measured), ["0.40×", "2.0 %", "1.50×"]);
  assert.deepEqual(judged.map(({ holds }) => holds), [true, false, false]);
});

test("every claim and every line of the table is of rows that a run has", () => {
  const rows = rowsOf({});
  for (const claim of CLAIMS) assert.ok(rows.some((row) => isOf(row, claim)), claim.name);
  for (const { what, of: { engine: _, ...of } } of LINES) assert.ok(rows.some((row) => isOf(row, { of })), what);
});

test("the documentation gets a table of all lines and a chart, and keeps its own text", (t) => {
  const root = mkdtempSync(join(tmpdir(), "turnwire-docs-"));
  t.after(() => rmSync(root, { recursive: true }));
  for (const name of ["README.md", "docs/bench.md"]) cpSync(join(import.meta.dirname, "../..", name), join(root, name));
  const results = LINES.map(({ of, against = "plain" }) => ({ ...of, processor: { drain: [1], turnwire: [2], plain: [6], [against]: [6] } }));
  for (const round of [1, 2]) write(root, results, [`Chromium ${round}`]);
  const text = readFileSync(join(root, "docs/bench.md"), "utf8");
  assert.equal(text.match(/^\| .* \| 2\.00 ms \| 6\.00 ms \| 3\.0× \|$/gm)?.length, LINES.length);
  assert.match(text, /Measured in Chromium 2\.\n<!-- bench: end -->/);
  assert.match(text, /## How it is measured/);
  assert.match(readFileSync(join(root, "README.md"), "utf8"), /^- \*\*3\.0×\*\* as fast as .*; 3\.0× for short events/m);
  const chart = readFileSync(join(root, "docs/bench.svg"), "utf8");
  assert.match(chart, /prefers-color-scheme: dark/);
  assert.equal(chart.match(/<rect/g)?.length, 11);
  assert.doesNotMatch(chart, /NaN|undefined/);
});

test("names of rows are unique", () => {
  const names = rowsOf({}).map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)]);
});

test("a candidate that makes another text of a stream is refused, and not measured", async () => {
  const row = { protocol: "truefoundry", story: ["talk", 10], chunking: "event", consumer: "any", candidates: ["liar"], turns: 1, rounds: 1, warmups: 0 };
  const says = (text) => `data:text/javascript,${encodeURIComponent(`export const prepare = async () => ({ ready: async () => ({ consume: async () => ({ text: ${text} }) }) });`)}`;
  await assert.rejects(measure(row, { liar: { url: says('"something else"') } }), /liar made another text/);
});

test("a page downloads the entry, what that imports, and the core of its protocol, whichever way the package has it", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "turnwire-weigh-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const dist = join(folder, "dist");
  mkdirSync(dist);
  const put = (name, text) => writeFileSync(join(dist, name), text);
  const sum = (...names) => names.map((name) => brotli(join(dist, name))).reduce((one, other) => one + other);
  put("index.js", `import{a}from"./face.js";import("./truefoundry-core.js");import("./turn-rpc-core.js");import("./aap.js")`);
  put("face.js", "face ".repeat(9));
  put("truefoundry-core.js", "first");
  put("turn-rpc-core.js", `import{b}from"./socket.js"`);
  put("socket.js", `import"./face.js";import{a}from"./face.js"`);
  put("aap.js", "an older package names its cores so");
  const bytes = pageBytes(folder);
  assert.equal(bytes.truefoundry, sum("index.js", "face.js", "truefoundry-core.js"));
  assert.equal(bytes["turn-rpc"], sum("index.js", "face.js", "turn-rpc-core.js", "socket.js"));
  assert.equal(bytes.aap, sum("index.js", "face.js", "aap.js"));
});
