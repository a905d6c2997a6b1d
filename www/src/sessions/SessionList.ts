// The sessions of the agent, newest first, a page at a time.

import type { Client, Session } from "turnwire";
import { Store } from "../ui/Store";

export interface SessionListState {
  readonly sessions: readonly Session[];
  readonly loading: boolean;
  /** There may be more. */
  readonly more: boolean;
  readonly error: unknown;
}

const PAGE = 30;

export class SessionList extends Store {
  readonly #client: Client;
  readonly #agentName: string;
  #state: SessionListState = { sessions: [], loading: false, more: false, error: null };
  #pages: AsyncIterator<Session> | null = null;
  #listening = new AbortController();

  constructor(client: Client, agentName: string) {
    super();
    this.#client = client;
    this.#agentName = agentName;
  }

  readonly state = (): SessionListState => this.#state;

  /** Loads the first page. What is shown stays until it is there. */
  async refresh(): Promise<void> {
    this.close();
    const { signal } = (this.#listening = new AbortController());
    // Newest first is what all servers give unasked, and not all can be asked.
    const list = this.#client.agents.listSessions(this.#agentName, { limit: PAGE, signal });
    this.#pages = list[Symbol.asyncIterator]();
    await this.#take([], signal);
  }

  /** Loads the next page. */
  async more(): Promise<void> {
    if (!this.#state.loading) await this.#take(this.#state.sessions, this.#listening.signal);
  }

  /** Puts a session that was just created on top, without asking the server. Some servers title it after its first turn. */
  note(session: Session): void {
    const known = this.#state.sessions.find((other) => other.id === session.id);
    if (!known) this.#set({ sessions: [session, ...this.#state.sessions] });
    else if (!known.title) void this.refresh();
  }

  close(): void {
    this.#listening.abort();
  }

  async #take(before: readonly Session[], signal: AbortSignal): Promise<void> {
    const pages = this.#pages;
    if (!pages) return;
    this.#set({ loading: true, error: null });
    const sessions = [...before];
    try {
      let more = true;
      for (let count = 0; count < PAGE && more; count += 1) {
        const { value, done } = await pages.next();
        if (done) more = false;
        else sessions.push(value);
      }
      if (!signal.aborted) this.#set({ sessions, loading: false, more });
    } catch (error) {
      if (!signal.aborted) this.#set({ loading: false, error });
    }
  }

  #set(change: Partial<SessionListState>): void {
    this.#state = { ...this.#state, ...change };
    this.notify();
  }
}
