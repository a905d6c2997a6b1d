// Each example of the documents, unchanged except for the gateway's address.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { blocksOf, DOCUMENTS, ROOT } from "./blocks.mjs";
import { useWorld } from "./harness.mjs";

const RUN_LIMIT_MS = 30_000;
const ADDRESS = /127\.0\.0\.1:8787/g;
const { build } = createRequire(join(ROOT, "pkg", "package.json"))("esbuild");

const world = useWorld();
/** A folder in which the package and React are installed. */
const folder = mkdtempSync(join(tmpdir(), "turnwire-documents-"));
for (const [name, place] of Object.entries({
  turnwire: "pkg",
  react: "www/node_modules/react",
  "@types/react": "www/node_modules/@types/react",
  csstype: "www/node_modules/csstype",
})) {
  const link = join(folder, "node_modules", name);
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(join(ROOT, place), link, "dir");
}
after(() => rmSync(folder, { recursive: true, force: true }));

/** What a test does with an example. */
const TESTS = {
  async run({ code, output }, file) {
    writeFileSync(`${file}.mjs`, code.replace(ADDRESS, new URL(world.url).host));
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [`${file}.mjs`], { timeout: RUN_LIMIT_MS });
    assert.equal(stderr, "");
    assert.ok(output, "the document does not say what the program prints");
    const lines = stdout.split("\n");
    let at = -1;
    for (const wanted of output) {
      at = lines.findIndex((line, place) => place > at && line.startsWith(wanted));
      assert.ok(at >= 0, `no line begins with ${JSON.stringify(wanted)}, in this order, in:\n${stdout}`);
    }
  },

  async page({ code }, file) {
    writeFileSync(`${file}.js`, code.replace(ADDRESS, new URL(world.url).host));
    const { outputFiles } = await build({ entryPoints: [`${file}.js`], bundle: true, format: "esm", target: "es2022", write: false });
    const page = await world.page();
    await page.evaluate(() => document.body.replaceChildren());
    await page.addScriptTag({ type: "module", content: outputFiles[0].text });
    await page.waitForFunction(() => document.body.innerText.trim().length > 10);
    await page.waitForTimeout(500);
    assert.deepEqual(page.failures, []);
    await page.context().close();
  },

  check({ code, language }, file) {
    const source = `${file}.${language}`;
    writeFileSync(source, code);
    const isTyped = language.startsWith("ts");
    const strict = ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--noUnusedLocals"];
    const options = [...(isTyped ? strict : ["--allowJs", "--checkJs", "--noImplicitAny", "false"]), "--ignoreConfig", "--types", ""];
    const shared = ["--noEmit", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "--jsx", "react-jsx"];
    try {
      execFileSync(process.execPath, [join(ROOT, "pkg/node_modules/typescript/bin/tsc"), ...shared, ...options, source], { cwd: folder });
    } catch ({ stdout }) {
      assert.fail(String(stdout));
    }
  },
};

for (const document of DOCUMENTS) {
  for (const [at, block] of blocksOf(document).entries()) {
    if (block.what === "app") continue;
    test(`${document}: example ${at + 1} (${block.what})`, async () => {
      assert.ok(block.what in TESTS, "the example does not say how it is tested");
      await TESTS[block.what](block, join(folder, `${document.replaceAll(/[/.]/g, "-")}-${at}`));
    });
  }
}

test("a wrong example is found", async () => {
  const file = join(folder, "wrong");
  await assert.rejects(async () => TESTS.run({ code: "console.log('one')", output: ["two"] }, file), /no line begins/);
  await assert.rejects(async () => TESTS.run({ code: "throw new Error('no')", output: [] }, file));
  assert.throws(() => TESTS.check({ code: 'import { connect } from "turnwire"; connect({});', language: "ts" }, file), /baseUrl/);
});
