// Agents, as servers list them, and how one is set up in a session (the Agent Application Protocol).
import { demand, demandNames, isObject } from "../common/check.js";
import type { ToolSpec } from "../tools/spec.js";

/** A tool of the server's that an agent may use in a session. */
export interface ServerTool {
  readonly name: string;
  /** Whether it runs without asking; `false` by default. */
  readonly trust?: boolean;
}

/** A setting that an agent takes. */
export interface AgentOption {
  readonly type: "text" | "secret" | "select";
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly default: string;
  /** Of a `select`. */
  readonly options?: readonly string[];
}

/** How fine the answer of a turn comes: piece by piece, message by message, or all at once. */
export type StreamMode = "delta" | "message" | "none";

/** An agent, as the server lists it. */
export interface Agent {
  readonly name: string;
  readonly title?: string;
  readonly version: string;
  readonly description?: string;
  /** The server's tools that can be used in a session. */
  readonly tools?: readonly ToolSpec[];
  readonly options?: readonly AgentOption[];
  /** As the server declares them: what is there is supported. */
  readonly capabilities?: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

/** How an agent is set up in a session. */
export interface AgentSettings {
  /** The server's tools that it may use. */
  agentTools?: readonly ServerTool[];
  /** Values of its options; those that are not named stay. */
  agentOptions?: Readonly<Record<string, string>>;
}

/** What the core makes of an agent's capabilities. @internal */
export interface AgentTerms {
  history: "full" | "compacted" | null;
  /** The finest of those that it declares. */
  stream: StreamMode;
  /** All that it declares. */
  modes: StreamMode[];
  images: string[];
}

/** An agent, with what the core makes of it. @internal */
export type KnownAgent = Agent & { readonly terms: AgentTerms };

/** Throws an `InputError` unless these are settings of an agent. No value is told: it may be a secret. @internal */
export function demandSettings({ agentTools, agentOptions }: AgentSettings): void {
  demand(
    agentTools == null || (Array.isArray(agentTools) && agentTools.every((tool: unknown) => isObject(tool) && isTool(tool as ServerTool))),
    "`agentTools` must be a list of tools: `{ name, trust? }`",
  );
  // Those of an agent may be given as they are listed.
  for (const tool of agentTools ?? []) demandNames("agentTools", tool, ["name", "trust", "title", "description", "parameters"]);
  demand(
    agentOptions == null ||
      (isObject(agentOptions) && !Array.isArray(agentOptions) && Object.values(agentOptions).every((value) => typeof value === "string")),
    "`agentOptions` must be an object of texts",
  );
}

function isTool({ name, trust }: ServerTool): boolean {
  return typeof name === "string" && name !== "" && ["boolean", "undefined"].includes(typeof trust);
}

/** Throws an `InputError` unless the agent answers so. @internal */
export function demandStream({ name, terms }: KnownAgent, stream: StreamMode | undefined): void {
  demand(
    stream == null || terms.modes.includes(stream),
    `\`stream\` must be one of what agent \`${name}\` declares: ${terms.modes.join(", ")}`,
  );
}
