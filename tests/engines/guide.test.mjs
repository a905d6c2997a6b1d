// The example for JavaScript in the guide "From Rust", with the crate's classes in a page: it prints the types of a turn's events.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync } from "node:zlib";
import { openBrowser } from "./engines.mjs";
import { CLASSES, startWorld } from "./world.mjs";

const GUIDE = join(import.meta.dirname, "..", "..", "docs", "guides", "rust.md");
const LIMIT_MS = 15_000;

let world;
let browser;
before(async () => {
  world = await startWorld();
  browser = await openBrowser("chromium");
});
after(async () => {
  await browser?.close();
  await world?.stop();
});

/** What the example has printed so far, and the errors. */
const said = () => browser.driver.executeScript("return [said, failures]");

test("the guide's example for JavaScript runs in a page", async () => {
  const examples = [...readFileSync(GUIDE, "utf8").matchAll(/^```javascript\n([^]*?)^```$/gm)].map(([, code]) => code);
  assert.equal(examples.length, 1);
  // The guide's own paths: where `wasm-pack` wrote the classes, and where the server is.
  const code = examples[0].replace('"./pkg/turnwire.js"', '"/classes/turnwire.js"').replace('"/api/agents"', '"/demo"');
  assert.notEqual(code, examples[0]);
  await browser.driver.get(`${world.url}/other.html`);
  await browser.driver.executeScript(
    `globalThis.said = [];
    globalThis.failures = [];
    console.log = (...words) => said.push(words.join(" "));
    addEventListener("error", ({ message }) => failures.push(message));
    addEventListener("unhandledrejection", ({ reason }) => failures.push(String(reason)));
    document.head.append(Object.assign(document.createElement("script"), { type: "module", textContent: arguments[0] }));`,
    code,
  );
  const limit = Date.now() + LIMIT_MS;
  let [types, failures] = await said();
  while (types.at(-1) !== "turn.done" && failures.length === 0 && Date.now() < limit) {
    await sleep(50);
    [types, failures] = await said();
  }
  assert.deepEqual(failures, []);
  assert.equal(types[0], "turn.created");
  assert.equal(types.at(-1), "turn.done");
  assert.ok(types.includes("model.message.delta"));
});

test("the guide states what a page downloads for the classes, to three percent", () => {
  const said = Number(/^\| download, brotli \|.*\| (\d+) KB, all protocols \|$/m.exec(readFileSync(GUIDE, "utf8"))?.[1]);
  const files = ["turnwire.js", "turnwire_bg.wasm"].map((name) => readFileSync(join(CLASSES, name)));
  const real = files.map((file) => brotliCompressSync(file).length).reduce((sum, length) => sum + length, 0) / 1024;
  assert.ok(Math.abs(said - real) <= (real * 3) / 100, `${said} KB, and it is ${real.toFixed(1)}`);
});
