// What a person does with messages on the demo page, by keyboard alone: edit, branch, regenerate, queue, steer, retry; and
// what survives a reload.
import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { fakeServer } from "../../pkg/dist/testing.js";
import { answer, closeDemos, ended, grown, openDemo, PACE, say, WWW } from "./demo-page.mjs";
import { NOT_WEBKIT, useWorld } from "./harness.mjs";
import { protocolsToPlay } from "../rows.mjs";

const world = useWorld({ www: WWW });
afterEach(closeDemos);

const FAST = { "x-turnwire-delay-ms": "0" };
const field = (page) => page.getByRole("textbox", { name: "Message", exact: true });
const versions = (page) => page.getByRole("group", { name: "Versions" });
const waiting = (page) => page.getByRole("region", { name: "Waiting messages" });
const bubbles = (page) => page.locator(".bubble p").allInnerTexts();
const focused = (page) => page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.innerText.trim());

/** Presses Tab, with Shift for the other way, until an element of this name has the focus. */
async function tabTo(page, name, key = "Tab") {
  for (let tries = 0; (await focused(page)) !== name; tries += 1) {
    assert.ok(tries < 60, `${name} cannot be reached`);
    await page.keyboard.press(key);
  }
}

async function press(page, name, key) {
  await tabTo(page, name, key);
  await page.keyboard.press("Enter");
}

