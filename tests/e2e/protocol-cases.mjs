// The same conversations over each protocol, and the facts in which servers differ. The files `protocols-*` play them.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { IS_QUICK } from "../rows.mjs";
import { answer, cutButton, ended, grown, HELD, openDemo, PACE, release, say, transcript, type, unexpected } from "./demo-page.mjs";

/** No waits between the words of an answer. */
export const FAST = { "x-turnwire-delay-ms": "0" };
/** The button that allows a call. */
export const allow = (page) => page.getByRole("button", { name: "Allow", exact: true });
/** A card by its name. */
export const card = (page, name) => page.getByRole("group", { name });

/** Waits for the answer, and allows what the agent asks for meanwhile. */
async function allowed(page) {
  const copy = page.getByRole("button", { name: "Copy answer" });
  for (;;) {
    await copy.or(allow(page)).first().waitFor();
    if ((await allow(page).count()) === 0) return;
    await allow(page).first().click();
  }
}

/** Registers the tests that every protocol has. */
export function playCases(world, protocol) {
  describe(protocol, () => {
    const isAgentEvent = protocol === "tirea" || protocol === "awaken";
    // It asks before any tool of the server runs, has no sub-agents' threads, and does not distinguish failures.
    const isAap = protocol === "aap";
    // The client keeps the conversation, each tab its own.
    const isKept = protocol === "ag-ui";
    // It asks nothing, sub-agents are tasks and no calls, and only an agent that chats streams its words.
    const isRpc = protocol === "turn-rpc";
    const agentName = isRpc ? "Chat" : undefined;
    const open = (headers = FAST) => openDemo(world, { protocol, agentName, headers });
    /** The test of what only these protocols do differently than TrueFoundry: the others play it in a whole run only. */
    const testOf = (...differing) => (!IS_QUICK || ["truefoundry", ...differing].includes(protocol) ? test : () => {});
    /** For tests of agents' questions. */
    const asking = isRpc ? { skip: "agents of this protocol ask nobody" } : {};

    test("a text, and the conversation after a reload, by its name", async () => {
      const page = await open();
      await say(page, "plain words, please");
      const text = await answer(page);
      assert.match(text, /^Here is a plain answer/);
      await page.waitForFunction(() => document.title.startsWith("plain words"));
      await page.reload();
      assert.equal(await answer(page), text);
      assert.match(await page.locator(".bubble").innerText(), /plain words, please/);
      await page.getByRole("link", { name: /^plain words/ }).waitFor();
      assert.match(await page.locator(".top-name").innerText(), /^plain words/);
      assert.deepEqual(page.failures, []);
    });

    testOf("turn-rpc")("tools: arguments, results without an envelope, also after a reload", async () => {
      const page = await open();
      await say(page, "tools");
      await allowed(page);
      for (const turn of ["streamed", "listed"]) {
        const tool = card(page, isRpc ? "Tool mcp_console_read_log, done" : "Tool read_log, done");
        if ((await tool.getByText("Result").count()) === 0) await tool.getByRole("button").click();
        const shown = await tool.innerText();
        assert.match(shown, /"lines": 50/, turn);
        assert.match(shown, /out of memory/, turn);
        assert.doesNotMatch(shown, /tool_name|"status": "success"/, turn);
        if (turn === "streamed") await page.reload();
        await ended(page);
      }
      assert.deepEqual(page.failures, []);
    });

    test("an approval is given", asking, async () => {
      const page = await open();
      await say(page, "approval");
      await allow(page).waitFor();
      assert.equal(await page.getByRole("checkbox", { name: "Always allow" }).count(), isAgentEvent || isAap ? 1 : 0);
      await page.reload();
      await allow(page).click();
      await page.getByText("is running again").waitFor();
      await card(page, "Tool restart_service, done").waitFor();
      await page.reload();
      await page.getByText("is running again").waitFor();
      await card(page, "Tool restart_service, done").waitFor();
      assert.equal(await allow(page).count(), 0);
      assert.deepEqual(page.failures, []);
    });

    testOf("aap")("an approval is refused, with a reason", asking, async () => {
      const page = await open();
      await say(page, "approval");
      await page.getByRole("button", { name: "Deny …" }).click();
      await type(page.getByRole("textbox").first(), "not now");
      await page.getByRole("button", { name: "Deny", exact: true }).click();
      await page.getByText(/I have left it alone.*“not now”/).waitFor();
      await card(page, "Tool restart_service, denied").waitFor();
      if (isAap) {
        // The server keeps the result, and not the answer.
        await page.reload();
        await card(page, "Tool restart_service, denied").waitFor();
      }
      assert.deepEqual(page.failures, []);
    });

    testOf("ag-ui")("a question is answered by one of its options", asking, async () => {
      const page = await open();
      await say(page, "question");
      await page.getByRole("button", { name: "Virginia" }).click();
      await page.getByText("Virginia it is.").waitFor();
      assert.match(await transcript(page), /You answered: Virginia/);
      assert.deepEqual(page.failures, []);
    });

    testOf("aap")("an approval and a question of one message", asking, async () => {
      const page = await open();
      await say(page, "mixed");
      await page.getByRole("button", { name: "Send" }).waitFor();
      await page.getByRole("button", { name: "Nobody" }).click();
      await page.getByText(isAap ? "1 of 3 answered" : "1 of 2 answered").waitFor();
      while ((await allow(page).count()) > 0) await allow(page).first().click();
      await page.getByText(/now has four instances.*“Nobody”/).waitFor();
      assert.deepEqual(page.failures, []);
    });

    testOf("aap", "turn-rpc")("sub-agents work in threads of their own, and one fails", async () => {
      const page = await open(PACE);
      await say(page, "subagents");
      await ended(page);
      const cards = page.locator(isRpc ? ".answer > .card" : ".answer > .message > .card");
      const labels = await cards.evaluateAll((cards) => cards.map((card) => card.getAttribute("aria-label")));
      assert.deepEqual(labels.map((label) => label.replace(/^.*, /, "")), isAap ? ["done", "done", "done"] : ["done", "failed", "done"]);
      assert.equal(new Set(labels).size, 3, "each has a name of its own");
      // A call that was over when the page first drew it is closed.
      const closed = page.locator('.card-head[aria-expanded="false"]');
      while ((await closed.count()) > 0) await closed.first().click();
      assert.match(await transcript(page), /connection refused/);
      assert.deepEqual(page.failures, []);
    });

    testOf("aap")("a sub-agent that asks is answered", asking, async () => {
      const page = await open();
      await say(page, "subagents approval");
      await allow(page).waitFor();
      assert.match(await transcript(page), isAap ? /The agent wants to run create_sub_agent/ : /The agent wants to run roll_back/);
      if (!isAap) assert.match(await transcript(page), /"version": "2\.13"/);
      await allow(page).click();
      await page.getByText("Version 2.13 is running again").last().waitFor();
      assert.match(await transcript(page), /You allowed one step/);
      assert.deepEqual(page.failures, []);
    });

    testOf("ag-ui")("a turn is stopped, and the conversation goes on", async () => {
      const page = await open(PACE);
      await say(page, "long 100000");
      await grown(page, 100);
      await page.keyboard.press("Escape");
      await page.getByText("You stopped this turn.").waitFor();
      await page.setExtraHTTPHeaders(FAST);
      await say(page, "plain");
      await page.getByText("not a word is lost").waitFor();
      assert.deepEqual(page.failures, []);
    });

    testOf("tirea", "aap")("a failure is told, with its code where there is one", async () => {
      const page = await open();
      await say(page, "error");
      const notice = page.getByRole("alert");
      await notice.waitFor();
      const words = { tirea: /LLM_ERROR: .*502 Bad Gateway/, aap: /the agent reported an error/ };
      assert.match(await notice.innerText(), words[protocol] ?? /502 Bad Gateway/);
      assert.match(await transcript(page), /and the renew/);
    });

    testOf("turn-rpc")("the events, and where there are others, the frames that they are made of", async () => {
      const page = await open();
      await page.getByRole("button", { name: "Events", exact: true }).click();
      await say(page, "plain");
      await ended(page);
      const types = () => page.locator(".event .event-type").allInnerTexts();
      assert.ok((await types()).includes("turn.done"));
      await page.getByRole("checkbox", { name: "Native frames" }).check();
      await page.getByText("Frames appear here").waitFor();
      await say(page, "plain");
      await page.getByRole("button", { name: "Copy answer" }).nth(1).waitFor();
      const frames = await types();
      const last = { tirea: "run_finish", awaken: "run_finish", aap: "turn_stop", "turn-rpc": "turn/completed", "ag-ui": "RUN_FINISHED" }[protocol] ?? "turn.done";
      assert.ok(frames.includes(last), frames.join(" "));
      assert.deepEqual(page.failures, []);
    });

    testOf("tirea")("an answer that is given in another tab counts here", isKept ? { skip: "another tab has no conversation of this one" } : asking, async () => {
      const page = await open();
      await say(page, "approval");
      await allow(page).waitFor();
      const other = await page.context().newPage();
      await other.goto(page.url());
      await allow(other).click();
      for (const tab of [other, page]) await tab.getByText("is running again").waitFor();
      assert.equal(await allow(page).count(), 0);
      await page.getByRole("button", { name: "Send", exact: true }).waitFor();
      await say(page, "plain");
      for (const tab of [page, other]) await tab.getByText("not a word is lost").waitFor();
      for (const tab of [page, other]) assert.equal(await tab.getByText("May I?").count(), 1);
      assert.deepEqual(page.failures, []);
    });

    test("files are taken where the server accepts them", async () => {
      const page = await open();
      await page.getByRole("button", { name: "Send", exact: true }).waitFor();
      if (isAap) await page.getByRole("button", { name: "Attach images" }).waitFor();
      assert.equal(await page.getByRole("button", { name: "Attach files" }).count(), isAgentEvent || isAap ? 0 : 1);
    });
  });
}

