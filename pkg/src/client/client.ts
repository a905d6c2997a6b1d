// `connect`, and what a server offers: agents and their sessions.
import { CoreClient } from "../boundary/boundary.js";
import { Call } from "../boundary/calls.js";
import { type Capabilities, capabilitiesOf, newId } from "../boundary/capabilities.js";
import { CORES, type Protocol, PROTOCOLS } from "../boundary/protocols.js";
import { checkedOptions, demand } from "../common/check.js";
import { DISPOSE } from "../common/dispose.js";
import { adopting, ProtocolError } from "../common/errors.js";
import { type Limits, within } from "../transport/clocks.js";
import { FetchTransport } from "../transport/fetch.js";
import { demandOptions, list, type ListOptions, type RequestOptions, split } from "../transport/lists.js";
import type { SessionRecord, TurnRecord } from "../wire/events.js";
import type { TurnRpcSessionOptions } from "../wire/native-turn-rpc.js";
import type { Agent, StreamMode } from "./agent.js";
import { type ClientConnection, load, type Sources } from "./load.js";
import { checked, type ConnectOptions } from "./options.js";
import type { ManagedAgents, SetUpRecord } from "./managed-session.js";
import { Session } from "./session.js";
import type { KeptSettings, PriorMessages, SessionSettings } from "./settings.js";

/** Is added to the number of a protocol whose server stands behind a relay. */
const RELAYED = 128;

/** The `connect` of an entry that has these cores. */
export async function connectWith(sources: Sources, options: ConnectOptions): Promise<Client> {
  const { baseUrl, protocol, relay, ...given } = checked(options, Object.keys(sources));
  const loaded = await load(sources[CORES[protocol]]!);
  const core = new CoreClient(loaded, PROTOCOLS.indexOf(protocol) + (relay ? RELAYED : 0), given.maxFrameBytes);
  const [capabilities, conventions] = capabilitiesOf(adopting(() => core.capabilities()));
  const settings = { ...given, idleTimeout: given.idleTimeout ?? conventions.silence };
  const extras = (relay && loaded.relayed?.(loaded, FetchTransport)) || loaded;
  const Way = extras.Way ?? FetchTransport;
  const transport = new Way(core, baseUrl, options, settings);
  const connection = { core, transport, settings, capabilities, conventions, extras, store: options.store };
  return new Client(connection, protocol, baseUrl);
}

/** A server. */
export class Client {
  /** The server's agents. */
  readonly agents: Agents;
  /** The protocol of the server. */
  readonly protocol: Protocol;
  /** The normalized base URL. */
  readonly baseUrl: string;
  /** What the protocol supports. */
  readonly capabilities: Capabilities;

  readonly #connection: ClientConnection;

  /** @internal */
  constructor(connection: ClientConnection, protocol: Protocol, baseUrl: string) {
    this.#connection = connection;
    this.agents = new Agents(connection);
    this.protocol = protocol;
    this.baseUrl = baseUrl;
    this.capabilities = connection.capabilities;
  }

  /**
   * Closes the connection that is kept between calls (a `WebSocket`). The next call opens another one, and so does a
   * turn that is being read: leave its stream first. An open connection keeps Node alive, for a minute after its last
   * use.
   */
  close(): void {
    this.#connection.transport.close?.();
  }

  /** Closes the client. Called at the end of a block with `using`. */
  [DISPOSE](): void {
    this.close();
  }
}

/** The options of `listSessions`. */
export interface ListSessionsOptions extends ListOptions {
  /** By time of creation, with `"trueforge"` by time of the last change; `"desc"`, newest first, by default. */
  order?: "asc" | "desc" | undefined;
  /**
   * Created at this time or later; ISO 8601. By default a year ago (the server's own default would be half an hour
   * ago), with `"trueforge"` at any time.
   */
  startTimestamp?: string | undefined;
  /** Created at this time or before; ISO 8601; now by default. */
  endTimestamp?: string | undefined;
}

/** The options of `searchSessions`. */
export interface SearchSessionsOptions extends ListSessionsOptions {
  /** Only sessions of this agent; by default of all. */
  agentName?: string | undefined;
  /** Only sessions of this creator; by default of all. */
  createdBySubjectId?: string | undefined;
  /** The creator's type: `user` or `virtual-account`, for example; any by default. */
  createdBySubjectType?: string | undefined;
  /** Only saved sessions, or only drafts; by default both. */
  sessionType?: "session" | "session/draft" | undefined;
  /** Only the session of this id; any by default. */
  sessionId?: string | undefined;
}

