// The life of conversations: shown and hidden, in several tabs, many at once, and what is left when they are gone.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { fakeServer } from "../../dist/testing.js";
import { linesOf, pageOf, PROTOCOLS, quiet, settle, until } from "./support.mjs";

const echo = ({ text }) => [`You said `, `${text}.`];
const slow = async function* ({ text }) {
  yield `You said ${text}`;
  yield { wait: 500 };
  yield ".";
};
/** Counts until it is stopped. */
const counting = async function* () {
  for (let at = 0; at < 2000; at += 1) {
    yield `${at} `;
    yield { wait: 5 };
  }
};

/** A conversation with one answer, and its session after the page is gone. */
async function left(script, options) {
  const page = await pageOf(script, options);
  const chat = page.chats.create();
  chat.send("one");
  await until(chat, ({ rows }) => rows.get().length === 2);
  return { ...page, chat, sessionId: chat.info.get().sessionId };
}

for (const protocol of PROTOCOLS) {
  test(`${protocol}: stop cancels on the server, holds the queue, and the conversation goes on`, async () => {
    const { chats, chat } = await left(counting, { protocol });
    await until(chat, ({ rows, message }) => message(rows.get()[1].key).get().text.length > 10);
    chat.send("later");
    await chat.stop();
    await quiet(chat);
    assert.deepEqual(chat.queue.get().map(({ state }) => state), ["held"]);
    assert.equal(chat.status.get().canStop, false);
    const { length } = linesOf(chat)[1];
    await settle(60);
    assert.equal(linesOf(chat)[1].length, length, "it has stopped");
    chat.queue.hold(false);
    await until(chat, () => linesOf(chat).includes("user: later"));
    await chat.stop();
    chats.close();
  });

  // Another page cannot read a run of these servers.
  if (protocol !== "ag-ui") test(`${protocol}: twenty components attach and leave while a turn runs: it is read once, and never cancelled`, async () => {
    const { server, chats, chat, sessionId } = await left(slow, { protocol });
    chats.close();
    server.requests.length = 0;
    const later = await pageOf(slow, { server, protocol });
    const again = later.chats.open(sessionId);
    let begun = 0;
    again.on("turn", () => (begun += 1));
    // As StrictMode does: each is attached, left and attached again in one task.
    const stay = Array.from({ length: 20 }, () => (again.attach()(), again.attach()));
    await again.loaded;
    await until(again, () => linesOf(again).includes("assistant: You said one."));
    await quiet(again);
    assert.ok(begun <= 1, `${begun} readings`);
    const lists = server.requests.filter(({ method, url, body }) => (method === "GET" && /\/(turns|messages|history|tasks)(\?|$)/.test(url)) || /list|resume|read/.test(body?.method ?? ""));
    // The history is also how a turn of aap is read on.
    assert.ok(lists.length <= (protocol === "aap" ? 8 : 3), lists.map(({ method, url, body }) => `${method} ${url} ${body?.method}`).join("\n"));
    assert.ok(!server.requests.some(({ url, body }) => /cancel|interrupt/.test(`${url} ${body?.method}`)));
    for (const leave of stay) {
      leave();
      leave();
    }
    await settle();
    assert.deepEqual(linesOf(again), ["user: one", "assistant: You said one."]);
    later.chats.close();
    assert.equal(chat.rows.get().length, 2);
  });
}

test("a turn that is not shown is read to its end, or left, as `unseen` says; it is never cancelled", async () => {
  for (const unseen of ["follow", "leave"]) {
    const { server, chats } = await pageOf(slow, { unseen });
    const chat = chats.create();
    const leave = chat.attach();
    // A listener would keep the turn read.
    const ends = new Map();
    chat.on("turn", (turn) => ends.set(turn, turn.on("event", () => {})));
    chat.on("end", (turn) => ends.get(turn)());
    chat.send("one");
    await until(chat, () => linesOf(chat).includes("assistant: You said one"));
    leave();
    await settle(800);
    assert.equal(linesOf(chat)[1], unseen === "follow" ? "assistant: You said one." : "assistant: You said one");
    chat.attach();
    await until(chat, () => linesOf(chat)[1] === "assistant: You said one.");
    assert.ok(!server.requests.some(({ url }) => url.includes("cancel")));
    chats.close();
  }
});

test("while the tab is hidden there are no frames: what comes is shown all the same, and what a person does at once", async () => {
  const { requestAnimationFrame: frame } = globalThis;
  globalThis.requestAnimationFrame = () => 0;
  try {
    const { chats } = await pageOf(slow);
    const chat = chats.create();
    const key = chat.send("one");
    assert.equal(chat.rows.get()[0].turn, key);
    await until(chat, () => linesOf(chat).includes("assistant: You said one."));
    await quiet(chat);
    chats.close();
  } finally {
    globalThis.requestAnimationFrame = frame;
  }
});

