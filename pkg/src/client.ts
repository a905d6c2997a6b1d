// `connect`, and what a server offers: agents and their sessions.
import { CoreClient } from "./boundary.js";
import { Call } from "./calls.js";
import { type Capabilities, capabilitiesOf, newId } from "./capabilities.js";
import { adopting, ProtocolError } from "./errors.js";
import type { SessionRecord, TurnRecord } from "./events.js";
import { load } from "./load.js";
import type { Limits } from "./clocks.js";
import { demandOptions, list, type ListOptions, type RequestOptions, split } from "./lists.js";
import { type Connection, Session } from "./session.js";
import { checked, type ConnectOptions, demand } from "./options.js";
import { CORES, type Protocol, PROTOCOLS } from "./protocols.js";
import { Transport } from "./transport.js";

/**
 * Connects to a server: checks the options and loads the core. There is no request to the server yet.
 *
 * Rejects with an `InputError` for a wrong option, and with a `TurnwireError` (`wasm_blocked`, …) if the
 * core cannot start.
 */
export async function connect(options: ConnectOptions): Promise<Client> {
  const { baseUrl, protocol, ...given } = checked(options);
  const exports = await load(CORES[protocol]);
  const core = new CoreClient(exports, PROTOCOLS.indexOf(protocol), given.maxFrameBytes);
  const [capabilities, conventions] = capabilitiesOf(adopting(() => core.capabilities()));
  const settings = { ...given, idleTimeout: given.idleTimeout ?? conventions.silence };
  const transport = new Transport(core, baseUrl, options, settings);
  const connection = { core, memory: exports.memory, transport, settings, capabilities, conventions };
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

  /** @internal */
  constructor(connection: Connection, protocol: Protocol, baseUrl: string) {
    this.agents = new Agents(connection);
    this.protocol = protocol;
    this.baseUrl = baseUrl;
    this.capabilities = connection.capabilities;
  }
}

/** What `listSessions` takes. */
export interface ListSessionsOptions extends ListOptions {
  /** By time of creation; `"desc"`, newest first, by default. */
  order?: "asc" | "desc";
  /** ISO 8601, inclusive; a year ago by default. (The server's own default would be half an hour ago.) */
  startTimestamp?: string;
  /** ISO 8601, inclusive; now by default. */
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

/** What `createSession` takes. */
export interface CreateSessionOptions extends RequestOptions {
  /** A label for people. Most servers derive it from the first message. */
  title?: string;
  /** Metadata for the gateway's own records of the request. */
  metadata?: Record<string, unknown>;
}

/** The agents of a server, and their sessions. */
export class Agents {
  readonly #connection: Connection;

  /** @internal */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Makes a session for a saved agent. */
  async createSession(agentName: string, options: CreateSessionOptions = {}): Promise<Session> {
    demandOptions("createSession", options, "title", "metadata");
    demand(typeof agentName === "string" && agentName !== "", "`agentName` must be the name of an agent");
    demand(options.title == null || typeof options.title === "string", "`title` must be a string");
    const [limits, rest] = split(options);
    const id = this.#connection.conventions.clientIds ? { id: newId() } : {};
    return this.#session(await this.#ask(Call.CreateSession, { agentName, ...id, ...rest }, limits), true);
  }

  /** Lists the sessions of an agent, over all pages. */
  listSessions(agentName: string, options: ListSessionsOptions = {}): AsyncGenerator<Session, void, undefined> {
    const sessions = this.#list(Call.ListSessions, { agentName, limit: PAGE, ...window() }, options, agentName);
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
  async getSession(id: string, options: RequestOptions & { agentName?: string } = {}): Promise<Session> {
    demandOptions("getSession", options, "agentName");
    const [limits, { agentName }] = split(options);
    demand(agentName == null || typeof agentName === "string", "`agentName` must be a string");
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

  /** Makes a session for an agent that is given here, in the server's schema, and can be changed later. */
  async createDraftSession(
    agentSpec: Record<string, unknown>,
    options: Omit<CreateSessionOptions, "title"> & { agentName?: string } = {},
  ): Promise<Session> {
    demandOptions("createDraftSession", options, "metadata", "agentName");
    const [limits, rest] = split(options);
    return this.#session(await this.#ask(Call.CreateDraftSession, { agentSpec, ...rest }, limits), true);
  }

  /** Lists the caller's drafts, over all pages. */
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

  #session(record: SessionRecord, isNew = false): Session {
    if (typeof record.id !== "string") {
      throw new ProtocolError("unexpected_response", "the server gave a session without an `id`");
    }
    return new Session(this.#connection, record, isNew);
  }
}

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
