// What sessions of the AgentEvent protocols need besides their core.
export { readConversation } from "../conversation.js";
export { relayed } from "../relay.js";
export { RunElision as Elision } from "../run-elision.js";
