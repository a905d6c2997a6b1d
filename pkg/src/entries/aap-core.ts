// The core of the Agent Application Protocol, and its extras. Only pages that speak it load this file.
export { packed } from "../../core/aap/inline.js";
export { AapSession as Managed } from "../protocols/aap-session.js";
