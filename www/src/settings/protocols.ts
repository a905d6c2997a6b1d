// What this page calls each protocol, and the URLs at the gateway that serves the page. `client.capabilities` says the rest.

import type { Protocol } from "turnwire";
import { RELAY } from "../connection/relay";

export interface KnownProtocol {
  readonly id: Protocol;
  readonly name: string;
  /** A short name, for small spaces. */
  readonly short: string;
  /** Its path at the page's own origin; null if the gateway that serves the page does not speak it. */
  readonly path: string | null;
  /** What a URL of its servers looks like, and what they must do. */
  readonly hint: string;
  /** A suggested URL for such a protocol. */
  readonly address?: string;
  /** The agents of its servers, if all have the same. */
  readonly agents?: readonly string[];
  /** The default agent. */
  readonly agent: string;
  /** The relay `"keeps"` its turns, or it `"passes"` requests on; by default it does not speak the protocol. */
  readonly relay?: "keeps" | "passes";
  /** The page sends its token in the URL, which the development gateway accepts. */
  readonly tokenInQuery?: true;
  /** The scripts of a page without a gateway that it cannot show. */
  readonly notPlayed?: readonly string[];
}

export const PROTOCOLS: readonly KnownProtocol[] = [
  {
    id: "truefoundry",
    name: "TrueFoundry gateway",
    short: "TrueFoundry",
    path: "/demo",
    hint: "With the tenant, such as https://gateway.example/acme",
    agent: "support-bot",
    relay: "passes",
  },
  {
    id: "trueforge",
    name: "TrueForge",
    short: "TrueForge",
    path: "",
    hint: "Without /api/v1, such as https://forge.example",
    agent: "support-bot",
  },
  {
    id: "tirea",
    name: "tirea",
    short: "tirea",
    path: "/tirea",
    hint: "Without /v1; the server must allow this page to call it",
    agent: "support-bot",
    relay: "keeps",
  },
  {
    id: "awaken",
    name: "awaken",
    short: "awaken",
    path: "/awaken",
    hint: "Without /v1; the server must allow this page to call it",
    agent: "support-bot",
    relay: "passes",
  },
  {
    id: "aap",
    name: "Agent Application Protocol",
    short: "AAP",
    path: "/aap",
    hint: "Without /meta; the server must allow this page to call it",
    agent: "support-bot",
    relay: "keeps",
    notPlayed: ["subagents"],
  },
  {
    id: "turn-rpc",
    name: "JSON-RPC turn gateway",
    short: "turn-rpc",
    path: "/turn-rpc",
    hint: "The URL of the WebSocket. A page cannot send an authorization header with it: see the documentation of turn-rpc",
    agents: ["Agent", "Chat"],
    agent: "Agent",
    relay: "passes",
    tokenInQuery: true,
    notPlayed: ["approval", "subagents"],
  },
  {
    id: "codex",
    name: "Codex app-server",
    short: "Codex",
    path: null,
    hint: "The URL of a relay: app-server refuses pages, so start the gateway’s relay in front of it, with --upstream",
    address: "ws://127.0.0.1:8791",
    agent: "codex",
    tokenInQuery: true,
  },
  {
    id: "ag-ui",
    name: "AG-UI",
    short: "AG-UI",
    path: "/ag-ui",
    hint: "The address of the agent itself; the server must allow this page to call it",
    agent: "support-bot",
    notPlayed: ["subagents"],
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

/** The URL of the protocol at the gateway that serves this page, through the page's relay if that speaks it, or else a likely one. */
export function demoAddress(protocol: Protocol): string {
  const { path = "", address = "", relay } = knownProtocol(protocol) ?? {};
  return path === null ? address : ((relay && RELAY) ?? window.location.origin) + path;
}

/** Whether the relay of this page stands between it and the agents. */
export function isRelayed({ protocol, baseUrl }: Pick<Place, "protocol" | "baseUrl">): boolean {
  return RELAY !== undefined && knownProtocol(protocol)?.relay !== undefined && isAt(baseUrl, protocol);
}

/** Whether that relay keeps the turns. */
export function isKept(place: Pick<Place, "protocol" | "baseUrl">): boolean {
  return isRelayed(place) && knownProtocol(place.protocol)?.relay === "keeps";
}

/** Whether the URL is one of the gateway that serves this page, for any protocol. */
export function isDemoAddress(address: string): boolean {
  return isAmong(address, SERVED);
}

function isAmong(address: string, protocols: readonly KnownProtocol[]): boolean {
  return protocols.some(({ id }) => isAt(address, id));
}

function isAt(address: string, protocol: Protocol): boolean {
  return demoAddress(protocol) === address.trim().replace(/\/+$/, "");
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