test("a sidebar shows running and waiting conversations", async () => {
  const { chats } = await pageOf(async function* ({ text }) {
    if (text === "ask") yield { tool: "ask", arguments: {}, result: "", approval: true };
    else yield* slow({ text });
  });
  const [one, two] = [chats.create(), chats.create()];
  const seen = [];
  chats.running.subscribe(() => seen.push(chats.running.get().length));
  one.send("one");
  two.send("ask");
  assert.deepEqual(chats.running.get(), [one, two]);
  await until(two, ({ pending }) => pending.get().length === 1);
  assert.deepEqual(chats.waiting.get(), [two]);
  assert.deepEqual(chats.running.get(), [one]);
  await quiet(one);
  assert.deepEqual(chats.running.get(), []);
  const list = chats.running.get();
  assert.equal(chats.running.get(), list);
  assert.deepEqual(seen, [1, 2, 1, 0]);
  chats.close();
  assert.deepEqual(chats.waiting.get(), []);
});

test("idle conversations that are not shown are released, the least recent first; a person's texts stay", async (context) => {
  const { chats } = await pageOf(echo, { kept: 2 });
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const written = chats.open("s0");
  written.setDraft({ text: "hello", parts: [] });
  const shown = chats.open("s1");
  const leave = shown.attach();
  const idle = ["s2", "s3", "s4", "s5"].map((id) => chats.open(id));
  context.mock.timers.tick(1_000);
  assert.equal(chats.open("s0"), written);
  assert.equal(chats.open("s1"), shown);
  assert.notEqual(chats.open("s2"), idle[0]);
  assert.equal(chats.open("s5"), idle[3]);
  leave();
  chats.close();
});

test("conversations that a page opens at once, and shows a moment later, all live", async (context) => {
  const { chats } = await pageOf(echo, { kept: 2 });
  context.mock.timers.enable({ apis: ["setTimeout"] });
  chats.open("before");
  context.mock.timers.tick(999);
  const all = ["s1", "s2", "s3", "s4", "s5"].map((id) => chats.open(id));
  context.mock.timers.tick(999);
  for (const chat of all) chat.attach();
  context.mock.timers.tick(1_000);
  for (const chat of all) chat.setDraft("hello");
  chats.close();
});

test("conversations that wait for the person are kept, however many", async (context) => {
  const { chats } = await pageOf(async function* () {
    yield { tool: "ask", arguments: {}, result: "", approval: true };
  }, { kept: 0 });
  const all = [chats.create(), chats.create(), chats.create()];
  for (const chat of all) {
    chat.send("go");
    await until(chat, ({ pending }) => pending.get().length === 1);
  }
  context.mock.timers.enable({ apis: ["setTimeout"] });
  chats.open("more");
  context.mock.timers.tick(1_000);
  assert.deepEqual(chats.waiting.get(), all);
  chats.close();
});

/** The lock manager of a browser, as far as tabs need it. */
function lockManager() {
  const queue = [];
  const next = () => {
    const [first] = queue;
    if (!first || first.held) return;
    first.held = true;
    void Promise.resolve(first.hold()).then(() => (queue.splice(queue.indexOf(first), 1), next()));
  };
  const request = (name, { signal }, hold) => new Promise((resolve, reject) => {
    const one = { name, hold, held: false };
    signal.addEventListener("abort", () => {
      if (one.held) return;
      queue.splice(queue.indexOf(one), 1);
      reject(signal.reason);
    });
    queue.push(one);
    next();
  });
  return { request, queue };
}

test("of two tabs one runs the page's tools; when it is gone, the other does", async () => {
  const locks = lockManager();
  const { navigator } = globalThis;
  Object.defineProperty(globalThis, "navigator", { value: { locks, onLine: true }, configurable: true });
  try {
    const script = async function* ({ text }) {
      const [sum] = yield { tool: "add", arguments: { text } };
      yield `It is ${sum.content}.`;
    };
    const server = fakeServer(script);
    const ran = [];
    const tools = (tab) => ({ add: { description: "Adds", run: async ({ text }) => (ran.push(tab), await settle(30), `${text}!`) } });
    const one = await pageOf(script, { server, tools: tools("one") });
    const first = one.chats.create();
    first.attach();
    first.send("a");
    await until(first, () => linesOf(first).includes("assistant: It is a!."));
    await quiet(first);
    const two = await pageOf(script, { server, tools: tools("two") });
    const second = two.chats.open(first.info.get().sessionId);
    second.attach();
    await second.loaded;
    // Sent in the second tab, run in the first: each is notified of the other's turns.
    second.send("b");
    await until(first, () => linesOf(first).includes("assistant: It is b!."));
    assert.deepEqual(ran, ["one", "one"], "the second tab runs none");
    await until(second, () => linesOf(second).includes("assistant: It is b!."));
    one.chats.close();
    await until(second, () => linesOf(second).includes("assistant: It is b!."));
    await quiet(second);
    second.send("c");
    await until(second, () => linesOf(second).includes("assistant: It is c!."));
    assert.deepEqual(ran, ["one", "one", "two"]);
    two.chats.close();
    await settle();
    assert.equal(locks.queue.length, 0);
  } finally {
    Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
  }
});

