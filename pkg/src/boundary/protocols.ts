// The protocols, and which core speaks them.

/**
 * Which core speaks a protocol. The order is that of the protocols' numbers in the cores; a core has the name of its
 * family.
 */
export const CORES = {
  truefoundry: "truefoundry",
  trueforge: "truefoundry",
  tirea: "agent-event",
  awaken: "agent-event",
  aap: "aap",
  "turn-rpc": "turn-rpc",
  codex: "turn-rpc",
} as const;

/** A protocol that a server speaks. */
export type Protocol = keyof typeof CORES;

/** A family: the protocols of one core. */
export type Family = (typeof CORES)[Protocol];

/** Families that use a `WebSocket`. */
export const OVER_SOCKETS: readonly Family[] = ["turn-rpc"];

/** All protocols, in the order of their numbers in the cores. */
export const PROTOCOLS = Object.keys(CORES) as Protocol[];
