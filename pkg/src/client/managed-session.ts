// A session of which the client keeps what the server does not: some servers know sessions and no turns.
import type { CoreSession } from "../boundary/boundary.js";
import type { Capabilities } from "../boundary/capabilities.js";
import type { TurnStatus } from "../snapshot/snapshot.js";
import type { ToolSpec } from "../tools/spec.js";
import type { TurnInputItem, TurnRecord, TurnState } from "../wire/events.js";
import type { Agent, AgentSettings, KnownAgent, ServerTool, StreamMode } from "./agent.js";

/** Lets turns in, one after the other, and keeps the settings that each of them tells the server. */
export interface ManagedSession {
  /** The session's agent, as the server lists it. */
  readonly agent: Agent;
  /** What can be done in the session: as much as its agent declares. */
  readonly capabilities: Capabilities;
  /** What every call is told. */
  toJSON(): object;
  /** Throws an `InputError` unless the agent takes tools of the page of these names. */
  demandTools(names: readonly string[]): void;
  /** These are the page's tools; the next turn declares them. */
  declare(tools: readonly ToolSpec[]): void;
  /** The next turn sets the agent up like this. */
  configure(settings: AgentSettings): void;
  /**
   * Lets a turn in that is about to start: it is the only one, and what waits before it is known. Returns what to wait
   * for; nothing if it may start at once. Throws what forbids it. `reread` reads the history, and calls `stands()`.
   */
  enter(
    input: readonly TurnInputItem[],
    whenBusy: "wait" | "fail",
    signal: AbortSignal,
    reread: () => Promise<void>,
  ): Promise<void> | undefined;
  /** The turn that was let in has begun: what it said holds. */
  began(): void;
  /** The turn that was let in is over, or was not started after all. */
  leave(status: TurnStatus, state: TurnState | null): void;
  /** The history says where the session stands: after this turn, and after so many messages of the user. */
  stands(newest: TurnRecord | undefined, said: number): void;
}

/** Makes one. */
export type MakeManagedSession = new (
  core: CoreSession,
  agent: KnownAgent,
  stream: StreamMode | undefined,
  serverTools: readonly ServerTool[],
  tools: readonly ToolSpec[],
  isNew: boolean,
) => ManagedSession;
