// Conversations in real tabs: one runs the page's tools, by the browser's own locks; drafts and queues survive a reload in the
// tab's own storage; a tab in the background is complete when it is shown.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NOT_WEBKIT, useWorld } from "./harness.mjs";

const world = useWorld();

/** Makes a registry in a tab: `chats`, `ran` counts its tools' runs, `chat` is the conversation of `id`. */
const open = (page, id, delay = "1") =>
  page.evaluate(async ([sessionId, delayMs]) => {
    const { Conversations } = await import("/dist/conversation.js");
    const client = turnwire.connect({ baseUrl: `${location.origin}/demo`, headers: { "x-turnwire-delay-ms": delayMs } });
    globalThis.ran = [];
    const run = (name) => async (input) => (globalThis.ran.push(name), JSON.stringify(input));
    const tools = { clock: { description: "The time", run: run("clock") }, calculator: { description: "Calculates", run: run("calculator") } };
    globalThis.chats = new Conversations({ client, agentName: "support-bot", tools });
    globalThis.chat = sessionId ? chats.open(sessionId) : chats.create();
    chat.attach();
    await chat.loaded;
    globalThis.texts = () => chat.messages.get().map(({ text }) => text);
  }, [id, delay]);
const phase = (page, name) => page.waitForFunction((wanted) => chat.status.get().phase === wanted, name, { polling: 20 });
const idOf = async (page) => {
  await page.waitForFunction(() => chat.info.get().sessionId !== null, null, { polling: 20 });
  return page.evaluate(() => chat.info.get().sessionId);
};
const says = (page, words) => page.waitForFunction((wanted) => texts().some((text) => text.includes(wanted)), words, { polling: 20 });

test("of two tabs one runs the page's tools; when it is closed, the other does", NOT_WEBKIT, async () => {
  const first = await world.page();
  await open(first);
  await first.evaluate(() => void chat.send("page"));
  await says(first, "six times seven");
  await phase(first, "idle");
  assert.deepEqual((await first.evaluate(() => ran)).sort(), ["calculator", "clock"]);
  const id = await idOf(first);
  const second = await first.context().newPage();
  await second.goto(world.url);
  await second.waitForFunction(() => "turnwire" in globalThis);
  await open(second, id);
  const answered = (page, times) => page.waitForFunction((wanted) => texts().filter((text) => text.includes("six times seven")).length === wanted, times, { polling: 20 });
  // Each tab is notified of the other's turns.
  await second.evaluate(() => void chat.send("page again"));
  for (const tab of [first, second]) await answered(tab, 2);
  assert.deepEqual(await second.evaluate(() => ran), [], "the second tab runs none while the first is there");
  assert.deepEqual((await first.evaluate(() => ran)).sort(), ["calculator", "calculator", "clock", "clock"], "each call runs once");
  await first.evaluate(() => chats.close());
  await phase(second, "idle");
  await second.evaluate(() => void chat.send("page once more"));
  await answered(second, 3);
  assert.deepEqual((await second.evaluate(() => ran)).sort(), ["calculator", "clock"]);
  assert.deepEqual(first.failures, []);
  await first.context().close();
});

test("a reload in the middle of a turn: the turn, the queue, the draft and the answers are there", NOT_WEBKIT, async () => {
  const page = await world.page();
  await open(page, undefined, "60");
  await page.evaluate(() => {
    chat.send("slow");
    chat.send("approval");
    chat.setDraft({ text: "and then", parts: [] });
  });
  await page.waitForFunction(() => (texts()[1] ?? "").length > 10, null, { polling: 20 });
  const id = await idOf(page);
  await page.reload();
  await page.waitForFunction(() => "turnwire" in globalThis);
  await open(page, id);
  assert.deepEqual(await page.evaluate(() => [chat.draft.get().text, chat.queue.get().map(({ state }) => state)]), ["and then", ["held"]]);
  await phase(page, "answering");
  await page.evaluate(() => chat.stop());
  await phase(page, "idle");
  await page.evaluate(() => chat.queue.hold(false));
  await phase(page, "waiting");
  await page.evaluate(() => chat.pending.get().forEach(({ key }) => chat.answer(key, { kind: "allow" })));
  await phase(page, "idle");
  assert.deepEqual(await page.evaluate(() => chat.messages.get().filter(({ role }) => role === "user").map(({ text }) => text)), ["slow", "approval"]);
  assert.deepEqual(page.failures, []);
  await page.context().close();
});

test("while a long answer streams, only its row is notified, at most once a frame", async () => {
  const page = await world.page();
  await open(page);
  for (let turn = 0; turn < 3; turn += 1) {
    await page.evaluate(() => void chat.send("plain"));
    await page.waitForFunction((count) => chat.rows.get().length === count && chat.status.get().phase === "idle", (turn + 1) * 2, { polling: 20 });
  }
  const told = await page.evaluate(async () => {
    const told = { earlier: 0, list: 0, row: 0, frames: 0 };
    for (const { key } of chat.rows.get()) chat.message(key).subscribe(() => (told.earlier += 1));
    chat.send("long 4000");
    while (chat.rows.get().length < 8) await new Promise(requestAnimationFrame);
    const { key } = chat.rows.get()[7];
    chat.rows.subscribe(() => (told.list += 1));
    chat.message(key).subscribe(() => (told.row += 1));
    while (chat.status.get().phase !== "idle") {
      await new Promise(requestAnimationFrame);
      told.frames += 1;
    }
    return told;
  });
  assert.deepEqual([told.earlier, told.list], [0, 0]);
  // The end of a turn is announced when it arrives.
  assert.ok(told.row > 1 && told.row <= told.frames + 2, JSON.stringify(told));
  assert.deepEqual(page.failures, []);
  await page.context().close();
});
