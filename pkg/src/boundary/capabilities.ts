// What a protocol can do, as the core says it.

/** What a server's protocol can do, so that a page need not find out by failing. */
export interface Capabilities {
  /**
   * What becomes of a turn whose connection drops: its stream goes on after the last event (`"cursor"`); the turn
   * goes on, and what it said is read as soon as the server has it (`"history"`); or nothing more is to be had of
   * it (`"none"`), and it ends as `incomplete`.
   */
  readonly resume: "cursor" | "history" | "none";
  /** `turn.cancel()` */
  readonly cancel: boolean;
  /** `session.interrupt()` */
  readonly interrupt: boolean;
  /** `session.history()` and the lists of turns and events */
  readonly history: boolean;
  /** `turn.answer()` while the turn runs */
  readonly liveAnswers: boolean;
  /** `turn.steer()` */
  readonly steer: boolean;
  /** `createTurn({ discardPending: true })` */
  readonly discardPending: boolean;
  /** Files in user messages. */
  readonly files: boolean;
  /** Sessions whose agent is given by the client: `createDraftSession()` and the like, and `update({ agentSpec })` of them. */
  readonly drafts: boolean;
  /** `client.agents.searchSessions()` */
  readonly search: boolean;
  /** `client.agents.downloadSandboxFile()` */
  readonly sandboxFiles: boolean;
  /** `client.agents.createSession(agentName, { title })` */
  readonly titles: boolean;
  /** `session.rename()` */
  readonly rename: boolean;
  /** `session.delete()` */
  readonly delete: boolean;
  /** `session.state()` */
  readonly state: boolean;
  /** `client.agents.list()` */
  readonly agents: boolean;
  /** Images by their address in user messages: parts `{ type: "image", url }`. */
  readonly images: boolean;
}

/** What a protocol asks of its client. */
export interface Conventions {
  /** A turn can be started without a stream. */
  readonly detached: boolean;
  /** The client makes the ids of sessions and turns. */
  readonly clientIds: boolean;
  /** Each answer to a call is a request of its own. */
  readonly answersApart: boolean;
  /** The server knows sessions, but no turns. */
  readonly unnamed: boolean;
  /** It is spoken over a `WebSocket`. */
  readonly socket: boolean;
  /** The longest silence that is life, in milliseconds. */
  readonly silence: number;
}

/** Both, from what the core gives. */
export function capabilitiesOf(json: string): [Capabilities, Conventions] {
  const { detached, clientIds, answersApart, unnamed, socket, silence, ...capabilities } = JSON.parse(json) as Capabilities & Conventions;
  return [capabilities, { detached, clientIds, answersApart, unnamed, socket, silence }];
}

/** An id that nobody else makes. Not `randomUUID`, which pages without TLS do not have. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
