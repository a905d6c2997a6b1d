// The demo with AgentEvent servers: what all protocols have, and what is their own.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { closeDemos, cutButton, ended, grown, openDemo, PACE, say, transcript, type, unexpected, WWW } from "./demo-page.mjs";
import { useWorld } from "./harness.mjs";
import { protocolsToPlay } from "../rows.mjs";
import { FAST, allow, card, playCases, playCut, playReload } from "./protocol-cases.mjs";

const world = useWorld({ www: WWW });
afterEach(closeDemos);

for (const protocol of protocolsToPlay(["tirea", "awaken"])) playCases(world, protocol);
for (const play of [playCut, playReload]) play(world, "awaken");

test("tirea: an answer that a reload has cut off is shown as lost", async () => {
  const page = await openDemo(world, { protocol: "tirea", headers: PACE });
  await say(page, "long 401");
  await grown(page, 100);
  await page.reload();
  await page.getByRole("alert").waitFor();
  assert.match(await transcript(page), /long 401[^]*The connection broke, and the answer is lost\./);
  await page.getByRole("link", { name: "long 401" }).waitFor();
  assert.deepEqual(unexpected(page), []);
});

test("tirea: an answer whose connection is cut has ended; the page says so, and takes the next message", async () => {
  const page = await openDemo(world, { protocol: "tirea", headers: PACE });
  await say(page, "long 300");
  await grown(page, 100);
  await cutButton(page).click();
  const notice = page.getByRole("alert");
  await notice.waitFor();
  assert.match(await notice.innerText(), /The connection broke, and the answer is lost\./);
  await grown(page, 100);
  assert.equal(await page.getByRole("button", { name: "Continue from here" }).count(), 0);
  await page.getByRole("button", { name: "Reload the conversation" }).click();
  await page.locator(".connection.waiting").waitFor();
  await notice.waitFor();
  await page.setExtraHTTPHeaders(FAST);
  await say(page, "plain");
  await page.getByText("not a word is lost").waitFor();
  assert.deepEqual(unexpected(page), []);
});

test("tirea: a turn goes on after its conversation is left, and does not switch the page back to it", async () => {
  const page = await openDemo(world, { protocol: "tirea", headers: PACE });
  await say(page, "long 301");
  await grown(page, 100);
  const left = page.url();
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.getByText("Call tools").waitFor();
  await page.waitForTimeout(3000);
  assert.notEqual(page.url(), left);
  await page.getByRole("link", { name: "long 301" }).click();
  await ended(page);
  assert.equal(await page.getByRole("alert").count(), 0);
  assert.deepEqual(page.failures, []);
});

for (const protocol of ["tirea", "awaken"]) {
  test(`${protocol}: a question can be thrown away`, async () => {
    const page = await openDemo(world, { protocol, headers: FAST });
    await say(page, "approval");
    await allow(page).waitFor();
    await type(page.getByRole("textbox").last(), "plain words instead");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator(".bubble").count(), 1, "Enter alone does not");
    await page.getByRole("button", { name: "Send anyway" }).click();
    await page.getByText("not a word is lost").waitFor();
    assert.equal(await allow(page).count(), 0);
    assert.deepEqual(page.failures, []);
  });
}

test("tirea: a call that waits while the turn runs is answered at once", async () => {
  const page = await openDemo(world, {
    protocol: "tirea",
    headers: { "x-turnwire-delay-ms": "40", "x-turnwire-fault": "suspend-live" },
  });
  await say(page, "approval");
  await page.getByText("The agent is still working, and waits for your answer above.").waitFor();
  await allow(page).click();
  await card(page, "Tool restart_service, done").waitFor();
  assert.equal(await page.getByRole("button", { name: "Stop" }).count(), 1, "the same turn goes on");
  await ended(page);
  assert.equal(await page.locator(".turn").count(), 1);
  assert.deepEqual(page.failures, []);
});
