// The core of the JSON-RPC turn gateway and of Codex app-server, in a file of its own: only pages that speak to one of
// them load it.
export { packed } from "../core/turn-rpc/inline.js";