/** Replaces the text of the focused field. */
async function rewrite(page, text) {
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

for (const protocol of protocolsToPlay(["truefoundry", "trueforge"])) {
  describe(protocol, () => {
    test("a question is edited, and both versions can be seen", async () => {
      const page = await openDemo(world, { protocol, headers: FAST });
      await say(page, "plain words");
      await ended(page);
      await say(page, "tools");
      await page.getByRole("button", { name: "Copy answer" }).nth(1).waitFor();
      await press(page, "Edit", "Shift+Tab");
      await page.keyboard.press("Escape");
      assert.deepEqual(await bubbles(page), ["plain words", "tools"], "Escape leaves it as it was");
      assert.equal(await focused(page), "Edit", "the focus is where it was");
      await page.keyboard.press("Enter");
      await rewrite(page, "markdown");
      await versions(page).getByText("2/2").waitFor();
      await ended(page);
      assert.deepEqual(await bubbles(page), ["plain words", "markdown"]);
      await press(page, "Previous version", "Shift+Tab");
      await versions(page).getByText("1/2").waitFor();
      assert.deepEqual(await bubbles(page), ["plain words", "tools"]);
      assert.equal(await focused(page), "Previous version", "the focus stays");
      await press(page, "Next version");
      await page.getByText("markdown", { exact: true }).waitFor();
      await page.reload();
      await page.getByText("markdown", { exact: true }).waitFor();
      // TrueFoundry's gateway lists the newest branch only.
      if (protocol === "trueforge") await versions(page).getByText("2/2").waitFor();
      assert.deepEqual(await bubbles(page), ["plain words", "markdown"]);
      assert.deepEqual(page.failures, []);
    });

    test("a second answer is a branch beside the first", async () => {
      const page = await openDemo(world, { protocol, headers: FAST });
      await say(page, "plain words");
      const first = await answer(page);
      await press(page, "Answer again", "Shift+Tab");
      await versions(page).getByText("2/2").waitFor();
      assert.equal(await answer(page), first, "the script has one answer");
      assert.deepEqual(await bubbles(page), ["plain words"]);
      assert.deepEqual(page.failures, []);
    });
  });
}

test("where a protocol cannot branch, no button offers it", async () => {
  for (const protocol of ["tirea", "aap", "ag-ui"]) {
    const page = await openDemo(world, { protocol, headers: FAST });
    await say(page, "plain words");
    await ended(page);
    for (const name of ["Edit", "Answer again"]) assert.equal(await page.getByRole("button", { name }).count(), 0, `${protocol}: ${name}`);
  }
});

for (const protocol of protocolsToPlay(["truefoundry", "tirea", "awaken", "aap", "turn-rpc", "ag-ui"])) {
  test(`${protocol}: messages wait while the agent answers, can be changed, and survive a reload`, async () => {
    const agentName = protocol === "turn-rpc" ? "Chat" : undefined;
    const page = await openDemo(world, { protocol, agentName, headers: PACE });
    await say(page, "long 100000");
    await grown(page, 100);
    for (const text of ["first", "second", "third"]) await say(page, text);
    assert.deepEqual(await bubbles(page), ["long 100000"]);
    const texts = () => waiting(page).locator(".queued-text").allInnerTexts();
    assert.deepEqual(await texts(), ["Next: first", "Next: second", "Next: third"]);
    // Backwards from the field: the last one's buttons come first.
    await press(page, "Remove", "Shift+Tab");
    assert.deepEqual(await texts(), ["Next: first", "Next: second"]);
    assert.equal(await focused(page), "Message");
    await press(page, "Edit", "Shift+Tab");
    await rewrite(page, "plain words");
    assert.deepEqual(await texts(), ["Next: first", "Next: plain words"]);
    await field(page).pressSequentially("not sent yet");
    await page.keyboard.press("Escape");
    await page.getByText("You stopped this turn.").waitFor();
    assert.deepEqual(await texts(), ["Held: first", "Held: plain words"]);
    await page.reload();
    await page.getByText(/^Held: first/).waitFor();
    assert.equal(await field(page).inputValue(), "not sent yet");
    await page.setExtraHTTPHeaders(FAST);
    await press(page, "Send now", "Shift+Tab");
    await page.getByText("not a word is lost").waitFor();
    assert.deepEqual(await texts(), ["Held: first"]);
    await press(page, "Remove", "Shift+Tab");
    assert.equal(await waiting(page).count(), 0);
    assert.deepEqual(page.failures, []);
  });
}

test("answers that were given before a reload are kept, and are sent with the last one", async () => {
  const page = await openDemo(world, { headers: FAST });
  await say(page, "mixed");
  await page.getByRole("button", { name: "Nobody" }).click();
  await page.getByText("1 of 2 answered").waitFor();
  await page.reload();
  await page.getByText("1 of 2 answered").waitFor();
  await page.getByText("You answered: Nobody").waitFor();
  await press(page, "Allow", "Shift+Tab");
  await page.getByText(/now has four instances.*“Nobody”/).waitFor();
  assert.deepEqual(page.failures, []);
});

test("a message that did not arrive is sent again, or taken back", NOT_WEBKIT, async () => {
  const page = await openDemo(world, { headers: FAST });
  await page.route("**/turns*", (route) => (route.request().method() === "POST" ? route.fulfill({ status: 422, body: "" }) : route.continue()));
  await say(page, "plain words");
  const again = page.getByRole("button", { name: "Try again" });
  await again.waitFor({ timeout: 30_000 });
  await page.getByRole("button", { name: "Take it back" }).click();
  assert.equal(await page.locator(".bubble").count(), 0);
  assert.equal(await field(page).inputValue(), "plain words");
  await field(page).press("Enter");
  await again.waitFor({ timeout: 30_000 });
  await page.unrouteAll();
  await press(page, "Try again", "Shift+Tab");
  await page.getByText("not a word is lost").waitFor();
  assert.deepEqual(await bubbles(page), ["plain words"]);
});

/** Connects the page to a server that plays this script. */
async function openCodex(script) {
  const server = fakeServer(script, { protocol: "codex" });
  const page = await openDemo(world, {
    protocol: "codex",
    prepare: (page) =>
      page.routeWebSocket(/127\.0\.0\.1:8791/, (route) => {
        const socket = server.connection.webSocket(route.url());
        const early = [];
        route.onMessage((text) => (socket.readyState === 1 ? socket.send(text) : early.push(text)));
        socket.addEventListener("open", () => early.splice(0).forEach((text) => socket.send(text)));
        socket.addEventListener("message", ({ data }) => route.send(data));
        socket.addEventListener("close", () => route.close());
        route.onClose(() => socket.close());
      }),
  });
  return { page, server };
}

test("codex: a message goes to the running agent, and another one waits for its end", NOT_WEBKIT, async () => {
  const { page, server } = await openCodex(async function* ({ text }) {
    yield `You said ${text}`;
    yield { wait: 4000 };
    yield ".";
  });
  await say(page, "one");
  await page.getByText("You said one").waitFor();
  await say(page, "two");
  await page.getByText("sent while the agent worked").waitFor();
  assert.deepEqual(await bubbles(page), ["one", "two"]);
  assert.equal(await page.locator(".turn").count(), 1, "in the same turn");
  await field(page).pressSequentially("three");
  await press(page, "Later");
  await waiting(page).getByText("Next: three").waitFor();
  await press(page, "Steer", "Shift+Tab");
  await page.getByText("sent while the agent worked").nth(1).waitFor();
  assert.equal(await waiting(page).count(), 0);
  await field(page).pressSequentially("four");
  await press(page, "Later");
  await page.getByText("You said four").waitFor({ timeout: 30_000 });
  assert.deepEqual(await bubbles(page), ["one", "two", "three", "four"]);
  assert.equal(server.requests.filter(({ url }) => url === "turn/steer").length, 2);
  assert.deepEqual(page.failures, []);
});