/** The options of `createSession`. Options that the protocol does not support are refused. */
export interface CreateSessionOptions extends RequestOptions, SessionSettings, StreamOptions {
  /**
   * A label for people; none by default. Only if `client.capabilities.titles` (`"truefoundry"`, `"turn-rpc"`, `"codex"`).
   * Other servers take no title with a new session: they derive it from the first message, or have `session.rename()`.
   */
  title?: string | undefined;
  /** Metadata for the gateway's own records of the request (`"truefoundry"`); none by default. */
  metadata?: Record<string, unknown> | undefined;
  /**
   * The messages before the session, in the protocol's own form, for protocols that take some; none by default. Where the
   * client keeps the conversation, also what `session.messages()` returned.
   */
  messages?: PriorMessages | undefined;
  /**
   * More options of a new session (`"turn-rpc"`, `"codex"`); none by default. The gateway takes `workspaceId`, `model`, `modelProvider`,
   * `mode`, `sandbox`, `originKind`, `sidebarVisibility`, `agentNickname` and `agentRole`; Codex takes those of its
   * `thread/start`, such as `cwd` or `sandbox`.
   */
  sessionOptions?: TurnRpcSessionOptions | Readonly<Record<string, unknown>> | undefined;
}

/** The options of `getSession`. */
export interface GetSessionOptions extends RequestOptions, KeptSettings, StreamOptions {
  /** The session's agent, for servers that do not record it (`AgentEvent`); none by default. */
  agentName?: string | undefined;
}

interface StreamOptions {
  /** How answers are streamed (`"aap"`); by default as finely as the agent supports. */
  stream?: StreamMode | undefined;
}

/** The agents of a server, and their sessions. */
export class Agents {
  readonly #connection: ClientConnection;
  /** The agents, if sessions need to know theirs. */
  readonly #managed: ManagedAgents<Session> | undefined;

  /** @internal */
  constructor(connection: ClientConnection) {
    this.#connection = connection;
    const { Agents } = connection.extras;
    if (Agents) this.#managed = new Agents(connection, (...made) => this.#session(...made));
  }

