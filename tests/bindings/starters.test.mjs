// The starter pages, as their users see them: a chat with approvals, questions, a queue, stop, retry, and a reload in the
// middle. And the guide that shows them, which has the same files.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ENGINE } from "../e2e/harness.mjs";
import { IS_QUICK } from "../rows.mjs";
import { STARTERS } from "./frameworks.mjs";
import { useApps } from "./world.mjs";

const ROOT = join(import.meta.dirname, "..", "..");
const FILES = join(ROOT, "www", "starters");
/** The pages as they were built: with the files that all share. */
const COPIES = join(import.meta.dirname, "starters");
const GUIDE = readFileSync(join(ROOT, "docs/guides/starters.md"), "utf8");
const isShown = (text) => GUIDE.includes(`\n${text}\`\`\``);
/** The files of a starter in a folder, without those that the framework's own tool makes. */
const ownFiles = (name, folder) => readdirSync(join(folder, name)).filter((file) => name === "plain" || !/^(main|index)\./.test(file));

const TSC = join(ROOT, "pkg/node_modules/typescript/bin/tsc");
const TEMPLATE = "--ignoreConfig --noEmit --strict --noUnusedLocals --target es2023 --module esnext --moduleResolution bundler --lib es2023,dom,dom.iterable --types vite/client".split(" ");
/** The pages whose files TypeScript reads by itself, and how their JSX is compiled. Angular's own tool checks types. */
const TYPED = { react: ["--jsx", "react-jsx"], solid: ["--jsx", "preserve", "--jsxImportSource", "solid-js"], plain: [] };
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
/** The longest line. */
const WIDTH = 120;

/** The starters to play: in a quick run one outside of Chromium. What the files say is the same in every engine. */
const PLAYED = Object.keys(STARTERS).slice(0, IS_QUICK && ENGINE !== "chromium" ? 1 : undefined);
const ABOUT_FILES = { skip: ENGINE !== "chromium" && "the files are the same in every engine" };

const world = useApps();

/** Opens the page of a starter and waits until it can be written to. */
async function open(name, prepare) {
  const page = await world.page(`/starter-${name}/index.html`, prepare);
  await phase(page, "idle");
  return page;
}

/** Waits until the page shows this state of the conversation. For an idle one it shows none. */
const phase = (page, name) => (name === "idle" ? page.waitForFunction(isIdle) : page.locator(".status p", { hasText: name }).waitFor());
const isIdle = () => document.querySelector("form") !== null && document.querySelector(".status p") === null;
const button = (page, name) => page.getByRole("button", { name });
const textOf = (page, selector) => page.locator(selector).last().innerText();
async function say(page, text) {
  await page.getByLabel("Message").fill(text);
  await page.getByLabel("Message").press("Enter");
  await page.waitForFunction(() => document.querySelector("input").value === "");
}
/** Ends a test: the page has reported nothing. */
async function close(page) {
  assert.deepEqual(page.failures, []);
  await page.context().close();
}

/** In the page: keeps in each frame how long the first answer is, and which element it is. */
function watchRow() {
  globalThis.seen = { lengths: [], elements: new Set() };
  const look = () => {
    const row = document.querySelector(".assistant");
    if (row) {
      seen.lengths.push(row.textContent.length);
      seen.elements.add(row);
    }
    requestAnimationFrame(look);
  };
  look();
}

/** In the page, for two seconds: whether the last row changes, and how many changes are in the others. */
async function changesElsewhere() {
  const log = document.querySelector("[role=log]");
  const row = [...document.querySelectorAll(".assistant")].at(-1);
  const counted = { row: false, others: 0 };
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      if (row.contains(target)) counted.row = true;
      else counted.others += 1;
    }
  }).observe(log, { subtree: true, childList: true, characterData: true, attributes: true });
  await new Promise((resolve) => setTimeout(resolve, 2000));
  return counted;
}

