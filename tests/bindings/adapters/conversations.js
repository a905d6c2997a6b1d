// The base of the adapters' pages: the conversations of the protocol in the page's address.
import { connect } from "turnwire";
import { Conversations } from "turnwire/conversation";

export const query = new URLSearchParams(location.search);
const protocol = query.get("protocol") ?? "truefoundry";
const path = { truefoundry: "demo", trueforge: "" }[protocol] ?? protocol;

const delay = query.get("delay");
const client = connect({ baseUrl: `${location.origin}/${path}`, protocol, token: "any", ...(delay && { headers: { "x-turnwire-delay-ms": delay } }) });
const tools = { clock: { description: "The time", run: () => "noon" }, calculator: { description: "Computes", run: () => ({ result: 42 }) } };
export const conversations = new Conversations({ client, agentName: "support-bot", ...(query.has("tools") && { tools }), ...(query.has("unseen") && { unseen: query.get("unseen") }) });

/** The conversation that was made or opened last. */
let newest;
for (const name of ["create", "open"]) {
  const own = conversations[name].bind(conversations);
  conversations[name] = (...given) => (newest = own(...given));
}
Object.assign(globalThis, { conversationOf: () => newest });
