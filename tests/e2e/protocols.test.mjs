// One page, six protocols: the same conversations over each, and what is told where servers differ.
import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { answer, closeDemos, cutButton, ended, grown, openDemo, PACE, say, transcript, type, unexpected, WWW } from "./demo-page.mjs";
import { useWorld } from "./harness.mjs";

const world = useWorld({ www: WWW });
afterEach(closeDemos);

const FAST = { "x-turnwire-delay-ms": "0" };
const allow = (page) => page.getByRole("button", { name: "Allow", exact: true });
const card = (page, name) => page.getByRole("region", { name });

/** Waits for the answer, and allows on the way what the agent asks for. */
async function allowed(page) {
  const copy = page.getByRole("button", { name: "Copy answer" });
  for (;;) {
    await copy.or(allow(page)).first().waitFor();
    if ((await allow(page).count()) === 0) return;
    await allow(page).first().click();
  }
}

for (const protocol of ["truefoundry", "trueforge", "tirea", "awaken", "aap", "turn-rpc"]) {
  describe(protocol, () => {
    const isAgentEvent = protocol === "tirea" || protocol === "awaken";
    // It asks before any tool of the server runs, has no sub-agents' threads, and tells no failures apart.
    const isAap = protocol === "aap";
    // Nobody is asked, sub-agents are tasks and no calls, and only an agent that chats streams its words.
    const isRpc = protocol === "turn-rpc";
    const agentName = isRpc ? "Chat" : undefined;
    const open = (headers = FAST) => openDemo(world, { protocol, agentName, headers });
    /** For what agents ask elsewhere. */
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

    test("tools: arguments, results without an envelope, also after a reload", async () => {
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

    test("an approval is refused, with a reason", asking, async () => {
      const page = await open();
      await say(page, "approval");
      await page.getByRole("button", { name: "Deny …" }).click();
      await type(page.getByRole("textbox").first(), "not now");
      await page.getByRole("button", { name: "Deny", exact: true }).click();
      await page.getByText(/I have left it alone.*“not now”/).waitFor();
      await card(page, "Tool restart_service, denied").waitFor();
      if (isAap) {
        // The server keeps what came of it, and not what was said.
        await page.reload();
        await card(page, "Tool restart_service, denied").waitFor();
      }
      assert.deepEqual(page.failures, []);
    });

    test("a question is answered by one of its options", asking, async () => {
      const page = await open();
      await say(page, "question");
      await page.getByRole("button", { name: "Virginia" }).click();
      await page.getByText("Virginia it is.").waitFor();
      assert.match(await transcript(page), /You answered: Virginia/);
      assert.deepEqual(page.failures, []);
    });

    test("an approval and a question of one message", asking, async () => {
      const page = await open();
      await say(page, "mixed");
      await page.getByRole("button", { name: "Send" }).waitFor();
      await page.getByRole("button", { name: "Nobody" }).click();
      await page.getByText(isAap ? "1 of 3 answered" : "1 of 2 answered").waitFor();
      while ((await allow(page).count()) > 0) await allow(page).first().click();
      await page.getByText(/now has four instances.*“Nobody”/).waitFor();
      assert.deepEqual(page.failures, []);
    });

    test("sub-agents work in threads of their own, and one fails", async () => {
      const page = await open(PACE);
      await say(page, "subagents");
      await ended(page);
      const cards = page.locator(isRpc ? ".answer > .card" : ".answer > .message > .card");
      const labels = await cards.evaluateAll((cards) => cards.map((card) => card.getAttribute("aria-label")));
      assert.deepEqual(labels.map((label) => label.replace(/^.*, /, "")), isAap ? ["done", "done", "done"] : ["done", "failed", "done"]);
      assert.equal(new Set(labels).size, 3, "each has a name of its own");
      assert.match(await transcript(page), /connection refused/);
      assert.deepEqual(page.failures, []);
    });

    test("a sub-agent that asks is answered", asking, async () => {
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

    test("a turn is stopped, and the conversation goes on", async () => {
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

    test("a failure is told, with its code where there is one", async () => {
      const page = await open();
      await say(page, "error");
      const notice = page.getByRole("alert");
      await notice.waitFor();
      const words = { tirea: /LLM_ERROR: .*502 Bad Gateway/, aap: /the agent reported an error/ };
      assert.match(await notice.innerText(), words[protocol] ?? /502 Bad Gateway/);
      assert.match(await transcript(page), /and the renew/);
    });

    test("the events, and where there are others, the frames that they are made of", async () => {
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
      const last = { tirea: "run_finish", awaken: "run_finish", aap: "turn_stop", "turn-rpc": "turn/completed" }[protocol] ?? "turn.done";
      assert.ok(frames.includes(last), frames.join(" "));
      assert.deepEqual(page.failures, []);
    });

    test("an answer that is given in another tab counts here", asking, async () => {
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

    test("files are taken where the server takes them", async () => {
      const page = await open();
      await page.getByRole("button", { name: "Send", exact: true }).waitFor();
      if (isAap) await page.getByRole("button", { name: "Attach images" }).waitFor();
      assert.equal(await page.getByRole("button", { name: "Attach files" }).count(), isAgentEvent || isAap ? 0 : 1);
    });
  });
}

for (const protocol of ["truefoundry", "trueforge", "awaken", "aap", "turn-rpc"]) {
  const agentName = protocol === "turn-rpc" ? "Chat" : undefined;
  test(`${protocol}: an answer whose connection is cut comes whole`, async () => {
    const whole = await openDemo(world, { protocol, agentName, headers: FAST });
    await say(whole, "long 300");
    const wanted = await answer(whole);
    const page = await openDemo(world, { protocol, agentName, headers: PACE });
    await say(page, "long 300");
    await grown(page, 100);
    await cutButton(page).click();
    assert.equal(await answer(page), wanted);
    assert.equal(await page.getByRole("alert").count(), 0);
    assert.deepEqual(unexpected(page), []);
  });
}

for (const protocol of ["trueforge", "awaken", "aap", "turn-rpc"]) {
  test(`${protocol}: an answer goes on after a reload in its middle`, async () => {
    const agentName = protocol === "turn-rpc" ? "Chat" : undefined;
    const page = await openDemo(world, { protocol, agentName, headers: PACE });
    await say(page, "long 401");
    await grown(page, 100);
    await page.reload();
    await page.getByRole("button", { name: "Stop" }).waitFor();
    // There is no stream to read: the page says that it waits, and not that a connection is lost.
    if (protocol === "aap") {
      assert.match(await page.locator(".connection.waiting").innerText(), /Waiting for the rest of the answer/);
      assert.equal(await page.locator(".connection.lost").count(), 0);
    }
    const reloaded = await answer(page);
    assert.ok(reloaded.startsWith("Chapter 1"));
    await page.reload();
    assert.equal(await answer(page), reloaded);
    await page.getByRole("link", { name: "long 401" }).waitFor();
    assert.deepEqual(unexpected(page), []);
  });
}

test("aap: an image is sent and shown, also after a reload, and another file is refused", async () => {
  const page = await openDemo(world, { protocol: "aap", headers: FAST });
  await page.getByRole("button", { name: "Attach images" }).waitFor();
  const attach = (name, mimeType) =>
    page.locator("input[type=file]").setInputFiles({ name, mimeType, buffer: Buffer.from("not really") });
  await attach("notes.txt", "text/plain");
  await page.getByText("notes.txt is no image, and this server takes images only.").waitFor();
  await attach("photo.png", "image/png");
  await say(page, "file");
  await page.getByText(/image\/png/).waitFor();
  for (const _ of ["sent", "listed"]) {
    await page.locator(".bubble .chip img").waitFor();
    assert.match(await page.locator(".bubble .chip img").getAttribute("src"), /^data:image\/png;base64,/);
    await page.reload();
  }
  assert.deepEqual(page.failures, []);
});

test("aap: what is always allowed is not asked for again, and only what can be is", async () => {
  const page = await openDemo(world, { protocol: "aap", headers: FAST });
  const remember = page.getByRole("checkbox", { name: "Always allow" });
  await say(page, "tools");
  await remember.check();
  await allow(page).click();
  await card(page, "Tool read_log, asks you").waitFor();
  await allow(page).click();
  await ended(page);
  await say(page, "tools");
  await card(page, "Tool read_log, asks you").waitFor();
  assert.equal(await card(page, "Tool list_services, done").count(), 2);
  await page.reload();
  await allow(page).click();
  await page.getByRole("button", { name: "Copy answer" }).nth(1).waitFor();
  await say(page, "subagents approval");
  await allow(page).waitFor();
  assert.equal(await remember.count(), 0, "the agent does not list this tool");
  assert.deepEqual(page.failures, []);
});

test("aap: conversations are listed by what was said in them, newest first", async () => {
  const page = await openDemo(world, { protocol: "aap", headers: FAST });
  for (const text of ["plain words, the first", "plain words, the second"]) {
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.getByText("Call tools").waitFor();
    await say(page, text);
    await ended(page);
  }
  const names = async () => (await page.locator(".sessions a").allInnerTexts()).slice(0, 2);
  assert.deepEqual(await names(), ["plain words, the second", "plain words, the first"]);
  await page.reload();
  await ended(page);
  await page.getByRole("link", { name: "plain words, the second" }).waitFor();
  assert.deepEqual(await names(), ["plain words, the second", "plain words, the first"]);
  const elsewhere = await openDemo(world, { protocol: "aap", headers: FAST });
  const nameless = elsewhere.getByRole("link", { name: /^Conversation \w{6}$/ });
  await nameless.last().click();
  await ended(elsewhere);
  await elsewhere.locator(".sessions [aria-current=page]").waitFor();
  assert.doesNotMatch(await elsewhere.locator(".sessions [aria-current=page]").innerText(), /^Conversation/);
});

test("aap: a model that does not answer at all is told of, and the conversation goes on", async () => {
  const page = await openDemo(world, { protocol: "aap", headers: FAST });
  await say(page, "refusal");
  await page.getByText("The model would not answer this.").waitFor();
  await say(page, "plain");
  await page.getByText("not a word is lost").waitFor();
  assert.deepEqual(page.failures, []);
});

test("tirea: of an answer that was left by a reload it is said that it is lost", async () => {
  const page = await openDemo(world, { protocol: "tirea", headers: PACE });
  await say(page, "long 401");
  await grown(page, 100);
  await page.reload();
  await page.getByRole("alert").waitFor();
  assert.match(await transcript(page), /long 401[^]*The connection broke, and the answer is lost\./);
  await page.getByRole("link", { name: "long 401" }).waitFor();
  assert.deepEqual(unexpected(page), []);
});

test("tirea: an answer whose connection is cut is over; it is said so, and one can write on", async () => {
  const page = await openDemo(world, { protocol: "tirea", headers: PACE });
  await say(page, "long 300");
  await grown(page, 100);
  await cutButton(page).click();
  const notice = page.getByRole("alert");
  await notice.waitFor();
  assert.match(await notice.innerText(), /The connection broke, and the answer is lost\./);
  await grown(page, 100);
  assert.equal(await page.getByRole("button", { name: "Continue from here" }).count(), 0);
  await page.getByRole("button", { name: "Reload the conversation" }).click();
  await page.locator(".connection.waiting").waitFor();
  await notice.waitFor();
  await page.setExtraHTTPHeaders(FAST);
  await say(page, "plain");
  await page.getByText("not a word is lost").waitFor();
  assert.deepEqual(unexpected(page), []);
});

test("tirea: a conversation that is left while its turn runs goes on, and nobody is called back to it", async () => {
  const page = await openDemo(world, { protocol: "tirea", headers: PACE });
  await say(page, "long 301");
  await grown(page, 100);
  const left = page.url();
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.getByText("Call tools").waitFor();
  await page.waitForTimeout(3000);
  assert.notEqual(page.url(), left);
  await page.getByRole("link", { name: "long 301" }).click();
  await ended(page);
  assert.equal(await page.getByRole("alert").count(), 0);
  assert.deepEqual(page.failures, []);
});

for (const protocol of ["tirea", "awaken"]) {
  test(`${protocol}: a question can be thrown away`, async () => {
    const page = await openDemo(world, { protocol, headers: FAST });
    await say(page, "approval");
    await allow(page).waitFor();
    await type(page.getByRole("textbox").last(), "plain words instead");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator(".bubble").count(), 1, "Enter alone does not");
    await page.getByRole("button", { name: "Send anyway" }).click();
    await page.getByText("not a word is lost").waitFor();
    assert.equal(await allow(page).count(), 0);
    assert.deepEqual(page.failures, []);
  });
}

test("tirea: a call that waits while the turn runs is answered at once", async () => {
  const page = await openDemo(world, {
    protocol: "tirea",
    headers: { "x-turnwire-delay-ms": "40", "x-turnwire-fault": "suspend-live" },
  });
  await say(page, "approval");
  await page.getByText("The agent is still working, and waits for your answer above.").waitFor();
  await allow(page).click();
  await card(page, "Tool restart_service, done").waitFor();
  assert.equal(await page.getByRole("button", { name: "Stop" }).count(), 1, "the same turn goes on");
  await ended(page);
  assert.equal(await page.locator(".turn").count(), 1);
  assert.deepEqual(page.failures, []);
});

test("turn-rpc: reasoning comes before the answer, and is kept with it", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc", agentName: "Chat", headers: { "x-turnwire-delay-ms": "20" } });
  await say(page, "reasoning");
  await page.getByRole("button", { name: "Thinking" }).waitFor();
  await ended(page);
  for (const _ of ["streamed", "listed"]) {
    await page.getByRole("button", { name: "Thoughts" }).click();
    assert.notEqual(await page.locator(".reasoning-text").innerText(), "");
    await page.reload();
    await ended(page);
  }
  assert.deepEqual(page.failures, []);
});

test("turn-rpc: a command's output is shown while it runs, and as its result in the end", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc", headers: { "x-turnwire-delay-ms": "300" } });
  await say(page, "shell");
  const hasBoth = () => {
    const captions = [...document.querySelectorAll(".tool figcaption")].map((caption) => caption.innerText);
    return captions.join() === "Arguments,Output,Errors";
  };
  await page.waitForFunction(hasBoth, null, { polling: 20 });
  await ended(page);
  const tool = card(page, "Tool exec_command, done");
  assert.match(await tool.innerText(), /Result\s+one\s+two\s*$/);
  assert.doesNotMatch(await tool.innerText(), /Output|Errors/);
  assert.deepEqual(page.failures, []);
});

test("turn-rpc: what the server tells of a turn is shown below its words", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc", headers: FAST });
  await say(page, "recover");
  await page.getByText("Hello again.").waitFor();
  await ended(page);
  const notices = page.getByRole("list", { name: "Notices" });
  assert.match(await notices.innerText(), /A step failed and is tried again[^]*The next attempt went well/);
  await say(page, "plain");
  await page.getByText("not a word is lost").waitFor();
  assert.equal(await notices.count(), 1, "an ordinary turn has none");
  assert.deepEqual(page.failures, []);
});

test("turn-rpc: conversations that the server does not list are remembered, for this agent and address", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc", headers: FAST });
  await page.getByText("yours will be remembered by this browser").waitFor();
  for (const text of ["plain words, the first", "plain words, the second"]) {
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.getByText("Call tools").waitFor();
    await say(page, text);
    await ended(page);
  }
  await page.reload();
  await ended(page);
  assert.deepEqual(await page.locator(".sessions a").allInnerTexts(), ["plain words, the second", "plain words, the first"]);
  await page.getByText("these are the ones that this browser remembers").waitFor();
  await page.getByRole("link", { name: "plain words, the first" }).click();
  await page.locator(".bubble", { hasText: "plain words, the first" }).waitFor();
  await ended(page);
  const chat = await openDemo(world, { protocol: "turn-rpc", agentName: "Chat", headers: FAST });
  await chat.getByText("yours will be remembered by this browser").waitFor();
  assert.deepEqual(page.failures, []);
});

test("turn-rpc: what is said in another tab is shown here", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc", headers: FAST });
  await say(page, "plain words");
  await ended(page);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await ended(other);
  await say(other, "markdown");
  await page.getByRole("button", { name: "Copy answer" }).nth(1).waitFor();
  assert.deepEqual(await page.locator(".bubble p").allInnerTexts(), ["plain words", "markdown"]);
  assert.deepEqual(page.failures, []);
});

test("turn-rpc: tools that have the names of the page's own run at the server", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc", headers: FAST });
  await say(page, "page");
  await ended(page);
  await card(page, "Tool clock, done").waitFor();
  assert.equal(await page.getByText("this page", { exact: true }).count(), 0);
  assert.deepEqual(page.failures, []);
});

test("turn-rpc: a conversation that the server does not know is told of in its words", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc" });
  await page.goto(`${world.url}/#/session/nope`);
  const notice = page.getByRole("alert");
  await notice.waitFor();
  assert.match(await notice.innerText(), /does not have this[^]*answered -32600: thread `nope`/);
});

