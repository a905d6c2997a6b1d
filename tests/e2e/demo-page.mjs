// What tests often do with the demo page, over any protocol.
import assert from "node:assert/strict";
import { join } from "node:path";

/** The folder of the built page. */
export const WWW = join(import.meta.dirname, "..", "..", "www", "dist");

/** At this pace a turn of some hundred events lasts some seconds. */
export const PACE = { "x-turnwire-delay-ms": "5" };

/** A turn stands still after its first events, so that something can happen in its middle on slow machines too. */
export const HELD = { "x-turnwire-delay-ms": "0", "x-turnwire-hold": "150" };

/** Releases held turns. */
export async function release(world) {
  const { status } = await fetch(`${world.url}/_gateway/release`, { method: "POST" });
  assert.equal(status, 204);
}

const opened = [];

/** Closes all that was opened: pages that still stream cost the tests after them time. */
export const closeDemos = () => Promise.all(opened.splice(0).map((page) => page.context().close()));

/** Opens the page as in a browser in which this protocol was selected before. `headers` are for sockets, too. */
export async function openDemo(world, { protocol, agentName, headers, prepare = () => {} } = {}) {
  const page = await world.page("/", async (page) => {
    page.setDefaultTimeout(15_000);
    if (protocol) {
      const settings = JSON.stringify({ protocol, ...(agentName && { agentName }) });
      await page.addInitScript(chooseSettings, settings);
    }
    if (headers) {
      await page.setExtraHTTPHeaders(headers);
      // Browsers send none with a WebSocket: the gateway reads the same from its address.
      await page.addInitScript((headers) => {
        const names = Object.entries(headers).map(([name, value]) => [name.replace("x-turnwire-", "").replaceAll("-", "_"), value]);
        const Platform = globalThis.WebSocket;
        globalThis.WebSocket = class extends Platform {
          constructor(address) {
            const url = new URL(address);
            for (const [name, value] of names) url.searchParams.set(name, value);
            super(url.href);
          }
        };
      }, headers);
    }
    await prepare(page);
  });
  opened.push(page);
  return page;
}

/** Runs in the page before its own scripts, and in Firefox in the blank page before, too, which has no storage. */
export function chooseSettings(value) {
  try {
    localStorage.setItem("turnwire.settings", value);
  } catch {}
}

export async function say(page, text) {
  const field = page.getByRole("textbox").first();
  await type(field, text);
  await field.press("Enter");
}

/** Types a text in place of another, key by key: in Firefox React does not notice a text that is set at once. */
export async function type(field, text) {
  await field.fill("");
  await field.pressSequentially(text);
}

export const cutButton = (page) => page.getByRole("button", { name: "Cut the connection" });

/** Waits until the newest answer is complete. */
export const ended = (page) => page.getByRole("button", { name: "Copy answer" }).last().waitFor({ timeout: 30_000 });

/** Waits until the page shows this much of an answer. */
export const grown = (page, length) =>
  page.waitForFunction((least) => document.querySelector(".message")?.innerText.length > least, length);

/** The conversation's messages, as they are now. */
export const transcript = (page) => page.getByRole("log").innerText();

/** The newest answer, once it has stopped growing: the page draws long texts over some frames. */
export async function answer(page) {
  await ended(page);
  const read = () => page.evaluate(() => [...document.querySelectorAll(".message")].at(-1).innerText);
  let text = await read();
  for (let before = ""; before !== text; text = await read()) {
    before = text;
    await page.waitForTimeout(300);
  }
  return text;
}

/** The browser's own messages about a cut connection are no failures of the page. */
export function unexpected(page) {
  const said = /net::ERR_(CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING)|^The connection to wss?:.* was interrupted/;
  return page.failures.filter((failure) => !said.test(failure));
}
