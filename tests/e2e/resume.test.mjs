// The demo page when its connection is cut, the page is loaded again, or the conversation goes on in another tab.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, chooseSettings, cutButton, ended, grown, HELD, PACE, release, say, unexpected, WWW } from "./demo-page.mjs";
import { useWorld } from "./harness.mjs";

const world = useWorld({ www: WWW });

const paced = (page) => page.setExtraHTTPHeaders(PACE);
const held = (page) => page.setExtraHTTPHeaders(HELD);

function sessionOf(page) {
  return page.evaluate(() => decodeURIComponent(location.hash.replace("#/session/", "")));
}

/** Calls an endpoint of the gateway that is not part of the protocol. */
async function gateway(path, init) {
  const response = await fetch(`${world.url}/_gateway/${path}`, init);
  assert.ok(response.ok, `${path}: ${response.status}`);
  return response.headers.get("content-type") === "text/event-stream" ? response.text() : response.json();
}

/** The look of an answer that comes in one piece. */
async function uncut(message) {
  const page = await world.page("/", (page) => page.setExtraHTTPHeaders({ "x-turnwire-delay-ms": "0" }));
  await say(page, message);
  const text = await answer(page);
  await page.context().close();
  return text;
}

const showEvents = (page) => page.getByRole("button", { name: "Events", exact: true }).click();

/** All rows of the events panel, oldest first: numbers of events, and topics of what happened between them. */
async function rows(page) {
  return page.evaluate(async () => {
    const list = document.querySelector(".events-list");
    const found = new Map();
    // The list has only the rows in view, a frame or more after a scroll.
    const isDrawn = () => {
      const { top, bottom } = list.getBoundingClientRect();
      const places = [...list.querySelectorAll("[data-position]")].map((row) => row.getBoundingClientRect());
      const isTop = list.scrollTop < 1 || Math.min(...places.map((place) => place.top)) <= top + 1;
      const isEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 1;
      return isTop && (isEnd || Math.max(...places.map((place) => place.bottom)) >= bottom - 1);
    };
    for (let top = 0; ; top += list.clientHeight) {
      list.scrollTop = top;
      list.dispatchEvent(new WheelEvent("wheel", { deltaY: -1 }));
      const began = performance.now();
      do await new Promise((resolve) => setTimeout(resolve, 60));
      while (!isDrawn() && performance.now() - began < 5000);
      for (const row of list.querySelectorAll("[data-position]")) {
        const number = row.querySelector(".event-number").textContent;
        found.set(Number(row.dataset.position), row.dataset.mark ?? Number(number));
      }
      if (top + list.clientHeight >= list.scrollHeight) break;
    }
    return [...found].sort(([one], [other]) => one - other).map(([, row]) => row);
  });
}

