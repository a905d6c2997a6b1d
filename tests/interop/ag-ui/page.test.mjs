// The package in a page, in headless Chromium, against the real servers: over the gateway's relay, as pages of another
// origin reach them, and a tap that can cut a connection.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openPage, startBrowser, startRelay, startSite } from "../parts.mjs";
import { startTap } from "../tirea/tap.mjs";
import { SERVERS, startServer } from "./servers.mjs";

/** What pages answer before a tool of the server runs; the others ask for an approval. */
const RESPONSES = { langgraph: '{"approved":true}', agno: '{"accepted":true}' };
/** The tools that ask look like tools of the page. */
const OPTIONS = { agno: { answerableTools: ["delete_file"] } };

for (const [name, { path }] of Object.entries(SERVERS)) {
  describe(`${name}, in a page`, () => {
    const ends = [];
    const onStop = (end) => ends.push(end);
    let tap;
    let page;
    before(async () => {
      tap = await startTap(await startServer(name, onStop));
      onStop(tap.stop);
      const relay = await startRelay(tap.url, {}, onStop);
      const site = await startSite(onStop);
      page = await openPage(await startBrowser(onStop), site, { relay: relay.url + path, protocol: "ag-ui", agent: "any" });
      await page.evaluate(install, OPTIONS[name] ?? {});
    });
    after(async () => {
      for (const end of ends.reverse()) await end();
    });
    /** The requests of a session, as they came to the server. */
    const sent = (thread) => tap.records.filter(({ method, body }) => method === "POST" && body.threadId === thread);

    test("text", async () => {
      const { status, text, agrees } = await page.evaluate(() => ours.say("hello"));
      assert.deepEqual([status, agrees], ["done", true]);
      assert.match(text, /You said: hello\nwith ☃ 你好 \u2028 too\./);
    });

    test("a tool of the page", async () => {
      const { status, text } = await page.evaluate(() => ours.pick());
      assert.equal(status, "done");
      assert.match(text, /Done\. I got: .*red for Wall/);
    });

    test("a tool that asks first is answered after a reload of the page", async () => {
      const asking = await page.evaluate(() => ours.say("approve"));
      assert.equal(asking.actions.length, 1);
      await page.reloadAll();
      await page.evaluate(install, OPTIONS[name] ?? {});
      const { status, messages } = await page.evaluate(([id, response]) => ours.allowAll(id, response), [asking.session, RESPONSES[name]]);
      assert.equal(status, "done");
      // LangGraph's tool only repeats its answer.
      assert.match(messages, /deleted a\.txt|answer was \W+approved\W+true/);
    });

    test("a connection that breaks leaves the turn incomplete, with the received events, and nothing is sent again", async () => {
      const thread = await page.evaluate(() => ours.begin("slow"));
      await page.waitForFunction(() => ours.text().length > 3);
      sent(thread).at(-1).cut();
      const { status, error, text } = await page.evaluate(() => ours.ended());
      assert.deepEqual([status, error], ["incomplete", "incomplete"]);
      assert.match(text, /^0 1 /);
      assert.equal(sent(thread).length, 1);
      const next = await page.evaluate(() => ours.say("hello", ours.session));
      assert.match(next.text, /You said: hello/);
      const users = sent(thread).at(-1).body.messages.filter(({ role }) => role === "user");
      assert.deepEqual(users.map(({ content }) => content), ["slow", "hello"]);
    });

    test("cancel() closes the connection to the server", async () => {
      const thread = await page.evaluate(() => ours.begin("slow"));
      await page.waitForFunction(() => ours.text().length > 3);
      await page.evaluate(() => ours.turn.cancel());
      const { status, error } = await page.evaluate(() => ours.ended());
      assert.deepEqual([status, error], ["cancelled", null]);
      await until(() => sent(thread)[0].end !== "");
      assert.equal(sent(thread)[0].end, "left");
    });

    test("the page had no errors", () => assert.deepEqual(page.failures, []));
  });
}

async function until(holds) {
  for (const last = Date.now() + 10_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 20))) {
    if (Date.now() > last) throw new Error(`not in time: ${holds}`);
  }
}

/** Runs in the page: the tests' functions, as `globalThis.ours`. Sessions have these options. */
function install(options) {
  const { allow, respond } = globalThis.turnwire;
  const textOf = (turn) => turn.snapshot().threads[0].messages.map(({ content }) => content).join("");
  const told = ({ status, agrees }, turn, session) => ({ status, agrees, session: session.id, text: textOf(turn), actions: turn.snapshot().required_actions, messages: session.messages() });
  const open = async () => (await kit.client()).agents.createSession("any", options);

  globalThis.ours = {
    /** Says something, in a session of its own unless there is one. */
    async say(text, session) {
      const own = session ?? (await open());
      const turn = own.createTurn(text);
      return told(await kit.stream(turn), turn, own);
    },
    /** Makes the agent call the page's tool. */
    async pick() {
      const session = await open();
      const parameters = { type: "object", properties: { title: { type: "string" } } };
      session.tools({ pick_color: { description: "Lets the user pick.", parameters, run: ({ title }) => `red for ${title}` } });
      const run = session.run("client");
      await run.waitForCompletion();
      const turn = run.turns.at(-1);
      return told({ status: turn.status }, turn, session);
    },
    /** Resumes a session, and allows all pending calls. */
    async allowAll(id, response) {
      const session = await (await kit.client()).agents.getSession(id, options);
      const { last } = await session.history();
      const turn = session.createTurn(last.snapshot().required_actions.map((action) => (response ? respond(action, response) : allow(action))));
      return told(await kit.stream(turn), turn, session);
    },
    /** Begins a turn. Returns the session's id. */
    async begin(text) {
      ours.session = await open();
      ours.turn = ours.session.createTurn(text);
      ours.over = ours.turn.waitForCompletion().then(() => null, ({ code }) => code);
      return ours.session.id;
    },
    text: () => textOf(ours.turn),
    /** How that turn ended. */
    ended: async () => ({ error: await ours.over, status: ours.turn.status, text: ours.text() }),
  };
}
