// The oldest engines that can run the package: docs/engines.md names them, and the built files need nothing younger.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ENGINES, used, WASM, wasmUses } from "./uses.mjs";

const ROOT = join(import.meta.dirname, "..", "..");
const DIST = join(ROOT, "pkg", "dist");

/** Names that are not what MDN means by them, or that the package uses only where they exist. */
const ASIDE = {
  ".asyncDispose": "has a fallback",
  ".bytes": "a name of the package's",
  ".dispose": "has a fallback",
  ".error": "a name of the package's",
  ".move": "a name of the package's",
  ".take": "a name of the package's",
  FinalizationRegistry: "is used where it exists",
};

// The fake server runs where tests do, and no page loads it.
const scripts = readdirSync(DIST).filter((name) => name.endsWith(".js") && name !== "testing.js");

/** What the package uses, each with the versions that have it. */
function uses() {
  const all = wasmUses();
  for (const name of scripts) for (const [use, versions] of used(readFileSync(join(DIST, name), "utf8"))) all.set(use, versions);
  return all;
}

test("docs/engines.md names the oldest versions that have everything the package uses", () => {
  const needed = [...uses()].filter(([name]) => !(name in ASIDE));
  const oldest = ENGINES.map((_, at) => Math.max(...needed.map(([, versions]) => versions[at])));
  const document = readFileSync(join(ROOT, "docs", "engines.md"), "utf8");
  const listed = ["Chromium", "Firefox", "Safari"].map((name) => Number(new RegExp(`^\\| ${name} \\| (\\d+(?:\\.\\d+)?) \\|`, "m").exec(document)?.[1]));
  const youngest = needed.filter(([, versions]) => versions.some((version, at) => version === oldest[at]));
  assert.deepEqual(listed, oldest, `the youngest features are ${youngest.map(([name, versions]) => `${name} (${versions})`).join(", ")}`);
  for (const [name] of youngest) assert.ok(document.includes(`\`${name}\``), `docs/engines.md does not say that ${name} sets the limit`);
});

test("what is left aside is used", () => {
  const all = uses();
  for (const name of Object.keys(ASIDE)) assert.ok(all.has(name), `${name} is not used any more`);
});

test("younger features are seen", () => {
  for (const [source, name] of [["[].findLast(Boolean)", ".findLast"], ["AbortSignal.any([])", "AbortSignal"], ["class A { static { } }", "static {}"]]) {
    assert.ok(used(source).has(name), name);
  }
  assert.throws(() => used("using a = b;"), SyntaxError);
});

for (const name of readdirSync(DIST).filter((name) => name.endsWith(".wasm"))) {
  test(`${name} uses no other features of WebAssembly`, () => {
    const optimiser = join(ROOT, "pkg", "node_modules", "binaryen", "bin", "wasm-opt");
    const flags = Object.keys(WASM).map((feature) => `--enable-${feature}`);
    // wasm-opt refuses a module that needs more.
    execFileSync(process.execPath, [optimiser, "--mvp-features", ...flags, join(DIST, name), "-o", "/dev/null"], { stdio: "pipe" });
    assert.throws(() =>
      execFileSync(process.execPath, [optimiser, "--mvp-features", join(DIST, name), "-o", "/dev/null"], { stdio: "pipe" }),
    );
  });
}