/** The numbers of all events that the gateway has for the newest turn of a session. */
async function recorded(sessionId) {
  const response = await fetch(`${world.url}/demo/v1/agents/sessions/${sessionId}/turns?limit=1`);
  const [turn] = (await response.json()).data;
  const log = await gateway(`turns/${turn.id}/log`);
  return [...log.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
}

const MARKS = ["reconnecting", "resumed", "gap", "idle"];

test("an answer that is cut three times is the same as an uncut one, and screen readers announce no cut", async () => {
  const wanted = await uncut("long 1000");
  const page = await world.page("/", paced);
  await showEvents(page);
  await page.getByRole("checkbox", { name: "Deltas" }).uncheck();
  await page.evaluate(() => {
    globalThis.said = [];
    const status = document.querySelector("[role=status]");
    const note = () => status.innerText !== said.at(-1) && said.push(status.innerText);
    new MutationObserver(note).observe(status, { characterData: true, childList: true, subtree: true });
  });
  await say(page, "long 1000");
  for (let cut = 1; cut <= 3; cut += 1) {
    await page.waitForTimeout(300);
    await cutButton(page).click();
    await page.waitForFunction((count) => document.querySelectorAll("[data-mark=resumed]").length === count, cut);
    assert.match(await page.locator(".connection.resumed").innerText(), /^Resumed after event \d+, nothing lost$/);
  }
  assert.equal(await answer(page), wanted);
  assert.equal(await cutButton(page).count(), 0, "there is nothing to cut any more");

  await page.getByRole("checkbox", { name: "Deltas" }).check();
  const seen = await rows(page);
  const numbers = seen.filter((row) => !MARKS.includes(row));
  assert.deepEqual(numbers, await recorded(await sessionOf(page)), "each event once, in order");
  const marks = seen.filter((row) => MARKS.includes(row));
  assert.deepEqual(marks.filter((mark) => mark !== "reconnecting"), ["resumed", "resumed", "resumed"]);
  assert.ok(marks.filter((mark) => mark === "reconnecting").length >= 3);
  await page.getByText("resumed 3 times").waitFor();

  const said = await page.evaluate(() => globalThis.said);
  assert.deepEqual(said, ["The agent is answering.", "The answer is complete."]);
  assert.deepEqual(unexpected(page), []);
});

test("a turn goes on after a reload, and can be cut again", async () => {
  const wanted = await uncut("long 500");
  const page = await world.page("/", held);
  await say(page, "long 500");
  await grown(page, 200);
  await page.reload();
  await cutButton(page).waitFor();
  await showEvents(page);
  await grown(page, 200);
  await cutButton(page).click();
  await page.getByText(/^Resumed after event/).waitFor();
  await release(world);
  assert.equal(await answer(page), wanted);
  const seen = await rows(page);
  assert.deepEqual(seen.filter((row) => !MARKS.includes(row)), await recorded(await sessionOf(page)));
  assert.equal(seen.filter((row) => row === "resumed").length, 1);
  assert.equal(await page.getByRole("button", { name: "Continue from here" }).count(), 0);
  assert.deepEqual(unexpected(page), []);
});

test("by keyboard: the button can be reached, and the focus returns to the message field", async () => {
  const page = await world.page("/", held);
  await say(page, "long 300");
  await cutButton(page).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Cut the connection");
  await page.keyboard.press("Enter");
  await page.getByText(/^Resumed after event/).waitFor();
  await release(world);
  await ended(page);
  await page.getByText("resumed once").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Message");
});

test("events that the server has lost are listed, and the text is whole in the end", async () => {
  const wanted = await uncut("long 200");
  const page = await world.page("/", paced);
  await say(page, "plain");
  await ended(page);
  const faults = [{ on: "stream", fault: "hole:40:7", times: 0 }];
  const headers = { "content-type": "application/json" };
  await gateway(`sessions/${await sessionOf(page)}/faults`, { method: "PUT", headers, body: JSON.stringify(faults) });
  await say(page, "long 200");
  await page.getByText("Lost on the way: events 40 to 46.").waitFor();
  await page.getByRole("button", { name: "Copy answer" }).nth(1).waitFor({ timeout: 30_000 });
  assert.equal(await answer(page), wanted);
});

test("a conversation that is left is no longer read, and its turn goes on", async () => {
  const page = await world.page("/", held);
  await say(page, "long 500");
  await grown(page, 100);
  const session = await sessionOf(page);
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.getByText("Call tools").waitFor();
  for (let tries = 0; (await gateway("streams")).open > 0; tries += 1) {
    assert.ok(tries < 20, "its stream is still open");
    await page.waitForTimeout(50);
  }
  await release(world);
  await page.goBack();
  await ended(page);
  assert.ok((await recorded(session)).length > 500);
  assert.deepEqual(unexpected(page), []);
});

test("a turn that another tab sends appears by itself, and an answer given there counts here", async () => {
  const page = await world.page();
  await say(page, "approval");
  await page.getByRole("button", { name: "Allow" }).waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole("button", { name: "Allow" }).click();
  await other.getByText("is running again").waitFor();
  await page.getByText("is running again").waitFor();
  assert.equal(await page.getByRole("button", { name: "Allow" }).count(), 0);
  await page.getByRole("button", { name: "Send" }).waitFor();
  await say(page, "plain");
  await page.getByText("not a word is lost").waitFor();
  await other.getByText("not a word is lost").waitFor();
  assert.deepEqual(page.failures, []);
});

test("a gateway on another origin has no such button, and gets no request", async () => {
  const asked = [];
  const page = await world.page("/", async (page) => {
    page.on("request", (request) => asked.push(request.url()));
    // Another origin, though the same gateway.
    const baseUrl = `${world.url.replace("127.0.0.1", "localhost")}/demo`;
    const settings = JSON.stringify({ baseUrl, protocol: "truefoundry", agentName: "support-bot" });
    await page.addInitScript(chooseSettings, settings);
  });
  await say(page, "plain");
  await page.getByRole("button", { name: "Stop" }).waitFor();
  assert.equal(await cutButton(page).count(), 0);
  await ended(page);
  assert.deepEqual(asked.filter((url) => url.includes("/_gateway/")), []);
  assert.deepEqual(page.failures, []);
});

test("the button and the text fit a phone, in light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await world.page("/", async (page) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.emulateMedia({ colorScheme });
      await held(page);
    });
    await say(page, "long 400");
    await cutButton(page).click();
    const news = page.getByText(/^Resumed after event/);
    await news.waitFor();
    const { left, right } = await news.evaluate((element) => element.getBoundingClientRect());
    assert.ok(left >= 0 && right <= 390, `the words stand at ${left} to ${right}`);
    const isCut = await news.evaluate((element) => element.scrollWidth > element.clientWidth);
    assert.ok(!isCut, "the words are cut short");
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide in ${colorScheme}`);
    await page.context().close();
  }
});
