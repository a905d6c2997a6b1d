// The package in a page, in headless Chromium, against the real servers: over the gateway's relay, as pages of another
// origin reach them, and a tap that can cut a connection.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openPage, pause, startBrowser, startRelay, startSite } from "../parts.mjs";
import { startTap } from "../tirea/tap.mjs";
import { install } from "./page.mjs";
import { approvalOf, SERVERS, startServer, thoughtOf } from "./servers.mjs";

for (const [name, { path, options = {}, asks, isMixed = true }] of Object.entries(SERVERS)) {
  describe(`${name}, in a page`, () => {
    const ends = [];
    const onStop = (end) => ends.push(end);
    const isRecovered = options.recovery === "connect";
    let tap;
    let page;
    let nowhere;
    const reload = async () => {
      await page.reloadAll();
      await page.evaluate(install, options);
    };
    before(async () => {
      tap = await startTap(await startServer(name, onStop));
      onStop(tap.stop);
      const relay = await startRelay(tap.url, {}, onStop);
      const site = await startSite(onStop);
      page = await openPage(await startBrowser(onStop), site, { relay: relay.url + path, protocol: "ag-ui", agent: "any" });
      nowhere = relay.url + path.replace(/\w+(?=\/run$|$)/, "nowhere");
      await page.evaluate(install, options);
    });
    after(async () => {
      for (const end of ends.reverse()) await end();
    });
    const say = (text, how) => page.evaluate(([text, how]) => ours.say(text, how), [text, how]);
    const next = (text) => page.evaluate((text) => ours.next(text), text);
    /** The runs of a session, as they came to the server. */
    const runs = (thread) => tap.records.filter((record) => record.path === path && record.body.threadId === thread);
    /** What else was asked about a session: the last words of the paths, but for ids. */
    const others = (thread) => {
      const asked = tap.records.filter((record) => record.method === "POST" && record.path !== path);
      const about = asked.filter((record) => record.body.threadId === thread || record.path.endsWith(thread));
      return about.map((record) => record.path.replace(`/${thread}`, "").split("/").at(-1));
    };

    test("text", async () => {
      const { status, text, agrees } = await say("hello");
      assert.deepEqual([status, agrees], ["done", true]);
      assert.match(text, /You said: hello\nwith ☃ 你好 \u2028 too\./);
    });

    test("reasoning is told apart from the text, and is still there after a reload, for the page and for the server", async () => {
      const { word, thought, text } = thoughtOf(name);
      const turn = await say(word);
      const told = turn.messages.map(({ reasoning_content }) => reasoning_content ?? "").join("");
      assert.deepEqual([turn.status, turn.agrees], ["done", true]);
      assert.match(told, thought);
      assert.match(turn.text, text);
      await reload();
      assert.equal((await page.evaluate((id) => ours.recall(id), turn.session)).reasoning, told);
      await say("hello", { id: turn.session });
      const sent = runs(turn.session).at(-1).body.messages.filter(({ role }) => role === "reasoning");
      assert.equal(sent.map(({ content }) => content).join(""), told);
    });

    test("a tool of the server", async () => {
      const { status, agrees, text, calls, snapshot } = await say("tool");
      assert.deepEqual([status, agrees, snapshot.required_actions], ["done", true, []]);
      const made = calls.map((call) => [call.name, JSON.parse(call.arguments), call.status]);
      assert.deepEqual(made, [["get_weather", { city: "Tokyo" }, "done"]]);
      assert.match(calls[0].response.content, /18/);
      assert.match(text, /^Let me look\. \n?Done\. I got: .*Tokyo/);
    });

    test("a tool of the page", async () => {
      const { status, text, titles, waits } = await page.evaluate(() => ours.pick("client"));
      assert.deepEqual([status, titles, waits], ["done", ["Wall"], []]);
      assert.match(text, /Done\. I got: .*red for Wall/);
    });

    test("two calls of the page's tool", async () => {
      const { status, text, titles, session } = await page.evaluate(() => ours.pick("clients"));
      assert.deepEqual([status, titles.sort(), runs(session).length], ["done", ["Floor", "Wall"], 2]);
      assert.match(text, /Done\. I got: .*red for Wall.*red for Floor/);
    });

    test("a tool of the server and one of the page in one step", async () => {
      const { status, text, titles } = await page.evaluate(() => ours.pick("mixed"));
      assert.deepEqual([status, titles], ["done", ["Wall"]]);
      assert.match(text, /Done\. I got: .*Oslo.*red for Wall/);
    });

    test("a tool of the page that fails tells the model why", async () => {
      const { status, text } = await page.evaluate(() => ours.pick("client", "no paint"));
      assert.equal(status, "done");
      assert.match(text, /Done\. I got: .*no paint/);
    });

    for (const how of ["granted", "denied", "edited"]) {
      test(`what asks first is ${how} after a reload of the page, and the conversation goes on`, async () => {
        const { word, answer, got } = approvalOf(name, how);
        const asking = await say(word);
        assert.deepEqual([asking.status, asking.snapshot.required_actions.map(({ type }) => type)], ["done", [asks]]);
        await reload();
        const { status, text, snapshot } = await page.evaluate(([id, answer]) => ours.answer(id, [answer]), [asking.session, answer]);
        assert.deepEqual([status, snapshot.required_actions], ["done", []], JSON.stringify(snapshot.error));
        assert.match(text, got);
        if (how !== "granted") assert.doesNotMatch(text, /deleted a\.txt/);
        const after = await next("hello");
        assert.match(after.text, /You said: hello/, JSON.stringify(after.snapshot.error));
      });
    }

    if (isMixed) {
      test("of two tools that ask first, one is granted and the other denied", async () => {
        const [granted, denied] = [approvalOf(name, "granted"), approvalOf(name, "denied")];
        const asking = await say("approve2");
        assert.deepEqual(asking.snapshot.required_actions.map(({ type }) => type), [asks, asks]);
        await reload();
        const answers = [granted.answer, denied.answer];
        const { status, text } = await page.evaluate(([id, answers]) => ours.answer(id, answers), [asking.session, answers]);
        assert.equal(status, "done");
        assert.match(text, granted.got);
        assert.match(text, denied.got);
        assert.doesNotMatch(text, /deleted b\.txt/);
      });
    }

    test("the conversation goes on after a reload", async () => {
      const { session } = await say("hello");
      await next("again");
      await reload();
      const { texts } = await page.evaluate((id) => ours.recall(id), session);
      assert.deepEqual(texts.map((text) => /You said: (\w+)/.exec(text)?.[1]), ["hello", "again"]);
      // Agent Framework counts one more.
      assert.match((await say("count", { id: session })).text, /I see [34] user messages/);
      const users = runs(session).at(-1).body.messages.filter(({ role }) => role === "user");
      assert.deepEqual(users.map(({ content }) => content), ["hello", "again", "count"]);
    });

    test("the state of the page goes to the server, and the server's comes back with the next run, also after a reload", async () => {
      const { status, snapshot, session } = await say("state", { state: { n: 1 } });
      assert.deepEqual([status, snapshot.agent_state.n, runs(session)[0].body.state], ["done", 5, { n: 1 }], JSON.stringify(snapshot));
      await reload();
      assert.equal((await page.evaluate((id) => ours.recall(id), session)).state.n, 5);
      await say("hello", { id: session });
      assert.equal(runs(session).at(-1).body.state.n, 5);
    });

    test("a model that fails: the text before it stays, and the conversation goes on", async () => {
      const { status, text, error, snapshot } = await say("fail");
      assert.deepEqual([status, text, error], ["error", "This will go wro", null]);
      assert.ok(snapshot.error.message);
      const after = await next("hello");
      assert.match(after.text, /You said: hello/, JSON.stringify(after.snapshot.error));
    });

    test(`a connection that breaks ${isRecovered ? "is read on" : "leaves the turn incomplete"}, and nothing is sent again`, async () => {
      const thread = await page.evaluate(() => ours.begin("slow"));
      await page.waitForFunction(() => ours.text().length > 3);
      runs(thread).at(-1).cut();
      const { status, error, text, agrees } = await page.evaluate(() => ours.ended());
      assert.deepEqual([status, error?.code, agrees], isRecovered ? ["done", undefined, true] : ["incomplete", "incomplete", true]);
      assert.match(text, isRecovered ? /^0 1 .* 18 19 $/ : /^0 1 /);
      assert.deepEqual([runs(thread).length, others(thread)], [1, isRecovered ? ["connect"] : []]);
      const { text: said } = await next("hello");
      assert.match(said, /You said: hello/);
      const users = runs(thread).at(-1).body.messages.filter(({ role }) => role === "user");
      assert.deepEqual(users.map(({ content }) => content), ["slow", "hello"]);
    });

    test(`a turn during which the page reloads ${isRecovered ? "is read to its end" : "has failed"}, and the conversation goes on`, async () => {
      const thread = await page.evaluate(() => ours.begin("slow"));
      await page.waitForFunction(() => ours.text().length > 3);
      await reload();
      const { status, error, text } = await page.evaluate((id) => ours.resume(id), thread);
      assert.deepEqual([status, error], isRecovered ? ["done", null] : ["error", "incomplete"]);
      if (isRecovered) assert.match(text, /^0 1 .* 18 19 $/);
      assert.equal(runs(thread).length, 1);
      assert.match((await next("hello")).text, /You said: hello/);
    });

    test("an address that no agent has is an error, and what was said there is not kept", async () => {
      const { error, kept } = await page.evaluate((baseUrl) => ours.sayAt(baseUrl, "hello"), nowhere);
      assert.deepEqual([error?.status, error?.typed, kept.includes("hello")], [404, true, false], JSON.stringify(error));
    });

    test("cancel() closes the connection to the server, and the conversation goes on", async () => {
      const thread = await page.evaluate(() => ours.begin("slow"));
      await page.waitForFunction(() => ours.text().length > 3);
      await page.evaluate(() => ours.turn.cancel());
      const { status, error } = await page.evaluate(() => ours.ended());
      assert.deepEqual([status, error], ["cancelled", null]);
      await until(() => runs(thread)[0].end !== "");
      assert.equal(runs(thread)[0].end, "left");
      const { text } = await next("hello");
      assert.match(text, /You said: hello/);
      assert.deepEqual(others(thread), isRecovered ? ["stop", "connect"] : []);
    });

    test("the page had no errors", () => assert.deepEqual(page.failures, []));
  });
}

async function until(holds) {
  for (const last = Date.now() + 10_000; !holds(); await pause(20)) {
    if (Date.now() > last) throw new Error(`not in time: ${holds}`);
  }
}
