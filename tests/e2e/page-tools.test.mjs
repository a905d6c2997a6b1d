// Tools that run in the demo page: the same over each protocol.
import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { closeDemos, ended, openDemo, say, WWW } from "./demo-page.mjs";
import { protocolsToPlay } from "../rows.mjs";
import { CHROMIUM_ONLY, useWorld } from "./harness.mjs";

const world = useWorld({ www: WWW });
afterEach(closeDemos);

const FAST = { "x-turnwire-delay-ms": "0" };
const TIME = /\d\d:\d\d on \w+day/;
const allow = (page) => page.getByRole("button", { name: "Allow", exact: true });
const card = (page, name) => page.getByRole("group", { name, exact: true });
const both = (page) => page.getByText(/^Your page says that it is \d\d:\d\d on .* in Tokyo, and that six times seven is 42\.$/);

/** An answer to a run that has paused at that moment is refused by awaken, and sent once more. */
const unexpected = (page) => page.failures.filter((failure) => !/status of 404/.test(failure));

/** The requests that started turns, or gave answers; without answers that were refused since their run had just paused or ended. */
async function started(page) {
  const sessionId = await page.evaluate(() => decodeURIComponent(location.hash.replace("#/session/", "")));
  const requests = await (await fetch(`${world.url}/_gateway/sessions/${encodeURIComponent(sessionId)}/requests`)).json();
  return requests.filter(({ on, status }) => on === "create" || (on === "answer" && status < 400)).map(({ on }) => on);
}

/**
 * Holds requests with the clock's result. Returns `held`, which resolves at the first one; `release`, after which
 * later ones go; and `drop`, which fails those that are held: where the page is closed, the browser lets them go.
 */
async function holdResults(page) {
  const routes = [];
  let told;
  let isOver = false;
  const held = new Promise((resolve) => (told = resolve));
  const isResult = (request) => request.method() === "POST" && TIME.test(request.postData() ?? "");
  await page.route("**/*", (route) => (isResult(route.request()) && !isOver ? told(routes.push(route)) : route.continue()));
  return { held, release: () => (isOver = true), drop: () => Promise.all(routes.map((route) => route.abort())) };
}

for (const protocol of protocolsToPlay(["truefoundry", "trueforge", "tirea", "awaken", "aap", "ag-ui"])) {
  describe(protocol, () => {
    const open = (prepare) => openDemo(world, { protocol, headers: FAST, prepare });
    // It sends each result in a separate request.
    const isApart = protocol === "awaken";

    test("the page runs what the agent calls, and its results are answered", async () => {
      const page = await open();
      await say(page, "page");
      await both(page).waitFor();
      for (const when of ["streamed", "listed"]) {
        const clock = card(page, "Tool clock, done");
        if ((await clock.getByText("Result").count()) === 0) await clock.getByRole("button").click();
        assert.match(await clock.innerText(), /this page[^]*"zone": "Asia\/Tokyo"[^]*Result\s+\d\d:\d\d on/, when);
        const sum = card(page, "Tool calculator, done");
        if ((await sum.getByText("Result").count()) === 0) await sum.getByRole("button").click();
        assert.match(await sum.innerText(), /this page[^]*6\*7[^]*Result\s+42/, when);
        assert.equal(await page.getByRole("button", { name: "Answer", exact: true }).count(), 0, when);
        await page.reload();
        await both(page).waitFor();
      }
      assert.deepEqual(unexpected(page), []);
    });

    test("round after round", async () => {
      const page = await open();
      await say(page, "page rounds 4");
      await page.getByText("Your page calculated: 6, 12, 18, 24.").waitFor();
      assert.equal(await card(page, "Tool calculator, done").count(), 4);
      assert.deepEqual(await started(page), ["create", ...Array(4).fill(isApart ? "answer" : "create")]);
      assert.deepEqual(unexpected(page), []);
    });

    test("the person's decisions and the page's results are sent together, also after a reload", CHROMIUM_ONLY, async () => {
      const page = await open();
      await say(page, "page mixed");
      for (const when of ["streamed", "loaded"]) {
        await allow(page).waitFor();
        const clock = card(page, "Tool clock, done");
        await clock.waitFor();
        // A run of awaken that has not paused yet takes the result at once.
        if (!isApart) {
          await clock.getByText("The agent gets this together with your answer.").waitFor();
          assert.equal((await started(page)).length, 1, when);
        }
        if (when === "streamed") await page.reload();
      }
      const sent = [];
      page.on("request", (request) => request.method() === "POST" && sent.push(request.postData()));
      await allow(page).click();
      await page.getByText(/^It was \d\d:\d\d on .* on your page’s clock, and the billing service is running again\.$/).waitFor();
      if (!isApart) assert.equal(sent.length, 1);
      if (!isApart) assert.match(sent.join(), TIME);
      assert.match(sent.join(), /"status":"allow"|"approved":true|"granted":true/);
      assert.equal((await started(page)).length, isApart ? 3 : 2);
      assert.match(await page.getByRole("log").innerText(), isApart ? /You allowed one step\./ : /You allowed one step\. This page ran clock\./);
      assert.deepEqual(unexpected(page), []);
    });

    test("calls that wait when the page is reloaded run once more", CHROMIUM_ONLY, async () => {
      const page = await open();
      const { held, release } = await holdResults(page);
      await say(page, "page");
      await held;
      release();
      await page.reload();
      await both(page).waitFor();
      assert.equal(await card(page, "Tool clock, done").count(), 1);
      assert.deepEqual(unexpected(page), []);
    });

    const inTabs = protocol === "ag-ui" ? { skip: "another tab has no conversation of this one" } : CHROMIUM_ONLY;
    test("of two tabs one runs the tools, and the other one after that is closed", inTabs, async () => {
      const page = await open();
      const { held, drop } = await holdResults(page);
      await say(page, "page");
      await held;
      const other = await page.context().newPage();
      await other.goto(page.url());
      await card(other, "Tool clock, running").waitFor();
      const before = await started(page);
      await other.waitForTimeout(500);
      assert.deepEqual(await started(page), before);
      await drop();
      await page.close();
      await both(other).waitFor();
      await ended(other);
      const count = (await started(other)).length;
      await other.waitForTimeout(500);
      assert.equal((await started(other)).length, count);
    });

    // Of awaken's rounds only those count that are turns of their own: a call that is answered soon enough is none.
    test("after ten rounds the person is asked whether to go on", { skip: isApart }, async () => {
      const page = await open();
      await say(page, "page rounds 12");
      const proceed = page.getByRole("button", { name: "Run them" });
      await proceed.waitFor();
      await card(page, "Tool calculator, waits").waitFor();
      assert.equal(await page.getByText("Round 11 of 12.").count(), 1);
      await proceed.click();
      await page.getByText(/^Your page calculated: 6, 12, .*, 66, 72\.$/).waitFor();
      assert.equal(await proceed.count(), 0);
      assert.deepEqual(unexpected(page), []);
    });
  });
}
