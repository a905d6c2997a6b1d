// The demo behind a relay, as `cargo xtask demo --relay` serves it: two tabs, or two browsers, read one answer while it streams.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { Relay, WITH_RELAY } from "../../pkg/test/support/relay.mjs";
import { freePort } from "../engines/programs.mjs";
import { IS_QUICK } from "../rows.mjs";
import { answer, closeDemos, cutButton, grown, openDemo, say, transcript, unexpected, WWW } from "./demo-page.mjs";
import { ENGINE, useWorld } from "./harness.mjs";

const WHOLE_RUN = { skip: IS_QUICK && "not in a quick run" };
/** WebDriver, which drives WebKit, has one page only. */
const SKIP = { skip: WITH_RELAY.skip || (ENGINE === "webkit" && "it needs two pages") };

/** As `crates/xtask/src/relay.rs` marks the page and fills in the config. */
const port = await freePort();
const www = mkdtempSync(join(tmpdir(), "turnwire-relay-demo-"));
cpSync(WWW, www, { recursive: true });
const index = join(www, "index.html");
writeFileSync(index, readFileSync(index, "utf8").replace("<html ", `<html data-relay="http://127.0.0.1:${port}" `));
const template = readFileSync(join(import.meta.dirname, "..", "..", "www", "relay.toml"), "utf8");
after(() => rmSync(www, { recursive: true, force: true }));

const world = useWorld({ www });
const config = ({ port, folder }) => template.replace("{port}", port).replaceAll("{gateway}", world.url).replace("{folder}", folder);

const SLOW = "Slow and steady, please.";

/** Opens what this page shows in another browser, which has no settings; or in one that speaks the protocol. */
const elsewhere = async (page, protocol) => {
  const other = await openDemo(world, { protocol });
  await other.goto(page.url());
  await other.reload();
  return other;
};

/** The length of the answer in both pages, once both show some. */
const sharedBy = async (pages) => {
  await Promise.all(pages.map((page) => grown(page, 20)));
  return Promise.all(pages.map((page) => page.evaluate(() => [...document.querySelectorAll(".message")].at(-1).innerText)));
};

/** The number of answers that were requested from the agents in this session. */
const starts = async (session) => {
  const asked = await (await fetch(`${world.url}/_gateway/sessions/${session}/requests`)).json();
  return asked.filter(({ on }) => on === "create").length;
};
const sessionIn = (page) => decodeURIComponent(page.url().split("/").at(-1));

describe("the demo behind a relay", SKIP, () => {
  let relay;
  before(async () => (relay = await Relay.open(config, port)));
  after(() => relay?.close());
  afterEach(closeDemos);

  test("a second browser reads an answer while it streams, a reloaded page goes on, and each can stop it", async () => {
    const page = await openDemo(world);
    await page.getByText("AAP · relay").waitFor();
    await say(page, SLOW);
    await grown(page, 20);
    const other = await elsewhere(page);
    const [one, two] = await sharedBy([page, other]);
    assert.equal(one.slice(0, 20), two.slice(0, 20));
    await page.reload();
    await grown(page, 20);
    await other.getByRole("button", { name: /^Stop/ }).first().click();
    for (const shown of [page, other]) await shown.getByText("You stopped this turn.").waitFor();
    assert.equal(await starts(sessionIn(page)), 1);
    assert.deepEqual([page, other].flatMap(unexpected), []);
  });

  for (const protocol of ["aap", "tirea"]) {
    test(`${protocol}: a tab and another browser read one answer; a cut in one of them is its own`, WHOLE_RUN, async () => {
      const page = await openDemo(world, { protocol });
      await say(page, SLOW);
      await grown(page, 20);
      const tab = await page.context().newPage();
      await tab.goto(page.url());
      const other = await elsewhere(page, protocol);
      await sharedBy([page, tab, other]);
      await page.reload();
      await cutButton(tab).click();
      await tab.getByText(/Resumed after event \d+, nothing lost/).waitFor();
      const texts = await Promise.all([page, tab, other].map(answer));
      assert.equal(new Set(texts).size, 1, texts.join("\n---\n"));
      assert.match(texts[0], /\w{3}/);
      for (const shown of [page, other]) assert.doesNotMatch(await transcript(shown), /Resumed after/);
      assert.equal(await starts(sessionIn(page)), 1);
      assert.deepEqual([page, other].flatMap(unexpected), []);
    });

    test(`${protocol}: a pending call is answered in the second browser`, WHOLE_RUN, async () => {
      const page = await openDemo(world, { protocol });
      await say(page, "Approval first, please: the billing service does not answer.");
      await page.getByRole("button", { name: /^allow/i }).first().waitFor();
      const other = await elsewhere(page, protocol);
      await other.getByRole("button", { name: /^allow/i }).first().click();
      await other.getByText("is running again").waitFor();
      assert.deepEqual(unexpected(other), []);
    });
  }

  for (const protocol of ["truefoundry", "awaken", "turn-rpc"]) {
    test(`${protocol}: passes through the relay`, WHOLE_RUN, async () => {
      const page = await openDemo(world, { protocol });
      await page.getByText("· relay").waitFor();
      await say(page, "plain");
      assert.match(await answer(page), /\w{3}/);
      await page.reload();
      assert.match(await answer(page), /\w{3}/);
      assert.deepEqual(unexpected(page), []);
    });
  }

  for (const protocol of ["trueforge", "ag-ui"]) {
    test(`${protocol}: goes to the gateway itself`, WHOLE_RUN, async () => {
      const page = await openDemo(world, { protocol });
      await say(page, "plain");
      assert.match(await answer(page), /\w{3}/);
      assert.equal(await page.getByText("· relay").count(), 0);
      assert.deepEqual(unexpected(page), []);
    });
  }

  test("a relay that is killed while it writes is reported, and the next answer comes", WHOLE_RUN, async () => {
    const page = await openDemo(world, { protocol: "aap" });
    await say(page, SLOW);
    await grown(page, 20);
    await relay.restart();
    // Its agent goes on, and has the whole answer in the history.
    assert.match(await answer(page), /\w{3}/);
    await say(page, "plain");
    await page.getByRole("button", { name: "Copy answer" }).nth(1).waitFor({ timeout: 30_000 });
  });
});
