// The core of the JSON-RPC turn gateway and of Codex app-server, and its extras. Only pages that speak to one of them
// load this file.
export { packed } from "../../core/turn-rpc/inline.js";
export { SocketTransport as Way } from "../protocols/socket.js";
