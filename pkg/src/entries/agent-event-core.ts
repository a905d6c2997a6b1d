// The core of the AgentEvent protocols. Only pages that speak one of them load this file.
export { packed } from "../../core/agent-event/inline.js";
