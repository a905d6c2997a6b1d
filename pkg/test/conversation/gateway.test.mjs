// Conversations against the development gateway, in each protocol: what a person does in a chat, with a reload in the middle.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WebSocket } from "ws";
import { connect } from "../../dist/index.js";
import { Conversations } from "../../dist/conversation.js";
import { useGateway, WITH_GATEWAY } from "../support/gateway.mjs";
import { PATHS } from "../support/protocols.mjs";
import { linesOf, memoryStore, quiet, settle, until } from "./support.mjs";

const gateway = useGateway();

/** The conversations that clients keep, for all pages. */
const kept = memoryStore();

/** A page: a registry with its own client. */
async function page(t, protocol, { delay = "0.2", ...options } = {}) {
  const headers = { "x-turnwire-delay-ms": delay };
  const own = protocol === "turn-rpc" ? { webSocket: (url) => new WebSocket(url, { headers }) } : { headers };
  const client = await connect({ baseUrl: gateway.url + PATHS[protocol], protocol, store: kept, reconnect: { baseDelay: 10, maxDelay: 100 }, ...own });
  const chats = new Conversations({ client, agentName: protocol === "turn-rpc" ? "Chat" : "support-bot", store: null, ...options });
  t.after(() => (chats.close(), client.close()));
  return { client, chats };
}

/** Says something, and waits until nothing runs. */
async function say(chat, text) {
  const { length } = chat.rows.get();
  chat.send(text);
  await until(chat, ({ rows }) => rows.get().length > length + 1);
  await quiet(chat);
}

const words = (chat, who) => linesOf(chat).filter((line) => line.startsWith(who));
const callsOf = (chat) => chat.messages.get().flatMap(({ parts }) => parts).filter(({ type }) => type === "call").map(({ call }) => call);

