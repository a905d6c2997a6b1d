// What renders while an answer streams into a long conversation: one row a frame, and nothing else.
import assert from "node:assert/strict";
import { test } from "node:test";
import { representative, tellRows } from "../rows.mjs";
import { FRAMEWORKS } from "./frameworks.mjs";
import { openApp, useApps } from "./world.mjs";

const EARLIER = 1000;
/** What streams, and how many rows and cards take turns in growing. */
const STORIES = {
  "a message of 100,000 deltas": { story: ["talk", 100_000, 100_000], count: 1 },
  "a sub-agent of 20 messages": { story: ["subAgentOf", 20, 2_000], count: 20 },
  "50 calls in one message": { story: ["calls", 50, 400], count: 50 },
};

const world = useApps();

/** In the page: streams a story into a conversation, and counts from its first delta to its last. */
async function stream({ earlier, story }) {
  const { mount, openChat, frames, counts, reset } = bindings;
  const chat = openChat({ earlier, story });
  const app = mount({ show: "Rows", chat });
  await chat.loaded;
  while (document.querySelectorAll("article").length < earlier) await frames();
  await frames();
  const before = chat.rows.get();
  chat.send("go");
  // Until the agent's message is shown.
  while (chat.rows.get().length < before.length + 2) await frames();
  await frames();
  reset();
  const began = chat.rows.get();
  let count = 0;
  let isOver = false;
  const frame = () => {
    count += 1;
    if (!isOver) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  while (chat.status.get().phase !== "idle") await frames();
  await frames();
  isOver = true;
  const shown = [...document.querySelectorAll("article")].at(-1).innerText;
  const said = chat.message(chat.rows.get().at(-1).key).get();
  const streaming = began.at(-1).key;
  app.unmount();
  return { counts: { ...counts }, frames: count, streaming, isSame: chat.rows.get() === began, shown, length: said.text.length };
}

const all = Object.keys(FRAMEWORKS).flatMap((name) => Object.entries(STORIES).map(([what, rest]) => ({ name, what, ...rest })));
const rows = representative(all, ({ what }) => [what]);

for (const { name, what, story, count: parts } of rows) {
  test(`${name}: ${what}, after ${EARLIER} messages`, async (context) => {
    const page = await openApp(world, name);
    const { counts, frames, streaming, isSame, shown, length } = await page.evaluate(stream, { earlier: EARLIER, story });
    const { [`row ${streaming}`]: row = 0, list = 0, app = 0, ...others } = counts;
    const total = (kind) => Object.entries(others).reduce((sum, [own, times]) => sum + (own.startsWith(kind) ? times : 0), 0);
    context.diagnostic(`${frames} frames: the row ${row} times, cards ${total("card")}, other rows ${total("row")}, threads ${total("thread")}`);
    assert.ok(isSame, "a row came or went");
    assert.deepEqual({ list, app }, { list: 0, app: 0 });
    assert.ok(frames > 40, `only ${frames} frames`);
    assert.ok(row <= frames, `the row rendered ${row} times in ${frames} frames`);
    const isOfTurn = (own) => own.includes(streaming.split("/")[0]) || own.startsWith("thread");
    assert.deepEqual(Object.keys(others).filter((own) => !isOfTurn(own)), [], "an earlier row rendered");
    if (parts === 1) {
      assert.deepEqual(others, {});
      assert.ok(row > 20, `the row rendered only ${row} times`);
      assert.equal(shown, String(length));
    } else {
      // Each once a frame while it grows, and again when it appears and when it is complete.
      for (const kind of ["card", "row"]) assert.ok(total(kind) <= frames + 3 * parts, `${kind}s rendered ${total(kind)} times in ${frames} frames`);
      assert.ok(total("thread") <= parts + 2, `threads rendered ${total("thread")} times`);
    }
    assert.deepEqual(page.failures, []);
    await page.context().close();
  });
}

tellRows(rows.length, all.length, "rows");
