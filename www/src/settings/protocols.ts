// The protocols that the page speaks, and where the gateway that serves the page speaks each of them.

import type { Protocol } from "turnwire";

export interface KnownProtocol {
  readonly id: Protocol;
  readonly name: string;
  /** For where there is little room. */
  readonly short: string;
  /** Below the page's own origin; null if the gateway that serves the page does not speak it. */
  readonly path: string | null;
  /** Where it is found otherwise, as a proposal. */
  readonly address?: string;
  /** The agents that its servers have, where all have the same. */
  readonly agents?: readonly string[];
  /** The agent that is spoken to unless another one is chosen. */
  readonly agent: string;
  /** Its servers give sessions neither titles nor dates, and turns no ids. */
  readonly isBare?: true;
  /** Its servers do not list sessions. */
  readonly isUnlisted?: true;
  /** Its agents declare what they take. */
  readonly declares?: true;
  /** Lists of turns begin with the newest. */
  readonly isNewestFirst?: true;
  /** Turns follow each other: none branches off from an earlier one. */
  readonly isLinear?: true;
  /** Its agents can not use tools of the page; they may have some of the same name. */
  readonly isSelfContained?: true;
  /** What is to be read of a result is its text; the rest of it is the whole record of the call. */
  readonly hasRecords?: true;
  /** It is spoken over a WebSocket, which a page can give a token only in its address. */
  readonly isSocket?: true;
  /** Of files, it takes only these types, as `accept` has them. */
  readonly files?: string;
}

export const PROTOCOLS: readonly KnownProtocol[] = [
  {
    id: "truefoundry",
    name: "TrueFoundry gateway",
    short: "TrueFoundry",
    path: "/demo",
    agent: "support-bot",
    isNewestFirst: true,
  },
  { id: "trueforge", name: "TrueForge", short: "TrueForge", path: "", agent: "support-bot" },
  { id: "tirea", name: "tirea", short: "tirea", path: "/tirea", agent: "support-bot" },
  { id: "awaken", name: "awaken", short: "awaken", path: "/awaken", agent: "support-bot" },
  {
    id: "aap",
    name: "Agent Application Protocol",
    short: "AAP",
    path: "/aap",
    agent: "support-bot",
    isBare: true,
    declares: true,
    isLinear: true,
    files: "image/*",
  },
  {
    id: "turn-rpc",
    name: "JSON-RPC turn gateway",
    short: "turn-rpc",
    path: "/turn-rpc",
    agents: ["Agent", "Chat"],
    agent: "Agent",
    isUnlisted: true,
    isNewestFirst: true,
    isLinear: true,
    isSelfContained: true,
    hasRecords: true,
    isSocket: true,
  },
  {
    id: "codex",
    name: "Codex app-server",
    short: "Codex",
    path: null,
    address: "ws://127.0.0.1:8791",
    agent: "codex",
    isNewestFirst: true,
    isLinear: true,
    isSelfContained: true,
    hasRecords: true,
    isSocket: true,
    files: "image/*",
  },
];

/** Those that the gateway that serves the page speaks. */
export const SERVED: readonly KnownProtocol[] = PROTOCOLS.filter(({ path }) => path !== null);

export function isProtocol(value: unknown): value is Protocol {
  return PROTOCOLS.some(({ id }) => id === value);
}

export function knownProtocol(protocol: Protocol): KnownProtocol | undefined {
  return PROTOCOLS.find(({ id }) => id === protocol);
}

export function protocolName(protocol: Protocol): string {
  return knownProtocol(protocol)?.short ?? protocol;
}

/** The agent that is spoken to unless another one is chosen. */
export function defaultAgent(protocol: Protocol): string {
  return knownProtocol(protocol)?.agent ?? "";
}

/** Where the gateway that serves this page speaks the protocol, or where else it is likely to be spoken. */
export function demoAddress(protocol: Protocol): string {
  const { path = "", address = "" } = knownProtocol(protocol) ?? {};
  return path === null ? address : window.location.origin + path;
}

/** Whether the address is one at which the gateway that serves this page speaks some protocol. */
export function isDemoAddress(address: string): boolean {
  return isAmong(address, SERVED);
}

function isAmong(address: string, protocols: readonly KnownProtocol[]): boolean {
  const wanted = address.trim().replace(/\/+$/, "");
  return protocols.some(({ id }) => demoAddress(id) === wanted);
}

/** What changes with the protocol. */
interface Place {
  readonly protocol: Protocol;
  readonly baseUrl: string;
  readonly agentName: string;
}

/**
 * The same connection by another protocol. Addresses and agents that were proposed here move along, others stay, but
 * for agents that no server of the protocol has.
 */
export function withProtocol<T extends Place>(connection: T, protocol: Protocol): T {
  const { baseUrl, agentName } = connection;
  const { agents } = knownProtocol(connection.protocol) ?? {};
  const wasProposed = agentName === defaultAgent(connection.protocol) || (agents?.includes(agentName) ?? false);
  const isPossible = knownProtocol(protocol)?.agents?.includes(agentName) ?? !wasProposed;
  return {
    ...connection,
    protocol,
    baseUrl: isAmong(baseUrl, PROTOCOLS) ? demoAddress(protocol) : baseUrl,
    agentName: isPossible ? agentName : defaultAgent(protocol),
  };
}
