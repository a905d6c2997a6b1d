// The documents, in the repository and in the package: each link leads to something, and llms.txt lists all of them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { GROUPS } from "../../tests/engines/cases/index.mjs";

const PACKAGE = join(import.meta.dirname, "..");
const ROOT = join(PACKAGE, "..");
const LINK = /\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g;

/** The Markdown files in a folder, besides those of `others`. */
function documents(folder, ...others) {
  const own = readdirSync(folder).filter((name) => name.endsWith(".md"));
  const nested = others.flatMap((name) => readdirSync(join(folder, name), { recursive: true }).map((file) => join(name, file)));
  return [...own, ...nested.filter((name) => name.endsWith(".md"))];
}

/** The anchors of a document, as GitHub makes them of its headings. */
function anchors(text) {
  const prose = text.replaceAll(/^```.*?^```$/gms, "");
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading.toLowerCase().replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-"),
  );
}

/** The links of a text that are broken. */
function broken(file, text) {
  const prose = text.replaceAll(/^```.*?^```$/gms, "");
  return [...prose.matchAll(LINK)].flatMap(([link, path, anchor]) => {
    const target = path ? join(dirname(file), path) : file;
    if (!existsSync(target)) return [link];
    if (!anchor || statSync(target).isDirectory()) return [];
    return anchors(readFileSync(target, "utf8")).includes(anchor) ? [] : [link];
  });
}

for (const [place, folder, others] of [["repository", ROOT, ["docs", "crates/gateway"]], ["package", PACKAGE, ["docs"]]]) {
  for (const name of documents(folder, ...others)) {
    test(`${place}: each link of ${name} leads to something`, () => {
      const file = join(folder, name);
      assert.deepEqual(broken(file, readFileSync(file, "utf8")), []);
    });
  }
}

test("a broken link is found", () => {
  const file = join(ROOT, "README.md");
  assert.deepEqual(broken(file, "[a](docs/none.md) [b](docs/resume.md#none) [c](docs/resume.md) [d](https://e.example)"), [
    "](docs/none.md)",
    "](docs/resume.md#none)",
  ]);
});

test("the package's llms.txt lists the package's documents", () => {
  const text = readFileSync(join(PACKAGE, "llms.txt"), "utf8");
  const listed = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\)$/gm)].map(([, path]) => path).sort();
  assert.deepEqual(listed, documents(PACKAGE, "docs").map((name) => relative(".", name)).sort());
});

test("what npm packs has every document that is linked, the licences, and nothing that builds or tests it", () => {
  const [{ files }] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json"], { cwd: PACKAGE, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  const packed = files.map(({ path }) => path);
  const wanted = [...documents(PACKAGE, "docs"), "LICENSE", "llms.txt", "docs/bench.svg"];
  assert.ok(wanted.includes("docs/guides/first-turn.md") && wanted.includes("LICENSES.md"));
  assert.deepEqual(wanted.filter((name) => !packed.includes(name)), []);
  assert.deepEqual(packed.filter((name) => !wanted.includes(name) && name !== "package.json" && !name.startsWith("dist/")), []);
});

test("the README says how many ways to build and run the package are tested, and how many faults are played", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const table = /<!-- matrix: begin -->([^]*)<!-- matrix: end -->/.exec(readFileSync(join(ROOT, "docs", "bundlers.md"), "utf8"))[1];
  const working = table.match(/^\|.*\| yes \|$/gm);
  assert.equal(/\[(\d+) ways to build and run it\]/.exec(readme)?.[1], String(working.length));
  const cases = GROUPS.flatMap(([, group]) => group);
  assert.equal(/\*\*(\d+) faults\*\*/.exec(readme)?.[1], String(cases.length));
});
