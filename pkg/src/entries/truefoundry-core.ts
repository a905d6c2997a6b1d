// The core of TrueFoundry and TrueForge. Only pages that speak to one of them load this file.
export { packed } from "../../core/truefoundry/inline.js";
