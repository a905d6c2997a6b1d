// The demo page as a visitor meets it: types, allows, reloads.
import assert from "node:assert/strict";
import { test } from "node:test";
import { say, WWW } from "./demo-page.mjs";
import { NOT_WEBKIT, useWorld } from "./harness.mjs";

const world = useWorld({ www: WWW });

test("a first message is answered by the support agent, and a ticket waits for approval", async () => {
  const page = await world.page();
  await say(page, "Approval, please: restart the billing service.");
  const allow = page.getByRole("button", { name: "Allow" });
  await allow.waitFor();
  assert.match(await page.getByRole("log").innerText(), /restart_service/);
  await allow.click();
  await page.getByText("is running again").waitFor();
  assert.deepEqual(page.failures, []);

  await page.reload();
  await page.getByText("is running again").waitFor();
  assert.match(await page.getByRole("log").innerText(), /restart_service/, "history has the call");
  assert.deepEqual(page.failures, []);
});

test("a long answer arrives whole", async () => {
  const page = await world.page();
  await say(page, "long 3000");
  await page.getByRole("button", { name: "Copy answer" }).last().waitFor({ timeout: 30_000 });
  const events = await page.evaluate(async () => {
    const [session] = (await (await fetch("/demo/v1/agents/sessions?agent_name=support-bot")).json()).data;
    const listed = await (await fetch(`/demo/v1/agents/sessions/${session.id}/events`)).json();
    return listed.data.map(({ event }) => event);
  });
  const answer = events.find((event) => event.type === "model.message").content;
  const last = answer.trim().split(/\s+/).at(-1).replace(/[*_`]/g, "");
  await page.waitForFunction((word) => document.querySelector("[role=log]").innerText.trim().includes(word), last);
  assert.deepEqual(page.failures, []);
});

test("the page fits a phone, in light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await world.page("/", async (page) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.emulateMedia({ colorScheme });
    });
    await say(page, "markdown");
    await page.getByRole("button", { name: "Copy answer" }).waitFor({ timeout: 30_000 });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide in ${colorScheme}`);
    assert.deepEqual(page.failures, []);
  }
});

test("without a gateway the page says what to start", NOT_WEBKIT, async () => {
  const page = await world.page("/", (blank) => blank.route("**/_gateway/streams", (route) => route.fulfill({ status: 404, body: "" })));
  const note = page.getByRole("alert").filter({ hasText: "No gateway answers" });
  await note.waitFor();
  assert.match(await note.innerText(), /cargo xtask demo/);
  await note.getByRole("button", { name: "Open the settings" }).click();
  await page.getByRole("dialog", { name: "Connection" }).waitFor();
  const known = await world.page();
  await known.getByRole("heading", { name: "What should the agent do?" }).waitFor();
  await known.waitForTimeout(500);
  assert.equal(await known.getByRole("alert").count(), 0);
});
