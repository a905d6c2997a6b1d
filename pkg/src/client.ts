// `connect`, and what a server offers: agents and their sessions.
import { CoreClient } from "../core/core.js";
import { adopting } from "./errors.js";
import type { SessionRecord } from "./events.js";
import { load } from "./load.js";
import { list, type ListOptions, type RequestOptions } from "./lists.js";
import { type Connection, Session } from "./session.js";
import { type CallName, type Fetch, type Token, Transport } from "./transport.js";

/** What `connect` takes. */
export interface ConnectOptions {
  /**
   * Where the server is, with the tenant if it has one: `https://gateway.truefoundry.ai/acme`. A relative
   * URL counts from the page.
   */
  baseUrl: string;
  /** The server's protocol; `"truefoundry"` by default, `"trueforge"` for its open-source sibling. */
  protocol?: "truefoundry" | "trueforge";
  /**
   * The bearer token, or a function that gives it. The function is asked before every request, so that it
   * may renew the token. Without one, no `Authorization` header is sent.
   */
  token?: Token;
  /** Headers for every request. They win over turnwire's own. */
  headers?: Record<string, string>;
  /** Instead of the platform's `fetch`; called as `fetch(url, init)`. */
  fetch?: Fetch;
  /** The size of the largest event, in bytes; 8 MiB by default. */
  maxFrameBytes?: number;
}

/**
 * Connects to a server: loads the core and checks the options. There is no request yet.
 *
 * Rejects with an `InputError` for a wrong option, and with a `TurnwireError` (`wasm_blocked`, …) if the
 * core cannot start.
 */
export async function connect(options: ConnectOptions): Promise<Client> {
  const { memory } = await load();
  return adopting(() => {
    const page = globalThis.location?.href;
    const core = new CoreClient(JSON.stringify(options, named), page?.startsWith("http") ? page : undefined);
    return new Client(core, memory, new Transport(core, options), options.protocol ?? "truefoundry");
  });
}

/** JSON has no functions; a wrong name is to be told all the same when its value is one. */
function named(_name: string, value: unknown): unknown {
  return typeof value === "function" ? null : value;
}

/** A server. */
export class Client {
  /** The server's agents. */
  readonly agents: Agents;
  /** The protocol that is spoken. */
  readonly protocol: NonNullable<ConnectOptions["protocol"]>;
  /** The base URL as it is used. */
  readonly baseUrl: string;

  /** @internal */
  constructor(core: CoreClient, memory: WebAssembly.Memory, transport: Transport, protocol: Client["protocol"]) {
    this.agents = new Agents({ core, memory, transport });
    this.protocol = protocol;
    this.baseUrl = core.baseUrl;
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
    const { signal, ...rest } = options;
    return this.#session(await this.#ask("createSession", { agentName, ...rest }, signal));
  }

  /** Lists the sessions of an agent, over all pages. */
  listSessions(agentName: string, options: ListSessionsOptions = {}): AsyncGenerator<Session, void, undefined> {
    return this.#list("listSessions", { agentName, ...window(options) }, options);
  }

  /** Reads a session, or a draft, by its id. */
  async getSession(id: string, options: RequestOptions = {}): Promise<Session> {
    return this.#session(await this.#ask("getSession", { sessionId: id }, options.signal));
  }

  /** Makes a session for an agent that is given here, in the server's schema, and can be changed later. */
  async createDraftSession(
    agentSpec: Record<string, unknown>,
    options: CreateSessionOptions & { agentName?: string } = {},
  ): Promise<Session> {
    const { signal, ...rest } = options;
    return this.#session(await this.#ask("createDraftSession", { agentSpec, ...rest }, signal));
  }

  /** Lists the caller's drafts, over all pages. */
  listDraftSessions(
    options: ListSessionsOptions & { agentName?: string } = {},
  ): AsyncGenerator<Session, void, undefined> {
    return this.#list("listDraftSessions", window(options), options);
  }

  /** Reads a draft by its id. */
  async getDraftSession(id: string, options: RequestOptions = {}): Promise<Session> {
    return this.#session(await this.#ask("getDraftSession", { sessionId: id }, options.signal));
  }

  /** Lists the caller's sessions and drafts, over all pages. */
  listOwnedSessions(
    options: ListSessionsOptions & { agentName?: string } = {},
  ): AsyncGenerator<Session, void, undefined> {
    return this.#list("listOwnedSessions", window(options), options);
  }

  /** Searches sessions and drafts, over all pages. */
  searchSessions(options: SearchSessionsOptions = {}): AsyncGenerator<Session, void, undefined> {
    return this.#list("searchSessions", {}, options);
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
    const where = typeof sandbox === "string" ? { sandboxId: sandbox } : sandbox;
    return this.#connection.transport.download({ ...where, path }, options.signal);
  }

  #ask(name: CallName, params: object, signal: AbortSignal | undefined): Promise<SessionRecord> {
    return this.#connection.transport.ask(name, params, signal);
  }

  #list(name: CallName, params: object, options: ListOptions): AsyncGenerator<Session, void, undefined> {
    return list(this.#connection.transport, name, params, options, (record: SessionRecord) => this.#session(record));
  }

  #session(record: SessionRecord): Session {
    return new Session(this.#connection, record);
  }
}

const YEAR = 365 * 24 * 60 * 60 * 1000;

function window(options: ListSessionsOptions): object {
  return { startTimestamp: options.startTimestamp ?? new Date(Date.now() - YEAR).toISOString() };
}
