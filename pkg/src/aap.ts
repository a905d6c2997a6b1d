// The core of the Agent Application Protocol, in a file of its own: only pages that speak it load it.
export { packed } from "../core/aap/inline.js";
