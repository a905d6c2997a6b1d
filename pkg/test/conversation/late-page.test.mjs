// Pages of the server's turns that arrive late: they take back nothing of what has happened since they were asked for.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fakeServer } from "../../dist/testing.js";
import { linesOf, pageOf, quiet, settle, until } from "./support.mjs";

const approving = async function* ({ text }) {
  if (text !== "go") return yield `You said: ${text}`;
  const [answer] = yield [{ tool: "restart", arguments: { service: "billing" }, result: "running", approval: true }];
  yield answer.allowed ? "restarted" : "no";
};

/** A server that can hold answers back: what it says is as old as the question. */
function slowServer(protocol) {
  const server = fakeServer(approving, { protocol });
  const { fetch } = server.connection;
  let left = 0;
  let held = null;
  let release = () => {};
  const slow = async (url, init) => {
    const answer = await fetch(url, init);
    if ((init?.method ?? "GET") !== "GET" || left === 0 || (left -= 1) > 0) return answer;
    const body = await answer.text();
    await (held = new Promise((resolve) => (release = resolve)));
    return new Response(body, answer);
  };
  return {
    ...server,
    connection: { ...server.connection, fetch: slow },
    /** Holds back the answer to the request to read that is the `nth` from now. */
    hold: (nth) => void (left = nth),
    isHolding: () => held !== null,
    release: () => release(),
  };
}

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

/** How many requests read a page that waits. */
const REQUESTS = { truefoundry: 2, trueforge: 2, tirea: 3, awaken: 3, aap: 2 };

for (const [protocol, requests] of Object.entries(REQUESTS)) {
  describe(protocol, () => {
    for (const isReloaded of [false, true]) {
      // Without ids of turns a page that has begun some reads no list.
      if (protocol === "aap" && !isReloaded) continue;
      for (let nth = 1; nth <= requests; nth += 1) {
        test(`answer ${nth} of a page${isReloaded ? " after a reload" : ""} arrives after the turn that was begun meanwhile`, async (t) => {
          const server = slowServer(protocol);
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
  });
}