test("what is suggested fits the protocol", async () => {
  const asks = ["Approve an action", "Answer a question", "Tools of this page", "Approve and answer"];
  const runs = ["Run a command", "Fail and recover", "Edit a file", "A limit of rounds"];
  for (const [protocol, there, gone] of [["turn-rpc", runs, asks], ["aap", asks, runs]]) {
    const page = await openDemo(world, { protocol, headers: FAST });
    await page.getByRole("button", { name: "Plain answer" }).waitFor();
    for (const name of there) assert.equal(await page.getByRole("button", { name }).count(), 1, `${protocol}: ${name}`);
    for (const name of gone) assert.equal(await page.getByRole("button", { name }).count(), 0, `${protocol}: ${name}`);
  }
});

test("Codex is among the settings only, which say that it needs the relay", async () => {
  const page = await openDemo(world, { protocol: "turn-rpc" });
  const group = page.getByRole("group", { name: "Protocol" });
  await group.waitFor();
  assert.equal(await group.getByRole("button", { name: "Codex" }).count(), 0);
  await page.getByRole("button", { name: "Connection", exact: true }).click();
  await page.getByRole("combobox", { name: "Protocol" }).selectOption("codex");
  await page.getByText(/relay/).waitFor();
  assert.equal(await page.getByLabel("Agent", { exact: true }).inputValue(), "codex");
  assert.equal(await page.getByLabel("Server address").inputValue(), "ws://127.0.0.1:8791");
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await page.getByText("Look around").waitFor();
  assert.equal(await group.count(), 0);
  await page.getByRole("button", { name: "Connection", exact: true }).click();
  await page.getByRole("combobox", { name: "Protocol" }).selectOption("turn-rpc");
  assert.equal(await page.getByLabel("Server address").inputValue(), `${world.url}/turn-rpc`);
  assert.equal(await page.getByLabel("Agent", { exact: true }).inputValue(), "Agent");
});

