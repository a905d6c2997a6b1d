// The public types that only AG-UI has, and what it adds to the types of all protocols.
import type { AgUiEvent } from "./frames.js";

export type { AgUiEvent, AgUiInterrupt, AgUiOutcome, AgUiUsage } from "./frames.js";

/** A fact that the agent should know, besides the messages. */
export interface RunContext {
  /** What it is. */
  readonly description: string;
  /** Its value, as a text. */
  readonly value: string;
}

/** The settings of the runs of a session (`"ag-ui"`). */
export interface RunSettings {
  /** The state of the agent at the start of the next run, any JSON; by default the last run's final state. */
  state?: unknown;
  /** Facts that the agent should know besides the messages; none by default. */
  context?: readonly RunContext[] | undefined;
  /** Properties for the server, in its own form; none by default. */
  forwardedProps?: Readonly<Record<string, unknown>> | undefined;
  /**
   * The server's own tools whose calls the page may answer, by their names; none by default. Agno and ADK ask for
   * approvals in this way. Calls of other tools that are not the page's are never answered.
   */
  answerableTools?: readonly string[] | undefined;
  /**
   * How to read a run after its connection breaks, on servers where runs continue without a reader. By default it is not read, and is
   * incomplete.
   *
   * - `"connect"` is for CopilotKit's runtime: `baseUrl` ends in `/run`, and beside it are `connect`, which repeats the run, and `stop`,
   *   with which `turn.cancel()` stops it.
   * - `"snapshot"` is for Agent Framework with a snapshot store and detached runs: a request without messages returns the thread, which
   *   contains the run once it has ended.
   * - `"state"` is for ADK: `agents/state` beside `baseUrl` returns the thread.
   */
  recovery?: "connect" | "snapshot" | "state" | undefined;
}

/** A message in the form of AG-UI. Messages without an `id` get one. */
export type RunMessage = {
  /** `"user"`, `"assistant"`, `"tool"`, `"system"`, `"developer"`, `"reasoning"` or `"activity"`. */
  readonly role: string;
  /** The message's id. */
  readonly id?: string;
  readonly [field: string]: unknown;
};

/** The conversation before a session: messages, or what `session.messages()` returned. */
export type KeptMessages = string | readonly RunMessage[];

/** What a session is read with (`"ag-ui"`). */
export interface KeptSessionOptions extends RunSettings {
  /** The conversation so far; by default the one in `store` of `connect`. */
  messages?: KeptMessages | undefined;
}

declare module "../../client/settings.js" {
  interface SessionSettings extends RunSettings {}

  interface KeptSettings extends KeptSessionOptions {}

  interface PriorMessageUnion {
    /** In the form of the protocol, or what `session.messages()` returned. */
    "ag-ui": KeptMessages;
  }
}

declare module "../../delivery/topics.js" {
  interface NativeUnion {
    /** A frame of a stream. */
    "ag-ui": AgUiEvent;
  }
}
