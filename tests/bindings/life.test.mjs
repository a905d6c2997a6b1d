// The life of a conversation in a React page: many components at once, unmounted and shown again while an answer streams.
import assert from "node:assert/strict";
import { test } from "node:test";
import { IS_QUICK } from "../rows.mjs";
import { FRAMEWORKS } from "./frameworks.mjs";
import { openApp, useApps } from "./world.mjs";

const REACTS = Object.keys(FRAMEWORKS).filter((name) => name.startsWith("react"));

const world = useApps();

for (const name of REACTS) {
  test(`${name}: in StrictMode, 20 components read the history once and one stream, and leave nothing`, async () => {
    const page = await openApp(world, name);
    const seen = await page.evaluate(async () => {
      const { mount, openRunning, frames } = bindings;
      const { chat, requests, listeners } = await openRunning("long 200");
      const app = mount({ show: "Crowd", strict: true, chat, readers: 20 });
      while (document.querySelectorAll("article").length < 40) await frames();
      await frames();
      const mounted = { listeners: listeners(), shown: document.querySelectorAll("article").length };
      while (chat.status.get().phase !== "idle") await frames();
      app.unmount();
      await frames();
      return { requests, mounted, listeners: listeners() };
    });
    const of = (pattern) => seen.requests.filter((request) => pattern.test(request));
    assert.deepEqual(of(/^GET S$/).length, 1, String(seen.requests));
    assert.deepEqual(of(/^GET S\/turns$/).length, 1, String(seen.requests));
    assert.deepEqual(of(/subscribe/), ["POST S/turns/T/subscribe"]);
    assert.deepEqual(of(/cancel/), []);
    // Each component has the list, and a listener for each of two rows.
    assert.deepEqual(seen.mounted, { listeners: 60, shown: 40 });
    assert.equal(seen.listeners, 0);
    assert.deepEqual(page.failures, []);
    await page.context().close();
  });

  // React 18 has no Activity.
  const ways = name === "react-18" ? ["unmounted"] : ["hidden", "unmounted"].slice(0, IS_QUICK ? 1 : 2);
  for (const way of ways) {
    test(`${name}: a chat that is ${way} while an answer streams is shown at once when it returns`, async () => {
      const page = await openApp(world, name);
      const seen = await page.evaluate(async (way) => {
        const { mount, openRunning, frames } = bindings;
        const { chat, requests, listeners, whole } = await openRunning("long 400");
        let app = mount({ show: "Tab", chat, mode: "visible" });
        const length = () => Number([...document.querySelectorAll("article")].at(-1)?.innerText ?? 0);
        while (length() < 100) await frames();
        const before = length();
        if (way === "hidden") app.update({ mode: "hidden" });
        else app.unmount();
        await frames();
        const away = { listeners: listeners(), shown: [...document.querySelectorAll("article")].some((row) => row.getClientRects().length > 0) };
        const said = () => chat.message(chat.rows.get().at(-1).key).get().text.length;
        for (const seen = said(); said() < seen + 200; ) await frames();
        const { phase } = chat.status.get();
        const meanwhile = said();
        if (way === "hidden") app.update({ mode: "visible" });
        else app = mount({ show: "Tab", chat, mode: "visible" });
        await frames();
        const back = length();
        while (chat.status.get().phase !== "idle") await frames();
        await frames();
        const text = chat.messages.get().at(-1).text;
        const roles = chat.rows.get().map(({ role }) => role);
        return { before, away, phase, meanwhile, back, end: length(), isWhole: text === (await whole()), length: text.length, roles, requests };
      }, way);
      assert.deepEqual(seen.away, { listeners: 0, shown: false });
      assert.equal(seen.phase, "answering");
      assert.ok(seen.meanwhile > seen.before && seen.back >= seen.meanwhile, JSON.stringify(seen));
      assert.deepEqual([seen.isWhole, seen.end, seen.roles], [true, seen.length, ["user", "assistant"]]);
      assert.equal(seen.requests.filter((request) => request.includes("subscribe")).length, 1);
      assert.deepEqual(page.failures, []);
      await page.context().close();
    });
  }
}

// React 18 has no `use`.
for (const name of REACTS.filter((react) => react !== "react-18")) {
  test(`${name}: a component that suspends until the turns are read notifies no others while it renders`, async () => {
    const page = await openApp(world, name);
    const seen = await page.evaluate(async () => {
      const { mount, openRunning, frames } = bindings;
      const { chat } = await openRunning("long 200");
      const told = [];
      let waits;
      // On a busy machine the turns are there before the next frame.
      const observer = new MutationObserver(() => (waits ??= document.querySelector(".fallback")?.textContent));
      observer.observe(document.body, { childList: true, subtree: true });
      const app = mount({ show: "Loading", chat, told });
      while (document.querySelectorAll("article").length < 2) await frames();
      app.unmount();
      return { waits, told };
    });
    assert.deepEqual(seen, { waits: "wait", told: [] });
    assert.deepEqual(page.failures, []);
    await page.context().close();
  });
}
