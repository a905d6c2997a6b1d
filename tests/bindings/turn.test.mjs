// The guide's component in each framework, with a turn that streams from the gateway: its text is complete, and no listener stays
// when it is unmounted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FRAMEWORKS } from "./frameworks.mjs";
import { openApp, useApps } from "./world.mjs";

const world = useApps();

for (const name of Object.keys(FRAMEWORKS)) {
  test(`${name}: a turn is shown while it streams, and at its end`, async () => {
    const page = await openApp(world, name);
    const { texts, shown, whole, status, unsubscribed } = await page.evaluate(async () => {
      const client = await bindings.connect({ baseUrl: `${location.origin}/demo`, headers: { "x-turnwire-delay-ms": "1" } });
      const session = await client.agents.createSession("support-bot");
      const turn = session.createTurn({ input: "long 300" });
      const { view } = turn;
      let listeners = 0;
      const subscribe = (listener) => {
        listeners += 1;
        const unsubscribe = view.subscribe(listener);
        return () => {
          listeners -= 1;
          unsubscribe();
        };
      };
      Object.defineProperty(turn, "view", { value: { get: view.get, subscribe } });
      const app = bindings.mount({ turn });
      const text = () => document.querySelector("article")?.innerText ?? "";
      const status = () => document.querySelector("article")?.dataset.status;
      const texts = new Set();
      for (const end = performance.now() + 20_000; status() !== "done" && performance.now() < end; ) {
        await new Promise(requestAnimationFrame);
        texts.add(text());
      }
      const shown = text();
      const last = status();
      app.unmount();
      await bindings.frames();
      const whole = turn.snapshot().threads[0].messages.map(({ content }) => content).join("\n");
      return { texts: texts.size, shown, whole, status: last, unsubscribed: listeners };
    });
    assert.equal(status, "done");
    const words = (text) => text.replaceAll(/\s+/g, " ").trim();
    assert.ok(words(whole).length > 1000, whole);
    assert.equal(words(shown), words(whole));
    assert.ok(texts > 2, `${texts} texts were shown`);
    assert.equal(unsubscribed, 0);
    assert.deepEqual(page.failures, []);
    await page.context().close();
  });
}
