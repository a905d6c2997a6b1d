// The demo with a server of the Agent Application Protocol: what all protocols have, and what is its own.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { closeDemos, ended, openDemo, say, WWW } from "./demo-page.mjs";
import { useWorld } from "./harness.mjs";
import { FAST, allow, card, playCases, playCut, playReload } from "./protocol-cases.mjs";

const world = useWorld({ www: WWW });
afterEach(closeDemos);

for (const play of [playCases, playCut, playReload]) play(world, "aap");

test("aap: an image is sent and shown, also after a reload, and another file is refused", async () => {
  const page = await openDemo(world, { protocol: "aap", headers: FAST });
  await page.getByRole("button", { name: "Attach images" }).waitFor();
  const attach = (name, mimeType) =>
    page.locator("input[type=file]").setInputFiles({ name, mimeType, buffer: Buffer.from("not really") });
  await attach("notes.txt", "text/plain");
  await page.getByText("notes.txt is no image, and this server takes images only.").waitFor();
  await attach("photo.png", "image/png");
  await say(page, "file");
  await page.getByText(/image\/png/).waitFor();
  for (const _ of ["sent", "listed"]) {
    await page.locator(".bubble .chip img").waitFor();
    assert.match(await page.locator(".bubble .chip img").getAttribute("src"), /^data:image\/png;base64,/);
    await page.reload();
  }
  assert.deepEqual(page.failures, []);
});

test("aap: a tool that is always allowed is not asked about again, and the choice is offered only where it works", async () => {
  const page = await openDemo(world, { protocol: "aap", headers: FAST });
  const remember = page.getByRole("checkbox", { name: "Always allow" });
  await say(page, "tools");
  await remember.check();
  await allow(page).click();
  await card(page, "Tool read_log, asks you").waitFor();
  await allow(page).click();
  await ended(page);
  await say(page, "tools");
  await card(page, "Tool read_log, asks you").waitFor();
  assert.equal(await card(page, "Tool list_services, done").count(), 2);
  await page.reload();
  await allow(page).click();
  await page.getByRole("button", { name: "Copy answer" }).nth(1).waitFor();
  await say(page, "subagents approval");
  await allow(page).waitFor();
  assert.equal(await remember.count(), 0, "the agent does not list this tool");
  assert.deepEqual(page.failures, []);
});

test("aap: conversations are listed by their first message, newest first", async () => {
  const page = await openDemo(world, { protocol: "aap", headers: FAST });
  for (const text of ["plain words, the first", "plain words, the second"]) {
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.getByText("Call tools").waitFor();
    await say(page, text);
    await ended(page);
  }
  const names = async () => (await page.locator(".sessions a").allInnerTexts()).slice(0, 2);
  assert.deepEqual(await names(), ["plain words, the second", "plain words, the first"]);
  await page.reload();
  await ended(page);
  await page.getByRole("link", { name: "plain words, the second" }).waitFor();
  assert.deepEqual(await names(), ["plain words, the second", "plain words, the first"]);
  const elsewhere = await openDemo(world, { protocol: "aap", headers: FAST });
  const nameless = elsewhere.getByRole("link", { name: /^Conversation \w{6}$/ });
  await nameless.last().click();
  await ended(elsewhere);
  await elsewhere.locator(".sessions [aria-current=page]").waitFor();
  assert.doesNotMatch(await elsewhere.locator(".sessions [aria-current=page]").innerText(), /^Conversation/);
});

test("aap: a model that does not answer at all is reported, and the conversation goes on", async () => {
  const page = await openDemo(world, { protocol: "aap", headers: FAST });
  await say(page, "refusal");
  await page.getByText("The model would not answer this.").waitFor();
  await say(page, "plain");
  await page.getByText("not a word is lost").waitFor();
  assert.deepEqual(page.failures, []);
});
