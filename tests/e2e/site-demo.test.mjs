// The demo as on the documentation's site: without a gateway, scripts inside the page play the agent.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { say } from "./demo-page.mjs";
import { NOT_WEBKIT, useWorld } from "./harness.mjs";

const www = mkdtempSync(join(tmpdir(), "turnwire-site-demo-"));
after(() => rmSync(www, { recursive: true, force: true }));
cpSync(join(import.meta.dirname, "..", "..", "www", "dist"), www, { recursive: true });
const index = join(www, "index.html");
// As site/build.mjs marks it.
writeFileSync(index, readFileSync(index, "utf8").replace("<html ", '<html data-server="scripted" '));
const world = useWorld({ www });

test("a step is approved, and an answer whose connection is cut is whole in the end; no server gets a request", NOT_WEBKIT, async () => {
  const asked = [];
  const page = await world.page("/", (blank) => blank.on("request", (request) => asked.push(`${request.method()} ${request.resourceType()}`)));
  await page.getByText("Approve an action").click();
  await page.getByRole("button", { name: /^allow/i }).first().click();
  await page.getByText("Done: billing is running again.").waitFor();
  await say(page, "Slow, please");
  await page.getByText("One word after").waitFor();
  await page.getByRole("button", { name: "Cut the connection" }).click();
  await page.getByText(/Resumed after event \d+, nothing lost/).waitFor();
  assert.deepEqual(asked.filter((request) => /POST|fetch|xhr/.test(request)), []);
  assert.deepEqual(page.failures, []);
});

test("a reloaded page starts over", NOT_WEBKIT, async () => {
  const page = await world.page("/#/sessions/session_1");
  await page.getByText("What should the agent do?").waitFor();
  assert.deepEqual(page.failures, []);
});