/** What axe finds on the page, as words. */
async function complaints(page) {
  await page.addScriptTag({ path: AXE });
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

// They mostly wait for an agent.
describe("starters", { concurrency: 2 }, () => {
  for (const name of PLAYED) {
    test(`${name}: an answer streams, and goes on after a reload in the middle`, async () => {
      const page = await open(name);
      await page.evaluate(watchRow);
      await say(page, "long 20000");
      assert.equal(await textOf(page, ".user"), "long 20000");
      await page.waitForSelector(".assistant");
      await phase(page, "idle");
      const lengths = await page.evaluate(() => seen.lengths);
      // How many frames show a part of it depends on the machine. The growth of a longer one is checked below.
      assert.deepEqual(lengths, lengths.toSorted((a, b) => a - b));

      await say(page, "slow");
      await phase(page, "answering");
      const before = (await textOf(page, ".assistant")).length;
      assert.deepEqual(await page.evaluate(changesElsewhere), { row: true, others: 0 });
      assert.equal(await page.evaluate(() => seen.elements.size), 1, "a row is the same element when others come");
      await page.reload();
      await phase(page, "answering");
      assert.deepEqual(await page.locator(".user").allInnerTexts(), ["long 20000", "slow"]);
      await page.waitForFunction((length) => [...document.querySelectorAll(".assistant")].at(-1).innerText.length > length, before);
      await button(page, "Stop").click();
      await phase(page, "idle");
      assert.match(await textOf(page, ".end"), /^cancelled\s*retry$/i);
      assert.deepEqual(await complaints(page), []);
      await close(page);
    });

    test(`${name}: calls are allowed and denied, and questions answered`, async () => {
      const page = await open(name);
      await say(page, "approval");
      await phase(page, "waiting");
      assert.equal(await page.getByLabel("Message").isDisabled(), true);
      assert.match(await textOf(page, ".ask"), /^restart_service \{.*\}\s*Allow\s*Deny$/i);
      assert.deepEqual(await complaints(page), []);
      await page.reload();
      await button(page, "Allow").click();
      await phase(page, "idle");
      assert.deepEqual(await page.locator(".call").allInnerTexts(), ["restart_service: done"]);
      const allowed = await textOf(page, ".assistant");

      await say(page, "approval");
      await button(page, "Deny").click();
      await phase(page, "idle");
      assert.notEqual(await textOf(page, ".assistant"), allowed);

      await say(page, "question");
      await phase(page, "waiting");
      await page.locator(".ask").waitFor();
      await say(page, "the second one");
      await phase(page, "idle");
      assert.match(await textOf(page, ".assistant"), /the second one/);
      await close(page);
    });

    test(`${name}: a message waits while a turn runs, is removed, held and sent`, async () => {
      const page = await open(name);
      await say(page, "slow");
      await phase(page, "answering");
      await say(page, "not this");
      await say(page, "plain");
      assert.deepEqual((await page.locator(".queued").allInnerTexts()).map((text) => text.replace(/\s*Remove$/i, "")), ["not this", "plain"]);
      await button(page, "Remove").first().click();
      await page.waitForFunction(() => document.querySelectorAll(".queued").length === 1);
      assert.deepEqual(await complaints(page), []);
      await button(page, "Stop").click();
      await button(page, "Release").click();
      await page.waitForFunction(() => document.querySelectorAll(".user").length === 2);
      await phase(page, "idle");
      assert.deepEqual(await page.locator(".user").allInnerTexts(), ["slow", "plain"]);
      assert.match(await textOf(page, ".assistant"), /not a word is lost/);
      assert.equal(await button(page, "Stop").isVisible(), false);
      await close(page);
    });

    test(`${name}: a failed turn says so, and is retried`, async () => {
      const page = await open(name);
      await say(page, "error");
      await phase(page, "failed");
      assert.match(await textOf(page, ".end"), /\w+.*\s*retry$/i);
      assert.deepEqual(await complaints(page), []);
      // It may fail again between two reads of the page.
      await page.evaluate(() => {
        globalThis.phases = [];
        const look = () => phases.push(document.querySelector(".status p")?.textContent);
        new MutationObserver(look).observe(document.querySelector("main"), { subtree: true, childList: true, characterData: true });
      });
      await button(page, "Retry").click();
      await page.waitForFunction(() => phases.includes("answering") && phases.at(-1) === "failed");
      assert.deepEqual(await page.locator(".user").allInnerTexts(), ["error"]);
      await close(page);
    });

    test(`${name}: a message that did not arrive is sent again`, async () => {
      const page = await open(name);
      await page.route("**/demo/**", (route) => route.fulfill({ status: 400, json: {} }));
      await say(page, "plain");
      await button(page, "Retry").waitFor();
      assert.deepEqual(await complaints(page), []);
      await page.unroute("**/demo/**");
      await button(page, "Retry").click();
      await page.waitForSelector(".assistant .text");
      await phase(page, "idle");
      assert.deepEqual(await page.locator(".user").allInnerTexts(), ["plain"]);
      // The browser itself writes the refusals to the console.
      page.failures = page.failures.filter((text) => !text.includes("status of 400"));
      await close(page);
    });

    test(`${name}: it is as narrow as a phone, and stays at the end while text arrives`, async () => {
      const page = await open(name, (page) => page.setViewportSize({ width: 390, height: 600 }));
      await say(page, "markdown");
      await page.waitForFunction(() => document.querySelector("#root, #app, app-root").scrollHeight > 900);
      await phase(page, "idle");
      const { width, end, form } = await page.evaluate(() => ({
        width: document.documentElement.scrollWidth,
        end: document.querySelector("[role=log]").getBoundingClientRect().bottom,
        form: document.querySelector("form").getBoundingClientRect().top,
      }));
      assert.equal(width, 390);
      assert.ok(end <= form, `the text ends at ${end}, the form begins at ${form}`);
      await close(page);
    });

    test(`${name}: the guide shows its files, and how long they are`, ABOUT_FILES, () => {
      const texts = ownFiles(name, FILES).map((file) => readFileSync(join(FILES, name, file), "utf8"));
      for (const text of texts) assert.ok(isShown(text), `docs/guides/starters.md does not have this as it is:\n${text}`);
      const lines = texts.map((text) => text.split("\n").slice(0, -1));
      assert.ok(GUIDE.includes(`| ${lines.map(({ length }) => length).join(" + ")} |`), `${lines.map(({ length }) => length)} lines`);
      for (const line of lines.flat()) assert.ok(line.length <= WIDTH, line);
    });

    if (name in TYPED) {
      test(`${name}: its types are right, with the settings of Vite's template`, ABOUT_FILES, () => {
        const files = ownFiles(name, COPIES).filter((file) => /\.tsx?$/.test(file));
        const { stdout, status } = spawnSync(process.execPath, [TSC, ...TEMPLATE, ...TYPED[name], ...files], { cwd: join(COPIES, name), encoding: "utf8" });
        assert.equal(stdout, "");
        assert.equal(status, 0);
      });
    }
  }
});

test("the guide shows the files that all share", ABOUT_FILES, () => {
  assert.ok(isShown(readFileSync(join(FILES, "chat.ts"), "utf8")));
});
