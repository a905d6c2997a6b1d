// How React renders `turn.view`, in the production build of this app: transitions, tearing, strict mode, hidden tabs,
// and pages that a server has rendered.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { connect } from "turnwire";
import { useWorld } from "../../e2e/harness.mjs";
import { Answer } from "./readable.js";

const world = useWorld({ www: join(import.meta.dirname, "dist") });

/** A page that is ready to measure. */
async function open(prepare) {
  const page = await world.page("/?view", prepare);
  await page.waitForFunction(() => "view" in globalThis, null, { polling: 20, timeout: 60_000 });
  return page;
}

test("60 readers that a transition renders show one version, and new ones agree with the next frame", async () => {
  const page = await open();
  const { mounted, late } = await page.evaluate(() => view.tearing(view.client));
  assert.equal(mounted.most, 1);
  assert.ok(mounted.commits >= 2, `${mounted.commits} commits`);
  assert.equal(late, 1);
  assert.deepEqual(page.failures, []);
});

test("a transition of 200 ms takes no longer while a turn streams", async () => {
  const page = await open();
  const { rest, live } = await page.evaluate(() => view.transitions(view.client));
  assert.ok(rest.time >= 200, `${rest.time} ms at rest`);
  assert.ok(live.rendered > 2 * rest.rendered, `${live.rendered} renderings while it streams, ${rest.rendered} at rest`);
  assert.ok(live.time <= 1.3 * rest.time, `${live.time} ms while it streams, ${rest.time} at rest`);
  assert.deepEqual(page.failures, []);
});

test("in strict mode, 20 components leave a turn and return to it; no listener stays", async () => {
  const page = await open();
  const { during, away, back, same, after } = await page.evaluate(() => view.visits(view.client));
  assert.deepEqual([during, away, after], [20, 0, 0]);
  assert.equal(back, 1);
  assert.ok(same);
  assert.deepEqual(page.failures, []);
});

/** What a server renders of a turn that is not started. */
async function rendered() {
  const client = await connect({ baseUrl: `${world.url}/demo`, token: "any" });
  const turn = (await client.agents.createSession("support-bot")).createTurn("plain");
  const html = renderToString(createElement(Answer, { turn }));
  assert.equal(html, '<article data-status="unstarted"><h2>plain</h2></article>');
  return html;
}

test("a page that a server has rendered is taken over as it is, and streams", async () => {
  const html = await rendered();
  const page = await open();
  const { problems, kept, same, length } = await page.evaluate((text) => view.hydrate(view.client, text), html);
  assert.deepEqual([problems, kept, same], [[], true, true]);
  assert.ok(length > 20);
  assert.deepEqual(page.failures, []);
});

test("in a hidden tab, which has no frames, the whole text is shown", async () => {
  const html = await rendered();
  const page = await open((blank) =>
    blank.addInitScript(() => {
      globalThis.requestAnimationFrame = (task) => setTimeout(task, 1e6);
      Object.defineProperty(document, "hidden", { get: () => true });
      Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
    }),
  );
  const { same } = await page.evaluate((text) => view.hydrate(view.client, text), html);
  assert.ok(same);
});
