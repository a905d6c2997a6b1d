// The production build of the app beside this file, made with the packed package and no
// configuration: what it shows must be what the server keeps of the turn.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { useWorld } from "../../e2e/harness.mjs";

const here = import.meta.dirname;
const world = useWorld({ www: join(here, "dist") });

test("the app was built with the package as it is now", () => {
  const installed = readFileSync(join(here, "node_modules", "turnwire", "dist", "index.js"));
  const built = readFileSync(join(here, "..", "..", "..", "pkg", "dist", "index.js"));
  assert.ok(installed.equals(built));
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

/** The text of a session's messages by its event list (newest first), read without the package. */
async function keptText(url) {
  const { data } = await (await fetch(url)).json();
  const messages = data.map(({ event }) => event).filter(({ type }) => type === "model.message");
  return messages
    .reverse()
    .map(({ content }) => content ?? "")
    .join("");
}
