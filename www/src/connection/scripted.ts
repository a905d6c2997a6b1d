// The agents of a page that has no gateway, as on the documentation's site: a server inside the page plays some scripts.

import type { ConnectOptions, Protocol } from "turnwire";
import type { Answer, ScriptTurn, Step, Steps } from "turnwire/testing";
import { knownProtocol } from "../settings/protocols";

/** Whether this page was published without a gateway; the site's build says so. */
export const IS_SCRIPTED = globalThis.document?.documentElement.dataset["server"] === "scripted";

const PACE = 40;

type Spoken = Iterable<Step> | Steps;

interface Server {
  readonly connection: ConnectOptions;
  disconnect(): void;
}

const servers = new Map<Protocol, Promise<Server>>();

/** The server of a protocol, the same for all clients of the page. */
export function scriptedServer(protocol: Protocol): Promise<Server> {
  const known = servers.get(protocol);
  if (known) return known;
  const made = import("turnwire/testing").then(({ fakeServer }) => fakeServer((turn) => answer(turn, protocol), { protocol, delay: PACE, agents: ["support-bot"] }));
  servers.set(protocol, made);
  return made;
}

/** Breaks all connections to these servers. */
export async function cutScripted(): Promise<void> {
  for (const server of await Promise.all(servers.values())) server.disconnect();
}

/** The first word of a message selects what the agent does, as with the development gateway. */
function answer(turn: ScriptTurn, protocol: Protocol): Spoken {
  const [first = ""] = turn.text.toLowerCase().match(/[a-z]+/) ?? [];
  const script = knownProtocol(protocol)?.notPlayed?.includes(first) ? undefined : SCRIPTS[first];
  return (script ?? plain)(turn);
}

const words = (text: string): string[] => text.match(/\S+\s*/g) ?? [];

function plain(): Step[] {
  return words(
    "This page has no server. A short script inside the page answers, over the same protocol and with the same recovery. " +
      "Try an approval, tools, sub-agents, or a slow answer whose connection you cut. `cargo xtask demo` has all the scripts.",
  );
}

const SCRIPTS: Record<string, (turn: ScriptTurn) => Spoken> = {
  async *approval(): Steps {
    yield* words("The billing service hangs. I would restart it. ");
    const [answer]: readonly Answer[] = yield { tool: "restart_service", arguments: { service: "billing" }, result: "running", approval: true };
    yield* words(answer?.allowed ? "Done: billing is running again." : "Then I leave it as it is.");
  },
  tools: () => [
    ...words("I will look. "),
    { tool: "get_status", arguments: { service: "shop-web" }, result: { state: "running", memory: "81 %" } },
    ...words("The shop is running, and uses 81 % of its memory."),
  ],
  reasoning: () => [{ reasoning: "Few people are awake at four. " }, { reasoning: "No backup runs then." }, ...words("At four in the morning.")],
  subagents: () => [
    ...words("I will have two things looked into. "),
    { agent: "log-reader", input: "Find the first error.", script: words("The first error is at 04:12: out of memory.") },
    ...words("The shop ran out of memory at 04:12."),
  ],
  slow: () => words("One word after the other, so that there is time to cut the connection. ".repeat(8)).flatMap((word) => [{ wait: 150 }, word]),
  long: () => Array.from({ length: 400 }, (_, at) => `Sentence ${at + 1} of a long story. `),
  error: () => [...words("This goes well until "), { error: "the model is overloaded" }],
};
