// A conversation in each framework: it is attached while it is shown, and its parts are read by the binding's names.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FRAMEWORKS } from "./frameworks.mjs";
import { openApp, useApps } from "./world.mjs";

const world = useApps();

for (const name of Object.keys(FRAMEWORKS)) {
  test(`${name}: a conversation is attached while it is shown`, async () => {
    const page = await openApp(world, name);
    const { seen, attached } = await page.evaluate(async () => {
      const { mount, makeConversation, frames, shown } = bindings;
      const [one, two] = [makeConversation("one"), makeConversation("two")];
      const app = mount({ conversation: one });
      await frames();
      const seen = [shown()[0]];
      const attached = [[one.attached, two.attached]];
      app.update({ conversation: two });
      await frames();
      seen.push(shown()[0]);
      attached.push([one.attached, two.attached]);
      two.rows.set("new rows");
      await frames();
      seen.push(shown()[0]);
      app.unmount();
      await frames();
      attached.push([one.attached, two.attached], [one.attachments, two.attachments], [one.listeners, two.listeners]);
      return { seen, attached };
    });
    assert.match(seen[0], /^one's rows/);
    assert.match(seen[1], /^two's rows/);
    assert.match(seen[2], /^new rows/);
    assert.deepEqual(attached, [[1, 0], [0, 1], [0, 0], [1, 1], [0, 0]]);
    assert.deepEqual(page.failures, []);
    await page.context().close();
  });
}

for (const name of Object.keys(FRAMEWORKS).filter((name) => name.startsWith("react"))) {
  test(`${name}: each name reads its part, and a message renders its row only`, async () => {
    const page = await openApp(world, name);
    const { shown, rows, after, counts } = await page.evaluate(async () => {
      const { mount, makeConversation, frames, shown, counts, reset } = bindings;
      const talk = makeConversation("talk");
      mount({ conversation: talk });
      await frames();
      const rows = () => [...document.querySelectorAll(".row")].map((row) => row.textContent);
      const before = { shown: shown(), rows: rows() };
      reset();
      for (let at = 1; at <= 50; at += 1) {
        talk.message("a").set(`text ${at}`);
        await frames();
      }
      return { ...before, after: rows(), counts: { ...counts } };
    });
    assert.deepEqual(shown, ["talk's rows, talk's status, talk's pending, talk's queue, talk's draft"]);
    assert.deepEqual(rows, ["a", "b"].map((key) => ["message", "call", "thread", "turn"].map((part) => `talk's ${part} ${key}`).join(", ")));
    assert.equal(after[0], "text 50, talk's call a, talk's thread a, talk's turn a");
    assert.equal(after[1], rows[1]);
    // Renderings that the compiler caches are not counted.
    assert.ok((counts["row a"] ?? 0) <= 50 && Object.keys(counts).every((counted) => counted === "row a"), JSON.stringify(counts));
    await page.context().close();
  });

  test(`${name}: in StrictMode, 20 components attach a conversation 20 times, and then release it`, async () => {
    const page = await openApp(world, name);
    const attached = await page.evaluate(async () => {
      const { mount, makeConversation, frames } = bindings;
      const talk = makeConversation("talk");
      const app = mount({ strict: true, conversation: talk, readers: 20 });
      await frames();
      const attached = [talk.attached];
      app.unmount();
      await frames();
      return [...attached, talk.attached, talk.listeners];
    });
    assert.deepEqual(attached, [20, 0, 0]);
    assert.deepEqual(page.failures, []);
    await page.context().close();
  });
}
