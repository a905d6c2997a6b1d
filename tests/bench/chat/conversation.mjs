// The conversation of the package's own pages.
import { connect } from "turnwire";
import { Conversations } from "turnwire/conversation";
import { serverWith, SESSION_ID } from "../past.mjs";
import { pacedStream } from "../source.mjs";

/** A conversation that has been read. */
export async function conversationOf({ messages, story, rate }, control) {
  const client = connect(serverWith(messages, story, { source: (chunks) => pacedStream(chunks, rate) }));
  const chat = new Conversations({ client, agentName: "support-bot", page: messages.length, store: null }).open(SESSION_ID);
  await chat.loaded;
  control.text = () => chat.messages.get().slice(messages.length + 1).map(({ text }) => text).join("");
  return chat;
}
