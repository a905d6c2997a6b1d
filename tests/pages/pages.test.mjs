// A page downloads the face and one core: the real downloads of each family's pages, in each way, against the budget.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { useWorld } from "../e2e/harness.mjs";
import { buildPage, PAGES, pathOf, weigh } from "./build.mjs";

const { brotli: budget } = JSON.parse(readFileSync(join(import.meta.dirname, "..", "..", "size-budget.json"), "utf8"));
const www = mkdtempSync(join(tmpdir(), "turnwire-pages-"));
const built = new Map();
for (const [family, way] of PAGES) built.set(`${family} ${way}`, await buildPage(www, family, way));
after(() => rmSync(www, { recursive: true, force: true }));
const world = useWorld({ www });

/** Opens a page, and waits until its turn has ended; the contents of the scripts and modules that came, by their names. */
async function opened(family, way) {
  const responses = [];
  const page = await world.page(`/${pathOf(family, way)}/index.html`, (blank) => blank.on("response", (response) => responses.push(response)));
  await page.waitForFunction(() => document.title !== "", null, { timeout: 60_000 });
  assert.equal(await page.title(), "done");
  assert.deepEqual(page.failures, []);
  const code = responses.filter((response) => /javascript|wasm/.test(response.headers()["content-type"] ?? ""));
  const bodies = await Promise.all(code.map(async (response) => [new URL(response.url()).pathname.split("/").at(-1), await response.body()]));
  return new Map(bodies);
}

for (const [family, way] of PAGES) {
  const own = way !== "split" ? ["page"] : ["chunk", "page", `${family}-core`];
  test(`${family}, ${way}: a page loads ${own.join(", ")}, and keeps to its budget`, async () => {
    const loaded = await opened(family, way);
    const names = [...loaded.keys()].sort();
    assert.deepEqual(names.map((name) => name.replace(/(-\w{8})?\.js$/, "")).sort(), own.sort());
    const [, , brotli] = weigh(loaded.values());
    const limit = budget[`${family} ${way}`];
    assert.ok(brotli <= limit, `${brotli} of ${limit} brotli bytes`);
    // What `cargo xtask size` computes, without a browser.
    assert.deepEqual(names, [...built.get(`${family} ${way}`).keys()].sort());
  });
}

test("every page has a budget, and every budget a page", () => {
  const pages = Object.keys(budget).filter((name) => !name.endsWith(".js"));
  assert.deepEqual(pages.sort(), PAGES.map((page) => page.join(" ")).sort());
});

/** The numbers that a document has where `pattern` does, in kilobytes. */
function numbersIn(document, pattern) {
  const found = pattern.exec(readFileSync(join(import.meta.dirname, "..", "..", document), "utf8"));
  assert.ok(found, `${document} has no ${pattern}`);
  return found.slice(1).map(Number);
}

test("the documents say what pages download, to one percent", () => {
  const measured = new Map([...built].map(([name, files]) => [name, weigh(files.values())[2] / 1024]));
  const check = (document, said, names) => said.forEach((number, at) => {
    const real = measured.get(names[at]);
    assert.ok(Math.abs(number - real) <= real / 100, `${document} says ${number} KB of ${names[at]}, which is ${real.toFixed(1)}`);
  });
  for (const family of ["truefoundry", "agent-event", "aap", "turn-rpc", "ag-ui"]) {
    const row = new RegExp(`^\\| "?.*\\| ([\\d.]+) \\| ([\\d.]+) \\| \`turnwire/${family}\` \\|$`, "m");
    check("docs/pages.md", numbersIn("docs/pages.md", row), [`${family} split`, `${family} inside`]);
  }
  check("docs/pages.md", numbersIn("docs/pages.md", /A page downloads ([\d.]+) KB instead of ([\d.]+)\./), ["truefoundry nowasm", "truefoundry inside"]);
  check("docs/guides/rust.md", numbersIn("docs/guides/rust.md", /^\| download, brotli \| ([\d.]+) KB/m), ["truefoundry split"]);
  const [least, most] = numbersIn("README.md", /\*\*([\d.]+) to ([\d.]+) KB\*\*/);
  const wasm = [...measured].filter(([name]) => !name.endsWith("nowasm")).map(([, size]) => size);
  assert.deepEqual([least, most], [Math.round(Math.min(...wasm)), Math.round(Math.max(...wasm))]);
});
