// The protocols, and which core speaks them.

/**
 * Which core speaks a protocol. The protocols stand in the order of their numbers in the cores; a core has the
 * name of its family.
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

/** What a server speaks. */
export type Protocol = keyof typeof CORES;

/** Protocols that one core speaks. */
export type Family = (typeof CORES)[Protocol];

/** Families that are spoken over a `WebSocket`. */
export const OVER_SOCKETS: readonly Family[] = ["turn-rpc"];

/** All of them, by their numbers in the cores. */
export const PROTOCOLS = Object.keys(CORES) as Protocol[];
