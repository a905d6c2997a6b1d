// What a simple page shows: one list of items, and what the person can do about each. And the session in the page's address.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pageOf, quiet, until } from "./support.mjs";

/** What the page shows: each item's role, text and buttons. */
const shown = (chat) =>
  chat.items.get().map((key) => {
    const { role, parts, actions } = chat.item(key).get();
    return [role, parts.map(({ text }) => text).join("; "), ...actions];
  });
const keyOf = (chat, role) => chat.items.get().find((key) => chat.item(key).get().role === role);

const approving = async function* () {
  const [answer] = yield [{ tool: "restart", arguments: {}, result: "running", approval: true }];
  yield answer.allowed ? "restarted" : "left alone";
};
/** Speaks until it is stopped. */
const endless = async function* () {
  for (;;) yield "more ";
};

test("a question is an item, and its actions answer it", async () => {
  for (const [action, text] of [["allow", "restarted"], ["deny", "left alone"]]) {
    const { chats } = await pageOf(approving);
    const chat = chats.create();
    assert.deepEqual(shown(chat), []);
    chat.send("go");
    assert.deepEqual(shown(chat), [["user", "go"], ["status", "sending", "stop"]]);
    await until(chat, () => chat.pending.get().length > 0);
    assert.deepEqual(shown(chat), [["user", "go"], ["assistant", "restart: approval_required"], ["ask", "restart {}", "allow", "deny"], ["status", "waiting"]]);
    const ask = keyOf(chat, "ask");
    const question = chat.item(ask);
    chat.act(ask, action);
    assert.equal(keyOf(chat, "ask"), undefined);
    assert.equal(question.get(), undefined, "what is gone is no item any more");
    assert.throws(() => chat.act(ask, action), { code: "turn_not_running" });
    await quiet(chat);
    assert.deepEqual(shown(chat).at(-1), ["assistant", text]);
    chats.close();
  }
});

test("a waiting message is an item: it is removed, or released after a stop", async () => {
  const { chats } = await pageOf(({ text }) => (text === "go" ? endless() : [`You said ${text}`]));
  const chat = chats.create();
  chat.send("go");
  await until(chat, () => chat.status.get().phase === "answering");
  chat.send("not this");
  chat.send("this");
  assert.deepEqual(shown(chat).slice(2), [["queued", "not this", "remove"], ["queued", "this", "remove"], ["status", "answering", "stop"]]);
  chat.act(keyOf(chat, "queued"), "remove");
  chat.act("status", "stop");
  await quiet(chat);
  assert.deepEqual(shown(chat).slice(2), [["end", "cancelled", "retry"], ["queued", "this", "remove"], ["status", "", "release"]]);
  chat.act("status", "release");
  await until(chat, () => chat.rows.get().length > 4);
  await quiet(chat);
  assert.deepEqual(shown(chat).slice(3), [["user", "this"], ["assistant", "You said this"]]);
  chats.close();
});

test("a message that did not arrive is retried", async () => {
  const { chats, server } = await pageOf(() => ["here"]);
  const chat = chats.create();
  chat.send("one");
  await quiet(chat);
  server.fail("status:400");
  chat.send("two");
  await quiet(chat);
  assert.deepEqual(shown(chat).slice(2), [["user", "two", "retry"], ["status", "failed"]]);
  chat.act(chat.items.get()[2], "retry");
  await quiet(chat);
  assert.deepEqual(shown(chat).slice(2), [["user", "two"], ["assistant", "here"]]);
  chats.close();
});

test("while a message grows, only its item changes", async () => {
  const { chats } = await pageOf(() => endless());
  const chat = chats.create();
  chat.send("go");
  await until(chat, () => chat.status.get().phase === "answering");
  const items = chat.items.get();
  const told = Object.fromEntries(items.map((key) => [chat.item(key).get().role, 0]));
  let lists = 0;
  chat.items.subscribe(() => (lists += 1));
  for (const key of items) {
    const { role } = chat.item(key).get();
    chat.item(key).subscribe(() => (told[role] += 1));
  }
  const { length } = chat.item(items[1]).get().text;
  await until(chat, () => chat.item(items[1]).get().text.length > length + 100);
  assert.ok(told.assistant > 0);
  assert.deepEqual([lists, told.user, told.status], [0, 0, 0]);
  assert.equal(chat.items.get(), items);
  assert.equal(chat.item(items[1]), chat.item(items[1]));
  assert.ok(Object.isFrozen(chat.item("status").get().actions));
  await chat.stop();
  chats.close();
});

