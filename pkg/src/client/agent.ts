// Agents as servers list them, and their settings in a session (the Agent Application Protocol).
import type { ToolSpec } from "../tools/spec.js";

/** A tool of the server that an agent may use in a session. */
export interface ServerTool {
  /** The tool's name. */
  readonly name: string;
  /** Whether it runs without asking; `false` by default. */
  readonly trust?: boolean;
}

/** A setting of an agent. */
export interface AgentOption {
  /** The kind of value. */
  readonly type: "text" | "secret" | "select";
  /** The name for `agentOptions`. */
  readonly name: string;
  /** The name for people. */
  readonly title?: string;
  /** What it sets. */
  readonly description?: string;
  /** The value unless the session sets another one. */
  readonly default: string;
  /** The values of a `select`. */
  readonly options?: readonly string[];
}

/** How a turn's answer is streamed: in deltas, in whole messages, or not at all. */
export type StreamMode = "delta" | "message" | "none";

/** An agent, as the server lists it. */
export interface Agent {
  /** The name for `createSession`. */
  readonly name: string;
  /** The name for people. */
  readonly title?: string;
  /** The agent's own version. */
  readonly version: string;
  /** What the agent does. */
  readonly description?: string;
  /** The server's tools that a session can use. */
  readonly tools?: readonly ToolSpec[];
  /** What `agentOptions` can set. */
  readonly options?: readonly AgentOption[];
  /** As the server declares them: what is declared is supported. */
  readonly capabilities?: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

/** The settings of an agent in a session. */
export interface AgentSettings {
  /** The server's tools that the agent may use; by default all of them, and each call asks first. */
  agentTools?: readonly ServerTool[] | undefined;
  /** Values of its options. Options that are not named keep their defaults. */
  agentOptions?: Readonly<Record<string, string>> | undefined;
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
