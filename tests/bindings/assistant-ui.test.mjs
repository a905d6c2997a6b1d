// A thread of assistant-ui's primitives on `turnwire/assistant-ui`, with the gateway's scripted agents: the same thread as on a
// runtime of its own.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ASKING, BRANCHED, box, button, CALLING, close, lastAnswer, openThread, PROTOCOLS, questions, RESUMED, roles, type, write as say } from "./adapters.mjs";
import { useApps } from "./world.mjs";

const world = useApps();

/** Opens the page; `about` is its address' query. */
const open = (about) => openThread(world, "assistant-ui", about);
/** Waits until the conversation is in this phase, and the page shows it. */
async function phase(page, name) {
  await page.waitForFunction((wanted) => conversationOf()?.status.get().phase === wanted, name);
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))));
}
/** Says something, and waits until the agent rests. */
async function ask(page, text, rest = "idle") {
  const count = await page.locator("[data-role=user]").count();
  await say(page, text);
  await page.waitForFunction((before) => document.querySelectorAll("[data-role=user]").length > before, count);
  await phase(page, rest);
}
const branches = (page) => page.locator(".branches").allInnerTexts().then((all) => all.map((text) => text.replaceAll(/[^\d/]/g, "")));

describe("assistant-ui", { concurrency: 4 }, () => {
  test("the thread works on a runtime of its own", async () => {
    const page = await open({ own: "" });
    await say(page, "hello");
    await page.getByText("You said: hello").waitFor();
    await close(page);
  });

  test("the guide's component shows the same thread", async () => {
    const page = await open({ guide: "" });
    await say(page, "plain");
    await page.getByText("not a word is lost").waitFor();
    await close(page);
  });

  for (const protocol of PROTOCOLS) {
    test(`${protocol}: answers stream, with reasoning and results of tools`, async () => {
      const page = await open({ protocol });
      await ask(page, "plain");
      assert.match(await lastAnswer(page).innerText(), /not a word is lost/);
      await ask(page, "reasoning");
      assert.notEqual(await page.locator(".reasoning").last().innerText(), "");
      // With AAP they were not allowed to run.
      if (protocol !== "aap") {
        await ask(page, "tools");
        assert.deepEqual(new Set(await page.$$eval(".call", (calls) => calls.map(({ dataset }) => dataset.status))), new Set(["complete"]));
      }
      assert.deepEqual(await roles(page), Array(protocol === "aap" ? 2 : 3).fill(["user", "assistant"]).flat());
      await close(page);
    });
  }

  test("a long answer is shown whole, and no other message renders", async () => {
    const page = await open({ delay: "0" });
    for (let at = 0; at < 3; at += 1) await ask(page, "plain");
    await page.evaluate(() => {
      for (const name of Object.keys(renders)) renders[name] = 0;
      globalThis.published = 0;
      conversationOf().subscribe(() => (published += 1));
    });
    await ask(page, "long 20000");
    const { shown, whole, drawn, published } = await page.evaluate(() => ({
      shown: runtime.thread.getState().messages.at(-1).content[0].text,
      whole: conversationOf().messages.get().at(-1).text,
      drawn: renders,
      published,
    }));
    assert.ok(whole.length > 50_000, `${whole.length}`);
    assert.equal(shown, whole);
    // The new question, and the answer when it comes and when it ends: its text renders by itself.
    assert.ok(published > 2, `${published}`);
    assert.ok(drawn.user <= 4 && drawn.assistant <= 8, JSON.stringify(drawn));
    await close(page);
  });

  for (const protocol of CALLING) {
    test(`${protocol}: calls are allowed and denied, and questions answered`, async () => {
      const page = await open({ protocol });
      await ask(page, "approval", "waiting");
      await page.waitForSelector(".call[data-status=requires-action]");
      assert.equal(await button(page, "Send").isDisabled(), true);
      await button(page, "Allow").click();
      await phase(page, "idle");
      assert.deepEqual(await roles(page), ["user", "assistant"]);
      const allowed = await lastAnswer(page).innerText();

      await ask(page, "approval", "waiting");
      await button(page, "Deny").click();
      await phase(page, "idle");
      assert.notEqual(await lastAnswer(page).innerText(), allowed);
      if (!ASKING.includes(protocol)) return close(page);

      for (const way of ["Answer", "Result"]) {
        await ask(page, "question", "waiting");
        await type(page.getByLabel("Answer"), "the second one");
        await button(page, way).click();
        await phase(page, "idle");
        assert.match(await lastAnswer(page).innerText(), /the second one/);
      }
      await close(page);
    });
  }

  test("ag-ui: an answered question stays where it was asked, also if it was answered elsewhere", async () => {
    const page = await open({ protocol: "ag-ui" });
    for (const [way, answer] of [["in the thread", "the second one"], ["elsewhere", "the first one"]]) {
      await ask(page, "question", "waiting");
      if (way === "in the thread") {
        await type(page.getByLabel("Answer"), answer);
        await button(page, "Answer").click();
      } else {
        await page.evaluate((content) => conversationOf().answer(conversationOf().pending.get()[0].key, { kind: "text", content }), answer);
      }
      await phase(page, "idle");
      const parts = await page.evaluate(() => runtime.thread.getState().messages.at(-1).content.map(({ type, result, text }) => [type, result ?? text]));
      // The question, and the agent's call that it is about.
      assert.equal(parts.filter(([type, result]) => type === "tool-call" && result === answer).length, 2, `${way}: ${JSON.stringify(parts)}`);
      assert.equal(parts.at(-1)[0], "text", `${way}: ${JSON.stringify(parts)}`);
      assert.match(parts.at(-1)[1], new RegExp(answer), way);
      assert.equal(await page.locator(".call[data-status=requires-action]").count(), 0, way);
    }
    await close(page);
  });

  for (const protocol of PROTOCOLS) {
    test(`${protocol}: stop cancels the turn, and the next message is sent`, async () => {
      const page = await open({ protocol });
      await say(page, "slow");
      await page.waitForSelector("[data-role=assistant] .text");
      await button(page, "Stop").click();
      await phase(page, "idle");
      assert.equal(await page.evaluate(() => conversationOf().turn(conversationOf().turns.get()[0]).get().snapshot.status), "cancelled");
      assert.equal(await page.evaluate(() => runtime.thread.getState().messages.at(-1).status.reason), "cancelled");
      await ask(page, "plain");
      assert.match(await lastAnswer(page).innerText(), /not a word is lost/);
      await close(page);
    });
  }

  for (const protocol of RESUMED) {
    test(`${protocol}: a turn goes on after a reload in the middle, and one that waits for an approval can be answered`, async () => {
      const page = await open({ protocol });
      await ask(page, "plain");
      await say(page, "slow");
      await page.waitForFunction(() => document.querySelectorAll("[data-role=assistant] .text").length === 2);
      const length = (await lastAnswer(page).innerText()).length;
      await page.reload();
      await page.waitForFunction((least) => document.querySelectorAll("[data-role]").length === 4 && [...document.querySelectorAll("[data-role=assistant]")].at(-1).innerText.length > least, length);
      await button(page, "Stop").click();
      await phase(page, "idle");
      await ask(page, "approval", "waiting");
      await page.reload();
      await button(page, "Allow").click();
      await page.waitForSelector(".call[data-status=complete]");
      await phase(page, "idle");
      assert.deepEqual(await questions(page), ["plain", "slow", "approval"]);
      await close(page);
    });
  }

  test("a turn outlives its component", async () => {
    const page = await open();
    await say(page, "slow");
    await page.waitForSelector("[data-role=assistant] .text");
    await page.evaluate(() => show(false));
    await page.waitForSelector("[data-role]", { state: "detached" });
    await page.evaluate(() => show(true));
    const length = (await lastAnswer(page).innerText()).length;
    await page.waitForFunction((least) => document.querySelector("[data-role=assistant]").innerText.length > least, length);
    await close(page);
  });

  for (const protocol of BRANCHED) {
    test(`${protocol}: questions are edited, answers regenerated, and branches shown`, async () => {
      const page = await open({ protocol });
      await ask(page, "plain");
      await ask(page, "reasoning");
      await button(page, "Edit").last().click();
      await type(page.getByLabel("Edited message"), "markdown");
      await button(page, "Save").click();
      await page.waitForFunction(() => [...document.querySelectorAll("[data-role=user] .text")].at(-1)?.innerText === "markdown");
      await phase(page, "idle");
      assert.deepEqual(await branches(page), ["2/2"]);
      await button(page, "Previous").click();
      await page.waitForFunction(() => [...document.querySelectorAll("[data-role=user] .text")].at(-1)?.innerText === "reasoning");
      await page.waitForSelector(".reasoning");
      assert.deepEqual(await branches(page), ["1/2"]);
      await button(page, "Again").last().click();
      await page.waitForFunction(() => document.querySelector(".branches")?.innerText.includes("3 / 3"));
      await phase(page, "idle");
      assert.deepEqual(await questions(page), ["plain", "reasoning"]);
      // After a reload the branches are those that the server lists.
      if (protocol === "truefoundry") return close(page);
      await page.reload();
      await page.waitForFunction(() => document.querySelector(".branches")?.innerText.includes("3 / 3"));
      await button(page, "Previous").click();
      await page.waitForFunction(() => [...document.querySelectorAll("[data-role=user] .text")].at(-1)?.innerText === "markdown");
      assert.deepEqual(await branches(page), ["2/3"]);
      await close(page);
    });
  }

  test("aap: without branches nothing can be edited", async () => {
    const page = await open({ protocol: "aap" });
    await ask(page, "plain");
    assert.equal(await button(page, "Edit").isDisabled(), true);
    await close(page);
  });

  test("a draft stays with its conversation", async () => {
    const page = await open();
    const written = (text) => page.waitForFunction((wanted) => document.querySelector("[aria-label=Message]")?.value === wanted, text);
    await type(box(page), "half a thought");
    await page.evaluate(() => showConversation((globalThis.second = create())));
    await written("");
    await type(box(page), "another one");
    await page.evaluate(() => showConversation(conversation));
    await written("half a thought");
    await page.evaluate(() => show(false));
    await page.waitForFunction(() => document.querySelector("[aria-label=Message]") === null);
    await page.evaluate(() => show(true));
    await written("half a thought");
    await ask(page, "plain");
    await page.evaluate(() => showConversation(second));
    await written("another one");
    assert.deepEqual(await roles(page), []);
    // The page deletes the chat that is shown.
    await page.evaluate(() => (forget(second), showConversation(conversation)));
    await written("");
    await close(page);
  });

  test("attachments that were not sent stay with their conversation", async () => {
    const page = await open();
    const attached = (...names) => page.waitForFunction((wanted) => runtime.thread.composer.getState().attachments.map(({ name }) => name).sort().join() === wanted, names.join());
    await page.evaluate(async () => {
      const { composer } = runtime.thread;
      await composer.addAttachment(new File(["hello"], "notes.txt", { type: "text/plain" }));
      await composer.addAttachment({ name: "plan.txt", contentType: "text/plain", content: [{ type: "text", text: "a plan" }] });
    });
    await attached("notes.txt", "plan.txt");
    await page.evaluate(() => showConversation((globalThis.second = create())));
    await attached();
    await page.evaluate(() => runtime.thread.composer.addAttachment(new File(["more"], "second.txt", { type: "text/plain" })));
    await attached("second.txt");
    await page.evaluate(() => showConversation(conversation));
    await attached("notes.txt", "plan.txt");
    await page.evaluate(() => show(false));
    await box(page).waitFor({ state: "detached" });
    await page.evaluate(() => show(true));
    await attached("notes.txt", "plan.txt");
    await say(page, "plain");
    await page.waitForFunction(() => conversation.messages.get().length > 1 && conversation.status.get().phase === "idle");
    await attached();
    const said = await page.evaluate(() => conversation.messages.get()[0].text);
    for (const text of [/plain/, /hello/, /a plan/]) assert.match(said, text);
    await page.evaluate(() => showConversation(second));
    await attached("second.txt");
    await close(page);
  });

  test("a message whose files are still being prepared returns to its own conversation when another one is shown", async () => {
    const page = await open();
    await page.evaluate(() => {
      // Reading the file never ends.
      FileReader.prototype.readAsText = () => {};
      return runtime.thread.composer.addAttachment(new File(["hello"], "slow.txt", { type: "text/plain" }));
    });
    await say(page, "with a file");
    await page.waitForFunction(() => runtime.thread.composer.getState().submission !== undefined);
    await page.evaluate(() => showConversation((globalThis.second = create())));
    await page.waitForFunction(() => runtime.thread.composer.getState().submission === undefined);
    assert.equal(await box(page).inputValue(), "");
    await page.evaluate(() => showConversation(conversation));
    await page.waitForFunction(() => document.querySelector("[aria-label=Message]")?.value === "with a file");
    await page.waitForFunction(() => runtime.thread.composer.getState().attachments.map(({ name }) => name).join() === "slow.txt");
    assert.deepEqual(await roles(page), []);
    await close(page);
  });

  test("messages wait while a turn runs, are removed, held and sent", async () => {
    const page = await open();
    await say(page, "slow");
    await page.waitForSelector("[data-role=assistant] .text");
    await say(page, "not this");
    await say(page, "plain");
    await page.waitForFunction(() => document.querySelectorAll(".queued").length === 2);
    await button(page, "Remove").first().click();
    await page.waitForFunction(() => document.querySelectorAll(".queued").length === 1);
    await button(page, "Stop").click();
    await phase(page, "idle");
    assert.match(await page.innerText(".queued"), /plain/);
    await say(page, "reasoning");
    await page.waitForFunction(() => document.querySelectorAll("[data-role=user]").length === 3);
    await page.waitForSelector(".queued", { state: "detached" });
    await phase(page, "idle");
    assert.deepEqual((await questions(page)).sort(), ["plain", "reasoning", "slow"]);
    await close(page);
  });

  test("an error is shown, and retried", async () => {
    const page = await open();
    await ask(page, "error", "failed");
    assert.notEqual(await page.innerText("[role=alert]"), "");
    await page.setExtraHTTPHeaders({ "x-turnwire-hold": "1" });
    const begun = page.waitForResponse((answer) => answer.request().method() === "POST" && answer.url().endsWith("/turns"));
    await button(page, "Again").click();
    await begun;
    await page.waitForFunction(() => conversationOf().status.get().phase !== "failed");
    await fetch(`${world.url}/_gateway/release`, { method: "POST" });
    await page.waitForFunction(() => conversationOf().status.get().phase === "failed");
    assert.deepEqual(await questions(page), ["error"]);
    await close(page);
  });

  test("a message that did not arrive says so, and is sent again", async () => {
    const page = await open();
    await page.route("**/demo/**", (route) => route.fulfill({ status: 400, json: {} }));
    await ask(page, "plain", "failed");
    await page.waitForSelector("[role=alert]");
    await page.unroute("**/demo/**");
    await button(page, "Again").click();
    await page.waitForSelector("[data-role=assistant] .text");
    await phase(page, "idle");
    assert.deepEqual(await questions(page), ["plain"]);
    page.failures = page.failures.filter((text) => !text.includes("status of 400"));
    await close(page);
  });

  test("sub-agents are messages of their calls, and their questions are answered", async () => {
    const page = await open();
    await ask(page, "subagents");
    assert.ok((await page.locator(".call .sub-agent").count()) >= 2);
    await ask(page, "subagents approval", "waiting");
    assert.equal(await page.locator(".sub-agent").getByRole("button", { name: "Allow" }).count(), 0, "assistant-ui lets nobody answer there");
    await button(page, "Allow").click();
    await phase(page, "idle");
    assert.equal(await page.locator(".call[data-status=requires-action]").count(), 0);
    await close(page);
  });

  test("tools of the page run, and their results are part of the answer", async () => {
    const page = await open({ tools: "" });
    await ask(page, "page");
    assert.deepEqual(await page.$$eval(".call", (calls) => calls.map(({ dataset }) => dataset.status)), ["complete", "complete"]);
    assert.deepEqual(await roles(page), ["user", "assistant"]);
    await close(page);
  });

  test("files are sent, and shown", async () => {
    const page = await open();
    await page.evaluate(() => runtime.thread.append({ role: "user", content: [{ type: "text", text: "file" }, { type: "file", filename: "notes.txt", mimeType: "text/plain", data: btoa("hello") }] }));
    await phase(page, "idle");
    assert.match(await lastAnswer(page).innerText(), /notes\.txt/);
    assert.equal(await page.innerText(".attachment"), "notes.txt");
    await close(page);
  });
});
