// A conversation in a page without a network, and in a hidden tab.
import assert from "node:assert/strict";
import { test } from "node:test";
import { IS_QUICK } from "../rows.mjs";
import { CHROMIUM_ONLY, useWorld } from "./harness.mjs";

const world = useWorld();

/** For how long there is no network, in milliseconds. */
const OFFLINE = IS_QUICK ? 1_000 : 10_000;

/** In the page: what its tests share, as `globalThis.life`. */
async function install() {
  const [{ Conversations }, { fakeServer }] = await Promise.all([import("/dist/conversation.js"), import("/dist/testing.js")]);
  const until = async (holds) => {
    for (const end = performance.now() + 25_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 10))) {
      if (performance.now() > end) throw new Error(`never: ${holds}`);
    }
  };
  /** A conversation of the gateway, whose next turn is paced. */
  const open = () => {
    const client = turnwire.connect({ baseUrl: `${location.origin}/demo`, headers: { "x-turnwire-delay-ms": "5" } });
    const chat = new Conversations({ client, agentName: "support-bot" }).create();
    chat.attach();
    return chat;
  };
  const textsOf = (chat) => chat.messages.get().map(({ text }) => text);
  globalThis.life = { Conversations, fakeServer, until, open, textsOf };
}

/** Opens a page with that. */
async function openLife() {
  const page = await world.page();
  await page.evaluate(install);
  return page;
}

for (const when of ["before it arrives", "before it is answered"]) {
  test(`no network for a while during \`steer\`, ${when}: the text is in one place, and the turn is whole`, async () => {
    const page = await openLife();
    const seen = await page.evaluate(
      async ({ when, offline }) => {
        const { Conversations, fakeServer, until, textsOf } = life;
        const server = fakeServer(
          async function* () {
            yield "begun ";
            yield { wait: offline + 2_000 };
            yield "and whole";
          },
          { protocol: "codex" },
        );
        let isOffline = false;
        /** A connection that cannot be opened. */
        const refused = () => {
          const socket = Object.assign(new EventTarget(), { readyState: 0, bufferedAmount: 0, send() {}, close() {} });
          setTimeout(() => {
            socket.readyState = 3;
            socket.dispatchEvent(new Event("error"));
            socket.dispatchEvent(new CloseEvent("close", { code: 1006 }));
          });
          return socket;
        };
        const webSocket = (url) => {
          if (isOffline) return refused();
          const socket = server.connection.webSocket(url);
          const send = socket.send.bind(socket);
          socket.send = (text) => void (isOffline || send(text));
          return socket;
        };
        const client = await turnwire.connect({ ...server.connection, webSocket, reconnect: { baseDelay: 50, maxDelay: 500, maxAttempts: 100 } });
        const chat = new Conversations({ client, agentName: "agent", store: null }).create();
        chat.attach();
        chat.send("one");
        await until(() => chat.status.get().canSteer && textsOf(chat)[1] === "begun ");
        const asked = () => server.requests.filter(({ url }) => url === "turn/steer").length;
        if (when === "before it arrives") isOffline = true;
        chat.send("two", { whenBusy: "steer" });
        if (when === "before it is answered") await until(() => asked() === 1);
        isOffline = true;
        server.disconnect();
        await new Promise((resolve) => setTimeout(resolve, offline));
        const places = () => textsOf(chat).filter((text) => text === "two").length + chat.queue.get().filter(({ input }) => input[0].content === "two").length;
        const meanwhile = places();
        isOffline = false;
        await until(() => chat.status.get().phase === "idle" && textsOf(chat).at(-1).endsWith("and whole"));
        return { meanwhile, end: places(), asked: asked(), texts: textsOf(chat), draft: chat.draft.get().text, queue: chat.queue.get().map(({ state }) => state) };
      },
      { when, offline: OFFLINE },
    );
    assert.equal(seen.meanwhile, 1, JSON.stringify(seen));
    assert.equal(seen.end + Number(seen.draft === "two"), 1, JSON.stringify(seen));
    assert.equal(seen.asked, when === "before it arrives" ? 0 : 1, "nothing is sent twice by itself");
    assert.equal(seen.texts.filter((text) => text !== "two").join(""), "onebegun and whole");
    assert.deepEqual(page.failures, []);
    await page.context().close();
  });
}

test("in a hidden tab of a slow machine, an answer and the message after it are whole when it is shown", CHROMIUM_ONLY, async () => {
  const page = await openLife();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 6 });
  await page.evaluate(() => {
    const chat = (globalThis.chat = life.open());
    chat.send("long 1000");
  });
  await page.waitForFunction(() => life.textsOf(chat)[1]?.length > 50);
  const hide = (on) =>
    page.evaluate((on) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => on });
      Object.defineProperty(document, "visibilityState", { configurable: true, get: () => (on ? "hidden" : "visible") });
      globalThis.frame ??= requestAnimationFrame;
      globalThis.requestAnimationFrame = on ? () => 0 : globalThis.frame;
      document.dispatchEvent(new Event("visibilitychange"));
    }, on);
  await hide(true);
  const hidden = await page.evaluate(async () => {
    chat.send("plain");
    const before = life.textsOf(chat)[1].length;
    await life.until(() => life.textsOf(chat)[1].length > before + 1000);
    return chat.queue.get().length;
  });
  assert.equal(hidden, 1);
  await hide(false);
  await page.waitForFunction(() => chat.status.get().phase === "idle" && chat.queue.get().length === 0, null, { timeout: 60_000 });
  const { roles, texts, whole } = await page.evaluate(async () => {
    const client = await turnwire.connect({ baseUrl: `${location.origin}/demo` });
    const turns = await (await client.agents.getSession(chat.info.get().sessionId)).history();
    const whole = turns.map((turn) => turn.snapshot().threads[0].messages.map(({ content }) => content).join(""));
    return { roles: chat.rows.get().map(({ role }) => role), texts: life.textsOf(chat), whole };
  });
  assert.deepEqual(roles, ["user", "assistant", "user", "assistant"]);
  assert.deepEqual(texts, ["long 1000", whole[0], "plain", whole[1]]);
  assert.deepEqual(page.failures, []);
  await page.context().close();
});
