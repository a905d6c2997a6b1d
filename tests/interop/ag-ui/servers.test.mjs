// The official client against the real servers: that each of them is up and follows its script, before anything
// else is judged by it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { SERVERS, startServer } from "./servers.mjs";
import { agentAt, lastText, say } from "./world.mjs";

const tools = [{ name: "pick_color", description: "Lets the user pick.", parameters: { type: "object", properties: { title: { type: "string" } } } }];

for (const [name, { path }] of Object.entries(SERVERS)) {
  describe(name, () => {
    const ends = [];
    let url;
    before(async () => {
      url = await startServer(name, (end) => ends.push(end));
    });
    after(async () => {
      for (const end of ends) await end();
    });
    const agent = () => agentAt(`${url}${path}`, { threadId: crypto.randomUUID() });

    test("text", async () => {
      const one = agent();
      assert.equal((await say(one, "hello")).error, undefined);
      assert.match(lastText(one), /You said: hello\nwith ☃ 你好 \u2028 too\./);
    });

    test("a tool of the server", async () => {
      const one = agent();
      assert.equal((await say(one, "tool")).error, undefined);
      assert.match(lastText(one), /^Done\. I got: .*Tokyo/);
    });

    test("a tool of the page", async () => {
      const one = agent();
      assert.equal((await say(one, "client", { tools })).error, undefined);
      const call = one.messages.flatMap(({ toolCalls = [] }) => toolCalls).at(-1);
      assert.deepEqual([call.function.name, JSON.parse(call.function.arguments)], ["pick_color", { title: "Wall" }]);
      one.addMessage({ id: "picked", role: "tool", toolCallId: call.id, content: "red" });
      assert.equal((await say(one, undefined, { tools })).error, undefined);
      assert.match(lastText(one), /^Done\. I got: .*red/);
    });

    test("an error", async () => {
      const { runError, error } = await say(agent(), "fail");
      assert.ok(runError ?? error);
    });
  });
}
