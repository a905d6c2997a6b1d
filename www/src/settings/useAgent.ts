// The server's description of the agent, if it has one before there is a session.

import { useEffect, useState } from "react";
import type { Agent, Client } from "turnwire";

export function useAgent(client: Client, agentName: string): Agent | null {
  const [agent, setAgent] = useState<Agent | null>(null);
  useEffect(() => {
    setAgent(null);
    if (!client.capabilities.agents) return;
    const asking = new AbortController();
    client.agents.list({ signal: asking.signal }).then(
      (agents) => setAgent(agents.find(({ name }) => name === agentName) ?? null),
      // Sending a message will report the error.
      () => {},
    );
    return () => asking.abort();
  }, [client, agentName]);
  return agent;
}
