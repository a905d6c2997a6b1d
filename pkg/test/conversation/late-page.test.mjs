// Pages of the server's turns that arrive late: they undo nothing that has happened since the request.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { READS, slowServer } from "../support/slow-server.mjs";
import { linesOf, pageOf, quiet, settle, until } from "./support.mjs";

const approving = async function* ({ text }) {
  if (text === "soon") yield { wait: 100 };
  else if (text !== "go") return yield `You said: ${text}`;
  const [answer] = yield [{ tool: "restart", arguments: { service: "billing" }, result: "running", approval: true }];
  yield answer.allowed ? "restarted" : "no";
};

/** A conversation that waits for an approval, in the page that has begun it or in another one. */
async function waiting(server, protocol, isReloaded) {
  const page = await pageOf(null, { protocol, server });
  const chat = page.chats.create();
  const leave = chat.attach();
  for (const text of ["hello", "go"]) {
    chat.send(text);
    await quiet(chat);
  }
  await until(chat, () => chat.pending.get().length > 0);
  if (!isReloaded) return { ...page, chat, leave };
  const { sessionId } = chat.info.get();
  page.chats.close();
  page.client.close();
  const later = await pageOf(null, { protocol, server });
  const again = later.chats.open(sessionId);
  const leaveAgain = again.attach();
  await again.loaded;
  await until(again, () => again.pending.get().length > 0);
  return { ...later, chat: again, leave: leaveAgain };
}

for (const [protocol, requests] of Object.entries(READS)) {
  describe(protocol, () => {
    for (const isReloaded of [false, true]) {
      // Without ids of turns a page that has begun some reads no list.
      if (protocol === "aap" && !isReloaded) continue;
      for (let nth = 1; nth <= requests; nth += 1) {
        test(`answer ${nth} of a page${isReloaded ? " after a reload" : ""} arrives after a turn that began meanwhile`, async (t) => {
          const server = slowServer(approving, protocol);
          const { chat, chats, client, leave } = await waiting(server, protocol, isReloaded);
          t.after(() => (chats.close(), client.close()));
          leave();
          await settle(20);
          server.hold(nth);
          chat.attach();
          await until(chat, server.isHolding);
          chat.allow(chat.pending.get()[0].key);
          await until(chat, () => linesOf(chat).at(-1) === "assistant: restarted");
          await settle(20);
          server.release();
          await settle(20);
          await quiet(chat);
          chat.send("more");
          await until(chat, () => linesOf(chat).at(-1) === "assistant: You said: more");
          await quiet(chat);
          await chat.catchUp();
          assert.deepEqual(linesOf(chat).filter((line) => line !== "assistant: "), [
            "user: hello",
            "assistant: You said: hello",
            "user: go",
            "assistant: restarted",
            "user: more",
            "assistant: You said: more",
          ]);
        });
      }
    }

    // Without ids of turns a page that has begun some reads no list.
    for (let nth = 1; nth <= requests && protocol !== "aap"; nth += 1) {
      test(`answer ${nth} of a page arrives after the turn that ran has ended, and waits`, async (t) => {
        const server = slowServer(approving, protocol);
        const { chat, chats, client } = await waiting(server, protocol, false);
        t.after(() => (chats.close(), client.close()));
        chat.allow(chat.pending.get()[0].key);
        await quiet(chat);
        chat.send("soon");
        await until(chat, () => chat.status.get().phase !== "sending");
        server.hold(nth);
        const read = chat.catchUp();
        await until(chat, server.isHolding);
        await until(chat, () => chat.pending.get().length > 0);
        server.release();
        await read;
        assert.deepEqual([chat.status.get().phase, chat.pending.get().length], ["waiting", 1]);
        chat.allow(chat.pending.get()[0].key);
        await quiet(chat);
        const lines = linesOf(chat).filter((line) => line !== "assistant: ");
        assert.deepEqual([chat.status.get().phase, ...lines.slice(-2)], ["idle", "user: soon", "assistant: restarted"]);
        await chat.catchUp();
        assert.deepEqual(linesOf(chat).filter((line) => line !== "assistant: "), lines);
      });
    }
  });
}
