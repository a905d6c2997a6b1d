// A page that sleeps, is hidden, or has no network while its turn runs, and whose connection is cut meanwhile.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openKit } from "./kit.mjs";
import { CHROMIUM_ONLY, NOT_WEBKIT, useWorld } from "./harness.mjs";

const world = useWorld();

/** Opens a page with a turn of some seconds that has begun; returns what ends, cuts and judges it. */
async function startTurn(options = {}, pace = 40) {
  const page = await openKit(world);
  const session = await page.evaluate(async ({ options, pace }) => {
    const session = await kit.session({ ...options, headers: { "x-turnwire-delay-ms": String(pace) } });
    const turn = session.createTurn({ input: "plain" });
    globalThis.told = [];
    globalThis.seen = 0;
    turn.on("reconnecting", ({ cause }) => told.push(`lost: ${cause.code}`));
    turn.on("resumed", ({ after }) => told.push(`resumed after ${after}`));
    turn.on("event", () => (globalThis.seen += 1));
    globalThis.ending = kit.stream(turn);
    return session.id;
  }, { options, pace });
  await page.waitForFunction(() => globalThis.seen > 5);
  const cut = async (how) => {
    const answer = await fetch(`${world.url}/_gateway/sessions/${session}/cut?how=${how}`, { method: "POST" });
    assert.deepEqual(await answer.json(), { cut: 1 });
  };
  const judge = async () => {
    const report = await page.evaluate(async () => ({ ...kit.report(await globalThis.ending), told: globalThis.told }));
    assert.deepEqual([report.status, report.dense, report.agrees], ["done", true, true]);
    const log = await (await fetch(`${world.url}/_gateway/turns/${report.snapshot.turn_id}/log`)).text();
    assert.equal(report.types.length, log.match(/^id:/gm).length);
    assert.deepEqual(page.failures.filter((failure) => !/net::ERR|Failed to load/.test(failure)), []);
    await page.context().close();
    return report.told;
  };
  return { page, cut, judge };
}

/** The page's process is stopped for a while, as when the machine sleeps. */
async function sleepFor(page, milliseconds, meanwhile) {
  const devtools = await page.context().browser().newBrowserCDPSession();
  const { processInfo } = await devtools.send("SystemInfo.getProcessInfo");
  const renderers = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
  assert.ok(renderers.length > 0);
  for (const id of renderers) process.kill(id, "SIGSTOP");
  try {
    await meanwhile();
    await sleep(milliseconds);
  } finally {
    for (const id of renderers) process.kill(id, "SIGCONT");
  }
}

test("a page that sleeps, and is cut off, goes on when it wakes", CHROMIUM_ONLY, async () => {
  const { page, cut, judge } = await startTurn();
  await sleepFor(page, 1500, () => cut("reset"));
  assert.deepEqual((await judge()).map((line) => line.replace(/\d+/, "n")), ["lost: network", "resumed after n"]);
});

test("a page that slept for longer than the idle timeout finds a dead connection at once", CHROMIUM_ONLY, async () => {
  const { page, cut, judge } = await startTurn({ idleTimeout: 4000 });
  await sleepFor(page, 5000, () => cut("stall"));
  assert.deepEqual((await judge()).map((line) => line.replace(/\d+/, "n")), ["lost: timeout", "resumed after n"]);
});

test("a page that is thawed does not trust its connection", async () => {
  const { page, cut, judge } = await startTurn();
  await cut("stall");
  await page.evaluate(() => document.dispatchEvent(new Event("resume")));
  assert.deepEqual((await judge()).map((line) => line.replace(/\d+/, "n")), ["lost: network", "resumed after n"]);
});

test("a tab in the background goes on reading, and resumes", NOT_WEBKIT, async () => {
  // A new tab may take seconds on a busy machine.
  const { page, cut, judge } = await startTurn({}, 150);
  const front = await page.context().newPage();
  await front.goto("about:blank");
  await front.bringToFront();
  await cut("reset");
  const told = await judge();
  assert.ok(told.some((line) => line.startsWith("resumed after")), told.join(", "));
});

test("a browser without a network resumes as soon as it is back", NOT_WEBKIT, async () => {
  const { page, judge } = await startTurn();
  await page.context().setOffline(true);
  const lost = await page.evaluate(() => navigator.onLine);
  await sleep(1000);
  await page.context().setOffline(false);
  await judge();
  assert.equal(lost, false);
});
