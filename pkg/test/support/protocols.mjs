// Which protocols there are, and where the development gateway speaks them.
import { families } from "../../entries.mjs";

/** All protocols. */
export const PROTOCOLS = Object.values(families).flatMap(({ protocols }) => protocols);

/** The paths of the protocols that the gateway speaks. */
export const PATHS = Object.fromEntries(PROTOCOLS.filter((name) => name !== "codex").map((name) => [name, `/${name}`]));
// A tenant, and the address itself.
Object.assign(PATHS, { truefoundry: "/acme", trueforge: "" });