test("the session is in the page's address, even if its id must be escaped there", async () => {
  const states = [];
  const place = pageAt("", states);
  try {
    const { chats } = await pageOf(() => ["here"]);
    const chat = chats.openFromAddress();
    chat.send("one");
    await quiet(chat);
    const { sessionId } = chat.info.get();
    assert.equal(place.hash, `#${encodeURIComponent(sessionId)}`);
    assert.deepEqual(states[0], { kept: true }, "what a router keeps stays");
    assert.equal(chats.openFromAddress(), chat);
    for (const id of ["a b/c?d#e&f=g+h%", "100%", "\u{1f600}"]) {
      place.hash = `#${encodeURIComponent(id)}`;
      assert.equal(chats.openFromAddress().info.get().sessionId, id);
    }
    place.hash = "#100%";
    assert.equal(chats.openFromAddress().info.get().sessionId, "100%", "an address that a person has written");
    chats.close();
  } finally {
    leavePage();
  }
});

test("the address is named after a session once, and only if the page is still there", async () => {
  const states = [];
  const place = pageAt("", states);
  try {
    const { chats } = await pageOf(() => ["here"], { protocol: "awaken" });
    const chat = chats.openFromAddress();
    chat.send("one");
    await until(chat, () => chat.info.get().sessionId !== null);
    place.hash = "#another";
    // A session gets its title after its first turn.
    await quiet(chat);
    let told = 0;
    chat.on("session", () => (told += 1));
    chat.send("two");
    await quiet(chat);
    assert.equal(place.hash, "#another");
    const other = chats.create();
    place.hash = "";
    const left = chats.openFromAddress();
    place.hash = "#another";
    for (const each of [left, other]) {
      each.send("go");
      await quiet(each);
    }
    assert.equal(place.hash, "#another", "the page has left it");
    assert.equal(states.length, 1);
    chats.close();
  } finally {
    leavePage();
  }
});

test("the address keeps its path and query, whichever query it has when the session is there", async () => {
  const place = pageAt("", []);
  try {
    const { chats } = await pageOf(() => ["here"]);
    const [one, two, three] = [chats.openFromAddress(), chats.openFromAddress(), chats.openFromAddress()];
    const send = async (chat) => (chat.send("go"), await quiet(chat), place.href.replace(chat.info.get().sessionId, "ID"));
    assert.equal(await send(one), "https://page.example/chat?agent=support#ID");
    // As a router does.
    place.href = "https://page.example/chat?tab=2";
    assert.equal(await send(two), "https://page.example/chat?tab=2#ID");
    place.href = "https://page.example/settings";
    assert.equal(await send(three), "https://page.example/settings");
    chats.close();
  } finally {
    leavePage();
  }
});

test("a router's address names no session, and stays", async () => {
  const states = [];
  const place = pageAt("#/settings", states);
  try {
    const { chats } = await pageOf(() => ["here"]);
    const chat = chats.openFromAddress();
    assert.equal(chat.info.get().sessionId, null);
    chat.send("one");
    await quiet(chat);
    assert.deepEqual([place.hash, states], ["#/settings", []]);
    chats.close();
  } finally {
    leavePage();
  }
});

/** A page at an address, with `<base href="/">`; `states` gets those of the history. */
function pageAt(hash, states) {
  const place = new URL(`https://page.example/chat?agent=support${hash}`);
  globalThis.location = place;
  const go = (state, _, url) => (states.push(state), (place.href = new URL(url, "https://page.example/").href));
  globalThis.history = { state: { kept: true }, replaceState: go };
  return place;
}

function leavePage() {
  delete globalThis.location;
  delete globalThis.history;
}
