// Candidate "turnwire": the package by its public API.
import { consume } from "../consumers.mjs";

/** Makes turns of this protocol ready; each is to be consumed once. */
export async function prepare({ protocol, baseUrl, fetch, webSocket, packageUrl }) {
  const { connect } = await import(packageUrl);
  const client = await connect({ baseUrl, protocol, ...(webSocket ? { webSocket } : { fetch }) });
  return {
    async ready() {
      const session = await client.agents.createSession(protocol === "turn-rpc" ? "Chat" : protocol === "codex" ? "codex" : "support-bot");
      const start = () => session.createTurn({ input: "Hello" });
      return { consume: (consumer) => consume(consumer, start, textOf) };
    },
    close: () => client.close(),
  };
}

const textOf = (event) => (event.type === "model.message.delta" && event.content) || "";
