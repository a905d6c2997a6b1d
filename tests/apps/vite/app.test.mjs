// The production build of the app beside this file, made with the packed package and no
// configuration: what it shows must be what the server keeps of the turn.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { useWorld } from "../../e2e/harness.mjs";

const here = import.meta.dirname;
const FAMILIES = JSON.parse(readFileSync(join(here, "..", "..", "..", "pkg", "families.json"), "utf8"));
const world = useWorld({ www: join(here, "dist") });

test("the app was built with the package as it is now", () => {
  for (const file of ["index.js", "face.js", "truefoundry-core.js"]) {
    const installed = readFileSync(join(here, "node_modules", "turnwire", "dist", file));
    const built = readFileSync(join(here, "..", "..", "..", "pkg", "dist", file));
    assert.ok(installed.equals(built), file);
  }
});

test("the app shows a turn's text as the server keeps it", async () => {
  let started;
  const page = await world.page("/", (blank) => {
    started = blank.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/turns"));
  });
  const output = page.locator("output[data-status]");
  await output.waitFor({ timeout: 60_000 });
  const expected = await keptText((await started).url().replace(/turns$/, "events"));
  assert.ok(expected.length > 20, `the turn has text: ${expected}`);
  assert.equal(await output.textContent(), expected);
  assert.equal(await output.getAttribute("data-status"), "done");
  assert.deepEqual(page.failures, []);
});

test("each family's core is a file of its own, loaded only by a page that speaks it", async () => {
  const assets = join(here, "dist", "assets");
  // No other script but React's is so large, and no core so small.
  const isLarge = (name) => name.endsWith(".js") && !name.startsWith("readable") && statSync(join(assets, name)).size > 80_000;
  const large = readdirSync(assets).filter(isLarge);
  const loaded = async (path) => {
    const scripts = [];
    const page = await world.page(path, (blank) => {
      blank.on("request", (request) => request.resourceType() === "script" && scripts.push(request.url()));
    });
    await page.locator("output[data-resume]").waitFor({ state: "attached", timeout: 60_000 });
    assert.deepEqual(page.failures, []);
    const resume = await page.locator("output").getAttribute("data-resume");
    return [resume, scripts.filter((url) => large.some((name) => url.endsWith(name))).length];
  };
  assert.equal(large.length, Object.keys(FAMILIES).length);
  assert.deepEqual(await loaded("/"), ["cursor", 1]);
  assert.deepEqual(await loaded("/?protocol=tirea"), ["none", 1]);
  assert.deepEqual(await loaded("/?protocol=aap"), ["history", 1]);
  assert.deepEqual(await loaded("/?protocol=turn-rpc"), ["cursor", 1]);
  assert.deepEqual(await loaded("/?protocol=ag-ui"), ["none", 1]);
});

for (const [protocol, path] of [["truefoundry", "/demo"], ["trueforge", ""], ["tirea", "/tirea"], ["awaken", "/awaken"], ["aap", "/aap"]]) {
  for (const from of ["handler", "effect"]) {
    test(`React, in strict mode, shows what a turn says and asks for, waited for in the ${from}: ${protocol}`, async () => {
      const requests = [];
      const page = await world.page(`/?react=${from}&protocol=${protocol}&path=${path}`, (blank) => {
        blank.on("request", (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname.split("/").at(-1)}`));
      });
      await page.evaluate(() => {
        globalThis.asked = new Set();
        const look = () => document.querySelectorAll("article button").forEach(({ textContent }) => asked.add(textContent));
        new MutationObserver(look).observe(document.body, { childList: true, characterData: true, subtree: true });
      });
      await page.getByRole("button", { name: "Send" }).click({ timeout: 60_000 });
      const allow = page.getByRole("button", { name: /^Allow restart_service\(\{.*"service":"billing".*\}\)$/ });
      await allow.click({ timeout: 60_000 });
      const answered = page.locator("article[data-status=done]").nth(1);
      await answered.waitFor({ timeout: 60_000 });
      assert.match(await page.locator("article").first().innerText(), /\w+ \w+/);
      assert.match(await answered.innerText(), /\w+ \w+/);
      // No call was ever shown without its name or its arguments, and none is left.
      assert.equal(await page.evaluate(() => asked.size), 1);
      assert.equal(await page.getByRole("button", { name: /^Allow/ }).count(), 0);
      // Each turn is started once, however often effects run, and its stream is all that is asked for.
      const start = protocol === "tirea" ? "POST runs" : "POST turns";
      if (protocol !== "awaken") assert.deepEqual(requests.filter((name) => /(?:turns|runs|subscribe)$/.test(name)), [start, start]);
      assert.deepEqual(page.failures, []);
    });
  }
}

/** The text of a session's messages by its event list (newest first), read without the package. */
async function keptText(url) {
  const { data } = await (await fetch(url)).json();
  const messages = data.map(({ event }) => event).filter(({ type }) => type === "model.message");
  return messages
    .reverse()
    .map(({ content }) => content ?? "")
    .join("");
}
