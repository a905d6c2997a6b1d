// What a person does with messages while a turn runs: steer, interrupt, send now, and files.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileParts } from "../../dist/conversation.js";
import { fakeServer } from "../../dist/testing.js";
import { failure } from "../support/collect.mjs";
import { linesOf, pageOf, PROTOCOLS, quiet, settle, until } from "./support.mjs";

const slow = async function* ({ text }) {
  yield `You said ${text}`;
  yield { wait: 500 };
  yield ".";
};
const users = (chat) => linesOf(chat).filter((line) => line.startsWith("user"));

for (const protocol of PROTOCOLS) {
  test(`${protocol}: a message is steered into the running turn, or waits where the protocol cannot do that`, async () => {
    const { chats } = await pageOf(slow, { protocol, whenBusy: "steer" });
    const chat = chats.create();
    chat.send("one");
    await until(chat, () => linesOf(chat).includes("assistant: You said one"));
    const { steer } = chat.info.get().capabilities;
    assert.equal(chat.status.get().canSteer, steer);
    const key = chat.send("two");
    const places = () => chat.queue.get().filter(({ input }) => input[0].content === "two").length + users(chat).filter((line) => line === "user: two").length;
    const seen = new Set();
    const remove = chat.subscribe(() => seen.add(places()));
    assert.equal(chat.queue.get()[0].how, steer ? "steer" : "queue");
    assert.equal(chat.queue.get()[0].key, key);
    await until(chat, () => users(chat).length === 2);
    await quiet(chat);
    remove();
    assert.deepEqual([...seen], [1], "it is in one place at any time");
    assert.deepEqual(users(chat), ["user: one", "user: two"]);
    const steered = chat.messages.get().filter((message) => message.steered);
    assert.deepEqual(steered.map(({ text }) => text), steer ? ["two"] : []);
    const turns = new Set(chat.rows.get().map(({ turn }) => turn));
    assert.equal(turns.size, steer ? 1 : 2);
    chats.close();
  });

  test(`${protocol}: a message interrupts the running turn, or is sent before those that wait`, async () => {
    const { chats } = await pageOf(async function* ({ text }) {
      if (text !== "long") return yield* slow({ text });
      for (let at = 0; at < 2000; at += 1) {
        yield `${at} `;
        yield { wait: 5 };
      }
    }, { protocol });
    const chat = chats.create();
    chat.send("long");
    await until(chat, () => (linesOf(chat)[1] ?? "").length > 15);
    chat.send("later");
    chat.send("now", { whenBusy: "interrupt" });
    await until(chat, () => users(chat).length === 3);
    await quiet(chat);
    assert.deepEqual(users(chat), ["user: long", "user: now", "user: later"]);
    assert.equal(chat.turn(chat.rows.get()[0].turn).get().snapshot.status, "cancelled");
    chat.send("long");
    await until(chat, () => users(chat).length === 4 && chat.status.get().phase === "answering");
    chat.send("third");
    const key = chat.send("second");
    chat.queue.sendNow(key);
    await until(chat, () => users(chat).length === 6);
    await quiet(chat);
    assert.deepEqual(users(chat).slice(3), ["user: long", "user: second", "user: third"]);
    chats.close();
  });
}

test("a message that cannot be steered says so, and stays where it is", async () => {
  const { chats } = await pageOf(slow);
  const chat = chats.create();
  chat.send("one");
  await until(chat, () => linesOf(chat).includes("assistant: You said one"));
  const key = chat.send("two");
  assert.throws(() => chat.queue.steer(key), { name: "StateError", code: "unsupported" });
  assert.deepEqual(chat.queue.remove(key), [{ type: "user.message", content: "two" }]);
  await quiet(chat);
  assert.deepEqual(users(chat), ["user: one"]);
  chats.close();
});

test("files become parts of a message", async () => {
  const files = [new File(["hello"], "a.txt", { type: "text/plain" }), new File([new Uint8Array([0, 255])], "b.bin")];
  assert.deepEqual(await fileParts(files), [
    { type: "file", name: "a.txt", data: "data:text/plain;base64,aGVsbG8=" },
    { type: "file", name: "b.bin", data: "data:application/octet-stream;base64,AP8=" },
  ]);
  for (const [types, isTaken] of [["text/plain", true], ["text/*", true], [".txt", true], ["image/*, .TXT", true], ["image/*", false], [".pdf,text/html", false]]) {
    if (isTaken) assert.equal((await fileParts([files[0]], { types })).length, 1, types);
    else assert.match((await failure(fileParts([files[0]], { types }))).message, /a\.txt is not one of the types/);
  }
  const large = await failure(fileParts(files, { total: 6 }));
  assert.deepEqual([large.name, large.code], ["InputError", "invalid_input"]);
  assert.match(large.message, /b\.bin.*6 bytes/);
  const broken = Object.assign(new File([], "c.txt"), { arrayBuffer: () => Promise.reject(new Error("gone")) });
  assert.match((await failure(fileParts([broken]))).message, /c\.txt could not be read/);
});

test("a message with a file is shown with its parts, and a draft keeps them", async () => {
  const { chats } = await pageOf(({ text }) => `You said ${text}.`);
  const chat = chats.create();
  const parts = await fileParts([new File(["hello"], "a.txt", { type: "text/plain" })]);
  chat.setDraft({ text: "see", parts });
  assert.deepEqual(chat.draft.get().parts, parts);
  chat.setDraft({ text: "", parts: [] });
  chat.send({ type: "user.message", content: [{ type: "text", text: "see" }, ...parts] });
  await until(chat, () => linesOf(chat).includes("assistant: You said see."));
  const message = chat.message(chat.rows.get()[0].key).get();
  assert.deepEqual(message.parts.map(({ type }) => type), ["text", "file"]);
  assert.equal(message.text, "see");
  await settle();
  chats.close();
});

test("a turn does not start while the session gets its title", async (t) => {
  const server = fakeServer(async function* ({ text }) { yield `You said: ${text}`; }, { protocol: "tirea" });
  const starts = [];
  let release;
  const released = new Promise((resolve) => (release = resolve));
  const fetch = async (url, init) => {
    if (init?.method === "PATCH") await released;
    if (init?.method === "POST") starts.push(init.body);
    return server.connection.fetch(url, init);
  };
  const { chats, client } = await pageOf(null, { protocol: "tirea", server: { ...server, connection: { ...server.connection, fetch } } });
  t.after(() => (chats.close(), client.close()));
  const chat = chats.create();
  chat.send("one");
  await until(chat, () => linesOf(chat).at(-1) === "assistant: You said: one");
  await quiet(chat);
  chat.send("two");
  await settle(20);
  assert.equal(starts.length, 1);
  release();
  await until(chat, () => linesOf(chat).at(-1) === "assistant: You said: two");
  assert.equal(starts.length, 2);
});
