// Agents as servers list them, and their settings in a session (the Agent Application Protocol).
import { demand, demandNames, isObject } from "../common/check.js";
import type { ToolSpec } from "../tools/spec.js";

/** A tool of the server that an agent may use in a session. */
export interface ServerTool {
  readonly name: string;
  /** Whether it runs without asking; `false` by default. */
  readonly trust?: boolean;
}

/** A setting of an agent. */
export interface AgentOption {
  readonly type: "text" | "secret" | "select";
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly default: string;
  /** The values of a `select`. */
  readonly options?: readonly string[];
}

/** How a turn's answer is streamed: in deltas, in whole messages, or not at all. */
export type StreamMode = "delta" | "message" | "none";

/** An agent, as the server lists it. */
export interface Agent {
  readonly name: string;
  readonly title?: string;
  readonly version: string;
  readonly description?: string;
  /** The server's tools that a session can use. */
  readonly tools?: readonly ToolSpec[];
  readonly options?: readonly AgentOption[];
  /** As the server declares them: what is declared is supported. */
  readonly capabilities?: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

/** The settings of an agent in a session. */
export interface AgentSettings {
  /** The server's tools that the agent may use. */
  agentTools?: readonly ServerTool[];
  /** Values of its options. Options that are not named keep their values. */
  agentOptions?: Readonly<Record<string, string>>;
}

/** An agent's capabilities, as the core reads them. @internal */
export interface AgentTerms {
  history: "full" | "compacted" | null;
  /** The finest of its modes. */
  stream: StreamMode;
  /** All modes that it declares. */
  modes: StreamMode[];
  images: string[];
}

/** An agent, with its capabilities as the core reads them. @internal */
export type KnownAgent = Agent & { readonly terms: AgentTerms };

/** Throws an `InputError` unless these are settings of an agent. The error has no values: they may be secret. @internal */
export function demandSettings({ agentTools, agentOptions }: AgentSettings): void {
  demand(
    agentTools == null || (Array.isArray(agentTools) && agentTools.every((tool: unknown) => isObject(tool) && isTool(tool as ServerTool))),
    "`agentTools` must be a list of tools: `{ name, trust? }`",
  );
  // The agent's listed tools may be passed unchanged.
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

/** Throws an `InputError` unless the agent supports this mode. @internal */
export function demandStream({ name, terms }: KnownAgent, stream: StreamMode | undefined): void {
  demand(
    stream == null || terms.modes.includes(stream),
    `\`stream\` must be one of what agent \`${name}\` declares: ${terms.modes.join(", ")}`,
  );
}