/** Registers the test of a cut connection, for protocols whose streams resume. */
export function playCut(world, protocol) {
  const agentName = protocol === "turn-rpc" ? "Chat" : undefined;
  test(`${protocol}: an answer whose connection is cut is whole in the end`, async () => {
    const whole = await openDemo(world, { protocol, agentName, headers: FAST });
    await say(whole, "long 300");
    const wanted = await answer(whole);
    const page = await openDemo(world, { protocol, agentName, headers: HELD });
    await say(page, "long 300");
    await grown(page, 100);
    await cutButton(page).click();
    // AAP cannot resume a stream: the page waits until it is in the history.
    await page.locator(protocol === "aap" ? ".connection.waiting" : ".connection.resumed").waitFor();
    await release(world);
    assert.equal(await answer(page), wanted);
    assert.equal(await page.getByRole("alert").count(), 0);
    assert.deepEqual(unexpected(page), []);
  });
}

/** Registers the test of a reload, for protocols whose servers finish turns without a reader. */
export function playReload(world, protocol) {
  test(`${protocol}: an answer goes on after a reload in its middle`, async () => {
    const agentName = protocol === "turn-rpc" ? "Chat" : undefined;
    const page = await openDemo(world, { protocol, agentName, headers: HELD });
    await say(page, "long 401");
    await grown(page, 100);
    await page.reload();
    await page.getByRole("button", { name: "Stop" }).waitFor();
    // There is no stream to read: the page shows a wait, and not a lost connection.
    if (protocol === "aap") {
      assert.match(await page.locator(".connection.waiting").innerText(), /Waiting for the rest of the answer/);
      assert.equal(await page.locator(".connection.lost").count(), 0);
    }
    await release(world);
    const reloaded = await answer(page);
    assert.ok(reloaded.startsWith("Chapter 1"));
    await page.reload();
    assert.equal(await answer(page), reloaded);
    await page.getByRole("link", { name: "long 401" }).waitFor();
    assert.deepEqual(unexpected(page), []);
  });
}
