// The history of a session in pages, against the development gateway, in each protocol.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WebSocket } from "ws";
import { connect, Turn } from "../dist/index.js";
import { memoryStore } from "./conversation/support.mjs";
import { failure, textOf } from "./support/collect.mjs";
import { useGateway, WITH_GATEWAY } from "./support/gateway.mjs";
import { PATHS } from "./support/protocols.mjs";

const gateway = useGateway();

/** The conversations that clients keep. */
const kept = memoryStore();
const COUNT = 5;

/** A client of the protocol. */
async function dial(t, protocol) {
  const headers = { "x-turnwire-delay-ms": "0.2" };
  const own = protocol === "turn-rpc" ? { webSocket: (url) => new WebSocket(url, { headers }) } : { headers };
  const client = await connect({ baseUrl: gateway.url + PATHS[protocol], protocol, store: kept, ...own });
  t.after(() => client.close());
  return client;
}

const inputOf = ({ input }) => input.map(({ content }) => (typeof content === "string" ? content : content.map(({ text }) => text).join(""))).join("");

/** The session after a reload, and its turns' texts. */
async function reloaded(t, protocol) {
  const session = await (await dial(t, protocol)).agents.createSession(protocol === "turn-rpc" ? "Chat" : "support-bot");
  for (let number = 1; number <= COUNT; number += 1) await session.createTurn(`plain ${number}`).waitForCompletion();
  return (await dial(t, protocol)).agents.getSession(session.id, { agentName: "support-bot" });
}

for (const protocol of Object.keys(PATHS)) {
  describe(protocol, WITH_GATEWAY, () => {
    test("pages from the newest turn make up the whole history, and the conversation goes on", async (t) => {
      const session = await reloaded(t, protocol);
      const whole = await session.history();
      assert.deepEqual(whole.map(inputOf), ["plain 1", "plain 2", "plain 3", "plain 4", "plain 5"]);
      assert.equal(whole.hasEarlier, false);
      assert.deepEqual(whole.map((turn) => turn instanceof Turn), [false, false, false, false, true]);
      assert.ok(whole.every((turn) => turn.status === "done" && textOf(turn).length > 20));

      const again = await (await dial(t, protocol)).agents.getSession(session.id, { agentName: "support-bot" });
      let turns = await again.resume({ turns: 2 });
      const pages = [turns];
      while (turns.hasEarlier) pages.unshift((turns = await again.history({ turns: 2, before: turns[0].id })));
      assert.deepEqual(pages.map((page) => page.map(inputOf)), [["plain 1"], ["plain 2", "plain 3"], ["plain 4", "plain 5"]]);
      assert.deepEqual(pages.flat().map(textOf), whole.map(textOf));
      assert.deepEqual(await again.history({ before: pages[0][0].id }), []);

      const next = again.createTurn("plain 6");
      await next.waitForCompletion();
      assert.deepEqual((await again.history({ turns: 1 })).map(inputOf), ["plain 6"]);
    });

    test("a turn of another path, or of no session, is found or refused", async (t) => {
      const session = await reloaded(t, protocol);
      const whole = await session.history();
      const shorter = await session.history({ lastTurnId: whole[2].id });
      assert.deepEqual(shorter.map(inputOf), ["plain 1", "plain 2", "plain 3"]);
      assert.ok(await failure(session.history({ before: "01nosuchturn0000000000000" })) instanceof Error);
      if (!["truefoundry", "trueforge"].includes(protocol)) return;
      await session.createTurn({ input: "plain fork", previousTurnId: whole[1].id }).waitForCompletion();
      const forked = await session.history();
      assert.deepEqual(forked.map(inputOf), ["plain 1", "plain 2", "plain fork"]);
      assert.deepEqual(forked.branches.map(inputOf), protocol === "trueforge" ? ["plain 3", "plain 4", "plain 5"] : []);
      const other = await session.history({ lastTurnId: whole[4].id });
      assert.deepEqual(other.map(inputOf), whole.map(inputOf));
      assert.deepEqual(other.map(textOf), whole.map(textOf));
      assert.equal((await session.getTurn(other[4].id)).status, "done");
    });
  });
}
