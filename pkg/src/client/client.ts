// `connect`, and what a server offers: agents and their sessions.
import { CoreClient } from "../boundary/boundary.js";
import { Call } from "../boundary/calls.js";
import { type Capabilities, capabilitiesOf, newId } from "../boundary/capabilities.js";
import { CORES, type Protocol, PROTOCOLS } from "../boundary/protocols.js";
import { checkedOptions, demand } from "../common/check.js";
import { adopting, InputError, ProtocolError } from "../common/errors.js";
import { type Limits, within } from "../transport/clocks.js";
import { FetchTransport } from "../transport/fetch.js";
import { demandOptions, list, type ListOptions, type RequestOptions, split } from "../transport/lists.js";
import type { SessionRecord, TurnRecord } from "../wire/events.js";
import type { TurnRpcSessionOptions } from "../wire/native-turn-rpc.js";
import { type Agent, type AgentSettings, demandSettings, demandStream, type KnownAgent, type StreamMode } from "./agent.js";
import { type ClientConnection, load, type Sources } from "./load.js";
import { checked, type ConnectOptions } from "./options.js";
import { Session, type SetUpRecord } from "./session.js";

/** What `connect` of an entry does that has these cores. */
export async function connectWith(sources: Sources, options: ConnectOptions): Promise<Client> {
  const { baseUrl, protocol, ...given } = checked(options, Object.keys(sources));
  const { exports, extras } = await load(sources[CORES[protocol]]!);
  const core = new CoreClient(exports, PROTOCOLS.indexOf(protocol), given.maxFrameBytes);
  const [capabilities, conventions] = capabilitiesOf(adopting(() => core.capabilities()));
  const settings = { ...given, idleTimeout: given.idleTimeout ?? conventions.silence };
  const Way = extras.Way ?? FetchTransport;
  const transport = new Way(core, baseUrl, options, settings);
  const connection = { core, transport, settings, capabilities, conventions, extras };
  return new Client(connection, protocol, baseUrl);
}

/** A server. */
export class Client {
  /** The server's agents. */
  readonly agents: Agents;
  /** The protocol that is spoken. */
  readonly protocol: Protocol;
  /** The base URL as it is used. */
  readonly baseUrl: string;
  /** What the protocol can do. */
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
   * Closes the connection, where there is one between calls (a `WebSocket`); the next call makes another one. So does a
   * turn that is being read: leave its stream before. An open connection keeps Node alive, for a minute after it was
   * used last.
   */
  close(): void {
    this.#connection.transport.close?.();
  }
}

/** What `listSessions` takes. */
export interface ListSessionsOptions extends ListOptions {
  /** By time of creation, with `"trueforge"` by that of the last change; `"desc"`, newest first, by default. */
  order?: "asc" | "desc";
  /**
   * Created at this time or later; ISO 8601. By default a year ago (the server's own default would be half an hour ago),
   * with `"trueforge"` at any time.
   */
  startTimestamp?: string;
  /** Created at this time or before; ISO 8601; now by default. */
  endTimestamp?: string;
}

/** What `searchSessions` takes. */
export interface SearchSessionsOptions extends ListSessionsOptions {
  agentName?: string;
  createdBySubjectId?: string;
  createdBySubjectType?: string;
  sessionType?: "session" | "session/draft";
  sessionId?: string;
}

/** What `createSession` takes. What the protocol does not have is refused. */
export interface CreateSessionOptions extends RequestOptions, AgentSettings, StreamOptions {
  /**
   * A label for people, where `client.capabilities.titles` (`"truefoundry"`, `"turn-rpc"`, `"codex"`). Other servers take
   * none with a new session: they derive it from the first message, or there is `session.rename()`.
   */
  title?: string;
  /** Metadata for the gateway's own records of the request (`"truefoundry"`). */
  metadata?: Record<string, unknown>;
  /** What was said before the session (`"aap"`). */
  messages?: readonly HistoryMessage[];
  /**
   * What the session is made with besides (`"turn-rpc"`, `"codex"`). The gateway takes `workspaceId`, `model`,
   * `modelProvider`, `mode`, `sandbox`, `originKind`, `sidebarVisibility`, `agentNickname` and `agentRole`; Codex what
   * its `thread/start` takes, such as `cwd` or `sandbox`.
   */
  sessionOptions?: TurnRpcSessionOptions | Readonly<Record<string, unknown>>;
}

