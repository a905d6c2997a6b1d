// A page of `useChat` on `turnwire/ai`, with the gateway's scripted agents: the same page as on its own transport.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ASKING, BRANCHED, button, CALLING, close, lastAnswer, openThread, PROTOCOLS, questions, RESUMED, roles, type, write } from "./adapters.mjs";
import { useApps } from "./world.mjs";

const world = useApps();

/** Opens the page; `about` is its address' query. */
async function open(about = {}) {
  const page = await openThread(world, "ai", about);
  await status(page, "ready");
  return page;
}
const status = (page, name) => page.waitForSelector(`main[data-status=${name}]`);
async function say(page, text) {
  await write(page, text);
  await page.waitForFunction((said) => [...document.querySelectorAll("[data-role=user] .text")].at(-1)?.innerText === said, text);
}
/** Says something, and waits for the end of the answer. */
async function ask(page, text) {
  const count = await page.locator("[data-role=assistant]").count();
  await say(page, text);
  await page.waitForFunction((more) => document.querySelectorAll("[data-role=assistant]").length > more, count);
  await status(page, "ready");
}
const states = (page) => page.$$eval(".call", (calls) => calls.map((call) => call.dataset.state));

describe("useChat", { concurrency: 4 }, () => {
  test("the page works on a transport of its own", async () => {
    const page = await open({ own: "" });
    await ask(page, "hello");
    assert.match(await lastAnswer(page).innerText(), /You said: hello/);
    await close(page);
  });

  test("the guide's page streams, and goes on after a reload", async () => {
    const page = await world.page("/ai/index.html?guide");
    await status(page, "ready");
    await type(page.getByLabel("Message"), "slow");
    await page.getByLabel("Message").press("Enter");
    await page.waitForSelector("[data-role=assistant] p");
    await page.reload();
    await page.waitForSelector("[data-role=assistant] p");
    await button(page, "Stop").click();
    await status(page, "ready");
    await close(page);
  });

  for (const protocol of PROTOCOLS) {
    test(`${protocol}: answers stream, with reasoning and results of tools`, async () => {
      const page = await open({ protocol, id: "one" });
      await ask(page, "plain");
      assert.match(await lastAnswer(page).innerText(), /not a word is lost/);
      // With AAP they were not allowed to run.
      if (protocol !== "aap") {
        await ask(page, "tools");
        assert.ok((await states(page)).length > 0);
        assert.deepEqual([...new Set(await states(page))], ["output-available"]);
      }
      await ask(page, "reasoning");
      assert.notEqual(await page.locator(".reasoning").last().innerText(), "");
      assert.deepEqual(await roles(page), Array(protocol === "aap" ? 2 : 3).fill(["user", "assistant"]).flat());
      assert.deepEqual([...new Set(await page.$$eval(".text[data-state]", (all) => all.map(({ dataset }) => dataset.state)))], ["done"]);
      await close(page);
    });
  }

  test("a long answer streams whole, a chunk a frame at most", async () => {
    const page = await open({ delay: "0" });
    await ask(page, "long 20000");
    const { shown, whole } = await page.evaluate(() => ({
      shown: chat.messages.at(-1).parts.filter(({ type }) => type === "text").map(({ text }) => text).join(""),
      whole: conversationOf(chat.id).messages.get().at(-1).text,
    }));
    assert.ok(whole.length > 50_000, `${whole.length}`);
    assert.equal(shown, whole);
    await close(page);
  });

  for (const protocol of CALLING) {
    test(`${protocol}: calls are allowed and denied, and questions answered`, async () => {
      const page = await open({ protocol });
      await ask(page, "approval");
      assert.deepEqual(await states(page), ["approval-requested"]);
      await button(page, "Allow").click();
      await page.waitForSelector(".call[data-state=output-available]");
      await status(page, "ready");
      const allowed = await lastAnswer(page).innerText();
      assert.deepEqual(await roles(page), ["user", "assistant"]);

      await ask(page, "approval");
      await button(page, "Deny").click();
      // It has no text if the server has sent no result.
      await page.waitForSelector(".call[data-state=output-denied]", { state: "attached" });
      await status(page, "ready");
      assert.notEqual(await lastAnswer(page).innerText(), allowed);

      if (!ASKING.includes(protocol)) return close(page);
      await ask(page, "question");
      await button(page, "Answer").click();
      await page.waitForFunction(() => [...document.querySelectorAll("[data-role=assistant] .text")].at(-1).innerText.includes("the second one"));
      await status(page, "ready");
      const all = await states(page);
      assert.deepEqual([...all.slice(0, 2), all.at(-1)], ["output-available", "output-denied", "output-available"]);
      // A question without a call comes after the calls.
      assert.equal(all.length, protocol === "ag-ui" ? 4 : 3);
      await close(page);
    });
  }

  test("ag-ui: a question that is repeated with the same id is answered again", async () => {
    const page = await open({ protocol: "ag-ui" });
    const posted = [];
    await page.route("**/ag-ui", (route) => {
      posted.push(route.request().postDataJSON());
      const id = `m${posted.length}`;
      const outcome = posted.length < 3 ? { type: "interrupt", interrupts: [{ id: "which", reason: "input_required", message: "Which?" }] } : { type: "success" };
      const frames = [{ type: "RUN_STARTED" }, { type: "TEXT_MESSAGE_START", messageId: id }, { type: "TEXT_MESSAGE_CONTENT", messageId: id, delta: `Run ${posted.length}` }, { type: "TEXT_MESSAGE_END", messageId: id }, { type: "RUN_FINISHED", outcome }];
      return route.fulfill({ contentType: "text/event-stream", body: frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("") });
    });
    await say(page, "hello");
    for (const asks of [1, 2]) {
      await button(page, "Answer").click();
      await page.getByText(`Run ${asks + 1}`).waitFor();
      assert.deepEqual(posted.map(({ resume }) => resume?.map(({ interruptId, payload }) => [interruptId, payload])), [undefined, ...Array(asks).fill([["which", "the second one"]])]);
    }
    await status(page, "ready");
    assert.deepEqual(await states(page), ["output-available", "output-available"]);
    await close(page);
  });

  for (const protocol of PROTOCOLS) {
    test(`${protocol}: stop cancels the turn, and the next message is sent`, async () => {
      const page = await open({ protocol });
      await say(page, "slow");
      await page.waitForSelector("[data-role=assistant] .text");
      await button(page, "Stop").click();
      await status(page, "ready");
      await page.waitForFunction(() => conversationOf(chat.id).status.get().phase === "idle");
      assert.equal(await page.evaluate(() => conversationOf(chat.id).turn(conversationOf(chat.id).turns.get()[0]).get().snapshot.status), "cancelled");
      await ask(page, "plain");
      assert.match(await lastAnswer(page).innerText(), /not a word is lost/);
      await close(page);
    });
  }

  for (const protocol of RESUMED) {
    test(`${protocol}: a turn goes on after a reload in the middle, and one that waits for an approval can be answered`, async () => {
      const page = await open({ protocol, id: "one" });
      await ask(page, "plain");
      await say(page, "slow");
      await page.waitForSelector("article:nth-of-type(4) .text");
      const before = (await lastAnswer(page).innerText()).length;
      const ids = await page.$$eval("article", (all) => all.map(({ dataset }) => dataset.id));
      await page.reload();
      await status(page, "streaming");
      await page.waitForFunction((length) => [...document.querySelectorAll("[data-role=assistant]")].at(-1).innerText.length > length, before);
      assert.deepEqual(await roles(page), ["user", "assistant", "user", "assistant"]);
      assert.deepEqual((await page.$$eval("[data-role=assistant]", (all) => all.map(({ dataset }) => dataset.id))), [ids[1], ids[3]]);
      await button(page, "Stop").click();
      await status(page, "ready");
      await ask(page, "approval");
      await page.reload();
      await button(page, "Allow").click();
      await page.waitForSelector(".call[data-state=output-available]");
      await status(page, "ready");
      assert.equal((await roles(page)).filter((role) => role === "user").length, 3);
      await page.reload();
      await page.waitForSelector(".call[data-state=output-available]");
      await close(page);
    });
  }

  test("a page that resumes twice does not stop the turn", async () => {
    const page = await open({ id: "one" });
    await say(page, "slow");
    await page.waitForSelector("[data-role=assistant] .text");
    await page.reload();
    await status(page, "streaming");
    await page.evaluate(() => void chat.resumeStream());
    const length = (await lastAnswer(page).innerText()).length;
    await page.waitForFunction((least) => [...document.querySelectorAll("[data-role=assistant]")].at(-1).innerText.length > least + 10, length);
    assert.deepEqual(await roles(page), ["user", "assistant"]);
    await button(page, "Stop").click();
    await status(page, "ready");
    await page.waitForFunction(() => conversationOf().status.get().phase === "idle");
    await close(page);
  });

  test("tools of the page run, and their results are part of the answer", async () => {
    const page = await open({ tools: "", id: "one" });
    await ask(page, "page");
    for (const when of ["at once", "after a reload"]) {
      assert.deepEqual(await states(page), ["output-available", "output-available"], when);
      assert.match(await lastAnswer(page).innerText(), /42/, when);
      assert.deepEqual(await roles(page), ["user", "assistant"], when);
      await page.reload();
      await page.waitForSelector(".call");
    }
    await close(page);
  });

  test("a page that leaves during an answer finds it on return", async () => {
    const page = await open({ id: "one", leave: "" });
    await say(page, "slow");
    await page.waitForSelector("[data-role=assistant] .text");
    await page.evaluate(() => show(false));
    await page.waitForFunction(() => !document.querySelector("main"));
    await page.evaluate(() => show(true));
    await status(page, "streaming");
    const length = (await lastAnswer(page).innerText()).length;
    await page.waitForFunction((least) => [...document.querySelectorAll("[data-role=assistant]")].at(-1).innerText.length > least, length);
    await page.evaluate(() => transport.cancel("one"));
    await status(page, "ready");
    await close(page);
  });

  test("a page that makes its transport in each render regenerates in place, also after a stop", async () => {
    const page = await open({ remade: "", id: "one" });
    await ask(page, "hello");
    await page.evaluate(() => render());
    await button(page, "Edit").click();
    await page.getByText("not a word is lost").waitFor();
    await status(page, "ready");
    const turns = () => page.evaluate(() => conversationOf().messages.get().filter(({ role }) => role === "user").map(({ text }) => text));
    assert.deepEqual(await turns(), ["plain"]);

    await say(page, "slow");
    await page.waitForFunction(() => chat.messages.at(-1).role === "assistant");
    await page.evaluate(() => render());
    await button(page, "Stop").click();
    await ask(page, "hello");
    assert.deepEqual(await turns(), ["plain", "slow", "hello"]);
    await close(page);
  });

  test("two chats of one page stream at once, each its own answer, also where a conversation that is not shown is left", async () => {
    const wanted = {};
    for (const [name, words] of [["left", "long 300"], ["right", "long 500"]]) {
      const alone = await open({ delay: "0" });
      await ask(alone, words);
      wanted[name] = { words, answer: await lastAnswer(alone).innerText() };
      await close(alone);
    }
    const page = await world.page("/ai/index.html?beside&unseen=leave&delay=40");
    const chats = Object.entries(wanted).map(([name, expected]) => ({ ...expected, chat: page.getByRole("region", { name }) }));
    for (const { chat, words } of chats) {
      const field = chat.getByLabel("Message");
      await field.waitFor();
      await type(field, words);
      await field.press("Enter");
      await chat.locator("[data-role=assistant] .text").waitFor();
    }
    for (const { chat, words, answer } of chats) {
      await chat.locator("main[data-status=ready]").waitFor();
      assert.deepEqual(await chat.locator("[data-role=user] .text").allInnerTexts(), [words]);
      assert.equal(await chat.locator("[data-role=assistant]").innerText(), answer);
    }
    await close(page);
  });

  test("of a stopped answer that the server has not kept, nothing is shown after a reload", async () => {
    const page = await open({ id: "one" });
    await say(page, "slow");
    await page.waitForSelector("[data-role=assistant] .text");
    await button(page, "Stop").click();
    await status(page, "ready");
    await page.waitForFunction(() => conversationOf().status.get().phase === "idle");
    await page.reload();
    await page.waitForSelector("[data-role=user]");
    assert.deepEqual(await roles(page), ["user"]);
    await close(page);
  });

  for (const protocol of BRANCHED) {
    test(`${protocol}: a question is edited, and an answer regenerated`, async () => {
      const page = await open({ protocol, id: "one" });
      await ask(page, "reasoning");
      await button(page, "Edit").click();
      await page.waitForFunction(() => document.querySelector("[data-role=assistant]")?.innerText.includes("not a word is lost"));
      await status(page, "ready");
      assert.deepEqual(await questions(page), ["plain"]);
      await button(page, "Again").click();
      await page.waitForFunction(() => document.querySelectorAll("article").length === 2 && chat.status === "ready");
      assert.match(await lastAnswer(page).innerText(), /not a word is lost/);
      await page.reload();
      await status(page, "ready");
      assert.deepEqual(await questions(page), ["plain"]);
      await close(page);
    });
  }

  test("aap: without branches an answer is regenerated in a new turn, and an edit is refused, with the reason", async () => {
    const page = await open({ protocol: "aap" });
    await ask(page, "reasoning");
    for (const turns of [2, 3]) {
      await button(page, "Again").click();
      await page.waitForFunction((count) => conversationOf(chat.id).turns.get().length === count && chat.status === "ready", turns);
      assert.deepEqual([await questions(page), await roles(page)], [["reasoning"], ["user", "assistant"]]);
      assert.notEqual(await lastAnswer(page).innerText(), "");
    }
    await button(page, "Edit").click();
    await page.waitForSelector("[role=alert][data-code=unsupported]");
    await close(page);
  });

  test("an error is shown, and retried", async () => {
    const page = await open();
    await say(page, "error");
    await status(page, "error");
    assert.equal(await page.getAttribute("[role=alert]", "data-code"), "turn_failed");
    await button(page, "Again").click();
    await page.waitForSelector("main:not([data-status=error])");
    await status(page, "error");
    assert.deepEqual(await roles(page), ["user", "assistant"]);
    await close(page);
  });

  test("a message that did not arrive is an error, and is sent again", async () => {
    const page = await open();
    await page.route("**/demo/**", (route) => route.fulfill({ status: 400, json: {} }));
    await say(page, "plain");
    await status(page, "error");
    await page.unroute("**/demo/**");
    await button(page, "Again").click();
    await page.waitForSelector("[data-role=assistant] .text");
    await status(page, "ready");
    assert.deepEqual(await questions(page), ["plain"]);
    page.failures = page.failures.filter((text) => !text.includes("status of 400"));
    await close(page);
  });

  test("sub-agents are parts of their own, and their questions are answered", async () => {
    const page = await open();
    await ask(page, "subagents");
    assert.deepEqual((await page.$$eval(".thread", (all) => all.map(({ dataset }) => dataset.status))).sort(), ["done", "done", "error"]);
    await ask(page, "subagents approval");
    await button(page, "Allow").click();
    await page.waitForSelector(".call[data-state=approval-requested]", { state: "detached" });
    await status(page, "ready");
    assert.equal((await states(page)).includes("approval-responded"), false);
    await close(page);
  });
});
