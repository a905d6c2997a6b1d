// The same types, reached by `require`.
import turnwire = require("turnwire");
import slim = require("turnwire/slim");
import aap = require("turnwire/aap");
import conversation = require("turnwire/conversation");

export const chats = (client: Promise<turnwire.Client>): conversation.Conversations => new conversation.Conversations({ client, agentName: "support" });

export async function connect(): Promise<turnwire.Client> {
  await slim.init(new Uint8Array(8));
  await aap.init();
  return turnwire.connect({ baseUrl: "https://gateway.example/acme" });
}
