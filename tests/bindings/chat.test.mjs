// The guide's chat in React: a whole one, with approvals, a queue, stop, and a reload in the middle.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FRAMEWORKS } from "./frameworks.mjs";
import { openApp, useApps } from "./world.mjs";

const world = useApps();

/** Waits until the chat is in this phase. */
const phase = (page, name) => page.waitForSelector(`main[data-phase=${name}]`);
const say = async (page, text) => {
  await page.fill("input[name=text]", text);
  await page.press("input[name=text]", "Enter");
};
const show = (page, strict) => page.evaluate((on) => void bindings.mount({ show: "Chatting", strict: on }), strict);
const rolesOf = (page) => page.$$eval("article", (rows) => rows.map((row) => row.dataset.role));

for (const name of Object.keys(FRAMEWORKS).filter((name) => name.startsWith("react"))) {
  test(`${name}: the guide's chat`, async () => {
    const page = await openApp(world, name);
    await show(page, true);
    await phase(page, "idle");
    await say(page, "plain");
    assert.deepEqual((await rolesOf(page))[0], "user", "the message is there at once");
    await page.waitForFunction(() => document.querySelectorAll("article").length === 2 && document.querySelector("main").dataset.phase === "idle");
    assert.match(await page.innerText("article[data-role=assistant]"), /not a word is lost/);

    // While a turn runs, a message waits; stop holds it.
    await say(page, "slow");
    await page.waitForFunction(() => document.querySelectorAll("article").length === 4);
    await say(page, "approval");
    await page.getByRole("button", { name: "Remove" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Send what waits" }).waitFor();
    await page.waitForFunction(() => document.querySelector("main").dataset.phase === "idle");

    // After a reload the message is still there, and is sent when it is released.
    await page.reload();
    await page.waitForFunction(() => "bindings" in globalThis);
    await show(page, true);
    await page.getByRole("button", { name: "Send what waits" }).click();
    await phase(page, "waiting");
    assert.equal(await page.isDisabled("input[name=text]"), true);
    await page.reload();
    await page.waitForFunction(() => "bindings" in globalThis);
    await show(page, false);
    await page.getByRole("button", { name: "Allow" }).first().click();
    while ((await page.getByRole("button", { name: "Allow", disabled: false }).count()) > 0) await page.getByRole("button", { name: "Allow", disabled: false }).first().click();
    await phase(page, "idle");
    assert.deepEqual((await rolesOf(page)).filter((role) => role === "user").length, 3);
    assert.deepEqual(page.failures, []);
    await page.context().close();
  });
}
