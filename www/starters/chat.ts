import { connect } from "turnwire";
import { Conversations } from "turnwire/conversation";

const client = connect({ baseUrl: "/demo", token: "any" });
export const chat = new Conversations({ client, agentName: "support-bot" }).openFromAddress();
