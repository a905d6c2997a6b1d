// Shared by the pages with a hydrated conversation.
import { connect } from "turnwire";
import { Conversations } from "turnwire/conversation";

/** The conversation of a session, as the server has read it. Its streams are cut repeatedly. */
export function open(baseUrl, id, initial) {
  const client = connect({ baseUrl, reconnect: { baseDelay: 20, maxDelay: 200 }, headers: { "x-turnwire-fault": "eof:7" } });
  const chat = new Conversations({ client, agentName: "support-bot" }).open(id, initial);
  globalThis.chat = chat;
  globalThis.cuts = 0;
  chat.on("turn", (turn) => turn.on("reconnecting", () => (globalThis.cuts += 1)));
  return chat;
}
