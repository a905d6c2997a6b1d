// The production build of the app beside this file, made with the packed package and no
// configuration: what it shows must be what the server keeps of the turn.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { useWorld } from "../../e2e/harness.mjs";

const here = import.meta.dirname;
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
  // No script without a core is so large, and no core so small.
  const large = readdirSync(assets).filter((name) => name.endsWith(".js") && statSync(join(assets, name)).size > 80_000);
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
  assert.equal(large.length, 4);
  assert.deepEqual(await loaded("/"), ["cursor", 1]);
  assert.deepEqual(await loaded("/?protocol=tirea"), ["none", 1]);
  assert.deepEqual(await loaded("/?protocol=aap"), ["history", 1]);
  assert.deepEqual(await loaded("/?protocol=turn-rpc"), ["cursor", 1]);
});

/** The text of a session's messages by its event list (newest first), read without the package. */
async function keptText(url) {
  const { data } = await (await fetch(url)).json();
  const messages = data.map(({ event }) => event).filter(({ type }) => type === "model.message");
  return messages
    .reverse()
    .map(({ content }) => content ?? "")
    .join("");
}
