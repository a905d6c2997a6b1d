// The demo with a server of AG-UI: what all protocols have, and what is its own.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { answer, closeDemos, ended, grown, openDemo, PACE, say, WWW } from "./demo-page.mjs";
import { useWorld } from "./harness.mjs";
import { FAST, playCases } from "./protocol-cases.mjs";

const world = useWorld({ www: WWW });
afterEach(closeDemos);

playCases(world, "ag-ui");

test("ag-ui: an answer that a reload has cut off is regenerated, after the earlier messages", async () => {
  const page = await openDemo(world, { protocol: "ag-ui", headers: FAST });
  await say(page, "plain words");
  const first = await answer(page);
  await page.setExtraHTTPHeaders(PACE);
  await say(page, "long 100000");
  await grown(page, 100);
  await page.reload();
  await page.setExtraHTTPHeaders(FAST);
  await page.getByText("long 100000").last().waitFor();
  await say(page, "plain again");
  await page.waitForFunction((text) => [...document.querySelectorAll(".message")].at(-1)?.innerText === text, first);
  await ended(page);
  const said = (await page.locator(".bubble").allInnerTexts()).map((text) => text.replace(/^You said:\s*/, ""));
  assert.deepEqual(said, ["plain words", "long 100000", "plain again"]);
  assert.deepEqual(page.failures, []);
});