/** What `getSession` takes. */
export interface GetSessionOptions extends RequestOptions, StreamOptions {
  /** Whose session it is, for servers that do not say so (`AgentEvent`). */
  agentName?: string;
}

interface StreamOptions {
  /** How fine answers come (`"aap"`); by default as fine as the agent can. */
  stream?: StreamMode;
}

/** A message of a session's past, in the form of the Agent Application Protocol. */
export type HistoryMessage =
  | { role: "system"; content: string }
  | { role: "user" | "assistant"; content: string | readonly Record<string, unknown>[] }
  | { role: "tool"; toolCallId: string; content: string | readonly Record<string, unknown>[] };

/** The agents of a server, and their sessions. */
export class Agents {
  readonly #connection: ClientConnection;
  /** The agents as they were listed last, where sessions have to know theirs. */
  #known: Promise<KnownAgent[]> | undefined;

  /** @internal */
  constructor(connection: ClientConnection) {
    this.#connection = connection;
  }

  /** Lists the server's agents, where the protocol can. */
  async list(options: RequestOptions = {}): Promise<Agent[]> {
    demandOptions("list", options);
    const agents = await this.#listed(options);
    return agents.map(({ terms: _, ...agent }) => agent);
  }

  /** Makes a session for a saved agent. */
  async createSession(agentName: string, options: CreateSessionOptions = {}): Promise<Session> {
    const { clientIds, unnamed, socket } = this.#connection.conventions;
    const own = unnamed ? UNNAMED : socket ? ["sessionOptions"] : clientIds ? [] : ["metadata"];
    demandOptions("createSession", options, ...own, ...(this.#connection.capabilities.titles ? ["title"] : []));
    if (options.sessionOptions != null) checkedOptions("sessionOptions", options.sessionOptions);
    demand(typeof agentName === "string" && agentName !== "", "`agentName` must be the name of an agent");
    demand(options.title == null || typeof options.title === "string", "`title` must be a string");
    demandSettings(options);
    const [limits, rest] = split(options);
    if (unnamed) {
      return within(limits, async (own) => {
        const agent = await this.#agent(agentName, own);
        const { stream, messages, agentOptions } = rest;
        demandStream(agent, stream);
        const { agentTools = agent.tools?.map(({ name }) => ({ name })) } = rest;
        const params = { agentName, agentTools, agentOptions, messages };
        const record = await this.#ask(Call.CreateSession, params, own);
        // What the history has of them differs from server to server.
        const isBlank = !messages?.length;
        return this.#session({ ...record, agent: { tools: agentTools } }, isBlank, agent, stream);
      });
    }
    if (socket && !clientIds) {
      // Its server names threads once they are there.
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
    const sessions = this.#connection.conventions.unnamed
      ? this.#listOf(agentName, options)
      : this.#list(Call.ListSessions, { agentName, limit: PAGE, ...window() }, options, agentName);
    const known = new Set<string>();
    // Some servers list the sessions of all agents, and some list a session once more on a later page.
    return only(sessions, ({ id, agentName: name }) => {
      const isOther = (name !== null && name !== agentName) || known.has(id);
      known.add(id);
      return !isOther;
    });
  }

  /**
   * Reads a session, or a draft, by its id. `agentName` is for servers that do not say whose session it is
   * (`AgentEvent`): without it, the agent of its last turn goes on.
   */
  async getSession(id: string, options: GetSessionOptions = {}): Promise<Session> {
    const { unnamed } = this.#connection.conventions;
    demandOptions("getSession", options, "agentName", ...(unnamed ? ["stream"] : []));
    const [limits, { agentName, stream }] = split(options);
    demand(agentName == null || typeof agentName === "string", "`agentName` must be a string");
    if (unnamed) {
      return within(limits, async (own) => {
        const record = await this.#ask(Call.GetSession, { sessionId: id }, own);
        const agent = await this.#agent(record.agent_name ?? "", own);
        demandStream(agent, stream);
        return this.#session(record, false, agent, stream);
      });
    }
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
    for await (last of list(this.#connection.transport, Call.ListTurns, { sessionId }, limits, name));
    return last;
  }

  /**
   * Makes a session for an agent that is given here, in the server's schema, and can be changed later. `metadata` and
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

  /** Lists the caller's drafts, over all pages. Only with `"truefoundry"` can they be those of one `agentName`. */
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
   * Downloads a file of a sandbox. The sibling protocol finds the sandbox by a turn: it takes `sessionId`
   * and `turnId` in place of the sandbox's id.
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
    const { transport, conventions } = this.#connection;
    return list(transport, call, params, options, (record: SessionRecord) => {
      // A session of no agent's is whoever's it is listed for.
      if (conventions.clientIds) record.agent_name ??= agentName;
      return this.#session(record);
    });
  }

  /** Lists sessions where each has to know its agent. */
  async *#listOf(agentName: string, options: ListSessionsOptions): AsyncGenerator<Session, void, undefined> {
    const { transport } = this.#connection;
    demandOptions("listSessions", options, "limit", "pageToken");
    const agent = await this.#agent(agentName, split(options)[0]);
    const records = list(transport, Call.ListSessions, { agentName }, options, (record: SessionRecord) => record);
    for await (const record of only(records, ({ agent_name: name }) => name === agentName)) {
      yield this.#session(record, false, agent);
    }
  }

  /** Asks for the agents. */
  #listed(limits: Limits): Promise<KnownAgent[]> {
    const asked = this.#connection.transport.ask<{ items: KnownAgent[] }>(Call.ListAgents, {}, limits);
    const agents = asked.then(({ items }) => items);
    this.#known = agents;
    // Whoever asks next asks the server again.
    agents.catch(() => (this.#known = undefined));
    return agents;
  }

  /** What is known of an agent; if it is not among those known, they are listed anew. */
  async #agent(name: string, limits: Limits): Promise<KnownAgent> {
    const named = (agents: KnownAgent[] = []): KnownAgent | undefined => agents.find((agent) => agent.name === name);
    const known = named(await this.#known?.catch(() => undefined));
    if (known) return known;
    const agents = await this.#listed(limits);
    const agent = named(agents);
    if (agent) return agent;
    throw new InputError("invalid_option", `the server has no agent \`${name}\`; it has ${agents.map((one) => one.name).join(", ")}`);
  }

  #session(record: SetUpRecord, isNew = false, agent?: KnownAgent, stream?: StreamMode): Session {
    if (typeof record.id !== "string") {
      throw new ProtocolError("unexpected_response", "the server gave a session without an `id`");
    }
    return new Session(this.#connection, record, isNew, agent, stream);
  }
}

/** The options of `createSession` where sessions have to know their agents. */
const UNNAMED = ["agentTools", "agentOptions", "messages", "stream"];

/** Sessions of a page; the servers' own default is ten. */
const PAGE = 100;
const YEAR = 365 * 24 * 60 * 60 * 1000;

/** Where a list begins that names no beginning of its own. */
function window(): object {
  return { windowStart: new Date(Date.now() - YEAR).toISOString() };
}

async function* only<T>(items: AsyncIterable<T>, test: (item: T) => boolean): AsyncGenerator<T, void, undefined> {
  for await (const item of items) if (test(item)) yield item;
}