for (const protocol of Object.keys(PATHS)) {
  describe(protocol, WITH_GATEWAY, () => {
    test("three turns, a reload, and another turn", async (t) => {
      const { chats } = await page(t, protocol);
      const chat = chats.create();
      chat.attach();
      const names = new Set();
      chat.on("session", ({ id }) => names.add(id));
      for (const text of ["plain 1", "plain 2", "plain 3"]) await say(chat, text);
      assert.deepEqual(words(chat, "user"), ["user: plain 1", "user: plain 2", "user: plain 3"]);
      const { sessionId, title } = chat.info.get();
      assert.deepEqual([...names], [sessionId]);
      assert.ok(title);

      const later = await page(t, protocol, { page: 2 });
      const again = later.chats.open(sessionId);
      again.attach();
      await again.loaded;
      assert.deepEqual(words(again, "user"), ["user: plain 2", "user: plain 3"]);
      assert.equal(again.info.get().hasEarlier, true);
      await again.loadEarlier();
      assert.deepEqual(linesOf(again), linesOf(chat));
      await say(again, "plain 4");
      // Turns without server ids cannot be distinguished from those of other pages.
      if (!chat.info.get().capabilities.turnIds) return;
      await chat.catchUp();
      await until(chat, () => linesOf(chat).length === linesOf(again).length);
      await quiet(chat);
      assert.deepEqual(linesOf(chat), linesOf(again));
    });

    test("a message that is sent while a turn runs waits; stop holds it; it is sent when released", async (t) => {
      const { chats } = await page(t, protocol, { delay: "20" });
      const chat = chats.create();
      chat.send("slow");
      await until(chat, () => (linesOf(chat)[1] ?? "").length > 20);
      chat.send("plain 1");
      chat.send("plain 2");
      assert.equal(chat.queue.get().length, 2);
      await chat.stop();
      await quiet(chat);
      assert.deepEqual(chat.queue.get().map(({ state }) => state), ["held", "held"]);
      assert.equal(chat.turn(chat.rows.get()[0].turn).get().snapshot.status, "cancelled");
      assert.equal(chat.rows.get().at(-1).role, "end");
      chat.queue.hold(false);
      await until(chat, ({ queue }) => queue.get().length === 0);
      await quiet(chat);
      assert.deepEqual(words(chat, "user"), ["user: slow", "user: plain 1", "user: plain 2"]);
    });

    // turn-rpc has no approvals.
    if (protocol !== "turn-rpc") test("an approval, answered after a reload", async (t) => {
      const store = memoryStore();
      const { chats } = await page(t, protocol, { store });
      const chat = chats.create();
      chat.attach();
      chat.send("approval");
      const grown = new Set();
      const remove = chat.subscribe(() => callsOf(chat).forEach((call) => grown.add(JSON.stringify(call.arguments))));
      await until(chat, ({ pending }) => pending.get().length > 0);
      await quiet(chat);
      remove();
      const { sessionId } = chat.info.get();
      const asked = chat.pending.get().map(({ action }) => action.name);
      for (const call of callsOf(chat)) assert.deepEqual(call.arguments, JSON.parse(call.argumentsText));
      assert.ok(grown.size > 0);
      chats.close();

      const later = await page(t, protocol, { store });
      const again = later.chats.open(sessionId);
      again.attach();
      await until(again, ({ pending }) => pending.get().length > 0);
      assert.deepEqual(again.pending.get().map(({ action }) => action.name), asked);
      const isOver = () => again.pending.get().length === 0 && again.status.get().phase === "idle";
      while (!isOver()) {
        for (const { key, answer } of again.pending.get()) if (!answer) again.answer(key, { kind: "allow" });
        await until(again, ({ pending }) => pending.get().some(({ answer }) => !answer) || isOver());
      }
      for (const call of callsOf(again)) assert.ok(call.response, `${call.name} has its result`);
      const before = linesOf(again);
      await again.catchUp();
      await quiet(again);
      assert.deepEqual(linesOf(again), before, "the list brings nothing that is there");
      const third = await page(t, protocol);
      const read = third.chats.open(sessionId);
      read.attach();
      await read.loaded;
      await quiet(read);
      assert.deepEqual(read.pending.get(), []);
      assert.deepEqual(words(read, "user"), ["user: approval"]);
      assert.deepEqual(words(read, "assistant").filter((line) => line.length > 12), words(again, "assistant").filter((line) => line.length > 12));
    });

    if (protocol !== "turn-rpc") test("an approval, answered while the turns are read again", async (t) => {
      const { chats } = await page(t, protocol, { delay: "2" });
      const chat = chats.create();
      const leave = chat.attach();
      await say(chat, "plain");
      await say(chat, "approval");
      leave();
      await settle();
      chat.attach();
      for (const { key } of chat.pending.get()) chat.allow(key);
      await until(chat, ({ pending }) => pending.get().length === 0);
      await until(chat, () => linesOf(chat).at(-1).startsWith("assistant: Done"));
      await quiet(chat);
      await say(chat, "plain more");
      const before = linesOf(chat);
      assert.deepEqual(words(chat, "user"), ["user: plain", "user: approval", "user: plain more"]);
      assert.equal(new Set(before).size, before.length - 1, "only the plain answers are alike");
      await chat.catchUp();
      await quiet(chat);
      assert.deepEqual(linesOf(chat), before);
    });

    test("a second answer, and an edited question where the protocol can branch", async (t) => {
      const { chats } = await page(t, protocol);
      const chat = chats.create();
      chat.attach();
      await say(chat, "plain 1");
      await say(chat, "plain 2");
      const [first] = chat.rows.get();
      chat.regenerate(chat.rows.get().at(-1).key);
      await until(chat, ({ status }) => status.get().phase !== "idle");
      await quiet(chat);
      if (!chat.info.get().capabilities.fork) {
        assert.deepEqual(words(chat, "user"), ["user: plain 1", "user: plain 2", "user: plain 2"]);
        assert.throws(() => chat.edit(first.key, "other"), { code: "unsupported" });
        return;
      }
      assert.deepEqual(words(chat, "user"), ["user: plain 1", "user: plain 2"]);
      assert.equal(chat.message(chat.rows.get()[2].key).get().branch.of.length, 2);
      chat.edit(first.key, "plain one");
      await until(chat, () => linesOf(chat).length === 2 && linesOf(chat)[1].length > 20);
      await quiet(chat);
      assert.deepEqual(words(chat, "user"), ["user: plain one"]);
      const { branch } = chat.message(chat.rows.get()[0].key).get();
      chat.show(branch.of[0]);
      assert.deepEqual(chat.rows.get()[0], first);
      assert.equal(words(chat, "user").length, 2);
      const later = await page(t, protocol);
      const again = later.chats.open(chat.info.get().sessionId);
      again.attach();
      await again.loaded;
      assert.deepEqual(words(again, "user"), ["user: plain one"]);
    });

    test("a turn that fails says so, and is retried in its place", async (t) => {
      const { chats } = await page(t, protocol);
      const chat = chats.create();
      await say(chat, "error");
      assert.equal(chat.status.get().phase, "failed");
      const row = chat.rows.get().at(-1);
      assert.equal(row.role, "end");
      assert.equal(chat.turn(row.turn).get().canRetry, true);
      assert.ok(chat.turn(row.turn).get().snapshot.error.message);
      chat.retry(row.key);
      await until(chat, ({ status }) => status.get().phase !== "failed");
      await quiet(chat);
      assert.equal(words(chat, "user").length, chat.info.get().capabilities.fork ? 1 : 2);
    });

    test("sub-agents are threads of the calls that began them", async (t) => {
      const { chats } = await page(t, protocol);
      const chat = chats.create();
      chat.attach();
      await say(chat, "subagents");
      const [, ...threads] = chat.turn(chat.rows.get()[0].turn).get().snapshot.threads;
      const began = new Map(callsOf(chat).map(({ thread, key }) => [thread, key]));
      assert.ok(threads.length >= (protocol === "aap" ? 0 : 2));
      for (const { id } of threads) {
        const thread = chat.thread(id).get();
        // turn-rpc does not say which call began a thread.
        assert.equal(thread.call, protocol === "turn-rpc" ? null : began.get(id));
        assert.ok(thread.rows.length > 0);
        for (const { key } of thread.rows) assert.equal(chat.message(key).get().role, "assistant");
        assert.ok(!chat.rows.get().some(({ key }) => thread.rows.some((row) => row.key === key)), "they are not among the conversation's own rows");
      }
    });
  });
}

