// What sessions of the AgentEvent protocols need besides their core.
export { readConversation } from "./conversation.js";
export { RunElision as Elision } from "./run-elision.js";
