// Helpers for tests of conversations: a fake server of each protocol, and what a page would show.
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../dist/index.js";
import { Conversations } from "../../dist/conversation.js";
import { fakeServer } from "../../dist/testing.js";
import { PROTOCOLS } from "../support/protocols.mjs";

// A page's frames, faster than a screen's.
globalThis.requestAnimationFrame ??= (frame) => setTimeout(frame, 4);
globalThis.cancelAnimationFrame ??= clearTimeout;

/** All protocols of the fake. */
export { PROTOCOLS };

/** Servers without named agents. */
const AGENTS = { aap: "agent", "turn-rpc": "Chat" };

/** A store of texts, as a tab's storage. */
export function memoryStore() {
  const texts = new Map();
  return { texts, get: (key) => texts.get(key) ?? null, set: (key, text) => void texts.set(key, text), remove: (key) => void texts.delete(key) };
}

/** A page: its registry, connected to a fake server. */
export async function pageOf(script, { protocol = "truefoundry", server = fakeServer(script, { protocol }), ...options } = {}) {
  const client = await connect({ ...server.connection, reconnect: { baseDelay: 1, maxDelay: 5 } });
  const agentName = AGENTS[protocol] ?? "support";
  return { server, client, chats: new Conversations({ client, agentName, store: null, ...options }) };
}

/** Waits until everything that has begun has ended. */
export const settle = (ms = 10) => sleep(ms);

/** Waits until `holds` of the conversation's readables. */
export async function until(chat, holds, what = String(holds)) {
  for (let tries = 0; !holds(chat); tries += 1) {
    if (tries > 2000) throw new Error(`never: ${what}; ${JSON.stringify(chat.status.get())} ${JSON.stringify(linesOf(chat))}`);
    await sleep(2);
  }
}

/** Waits until nothing runs. */
export const quiet = (chat) => until(chat, ({ status }) => ["idle", "waiting", "failed"].includes(status.get().phase), "quiet");

/** What is shown, a line for each row. */
export function linesOf(chat) {
  return chat.rows.get().map(({ key, role, turn }) => {
    const message = chat.message(key).get();
    if (role === "end") return `end: ${chat.turn(turn).get().snapshot.status}`;
    return `${role}: ${message.text}`;
  });
}

/** A script that ends its turns on demand. */
export function slow() {
  let end;
  const ended = new Promise((resolve) => (end = resolve));
  const script = async function* ({ text }) {
    yield `You said ${text}`;
    await ended;
    yield ".";
  };
  return { script, end };
}
