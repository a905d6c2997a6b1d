// The core of the AgentEvent protocols, in a file of its own: only pages that speak one of them load it.
export { packed } from "../core/agent-event/inline.js";
