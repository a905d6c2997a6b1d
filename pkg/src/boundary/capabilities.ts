// What a protocol supports, as the core reports it.

/** What a server's protocol supports, so that a page need not find out by failing. */
export interface Capabilities {
  /**
   * What happens to a turn whose connection drops. `"cursor"`: its stream resumes after the last event. `"history"`:
   * the turn continues, and its messages are read as soon as the server has them. `"none"`: nothing more can be read,
   * and the turn ends as `incomplete`.
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
  /**
   * Sessions with an agent that the client supplies: `createDraftSession()` and related methods, and their `update({
   * agentSpec })`.
   */
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
  /** Images by URL in user messages: parts `{ type: "image", url }`. */
  readonly images: boolean;
}

/** What a protocol requires of its client. */
export interface Conventions {
  /** A turn can be started without a stream. */
  readonly detached: boolean;
  /** The client makes the ids of sessions and turns. */
  readonly clientIds: boolean;
  /** Each answer to a call is a separate request. */
  readonly answersApart: boolean;
  /** The server has no ids for turns. */
  readonly unnamed: boolean;
  /** The protocol uses a `WebSocket`. */
  readonly socket: boolean;
  /** The longest normal silence of a connection, in milliseconds. */
  readonly silence: number;
}

/** Capabilities and conventions, from the core's JSON. */
export function capabilitiesOf(json: string): [Capabilities, Conventions] {
  const { detached, clientIds, answersApart, unnamed, socket, silence, ...capabilities } = JSON.parse(json) as Capabilities & Conventions;
  return [capabilities, { detached, clientIds, answersApart, unnamed, socket, silence }];
}

/** A new unique id. Not `randomUUID`, which is missing on pages without TLS. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