for (const protocol of ["truefoundry", "trueforge"]) {
  test(`${protocol}: after a person has signed in, the agent goes on`, WITH_GATEWAY, async (t) => {
    const { chats } = await page(t, protocol);
    const chat = chats.create();
    chat.send("mcp");
    await until(chat, ({ pending }) => pending.get().length > 0);
    await quiet(chat);
    const [{ key, action }] = chat.pending.get();
    assert.equal(action.type, "mcp.auth_required");
    assert.throws(() => chat.answer(key, { kind: "allow" }), { name: "StateError", code: "turn_not_running" });
    await fetch(action.server.auth_url);
    const { length } = chat.rows.get();
    chat.proceed();
    await until(chat, ({ rows }) => rows.get().length > length);
    await quiet(chat);
    assert.deepEqual(words(chat, "user"), ["user: mcp"]);
    assert.equal(chat.status.get().phase, "idle");
    assert.throws(() => chat.proceed(), { name: "InputError" });
  });
}

// tirea lists the answers of both pages as one turn, under the id of the last: the page whose answer came too late shows it beside its own until it is loaded anew.
for (const protocol of ["truefoundry", "trueforge", "awaken"]) {
  test(`${protocol}: two pages answer at once: the calls run once, and both show the same`, WITH_GATEWAY, async (t) => {
    const one = await page(t, protocol);
    const first = one.chats.create();
    first.attach();
    first.send("approval");
    await until(first, ({ pending }) => pending.get().length > 0);
    await quiet(first);
    const two = await page(t, protocol);
    const second = two.chats.open(first.info.get().sessionId);
    second.attach();
    await until(second, ({ pending }) => pending.get().length > 0);
    const both = [first, second];
    const isOver = (chat) => chat.status.get().phase === "idle";
    for (let round = 0; round < 10 && !both.every(isOver); round += 1) {
      for (const chat of both) for (const { key, answer } of chat.pending.get()) if (!answer) chat.answer(key, { kind: "allow" });
      await Promise.all(both.map(quiet));
      await Promise.all(both.map((chat) => chat.catchUp()));
      await Promise.all(both.map(quiet));
    }
    assert.deepEqual(both.map((chat) => chat.pending.get()), [[], []]);
    assert.deepEqual(words(first, "assistant"), words(second, "assistant"));
    const third = await page(t, protocol);
    const read = third.chats.open(first.info.get().sessionId);
    read.attach();
    await read.loaded;
    assert.deepEqual(words(read, "user"), ["user: approval"]);
    assert.equal(new Set(callsOf(read).map(({ id }) => id)).size, callsOf(read).length, "no call twice");
    assert.ok(callsOf(read).every(({ response }) => response));
  });
}

// Without ids of turns, a page that has begun some cannot add those of others to them.
for (const isReloaded of [false, true]) {
  test(`aap: two pages answer at once: the page whose answer came too late ${isReloaded ? "shows the other's" : "says so"}, and goes on`, WITH_GATEWAY, async (t) => {
    const opened = async (id) => {
      const chat = (await page(t, "aap", { delay: "5" })).chats.open(id);
      chat.attach();
      await until(chat, ({ pending }) => pending.get().length > 0);
      return chat;
    };
    const begun = (await page(t, "aap")).chats.create();
    begun.attach();
    begun.send("approval");
    await until(begun, ({ pending }) => pending.get().length > 0);
    const { sessionId } = begun.info.get();
    const late = isReloaded ? await opened(sessionId) : begun;
    const first = await opened(sessionId);
    const errors = [];
    late.on("error", (error) => errors.push(error));
    first.allow(first.pending.get()[0].key);
    await until(first, () => words(first, "assistant").length === 2);
    late.allow(late.pending.get()[0].key);
    for (const chat of [late, first]) await until(chat, ({ status, pending }) => status.get().phase === "idle" && pending.get().length === 0);
    assert.deepEqual(errors.map(({ code, status }) => [code, status]), [["http", 400]]);
    assert.equal(words(first, "assistant").length, 2);
    if (isReloaded) assert.deepEqual(linesOf(late), linesOf(first));
    await say(late, "plain");
    assert.deepEqual([late.status.get().phase, linesOf(late).at(-2)], ["idle", "user: plain"]);
    const read = (await page(t, "aap")).chats.open(sessionId);
    read.attach();
    await read.loaded;
    assert.deepEqual(words(read, "user"), ["user: approval", "user: plain"]);
    const calls = callsOf(read);
    assert.deepEqual([calls.length, new Set(calls.map(({ id }) => id)).size], [1, 1], "the call has run once");
  });
}