  /** Lists the server's agents, if the protocol supports it. */
  async list(options: RequestOptions = {}): Promise<Agent[]> {
    demandOptions("list", options);
    if (this.#managed) return this.#managed.agents(options);
    return (await this.#connection.transport.ask<{ items: Agent[] }>(Call.ListAgents, {}, options)).items;
  }

  /** Creates a session for a saved agent. */
  async createSession(agentName: string, options: CreateSessionOptions = {}): Promise<Session> {
    const { clientIds, socket } = this.#connection.conventions;
    const own = this.#managed?.sessionOptions ?? (socket ? ["sessionOptions"] : clientIds ? [] : ["metadata"]);
    demandOptions("createSession", options, ...own, ...(this.#connection.capabilities.titles ? ["title"] : []));
    if (options.sessionOptions != null) checkedOptions("sessionOptions", options.sessionOptions);
    demand(typeof agentName === "string" && agentName !== "", "`agentName` must be the name of an agent");
    demand(options.title == null || typeof options.title === "string", "`title` must be a string");
    if (this.#managed) return this.#managed.create(agentName, options);
    const [limits, rest] = split(options);
    if (socket && !clientIds) {
      // The server names a thread only after it is created.
      const { title, ...own } = rest;
      return within(limits, async (limits) => {
        const session = this.#session(await this.#ask(Call.CreateSession, { agentName, ...own }, limits), true);
        if (title != null) await session.rename(title, limits);
        return session;
      });
    }
    const id = clientIds ? { id: newId() } : {};
    const creation = { agentName, ...rest };
    const record = await this.#ask(Call.CreateSession, { ...creation, ...id }, limits);
    return this.#session({ ...record, creation }, true);
  }

  /** Lists the sessions of an agent, over all pages. */
  listSessions(agentName: string, options: ListSessionsOptions = {}): AsyncGenerator<Session, void, undefined> {
    const sessions = this.#managed
      ? this.#managed.sessions(agentName, options)
      : this.#list(Call.ListSessions, { agentName, limit: PAGE, ...window() }, options, agentName);
    const known = new Set<string>();
    // Some servers list the sessions of all agents, and some repeat a session on a later page.
    return only(sessions, ({ id, agentName: name }) => {
      const isOther = (name !== null && name !== agentName) || known.has(id);
      known.add(id);
      return !isOther;
    });
  }

  /**
   * Reads a session, or a draft, by its id. `agentName` is for servers that do not record the session's agent
   * (`AgentEvent`): without it, the agent of the last turn continues.
   */
  async getSession(id: string, options: GetSessionOptions = {}): Promise<Session> {
    demandOptions("getSession", options, "agentName", ...(this.#managed?.readOptions ?? []));
    const [limits, { agentName }] = split(options);
    demand(agentName == null || typeof agentName === "string", "`agentName` must be a string");
    if (this.#managed) return this.#managed.read(id, options);
    const record = await this.#ask(Call.GetSession, { sessionId: id }, limits);
    if (record.agent_name == null && this.#connection.conventions.clientIds) {
      record.agent_name = agentName ?? (await this.#agentOf(id, limits));
    }
    return this.#session(record);
  }

  /** The agent of a session's last turn. */
  async #agentOf(sessionId: string, limits: Limits): Promise<string | null> {
    const name = (record: TurnRecord): string | null => record.agent_name ?? null;
    let last: string | null = null;
    for await (last of list(this.#connection, Call.ListTurns, { sessionId }, limits, name));
    return last;
  }

  /**
   * Creates a session for an agent that you supply, in the server's schema. It can be changed later. `metadata` and
   * `agentName`, a name for the agent, are for `"truefoundry"` only.
   */
  async createDraftSession(
    agentSpec: Record<string, unknown>,
    options: Omit<CreateSessionOptions, "title" | "sessionOptions"> & { agentName?: string } = {},
  ): Promise<Session> {
    demandOptions("createDraftSession", options, "metadata", "agentName");
    const [limits, rest] = split(options);
    return this.#session(await this.#ask(Call.CreateDraftSession, { agentSpec, ...rest }, limits), true);
  }

  /** Lists the caller's drafts, over all pages. Only `"truefoundry"` can filter them by `agentName`. */
  listDraftSessions(
    options: ListSessionsOptions & { agentName?: string } = {},
  ): AsyncGenerator<Session, void, undefined> {
    return this.#list(Call.ListDraftSessions, window(), options);
  }

  /** Reads a draft by its id. */
  async getDraftSession(id: string, options: RequestOptions = {}): Promise<Session> {
    demandOptions("getDraftSession", options);
    return this.#session(await this.#ask(Call.GetDraftSession, { sessionId: id }, options));
  }

  /** Lists the caller's sessions and drafts, over all pages. */
  listOwnedSessions(
    options: ListSessionsOptions & { agentName?: string } = {},
  ): AsyncGenerator<Session, void, undefined> {
    return this.#list(Call.ListOwnedSessions, window(), options);
  }

  /** Searches sessions and drafts, over all pages. */
  searchSessions(options: SearchSessionsOptions = {}): AsyncGenerator<Session, void, undefined> {
    return this.#list(Call.SearchSessions, {}, options);
  }

  /**
   * Downloads a file of a sandbox. `"trueforge"` finds the sandbox by a turn: it takes `sessionId` and `turnId` in
   * place of the sandbox's id.
   */
  async downloadSandboxFile(
    sandbox: string | { sessionId: string; turnId: string },
    path: string,
    options: RequestOptions = {},
  ): Promise<Blob> {
    demandOptions("downloadSandboxFile", options);
    const where = typeof sandbox === "string" ? { sandboxId: sandbox } : sandbox;
    return this.#connection.transport.download({ ...where, path }, options);
  }

  #ask(call: Call, params: object, limits: Limits): Promise<SessionRecord> {
    return this.#connection.transport.ask(call, params, limits);
  }

  #list(
    call: Call,
    params: object,
    options: ListOptions,
    agentName: string | null = null,
  ): AsyncGenerator<Session, void, undefined> {
    const { conventions } = this.#connection;
    return list(this.#connection, call, params, options, (record: SessionRecord) => {
      // A session without an agent belongs to the agent for which it is listed.
      if (conventions.clientIds) record.agent_name ??= agentName;
      return this.#session(record);
    });
  }

  #session(record: SetUpRecord, isNew = false, setup?: object): Session {
    if (typeof record.id !== "string") {
      throw new ProtocolError("unexpected_response", "the server gave a session without an `id`");
    }
    return new Session(this.#connection, record, isNew, setup);
  }
}

/** Sessions per page; the servers' own default is ten. */
const PAGE = 100;
const YEAR = 365 * 24 * 60 * 60 * 1000;

/** The default start of a list. */
function window(): object {
  return { windowStart: new Date(Date.now() - YEAR).toISOString() };
}

async function* only<T>(items: AsyncIterable<T>, test: (item: T) => boolean): AsyncGenerator<T, void, undefined> {
  for await (const item of items) if (test(item)) yield item;
}
