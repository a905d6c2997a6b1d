// A conversation in a page without a network, and in a hidden tab.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { IS_QUICK } from "../rows.mjs";
import { CHROMIUM_ONLY, useWorld } from "./harness.mjs";

const world = useWorld();

/** How long the network is off, and how long a tab is hidden, in milliseconds. */
const OFFLINE = IS_QUICK ? 1_000 : 10_000;
const HIDDEN = IS_QUICK ? 3_000 : 60_000;

/** In the page: what its tests share, as `globalThis.life`. */
async function install() {
  const [{ Conversations }, { fakeServer }] = await Promise.all([import("/dist/conversation.js"), import("/dist/testing.js")]);
  const until = async (holds) => {
    for (const end = performance.now() + 25_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 10))) {
      if (performance.now() > end) throw new Error(`never: ${holds}`);
    }
  };
  /** A conversation of the gateway, whose next turn is paced. */
  const open = (pace = 5) => {
    const client = turnwire.connect({ baseUrl: `${location.origin}/demo`, headers: { "x-turnwire-delay-ms": String(pace) } });
    const chat = new Conversations({ client, agentName: "support-bot" }).create();
    chat.attach();
    return chat;
  };
  const textsOf = (chat) => chat.messages.get().map(({ text }) => text);
  /** The agent's texts of the conversation, as the server has them. */
  const kept = async (chat) => {
    const client = await turnwire.connect({ baseUrl: `${location.origin}/demo` });
    const turns = await (await client.agents.getSession(chat.info.get().sessionId)).history();
    return turns.map((turn) => turn.snapshot().threads[0].messages.map(({ content }) => content).join(""));
  };
  globalThis.life = { Conversations, fakeServer, until, open, textsOf, kept };
}

/** Opens a page with these functions. */
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
    return { roles: chat.rows.get().map(({ role }) => role), texts: life.textsOf(chat), whole: await life.kept(chat) };
  });
  assert.deepEqual(roles, ["user", "assistant", "user", "assistant"]);
  assert.deepEqual(texts, ["long 1000", whole[0], "plain", whole[1]]);
  assert.deepEqual(page.failures, []);
  await page.context().close();
});

/** What an answer does while there is no network: its pieces, and the milliseconds between them. */
const MEANWHILE = {
  "goes on": { pieces: 600, pace: (OFFLINE * 2) / 600 },
  ends: { pieces: 320, pace: OFFLINE / 400 },
};

for (const [what, { pieces, pace }] of Object.entries(MEANWHILE)) {
  test(`no network for a while in the middle of an answer that ${what} meanwhile: it is whole, and what was written waits`, CHROMIUM_ONLY, async () => {
    const page = await openLife();
    const starts = [];
    page.on("request", (request) => request.method() === "POST" && request.url().endsWith("/turns") && starts.push(request));
    await page.evaluate(({ pieces, pace }) => {
      const chat = (globalThis.chat = life.open(pace));
      globalThis.phases = new Set();
      globalThis.lengths = [];
      chat.status.subscribe(() => phases.add(chat.status.get().phase));
      chat.messages.subscribe(() => lengths.push(life.textsOf(chat)[1]?.length ?? 0));
      chat.send(`long ${pieces}`);
    }, { pieces, pace: Math.ceil(pace) });
    await page.waitForFunction(() => life.textsOf(chat)[1]?.length > 100);
    await page.context().setOffline(true);
    // Chromium only refuses requests made from then on.
    const id = await page.evaluate(() => chat.info.get().sessionId);
    assert.deepEqual(await (await fetch(`${world.url}/_gateway/sessions/${id}/cut?how=reset`, { method: "POST" })).json(), { cut: 1 });
    const before = await page.evaluate(() => {
      chat.send("plain");
      return { length: life.textsOf(chat)[1].length, queue: chat.queue.get().length, onLine: navigator.onLine };
    });
    assert.deepEqual([before.queue, before.onLine], [1, false]);
    await sleep(OFFLINE);
    const meanwhile = await page.evaluate(() => ({ texts: life.textsOf(chat), queue: chat.queue.get().length, phase: chat.status.get().phase }));
    assert.deepEqual([meanwhile.queue, meanwhile.phase, meanwhile.texts.length], [1, "reconnecting", 2], JSON.stringify(meanwhile));
    assert.ok(meanwhile.texts[1].length >= before.length);
    await page.context().setOffline(false);
    await page.waitForFunction(() => chat.status.get().phase === "idle" && chat.queue.get().length === 0 && chat.rows.get().length === 4, null, { timeout: 60_000 });
    const { texts, whole, phases, lengths } = await page.evaluate(async () => ({ texts: life.textsOf(chat), whole: await life.kept(chat), phases: [...phases], lengths }));
    assert.deepEqual(texts, [`long ${pieces}`, whole[0], "plain", whole[1]]);
    assert.deepEqual(lengths, lengths.toSorted((one, other) => one - other), "what was shown stays");
    assert.ok(!phases.includes("failed"), phases.join(" "));
    assert.equal(starts.length, 2, "each message is sent once");
    assert.deepEqual(page.failures.filter((failure) => !/net::ERR|Failed to load/.test(failure)), []);
    await page.context().close();
  });
}

