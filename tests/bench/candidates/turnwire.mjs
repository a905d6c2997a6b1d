// Candidate "turnwire": the package by its public API.
import { consume } from "../consumers.mjs";

/** Makes turns of this protocol ready; each is to be consumed once. */
export async function prepare({ protocol, baseUrl, fetch, webSocket, relay = false, packageUrl }) {
  const { connect } = await import(packageUrl);
  const client = await connect({ baseUrl, protocol, ...(relay && { relay }), ...(webSocket ? { webSocket } : { fetch }) });
  return {
    async ready() {
      const session = await client.agents.createSession(protocol === "turn-rpc" ? "Chat" : protocol === "codex" ? "codex" : "support-bot");
      const start = () => session.createTurn({ input: "Hello" });
      return { consume: (consumer) => (consumer === "conversation" ? converse(client, packageUrl) : consume(consumer, start, textOf)) };
    },
    close: () => client.close(),
  };
}

/** Talks in a conversation, and renders the newest call: how long its arguments are, as far as they have come. */
async function converse(client, packageUrl) {
  const { Conversations } = await import(packageUrl.replace("index.js", "conversation.js"));
  const chat = new Conversations({ client, agentName: "support-bot", store: null }).create();
  let turn;
  let seen = 0;
  chat.on("turn", (begun) => (turn = begun));
  const look = () => {
    const part = chat.message(chat.rows.get().at(-1)?.key).get()?.parts.at(-1);
    if (part?.type === "call") seen += chat.call(part.key).get().arguments?.query?.length ?? 0;
  };
  const isOver = new Promise((resolve) => chat.on("end", resolve));
  chat.subscribe(look);
  chat.send("Hello");
  await isOver;
  return { turn, seen };
}

const textOf = (event) => (event.type === "model.message.delta" && event.content) || "";
