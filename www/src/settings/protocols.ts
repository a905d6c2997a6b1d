// What this page calls each protocol, and the URLs at the gateway that serves the page. `client.capabilities` says the rest.

import type { Protocol } from "turnwire";
import families from "../../../pkg/families.json" with { type: "json" };
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

/** The rows of families.json, in its order. */
export const PROTOCOLS: readonly KnownProtocol[] = Object.values(families).flatMap(({ demo }) =>
  Object.entries(demo).map(([id, row]) => ({ ...row, id }) as KnownProtocol),
);

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