test("a tab that is hidden for long while an answer streams: timers publish it, nothing is missing, and it is shown at once", async () => {
  const page = await openLife();
  const PACE = 50;
  const pieces = Math.ceil((HIDDEN / PACE) * 1.5);
  await page.evaluate(({ pieces, pace }) => {
    const chat = (globalThis.chat = life.open(pace));
    chat.on("turn", (turn) => (globalThis.turn = turn));
    const shown = (globalThis.shown = document.body.appendChild(document.createElement("pre")));
    globalThis.publications = 0;
    chat.messages.subscribe(() => {
      publications += 1;
      shown.textContent = life.textsOf(chat)[1] ?? "";
    });
    globalThis.came = () => turn.snapshot().threads[0].messages.map(({ content }) => content).join("").length;
    chat.send(`long ${pieces}`);
  }, { pieces, pace: PACE });
  await page.waitForFunction(() => shown.textContent.length > 50);
  // As browsers do it: no frames, which come when the tab is shown, and timers once a second.
  await page.evaluate(() => {
    const { requestAnimationFrame, setTimeout } = globalThis;
    const frames = [];
    let isHidden = true;
    for (const [name, value] of Object.entries({ hidden: () => isHidden, visibilityState: () => (isHidden ? "hidden" : "visible") })) {
      Object.defineProperty(document, name, { configurable: true, get: value });
    }
    globalThis.requestAnimationFrame = (frame) => (isHidden ? -frames.push(frame) : requestAnimationFrame(frame));
    globalThis.setTimeout = (task, delay = 0, ...given) => setTimeout(task, isHidden ? Math.max(1000, delay) : delay, ...given);
    globalThis.show = async () => {
      const length = came();
      isHidden = false;
      document.dispatchEvent(new Event("visibilitychange"));
      await new Promise((resolve) => {
        for (const frame of [...frames.splice(0), resolve]) requestAnimationFrame(frame);
      });
      return { length, shown: shown.textContent.length };
    };
    document.dispatchEvent(new Event("visibilitychange"));
    publications = 0;
  });
  const looks = [];
  for (const end = Date.now() + HIDDEN; Date.now() < end; await sleep(1000)) looks.push(await page.evaluate(() => ({ shown: shown.textContent.length, came: came() })));
  const { publications, phase } = await page.evaluate(() => ({ publications, phase: chat.status.get().phase }));
  assert.equal(phase, "answering");
  // Each read finds more, and no more than some seconds of the text are missing.
  for (const [at, { shown }] of looks.entries()) if (at > 2) assert.ok(shown > looks[at - 2].shown, JSON.stringify(looks));
  for (const [at, { shown }] of looks.entries()) if (at > 2) assert.ok(shown >= looks[at - 3].came, JSON.stringify(looks));
  assert.ok(publications <= (HIDDEN / 1000) * 1.5 + 3, `${publications} publications in ${HIDDEN} ms`);
  const { length, shown } = await page.evaluate(() => show());
  assert.ok(shown >= length && length > looks.at(-1).shown, `${length} had come, ${shown} were shown`);
  await page.waitForFunction(() => chat.status.get().phase === "idle", null, { timeout: HIDDEN + 30_000 });
  const { text, whole, roles } = await page.evaluate(async () => ({ text: shown.textContent, whole: await life.kept(chat), roles: chat.rows.get().map(({ role }) => role) }));
  assert.equal(text, whole[0]);
  assert.deepEqual(roles, ["user", "assistant"]);
  assert.deepEqual(page.failures, []);
  await page.context().close();
});