test("a click on the empty page speaks another protocol, and the settings know it", async () => {
  const page = await openDemo(world);
  await page.getByRole("group", { name: "Protocol" }).waitFor();
  const chosen = () => page.evaluate(() => document.querySelector(".protocol-switch [aria-pressed=true]").innerText);
  assert.equal(await chosen(), "TrueFoundry");
  for (const [name, path] of [["tirea", "/tirea"], ["awaken", "/awaken"], ["AAP", "/aap"], ["turn-rpc", "/turn-rpc"], ["TrueForge", ""], ["TrueFoundry", "/demo"]]) {
    await page.getByRole("group", { name: "Protocol" }).getByRole("button", { name, exact: true }).click();
    await page.waitForFunction((name) => document.querySelector(".top-agent")?.innerText.endsWith(name), name);
    assert.equal(await chosen(), name);
    await page.getByRole("button", { name: "Connection", exact: true }).click();
    assert.equal(await page.getByLabel("Server address").inputValue(), world.url + path);
    await page.keyboard.press("Escape");
  }
  await page.getByRole("button", { name: "Connection", exact: true }).click();
  await page.getByRole("combobox", { name: "Protocol" }).selectOption("awaken");
  assert.equal(await page.getByLabel("Server address").inputValue(), `${world.url}/awaken`);
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await page.reload();
  await page.getByRole("group", { name: "Protocol" }).waitFor();
  assert.equal(await chosen(), "awaken");
  assert.deepEqual(page.failures, []);
});

test("a phone has room for what is new, in light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const prepare = async (page) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.emulateMedia({ colorScheme });
    };
    const page = await openDemo(world, { protocol: "tirea", headers: FAST, prepare });
    const isTooWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    await page.getByRole("group", { name: "Protocol" }).waitFor();
    assert.equal(await isTooWide(), false, "the switch");
    await say(page, "subagents approval");
    await allow(page).waitFor();
    await type(page.getByRole("textbox").last(), "Never mind, and something else instead");
    await page.getByRole("button", { name: "Send anyway" }).waitFor();
    assert.equal(await isTooWide(), false, "the question");
  }
});
