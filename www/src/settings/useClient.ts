// The client for the settings.

import { useEffect, useState } from "react";
import { connect, type Client, type ConnectOptions } from "turnwire";
import { isHere } from "../connection/DevelopmentGateway";
import { fetchOverWay } from "../connection/relay";
import { IS_SCRIPTED, scriptedServer } from "../connection/scripted";
import { isKept, knownProtocol } from "./protocols";
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
    const { baseUrl, protocol } = settings;
    const options = IS_SCRIPTED && isHere(baseUrl) ? scriptedServer(protocol).then(({ connection }) => connection) : Promise.resolve(given(settings));
    options.then(connect).then(
      (client) => current && setConnection({ client, error: null }),
      (error: unknown) => current && setConnection({ client: null, error }),
    );
    return () => {
      current = false;
    };
  }, [settings]);
  return connection;
}

function given(settings: Settings): ConnectOptions {
  const { baseUrl, protocol, token } = settings;
  // An empty token means none: the development gateway needs none.
  const { tokenInQuery = false } = knownProtocol(protocol) ?? {};
  const behindRelay = isKept(settings) && { relay: true, fetch: fetchOverWay };
  return { baseUrl, protocol, ...behindRelay, ...(token && { token: () => token, tokenInQuery }) };
}