test("where locks may not be used, as in a sandboxed frame, the page's tools run", async () => {
  const { navigator } = globalThis;
  const locks = { request: () => Promise.reject(new DOMException("the origin is opaque", "SecurityError")) };
  Object.defineProperty(globalThis, "navigator", { value: { locks, onLine: true }, configurable: true });
  try {
    const script = async function* () {
      const [sum] = yield { tool: "add", arguments: {} };
      yield `It is ${sum.content}.`;
    };
    const { chats } = await pageOf(script, { tools: { add: { description: "Adds", run: () => "three" } } });
    const chat = chats.create();
    chat.send("a");
    await until(chat, () => linesOf(chat).includes("assistant: It is three."));
    chats.close();
  } finally {
    Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
  }
});

test("a stop before the session is there is no error", async () => {
  const { server, chats, sessionId } = await left(echo);
  chats.close();
  const other = await pageOf(echo, { server });
  const chat = other.chats.open(sessionId);
  const errors = [];
  chat.on("error", (error) => errors.push(error));
  chat.send("two");
  await chat.stop();
  await quiet(chat);
  assert.deepEqual(errors, []);
  assert.equal(chat.draft.get().text, "two", "it is given back");
  assert.ok(server.requests.every(({ body }) => body?.input?.[0].content !== "two"), "it was not sent");
  other.chats.close();
});

test("reading `loaded` notifies nothing at once, so that a component can read it while it renders", async () => {
  const { server, chats, sessionId } = await left(echo);
  chats.close();
  const other = await pageOf(echo, { server });
  const chat = other.chats.open(sessionId);
  let told = 0;
  chat.subscribe(() => (told += 1));
  const { loaded } = chat;
  assert.equal(told, 0);
  assert.equal(chat.loaded, loaded, "one promise");
  await loaded;
  assert.ok(linesOf(chat).length > 0);
  other.chats.close();
});

test("another tab's turn is found when the page is looked at again", async () => {
  const { server, chats, chat, sessionId } = await left(echo);
  await quiet(chat);
  const other = await pageOf(echo, { server });
  const there = other.chats.open(sessionId);
  there.attach();
  await there.loaded;
  there.send("two");
  await until(there, () => linesOf(there).includes("assistant: You said two."));
  const rows = chat.rows.get();
  await chat.catchUp();
  assert.deepEqual(linesOf(chat), linesOf(there));
  assert.ok(rows.every((row, at) => row === chat.rows.get()[at]));
  chats.close();
  other.chats.close();
});

test("50 conversations are open, 10 stream: each has its own text, and idle ones are not notified", async () => {
  const { chats, server } = await pageOf(async function* ({ text }) {
    for (let at = 0; at < 100; at += 1) {
      yield `${text} `;
      if (at % 20 === 0) yield { wait: 3 };
    }
  }, { kept: 50 });
  const all = Array.from({ length: 50 }, () => chats.create());
  await Promise.all(all.map(async (chat, at) => {
    chat.send(`chat ${at}`);
    await until(chat, ({ rows }) => rows.get().length === 2);
    await quiet(chat);
  }));
  assert.equal(new Set(all.map((chat) => chat.info.get().sessionId)).size, 50);
  const told = all.map(() => 0);
  all.forEach((chat, at) => chat.subscribe(() => (told[at] += 1)));
  const busy = all.slice(0, 10);
  for (const chat of busy) chat.send("more");
  assert.equal(chats.running.get().length, 10);
  await Promise.all(busy.map((chat) => until(chat, () => chat.messages.get().at(-1).text === "more ".repeat(100))));
  await Promise.all(busy.map(quiet));
  assert.ok(told.slice(0, 10).every((count) => count > 1 && count < 60), told.slice(0, 10).join());
  assert.deepEqual(told.slice(10), Array(40).fill(0));
  all.forEach((chat, at) => assert.equal(chat.messages.get()[1].text, `chat ${at} `.repeat(100)));
  assert.equal(server.requests.filter(({ body }) => body?.input).length, 60);
  chats.close();
});

test("after 200 times open, stream and forget, the memory is what it was", () => {
  const program = join(import.meta.dirname, "leaks.mjs");
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--expose-gc", program], { encoding: "utf8" });
  assert.equal(stderr, "");
  assert.equal(status, 0);
  const { heap, plain, alive } = JSON.parse(stdout);
  assert.ok(heap - plain < 500_000, `${heap} bytes more, ${plain} of them are the server's and the turns'`);
  assert.ok(alive <= 2, `${alive} conversations are still there`);
});
