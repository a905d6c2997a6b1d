// axe-core finds nothing on the demo page, in each of its states, light and dark, wide and narrow.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { afterEach, test } from "node:test";
import { closeDemos, ended, grown, openDemo, PACE, say, WWW } from "./demo-page.mjs";
import { CHROMIUM_ONLY, useWorld } from "./harness.mjs";
import { representative } from "../rows.mjs";

const world = useWorld({ www: WWW });
afterEach(closeDemos);

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const FAST = { "x-turnwire-delay-ms": "0" };

/** What is wrong with the page as it stands: each rule, and where. */
async function findings(page) {
  // Colours are judged when they have stopped changing.
  await page.waitForTimeout(400);
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`));
  });
}

/** Puts the page into each state, and calls `look` with its name. */
async function visit(page, look) {
  await page.getByText("Call tools").waitFor();
  await look("the empty page");
  await page.getByRole("button", { name: "Connection", exact: true }).click();
  await look("the settings");
  await page.keyboard.press("Escape");
  await say(page, "plain words");
  await ended(page);
  await page.getByRole("button", { name: "Edit" }).click();
  await look("a message that is edited");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("tools");
  await page.keyboard.press("Enter");
  await page.getByText("2/2").waitFor();
  await ended(page);
  await look("two versions");
  await page.setExtraHTTPHeaders(PACE);
  await say(page, "long 100000");
  await grown(page, 50);
  for (const text of ["first", "second"]) await say(page, text);
  await look("messages that wait");
  await page.keyboard.press("Escape");
  await page.getByText("You stopped this turn.").waitFor();
  await look("messages that are held");
  await page.setExtraHTTPHeaders(FAST);
  for (const _ of ["first", "second"]) await page.getByRole("button", { name: "Remove", exact: true }).first().click();
  await say(page, "subagents");
  await ended(page);
  await look("sub-agents");
  await say(page, "mixed");
  await page.getByRole("button", { name: "Nobody" }).click();
  await page.getByText("1 of 2 answered").waitFor();
  await look("questions");
  await page.getByRole("button", { name: "Events", exact: true }).click();
  await look("the events");
}

const LOOKS = [["light", 1280], ["dark", 390], ["dark", 1280], ["light", 390]];

for (const [colorScheme, width] of representative(LOOKS, (kinds) => kinds)) {
  test(`${colorScheme}, ${width} px`, CHROMIUM_ONLY, async () => {
    const prepare = async (page) => {
      await page.setViewportSize({ width, height: 844 });
      await page.emulateMedia({ colorScheme });
    };
    const page = await openDemo(world, { headers: FAST, prepare });
    await visit(page, async (state) => assert.deepEqual(await findings(page), [], state));
  });
}
