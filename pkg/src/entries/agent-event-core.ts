// The core of the AgentEvent protocols, and its extras. Only pages that speak one of them load this file.
export { packed } from "../../core/agent-event/inline.js";
export { readConversation } from "../protocols/agent-event-session.js";
