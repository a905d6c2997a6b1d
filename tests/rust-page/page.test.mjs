// The chat page in Rust, in headless Chromium against the development gateway, over `fetch` and over a WebSocket: a turn
// streams, goes on after its connection was cut, asks for an approval, and can be stopped.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { useWorld } from "../e2e/harness.mjs";

const WWW = process.env.TURNWIRE_PAGE ?? join(import.meta.dirname, "..", "..", "www", "rust", "dist");
const PACE = 5;

const world = useWorld({ www: WWW });

const say = async (page, text) => {
  await page.getByRole("textbox").fill(text);
  await page.getByRole("button", { name: "Send" }).click();
};

/** Opens the page with an agent that says something every five milliseconds. */
async function open(transport) {
  const page = await world.page(`/?over=${transport}`, async (page) => {
    page.setDefaultTimeout(15_000);
    await page.setExtraHTTPHeaders({ "x-turnwire-delay-ms": String(PACE) });
    // Browsers send no headers with a WebSocket: the gateway takes the same from its address.
    await page.addInitScript((pace) => {
      const Platform = globalThis.WebSocket;
      globalThis.WebSocket = class extends Platform {
        constructor(address) {
          super(`${address}?delay_ms=${pace}`);
        }
      };
    }, PACE);
  });
  await page.getByRole("heading", { name: "turnwire in Rust" }).waitFor();
  return page;
}

const replies = async (page) => (await page.locator(".reply").allInnerTexts()).join("\n");
const ended = (page, count = 1) =>
  page.waitForFunction((count) => [...document.querySelectorAll(".status")].filter((one) => /each once|Stopped/.test(one.innerText)).length >= count, count);

for (const transport of ["fetch", "socket"]) {
  test(`${transport}: a turn that was cut says the same as one that was not`, async () => {
    const whole = await open(transport);
    await say(whole, "reasoning");
    await ended(whole);
    const expected = await replies(whole);
    assert.ok(expected.length > 100, expected);

    const page = await open(transport);
    await say(page, "reasoning");
    await page.waitForFunction(() => document.querySelector(".reply")?.innerText.length > 20);
    await page.getByRole("button", { name: "Cut the connection" }).click();
    await ended(page);
    assert.equal(await replies(page), expected);
    assert.equal(await page.locator(".user").innerText(), "reasoning");
    for (const one of [whole, page]) await one.context().close();
  });

  test(`${transport}: a turn is stopped, and the next one runs`, async () => {
    const page = await open(transport);
    await say(page, "long 2000");
    await page.waitForFunction(() => document.querySelector(".reply")?.innerText.length > 20);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped").waitFor();
    await say(page, "plain");
    await ended(page, 2);
    assert.deepEqual(page.failures, []);
    await page.context().close();
  });
}

// The gateway sends no requests over its socket.
test("an approval is asked for and answered", async () => {
  const page = await open("fetch");
  await say(page, "approval");
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByRole("button", { name: "Allow" }).waitFor({ state: "detached" });
  await ended(page, 2);
  assert.equal(await page.locator(".call .state", { hasText: "waits for you" }).count(), 0);
  assert.ok((await page.locator(".call .state", { hasText: "done" }).count()) > 0);
  assert.deepEqual(page.failures, []);
  await page.context().close();
});

test("the guide says what a browser downloads, to two percent", () => {
  const guide = readFileSync(join(import.meta.dirname, "..", "..", "docs", "guides", "rust.md"), "utf8");
  const said = Number(/A browser downloads (\d+) KB of it/.exec(guide)?.[1]);
  const files = readdirSync(WWW).map((name) => readFileSync(join(WWW, name)));
  const real = files.map((file) => brotliCompressSync(file).length).reduce((sum, length) => sum + length, 0) / 1024;
  assert.ok(Math.abs(said - real) <= real / 50, `${said} KB, and it is ${real.toFixed(1)}`);
});
