// The client for the settings.

import { useEffect, useState } from "react";
import { connect, type Client } from "turnwire";
import { knownProtocol } from "./protocols";
import type { Settings } from "./settings";

export interface Connection {
  readonly client: Client | null;
  readonly error: unknown;
}

const NONE: Connection = { client: null, error: null };

export function useClient(settings: Settings): Connection {
  const [connection, setConnection] = useState(NONE);
  useEffect(() => {
    let current = true;
    const { baseUrl, protocol, token } = settings;
    // An empty token means none: the development gateway needs none.
    const { isSocket: tokenInQuery = false } = knownProtocol(protocol) ?? {};
    connect({ baseUrl, protocol, ...(token && { token: () => token, tokenInQuery }) }).then(
      (client) => current && setConnection({ client, error: null }),
      (error: unknown) => current && setConnection({ client: null, error }),
    );
    return () => {
      current = false;
    };
  }, [settings]);
  return connection;
}
