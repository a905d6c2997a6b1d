// Each example of the documents, unchanged except for the gateway's address.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
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

  /** Their compiler reads the package's types once for all of them. */
  check({ language }, file) {
    findings[language.slice(0, 2)] ??= checked(examples.filter(({ block }) => block.what === "check" && block.language.startsWith(language.slice(0, 2))));
    const own = findings[language.slice(0, 2)].filter((line) => line.startsWith(`${basename(file)}.${language}(`));
    assert.equal(own.join("\n"), "");
  },
};

const STRICT = ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--noUnusedLocals"];
const findings = {};

/** What the compiler finds in examples of one language, each a module of its own. */
function checked(blocks) {
  const sources = blocks.map(({ block, file }) => {
    writeFileSync(`${file}.${block.language}`, block.code);
    return `${basename(file)}.${block.language}`;
  });
  const options = [...(sources[0].includes(".ts") ? STRICT : ["--allowJs", "--checkJs", "--noImplicitAny", "false"]), "--ignoreConfig", "--types", ""];
  const shared = ["--noEmit", "--target", "es2022", "--module", "esnext", "--moduleDetection", "force", "--moduleResolution", "bundler", "--jsx", "react-jsx"];
  const tsc = join(ROOT, "pkg/node_modules/typescript/bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...shared, ...options, ...sources], { cwd: folder, encoding: "utf8" });
  const lines = stdout.split("\n").filter((line) => line !== "");
  // What is found elsewhere, or not said, would belong to no example.
  const strays = lines.filter((line) => !/^\s/.test(line) && !sources.some((source) => line.startsWith(`${source}(`)));
  assert.ok(strays.length === 0 && (status === 0) === (lines.length === 0), `the compiler ended with ${status}:\n${stdout}`);
  return lines;
}

const examples = DOCUMENTS.flatMap((document) =>
  blocksOf(document).map((block, at) => ({ block, name: `${document}: example ${at + 1} (${block.what})`, file: join(folder, `${document.replaceAll(/[/.]/g, "-")}-${at}`) })),
);

for (const { block, name, file } of examples) {
  if (block.what === "app") continue;
  test(name, async () => {
    assert.ok(block.what in TESTS, "the example does not say how it is tested");
    await TESTS[block.what](block, file);
  });
}

test("a wrong example is found", async () => {
  const file = join(folder, "wrong");
  await assert.rejects(async () => TESTS.run({ code: "console.log('one')", output: ["two"] }, file), /no line begins/);
  await assert.rejects(async () => TESTS.run({ code: "throw new Error('no')", output: [] }, file));
  const block = { code: 'import { connect } from "turnwire"; connect({});', language: "ts" };
  const right = { block: { ...block, code: "const one = 1;\nexport default one;" }, file: `${file}-not` };
  const found = checked([{ block, file }, right]);
  assert.ok(/^wrong\.ts\(.*baseUrl/.test(found[0]) && !found.some((line) => line.startsWith("wrong-not")), found.join("\n"));
});
