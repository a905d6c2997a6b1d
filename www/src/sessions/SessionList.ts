// The sessions of the agent, newest first, one page at a time.

import type { Client, Session } from "turnwire";
import { Value } from "../ui/Value";
import { remember, remembered, rememberedAt } from "./remembered";

/** A session in the list. */
export interface ListedSession {
  readonly id: string;
  readonly title: string;
  /** As returned by `Date.now()`; null if unknown. */
  readonly at: number | null;
}

export interface SessionListState {
  readonly sessions: readonly ListedSession[];
  readonly loading: boolean;
  /** There may be more. */
  readonly more: boolean;
  readonly error: unknown;
}

const PAGE = 30;
/** If sessions come in any order, the newest may be the last. */
const BARE_PAGE = 500;

export class SessionList extends Value<SessionListState> {
  readonly #client: Client;
  readonly #agentName: string;
  /** The server has neither titles nor dates of sessions, or does not list them. */
  readonly #isBare: boolean;
  /** Set if the server does not list sessions: then the list has those that this browser remembers for this place. */
  readonly #place: string | undefined;
  #pages: AsyncIterator<Session> | null = null;
  #listening = new AbortController();

  constructor(client: Client, agentName: string) {
    super({ sessions: [], loading: false, more: false, error: null });
    this.#client = client;
    this.#agentName = agentName;
    const { listSessions, sessionInfo } = client.capabilities;
    this.#isBare = !listSessions || !sessionInfo;
    this.#place = listSessions ? undefined : `${client.protocol} ${client.baseUrl} ${agentName}`;
  }

  /** Whether it has only sessions that this browser has seen. */
  get isRemembered(): boolean {
    return this.#place !== undefined;
  }

  /** Loads the first page. The shown sessions stay until then. */
  async refresh(): Promise<void> {
    this.close();
    const { signal } = (this.#listening = new AbortController());
    if (this.#place !== undefined) {
      const sessions = rememberedAt(this.#place).map((id) => bare({ id }));
      return this.#change({ sessions: byTime(sessions), loading: false, more: false, error: null });
    }
    // Servers with dates return the newest first by default, and not all support an order.
    const list = this.#client.agents.listSessions(this.#agentName, { limit: PAGE, signal });
    this.#pages = list[Symbol.asyncIterator]();
    await this.#take([], signal);
  }

  /** Loads the next page. */
  async more(): Promise<void> {
    if (!this.get().loading) await this.#take(this.get().sessions, this.#listening.signal);
  }

  /**
   * Puts a new session at the top, without asking the server. Some servers title it after its first turn; others never
   * do, and `title` is remembered here.
   */
  note(session: Session, title: string | null): void {
    const { sessions } = this.get();
    const known = sessions.find(({ id }) => id === session.id);
    if (this.#isBare) {
      remember(session.id, title ?? "", Date.now(), this.#place);
      this.#change({ sessions: byTime([bare(session), ...sessions.filter((other) => other !== known)]) });
    } else if (!known) this.#change({ sessions: [dated(session), ...sessions] });
    else if (!known.title) void this.refresh();
  }

  /** Stores the title of a session that was just read, if no server keeps it. */
  name(session: Session, title: string | null): void {
    if (!this.#isBare || !title || remembered(session.id)?.title) return;
    remember(session.id, title, undefined, this.#place);
    const { sessions } = this.get();
    // An unlisted one may have been opened by its URL.
    const isNew = this.#place !== undefined && !sessions.some(({ id }) => id === session.id);
    const named = sessions.map((other) => (other.id === session.id ? bare(session) : other));
    this.#change({ sessions: isNew ? [...named, bare(session)] : named });
  }

  close(): void {
    this.#listening.abort();
  }

  async #take(before: readonly ListedSession[], signal: AbortSignal): Promise<void> {
    const pages = this.#pages;
    if (!pages) return;
    this.#change({ loading: true, error: null });
    const sessions = [...before];
    try {
      let more = true;
      const page = this.#isBare ? BARE_PAGE : PAGE;
      for (let count = 0; count < page && more; count += 1) {
        const { value, done } = await pages.next();
        if (done) more = false;
        else sessions.push(this.#isBare ? bare(value) : dated(value));
      }
      if (signal.aborted) return;
      this.#change({ sessions: this.#isBare ? byTime(sessions) : sessions, loading: false, more });
    } catch (error) {
      if (!signal.aborted) this.#change({ loading: false, error });
    }
  }

  #change(change: Partial<SessionListState>): void {
    this.set({ ...this.get(), ...change });
  }
}

function dated({ id, title, createdAt }: Session): ListedSession {
  return { id, title: title ?? "", at: createdAt === null ? Date.now() : Date.parse(createdAt) };
}

function bare({ id }: Pick<Session, "id">): ListedSession {
  const { title = "", at = 0 } = remembered(id) ?? {};
  return { id, title: title || `Conversation ${id.slice(-6)}`, at: at > 0 ? at : null };
}

/** Newest first, and those without a date last. */
function byTime(sessions: readonly ListedSession[]): ListedSession[] {
  return sessions.toSorted((one, other) => (other.at ?? 0) - (one.at ?? 0));
}
