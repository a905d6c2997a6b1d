// A session whose data the client keeps, for servers that have no ids for turns.
import type { CoreSession } from "../boundary/boundary.js";
import type { Capabilities } from "../boundary/capabilities.js";
import type { TurnwireError } from "../common/errors.js";
import type { TurnStatus } from "../snapshot/snapshot.js";
import type { ToolSpec } from "../tools/spec.js";
import type { Limits } from "../transport/clocks.js";
import type { ListOptions, RequestOptions } from "../transport/lists.js";
import type { SessionRecord, TurnInputItem, TurnRecord, TurnState } from "../wire/events.js";
import type { Agent, ServerTool, StreamMode } from "./agent.js";
import type { PriorMessages, SessionSettings } from "./settings.js";

/** Adds a listener to a session's failures of which no call is notified. Returns the function that removes it. */
export type SessionListening = (topic: "error", listener: (error: TurnwireError) => void) => () => void;

/** Admits one turn at a time, and keeps the settings that each of them sends to the server. */
export interface ManagedSession {
  /** The session's agent, as the server lists it, if it does. */
  readonly agent: Agent | null;
  /** What the session supports, if its agent declares that. */
  readonly capabilities: Capabilities | undefined;
  /** The parameters of every call. */
  toJSON(): object;
  /** Throws an `InputError` unless the agent takes tools of the page with these names. */
  demandTools(names: readonly string[]): void;
  /** Sets the page's tools; the next turn declares them. */
  declare(tools: readonly ToolSpec[]): void;
  /** Changes the settings for the next turn. Throws an `InputError` if they are wrong. */
  configure(settings: SessionSettings): void;
  /** The conversation, if the client keeps it. */
  messages?(): string;
  /** Adds a listener, if there are failures of which no call is notified. */
  readonly on?: SessionListening;
  /**
   * Admits a turn before its start: no other one runs, and the pending calls are known. Returns what to wait for; `undefined` if it may
   * start at once. Throws if the turn is not allowed. `reread` reads the history, and calls `stands()`.
   */
  enter(
    input: readonly TurnInputItem[],
    whenBusy: "wait" | "fail",
    signal: AbortSignal,
    reread: () => Promise<void>,
  ): Promise<void> | undefined;
  /** The admitted turn has begun: its settings are in effect. */
  began(): void;
  /** The admitted turn is over, or was not started after all. */
  leave(status: TurnStatus, state: TurnState | null): void;
  /** The history shows the session's position: the newest turn, and the number of the user's messages. */
  stands(newest: TurnRecord | undefined, said: number): void;
  /** Opens the session in another core, which has no facts about it yet. */
  recall(): void;
}

/** The options of a new session. */
export interface ManagedOptions extends RequestOptions, SessionSettings {
  agentName?: string | undefined;
  stream?: StreamMode | undefined;
  messages?: PriorMessages | undefined;
}

/** A session's record with its settings, if the server keeps them. */
export type SetUpRecord = SessionRecord & { creation?: object; agent?: { tools?: readonly ServerTool[] }; tools?: readonly ToolSpec[] };

/** Creates a session from its record, and from what its `ManagedSession` needs besides. */
export type MakeSession<S> = (record: SetUpRecord, isNew: boolean, setup: object) => S;

/** The agents of a server whose sessions need to know theirs. */
export interface ManagedAgents<S> {
  /** The names of options of a new session. */
  readonly sessionOptions: readonly string[];
  /** The names of options to read a session with. */
  readonly readOptions: readonly string[];
  /** Lists the agents. */
  agents(limits: Limits): Promise<Agent[]>;
  /** Creates a session. */
  create(agentName: string, options: ManagedOptions): Promise<S>;
  /** Reads a session by its id. */
  read(sessionId: string, options: ManagedOptions): Promise<S>;
  /** Lists the sessions of an agent. */
  sessions(agentName: string, options: ListOptions): AsyncGenerator<S, void, undefined>;
}

/** Creates a managed session. */
export type MakeManagedSession = new (core: CoreSession, setup: never, record: SetUpRecord, isNew: boolean) => ManagedSession;
