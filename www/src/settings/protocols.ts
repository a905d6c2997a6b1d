// The page's protocols, and their URLs at the gateway that serves the page.

import type { Protocol } from "turnwire";

export interface KnownProtocol {
  readonly id: Protocol;
  readonly name: string;
  /** A short name, for small spaces. */
  readonly short: string;
  /** Its path at the page's own origin; null if the gateway that serves the page does not speak it. */
  readonly path: string | null;
  /** A suggested URL for such a protocol. */
  readonly address?: string;
  /** The agents of its servers, if all have the same. */
  readonly agents?: readonly string[];
  /** The default agent. */
  readonly agent: string;
  /** Its servers have neither titles nor dates of sessions, and no ids for turns. */
  readonly isBare?: true;
  /** Its servers do not list sessions. */
  readonly isUnlisted?: true;
  /** Its agents declare what they take. */
  readonly declares?: true;
  /** Lists of turns begin with the newest. */
  readonly isNewestFirst?: true;
  /** Turns cannot branch off from an earlier one. */
  readonly isLinear?: true;
  /** Its agents cannot use tools of the page; they may have tools of the same name. */
  readonly isSelfContained?: true;
  /** A result's text is for people; the rest of it is the record of the whole call. */
  readonly hasRecords?: true;
  /** It uses a WebSocket, for which a page can send a token only in the URL. */
  readonly isSocket?: true;
  /** The file types that it accepts, in the form of `accept`. */
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

/** The protocols of the gateway that serves the page. */
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

/** The default agent. */
export function defaultAgent(protocol: Protocol): string {
  return knownProtocol(protocol)?.agent ?? "";
}

/** The URL of the protocol at the gateway that serves this page, or else a likely one. */
export function demoAddress(protocol: Protocol): string {
  const { path = "", address = "" } = knownProtocol(protocol) ?? {};
  return path === null ? address : window.location.origin + path;
}

/** Whether the URL is one of the gateway that serves this page, for any protocol. */
export function isDemoAddress(address: string): boolean {
  return isAmong(address, SERVED);
}

function isAmong(address: string, protocols: readonly KnownProtocol[]): boolean {
  const wanted = address.trim().replace(/\/+$/, "");
  return protocols.some(({ id }) => demoAddress(id) === wanted);
}

/** The settings that change with the protocol. */
interface Place {
  readonly protocol: Protocol;
  readonly baseUrl: string;
  readonly agentName: string;
}

/**
 * The same connection with another protocol. Suggested URLs and agents change; others stay, except agents that no
 * server of the protocol has.
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
