// Opens, streams and forgets conversations, and prints what is left of them; for comparison, also what is left of the same
// turns without a conversation. The fake server keeps what was said. Needs `--expose-gc`.
import { linesOf, pageOf, settle, until } from "./support.mjs";

const COUNT = 200;
const { client, chats } = await pageOf(async function* ({ text }) {
  for (let at = 0; at < 20; at += 1) yield `${text} `;
});
const made = [];

async function conversation(at) {
  const chat = chats.create();
  made.push(new WeakRef(chat));
  const leave = chat.attach();
  chat.rows.subscribe(() => {});
  chat.send(`message ${at}`);
  await until(chat, () => linesOf(chat)[1]?.length === `assistant: ${`message ${at} `.repeat(20)}`.length);
  leave();
  chats.forget(chat);
}

async function plain(at) {
  const session = await client.agents.createSession("support", { title: `message ${at}` });
  await session.createTurn(`message ${at}`).waitForCompletion();
}

async function used() {
  for (let count = 0; count < 5; count += 1) {
    await settle();
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed;
}

/** How much more is used after `COUNT` times. */
async function growth(once) {
  for (let at = 0; at < 50; at += 1) await once(at);
  const before = await used();
  for (let at = 0; at < COUNT; at += 1) await once(at);
  return (await used()) - before;
}

const result = { plain: await growth(plain), heap: await growth(conversation) };
const alive = made.slice(-COUNT).filter((ref) => ref.deref() !== undefined).length;
console.log(JSON.stringify({ ...result, alive }));
process.exit(0);
