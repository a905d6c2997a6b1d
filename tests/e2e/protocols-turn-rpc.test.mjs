// The demo with a turn-rpc gateway: what all protocols have, and what is its own.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { closeDemos, ended, openDemo, say, WWW } from "./demo-page.mjs";
import { useWorld } from "./harness.mjs";
import { FAST, card, playCases, playCut, playReload } from "./protocol-cases.mjs";

const world = useWorld({ www: WWW });
afterEach(closeDemos);

for (const play of [playCases, playCut, playReload]) play(world, "turn-rpc");

test("turn-rpc: reasoning comes before the answer, and is kept with it", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc", agentName: "Chat", headers: { "x-turnwire-delay-ms": "20" } });
  await say(page, "reasoning");
  await page.getByRole("button", { name: "Thinking" }).waitFor();
  await ended(page);
  for (const _ of ["streamed", "listed"]) {
    await page.getByRole("button", { name: "Thoughts" }).click();
    assert.notEqual(await page.locator(".reasoning-text").innerText(), "");
    await page.reload();
    await ended(page);
  }
  assert.deepEqual(page.failures, []);
});

test("turn-rpc: a command's output is shown while it runs, and as its result in the end", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc", headers: { "x-turnwire-delay-ms": "300" } });
  await say(page, "shell");
  const hasBoth = () => {
    const captions = [...document.querySelectorAll(".tool figcaption")].map((caption) => caption.innerText);
    return captions.join() === "Arguments,Output,Errors";
  };
  await page.waitForFunction(hasBoth, null, { polling: 20 });
  await ended(page);
  const tool = card(page, "Tool exec_command, done");
  assert.match(await tool.innerText(), /Result\s+one\s+two\s*$/);
  assert.doesNotMatch(await tool.innerText(), /Output|Errors/);
  assert.deepEqual(page.failures, []);
});

test("turn-rpc: the server's notices of a turn are shown below its text", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc", headers: FAST });
  await say(page, "recover");
  await page.getByText("Hello again.").waitFor();
  await ended(page);
  const notices = page.getByRole("list", { name: "Notices" });
  assert.match(await notices.innerText(), /A step failed and is tried again[^]*The next attempt went well/);
  await say(page, "plain");
  await page.getByText("not a word is lost").waitFor();
  assert.equal(await notices.count(), 1, "an ordinary turn has none");
  assert.deepEqual(page.failures, []);
});

test("turn-rpc: conversations that the server does not list are remembered, for this agent and address", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc", headers: FAST });
  await page.getByText("yours will be remembered by this browser").waitFor();
  for (const text of ["plain words, the first", "plain words, the second"]) {
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.getByText("Call tools").waitFor();
    await say(page, text);
    await ended(page);
  }
  await page.reload();
  await ended(page);
  assert.deepEqual(await page.locator(".sessions a").allInnerTexts(), ["plain words, the second", "plain words, the first"]);
  await page.getByText("these are the ones that this browser remembers").waitFor();
  await page.getByRole("link", { name: "plain words, the first" }).click();
  await page.locator(".bubble", { hasText: "plain words, the first" }).waitFor();
  await ended(page);
  const chat = await openDemo(world, { protocol: "turn-rpc", agentName: "Chat", headers: FAST });
  await chat.getByText("yours will be remembered by this browser").waitFor();
  assert.deepEqual(page.failures, []);
});

test("turn-rpc: messages of another tab are shown", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc", headers: FAST });
  await say(page, "plain words");
  await ended(page);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await ended(other);
  await say(other, "markdown");
  await page.getByRole("button", { name: "Copy answer" }).nth(1).waitFor();
  assert.deepEqual(await page.locator(".bubble p").allInnerTexts(), ["plain words", "markdown"]);
  assert.deepEqual(page.failures, []);
});

test("turn-rpc: tools with the names of the page's own run at the server", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc", headers: FAST });
  await say(page, "page");
  await ended(page);
  await card(page, "Tool clock, done").waitFor();
  assert.equal(await page.getByText("this page", { exact: true }).count(), 0);
  assert.deepEqual(page.failures, []);
});

test("turn-rpc: a conversation that the server does not know is reported with the server's message", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc" });
  await page.goto(`${world.url}/#/session/nope`);
  const notice = page.getByRole("alert");
  await notice.waitFor();
  assert.match(await notice.innerText(), /does not have this[^]*answered -32600: thread `nope`/);
});
