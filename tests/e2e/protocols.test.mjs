// How the demo learns its server's protocol, and what it shows of it.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { closeDemos, openDemo, say, type, WWW } from "./demo-page.mjs";
import { useWorld } from "./harness.mjs";
import { FAST, allow } from "./protocol-cases.mjs";

const world = useWorld({ www: WWW });
afterEach(closeDemos);

test("the suggestions fit the protocol", async () => {
  const asks = ["Approve an action", "Answer a question", "Tools of this page", "Approve and answer"];
  const runs = ["Run a command", "Fail and recover", "Edit a file", "A limit of rounds"];
  for (const [protocol, there, gone] of [["turn-rpc", runs, asks], ["aap", asks, runs]]) {
    const page = await openDemo(world, { protocol, headers: FAST });
    await page.getByRole("button", { name: "Plain answer" }).waitFor();
    for (const name of there) assert.equal(await page.getByRole("button", { name }).count(), 1, `${protocol}: ${name}`);
    for (const name of gone) assert.equal(await page.getByRole("button", { name }).count(), 0, `${protocol}: ${name}`);
  }
});

test("Codex is among the settings only, which say that it needs the relay", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc" });
  const group = page.getByRole("group", { name: "Protocol" });
  await group.waitFor();
  assert.equal(await group.getByRole("button", { name: "Codex" }).count(), 0);
  await page.getByRole("button", { name: "Connection", exact: true }).click();
  await page.getByRole("combobox", { name: "Protocol" }).selectOption("codex");
  await page.getByText(/relay/).waitFor();
  assert.equal(await page.getByLabel("Agent", { exact: true }).inputValue(), "codex");
  assert.equal(await page.getByLabel("Server address").inputValue(), "ws://127.0.0.1:8791");
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await page.getByText("Look around").waitFor();
  assert.equal(await group.count(), 0);
  await page.getByRole("button", { name: "Connection", exact: true }).click();
  await page.getByRole("combobox", { name: "Protocol" }).selectOption("turn-rpc");
  assert.equal(await page.getByLabel("Server address").inputValue(), `${world.url}/turn-rpc`);
  assert.equal(await page.getByLabel("Agent", { exact: true }).inputValue(), "Agent");
});

test("a click on the empty page changes the protocol, and the settings show it", async () => {
  const page = await openDemo(world);
  await page.getByRole("group", { name: "Protocol" }).waitFor();
  const chosen = () => page.evaluate(() => document.querySelector(".protocol-switch [aria-pressed=true]").innerText);
  assert.equal(await chosen(), "TrueFoundry");
  for (const [name, path] of [["tirea", "/tirea"], ["awaken", "/awaken"], ["AAP", "/aap"], ["turn-rpc", "/turn-rpc"], ["AG-UI", "/ag-ui"], ["TrueForge", ""], ["TrueFoundry", "/demo"]]) {
    await page.getByRole("group", { name: "Protocol" }).getByRole("button", { name, exact: true }).click();
    await page.waitForFunction((name) => document.querySelector(".top-agent")?.innerText.endsWith(name), name);
    assert.equal(await chosen(), name);
    await page.getByRole("button", { name: "Connection", exact: true }).click();
    assert.equal(await page.getByLabel("Server address").inputValue(), world.url + path);
    await page.keyboard.press("Escape");
  }
  await page.getByRole("button", { name: "Connection", exact: true }).click();
  await page.getByRole("combobox", { name: "Protocol" }).selectOption("awaken");
  assert.equal(await page.getByLabel("Server address").inputValue(), `${world.url}/awaken`);
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await page.reload();
  await page.getByRole("group", { name: "Protocol" }).waitFor();
  assert.equal(await chosen(), "awaken");
  assert.deepEqual(page.failures, []);
});

test("new elements fit a phone, in light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const prepare = async (page) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.emulateMedia({ colorScheme });
    };
    const page = await openDemo(world, { protocol: "tirea", headers: FAST, prepare });
    const isTooWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    await page.getByRole("group", { name: "Protocol" }).waitFor();
    assert.equal(await isTooWide(), false, "the switch");
    await say(page, "subagents approval");
    await allow(page).waitFor();
    await type(page.getByRole("textbox").last(), "Never mind, and something else instead");
    await page.getByRole("button", { name: "Send anyway" }).waitFor();
    assert.equal(await isTooWide(), false, "the question");
  }
});
