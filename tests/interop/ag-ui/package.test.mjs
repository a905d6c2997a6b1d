// The package against the real servers: texts, tools of the server and of the page, approvals, a reload, and what fails.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { allow, connect, deny, respond } from "../../../pkg/dist/index.js";
import { SERVERS, startServer } from "./servers.mjs";

const textOf = (turn) => turn.snapshot().threads[0].messages.map(({ content }) => content).join("");
const callsOf = (turn) => turn.snapshot().threads[0].messages.flatMap(({ tool_calls }) => tool_calls);

/** How each server asks before it runs a tool, and how its page answers. */
const ASKS = {
  "pydantic-ai": { type: "tool.approval_required", yes: allow, no: (action) => deny(action, "not now") },
  "agent-framework": { type: "tool.approval_required", yes: allow, no: (action) => deny(action, "not now") },
  langgraph: { type: "tool.response_required", yes: (action) => respond(action, '{"approved":true}'), no: (action) => respond(action, '{"approved":false}') },
  agno: { type: "tool.response_required", yes: (action) => respond(action, '{"accepted":true}'), no: (action) => respond(action, '{"accepted":false,"note":"not now"}') },
};

for (const [name, { path }] of Object.entries(SERVERS)) {
  describe(name, () => {
    const ends = [];
    const kept = new Map();
    const store = { get: (key) => kept.get(key) ?? null, set: (key, text) => void kept.set(key, text), remove: (key) => void kept.delete(key) };
    let url;
    before(async () => {
      url = await startServer(name, (end) => ends.push(end));
    });
    after(async () => {
      for (const end of ends) await end();
    });
    const sent = [];
    const noting = (address, init) => {
      sent.push(JSON.parse(init.body));
      return fetch(address, init);
    };
    const client = () => connect({ baseUrl: `${url}${path}`, protocol: "ag-ui", store, fetch: noting });
    // Its tools that ask look like tools of the page.
    const own = name === "agno" ? { answerableTools: ["delete_file"] } : {};
    const session = async () => (await client()).agents.createSession("any", own);
    const say = async (text, one) => {
      const turn = (one ?? (await session())).createTurn(text);
      await turn.waitForCompletion();
      return turn;
    };

    test("text", async () => {
      const turn = await say("hello");
      assert.equal(turn.status, "done");
      assert.match(textOf(turn), /You said: hello\nwith ☃ 你好 \u2028 too\./);
    });

    test("a tool of the server", async () => {
      const turn = await say("tool");
      assert.match(textOf(turn), /Done\. I got: .*Tokyo/);
      assert.deepEqual(callsOf(turn).map(({ name, status }) => [name, status]), [["get_weather", "done"]]);
      assert.deepEqual(turn.snapshot().required_actions, []);
    });

    test("a tool of the page", async () => {
      const one = await session();
      one.tools({ pick_color: { description: "Lets the user pick.", parameters: { type: "object", properties: { title: { type: "string" } } }, run: ({ title }) => `red for ${title}` } });
      const run = one.run("client");
      await run.waitForCompletion();
      assert.match(textOf(run.turns.at(-1)), /Done\. I got: .*red for Wall/);
    });

    for (const answer of ["yes", "no"]) {
      test(`a tool that asks first, answered with ${answer} after a reload`, async () => {
        const { type, [answer]: give } = ASKS[name];
        const before = await session();
        const asking = await say("approve", before);
        assert.deepEqual(asking.snapshot().required_actions.map((action) => action.type), [type]);
        const after = await (await client()).agents.getSession(before.id, own);
        const { last } = await after.history();
        const turn = after.createTurn(last.snapshot().required_actions.map(give));
        await turn.waitForCompletion();
        assert.equal(turn.status, "done", JSON.stringify(turn.snapshot().error));
        // LangGraph's tool only repeats its answer.
        const ran = /deleted a\.txt|answer was \W+approved\W+true/.test(JSON.stringify([turn.snapshot().threads, JSON.parse(after.messages()).messages]));
        assert.equal(ran, answer === "yes", after.messages());
      });
    }

    test("the conversation goes on after a reload", async () => {
      const before = await session();
      for (const text of ["hello", "again"]) await say(text, before);
      const after = await (await client()).agents.getSession(before.id);
      const history = await after.history();
      assert.deepEqual(history.map(textOf), [/hello/, /again/].map((word) => history.map(textOf).find((text) => word.test(text))));
      assert.equal(history.length, 2);
      // Agent Framework counts one more.
      assert.match(textOf(await say("count", after)), /I see [34] user messages/);
      assert.deepEqual(sent.at(-1).messages.filter(({ role }) => role === "user").map(({ content }) => content), ["hello", "again", "count"]);
    });

    test("an error, and an abandoned turn", async () => {
      const failed = (await session()).createTurn("fail");
      await failed.waitForCompletion().catch(() => {});
      assert.equal(failed.status, "error");
      assert.ok(failed.snapshot().error.message);
      const one = await session();
      const slow = one.createTurn("slow");
      const over = slow.waitForCompletion();
      while (textOf(slow).length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
      await slow.cancel();
      await over;
      assert.equal(slow.status, "cancelled");
      assert.match(textOf(await say("hello", one)), /You said: hello/);
    });
  });
}
