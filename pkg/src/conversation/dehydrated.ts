// A conversation as JSON: read on a server, or kept by a page, and shown again before anything is connected.
import type { Client } from "../client/client.js";
import type { TurnSnapshot } from "../snapshot/snapshot.js";

/** A conversation as JSON. */
export interface Dehydrated {
  /** The session; `null` if the server has none yet. */
  readonly sessionId: string | null;
  /** Its agent, if known. */
  readonly agentName: string | null;
  /** Its title, if it has one. */
  readonly title: string | null;
  /** Whether there are turns before these. */
  readonly hasEarlier: boolean;
  /** The turns of the path, oldest first. */
  readonly turns: readonly DehydratedTurn[];
}

/** A turn as JSON. */
export interface DehydratedTurn {
  /** The turn's key, the same as in the page. */
  readonly key: string;
  /** When the server created it, as ISO 8601. */
  readonly createdAt: string | null;
  /** Without its error, which is not JSON. */
  readonly snapshot: TurnSnapshot;
}

/** The options of `load`. */
export interface LoadOptions {
  /** The turns to read, the newest; 50 by default. */
  page?: number | undefined;
  /** Aborts the reading; none by default. */
  signal?: AbortSignal | undefined;
  /** The session's agent, for servers that do not record it; none by default. */
  agentName?: string | undefined;
}

/** Reads a conversation, for instance on a server; `conversations.open(id, loaded)` shows it. */
export async function load(client: Client, sessionId: string, { page = 50, signal, agentName }: LoadOptions = {}): Promise<Dehydrated> {
  const session = await client.agents.getSession(sessionId, { signal, agentName });
  const history = await session.history({ turns: page, signal });
  const turns = history.map((turn) => ({ key: keyOf(turn.id!), createdAt: turn.createdAt, snapshot: withoutError(turn.snapshot()) }));
  return { sessionId, agentName: session.agentName, title: session.title, hasEarlier: history.hasEarlier, turns };
}

/** The key of a turn in the server's list: the plan creates the same. */
export function keyOf(id: string): string {
  return `t${id}`;
}

/** A snapshot that is JSON. */
export function withoutError(snapshot: TurnSnapshot): TurnSnapshot {
  return { ...snapshot, error: null, reconnecting: null, waiting: null };
}
