// The protocols that the page speaks, and where the gateway that serves the page speaks each of them.

import type { Protocol } from "turnwire";

export interface KnownProtocol {
  readonly id: Protocol;
  readonly name: string;
  /** For where there is little room. */
  readonly short: string;
  /** Below the page's own origin. */
  readonly path: string;
  /** Its servers give sessions neither titles nor dates, and turns no ids. */
  readonly isBare?: true;
  /** Of files, it takes only these types, as `accept` has them. */
  readonly files?: string;
}

export const PROTOCOLS: readonly KnownProtocol[] = [
  { id: "truefoundry", name: "TrueFoundry gateway", short: "TrueFoundry", path: "/demo" },
  { id: "trueforge", name: "TrueForge", short: "TrueForge", path: "" },
  { id: "tirea", name: "tirea", short: "tirea", path: "/tirea" },
  { id: "awaken", name: "awaken", short: "awaken", path: "/awaken" },
  {
    id: "aap",
    name: "Agent Application Protocol",
    short: "AAP",
    path: "/aap",
    isBare: true,
    files: "image/*",
  },
];

export function isProtocol(value: unknown): value is Protocol {
  return PROTOCOLS.some(({ id }) => id === value);
}

export function knownProtocol(protocol: Protocol): KnownProtocol | undefined {
  return PROTOCOLS.find(({ id }) => id === protocol);
}

export function protocolName(protocol: Protocol): string {
  return knownProtocol(protocol)?.short ?? protocol;
}

/** Where the gateway that serves this page speaks the protocol. */
export function demoAddress(protocol: Protocol): string {
  return window.location.origin + (knownProtocol(protocol)?.path ?? "");
}

/** Whether the address is one at which the gateway that serves this page speaks some protocol. */
export function isDemoAddress(address: string): boolean {
  const wanted = address.trim().replace(/\/+$/, "");
  return PROTOCOLS.some(({ id }) => demoAddress(id) === wanted);
}

/** The same connection by another protocol. The addresses of this page's own gateway move along, others stay. */
export function withProtocol<T extends { readonly baseUrl: string }>(connection: T, protocol: Protocol): T {
  const { baseUrl } = connection;
  return { ...connection, protocol, baseUrl: isDemoAddress(baseUrl) ? demoAddress(protocol) : baseUrl };
}
