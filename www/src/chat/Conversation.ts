// One conversation: its session, its turns, and what the person still has to answer. Components only watch it.

import {
  InputError,
  type Client,
  type RequiredAction,
  type Session,
  type ToolCallResponse,
  type ToolCallSnapshot,
  type Turn,
  type TurnInputItem,
  type TurnSnapshot,
} from "turnwire";
import { TurnConnection } from "../connection/TurnConnection";
import { EventLog } from "../events/EventLog";
import { Store } from "../ui/Store";
import { callActions, fromInput, toInput, type Answer, type AnswerState } from "./answers";
import { isLive } from "./isLive";
import { isNews, newestOf, onceNamed, onFirstEvent, read, titleFor, withKnown } from "./reading";

export interface ConversationState {
  readonly session: Session | null;
  /** Oldest first. */
  readonly turns: readonly Turn[];
  /** The first message, while the session that it opens is being created. */
  readonly opening: readonly TurnInputItem[] | null;
  readonly loading: boolean;
  /** The last turn is under way. */
  readonly running: boolean;
  /** The server works on it, as far as is known here. */
  readonly begun: boolean;
  /** Its connection is lost, and the first try to get it back has failed. */
  readonly lost: boolean;
  /** What the last turn waits for; while it runs, only where it can be answered at once. */
  readonly pending: readonly RequiredAction[];
  /** Why the session could not be created or loaded. A turn's own failure is in its snapshot. */
  readonly error: unknown;
}

const NOTHING: ConversationState = {
  session: null,
  turns: [],
  opening: null,
  loading: false,
  running: false,
  begun: false,
  lost: false,
  pending: [],
  error: null,
};

export interface ConversationOptions {
  readonly client: Client;
  readonly agentName: string;
  /** The session to load; null for a new one, which is created with the first message. */
  readonly sessionId: string | null;
  /** A session was created or has got a new turn. */
  readonly onActivity: (session: Session) => void;
  /** A turn that this page has sent has begun, or has ended. */
  readonly onTurn: (sessionId: string) => void;
}

let opened = 0;

export class Conversation extends Store {
  /** Different for every conversation that the page has shown; a new one has no id of its own yet. */
  readonly key = (opened += 1);
  readonly events = new EventLog();
  readonly #options: ConversationOptions;
  #state: ConversationState;
  #answers = new Map<string, AnswerState>();
  /** Results that came in a later turn than their call: those of calls that had to be approved first. */
  #lateResponses = new Map<string, ToolCallResponse>();
  readonly #connections = new WeakMap<Turn, TurnConnection>();
  #isOpen = false;
  #listening = new AbortController();
  #unwatch: (() => void) | null = null;
  /** It is being asked whether there are turns that are not known here. */
  #isLooking = false;
  /** The server does not know the session's title yet. */
  #isUntitled = false;
  /** The turn that is to be stopped as soon as it can be. */
  #stopping: Turn | null = null;

  constructor(options: ConversationOptions) {
    super();
    this.#options = options;
    this.#state = options.sessionId === null ? NOTHING : { ...NOTHING, loading: true };
  }

  readonly state = (): ConversationState => this.#state;

  answerOf(callId: string): AnswerState | undefined {
    return this.#answers.get(callId);
  }

  lateResponseOf(callId: string): ToolCallResponse | undefined {
    return this.#lateResponses.get(callId);
  }

  /** A call that was made in some turn. */
  callOf(callId: string | undefined): ToolCallSnapshot | undefined {
    if (callId === undefined) return undefined;
    const threads = this.#state.turns.flatMap((turn) => turn.snapshot().threads);
    const calls = threads.flatMap((thread) => thread.messages).flatMap((message) => message.tool_calls);
    return calls.find((call) => call.id === callId);
  }

  /** The title of a thread that began in an earlier turn than the one in which it goes on. */
  titleOf(threadId: string): string | null {
    for (const turn of this.#state.turns) {
      const title = turn.snapshot().threads.find((thread) => thread.id === threadId)?.title;
      if (title) return title;
    }
    return null;
  }

  /** The names of tool servers that the turn uses and no turn before it did. */
  newServers(turn: Turn): string[] {
    const known = new Set<string>();
    for (const other of this.#state.turns) {
      if (other === turn) break;
      for (const server of other.snapshot().mcp_servers) known.add(server.id);
    }
    const servers = turn.snapshot().mcp_servers.filter((server) => !known.has(server.id));
    return servers.map((server) => server.name);
  }

  /** What happens to the connection on which the turn is read. */
  connectionOf(turn: Turn): TurnConnection {
    let connection = this.#connections.get(turn);
    if (!connection) this.#connections.set(turn, (connection = new TurnConnection()));
    return connection;
  }

  get sessionId(): string | null {
    return this.#state.session?.id ?? this.#options.sessionId;
  }

  /** What to call it: the server's title, or the first words. */
  get title(): string | null {
    const { session, turns } = this.#state;
    const first = turns[0]?.input[0];
    return session?.title || (first && titleFor(first)) || null;
  }

  get client(): Client {
    return this.#options.client;
  }

  /** The page shows it. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Its turn runs, and the server would drop that if nobody listened any more. */
  get isBound(): boolean {
    return this.#state.running && this.client.capabilities.resume === "none";
  }

  /** Loads the conversation, if there is one to load. To be called when the page shows it. */
  open(): void {
    this.#isOpen = true;
    if (this.isBound) return;
    if (this.sessionId !== null) void this.load();
    else this.#listening = new AbortController();
  }

  /** Stops listening, where a running turn runs on at the server. */
  close(): void {
    this.#isOpen = false;
    if (this.isBound) return;
    this.#listening.abort();
    this.#unwatch?.();
    this.#unwatch = null;
  }

  /** Loads, or loads again, everything from the server; a turn that still runs goes on. */
  async load(): Promise<void> {
    const id = this.sessionId;
    if (id === null) return;
    // What is being read is about to be read again.
    this.#listening.abort();
    const { signal } = (this.#listening = new AbortController());
    this.#set({ loading: true, error: null });
    try {
      const session = await this.#getSession(id, signal);
      const turns = await session.resume({ signal });
      if (!signal.aborted) this.#take(session, turns);
    } catch (error) {
      if (!signal.aborted) this.#set({ loading: false, error });
    }
  }

  /**
   * Looks whether the session has got a turn elsewhere, in another tab or by another person, and takes it in. What is
   * shown stays meanwhile, also if that fails: it is only a look.
   */
  async catchUp(): Promise<void> {
    const { session: known, turns, loading, running } = this.#state;
    if (known === null || loading || running || this.#isLooking) return;
    // What could not be sent is on this page only.
    if (turns.at(-1)?.id === null) return;
    this.#isLooking = true;
    const looking = new AbortController();
    const signal = AbortSignal.any([this.#listening.signal, looking.signal]);
    try {
      const session = await this.#getSession(known.id, signal);
      const { capabilities, protocol } = this.client;
      const newest = await newestOf(session, protocol === "truefoundry", signal);
      if (!newest || !isNews(newest, turns)) return;
      // Whoever sent it reads it, and nobody else can.
      if (isLive(newest.snapshot()) && capabilities.resume === "none") return;
      const all = await session.resume({ signal });
      // What was sent from here in the meantime is newer still.
      if (this.#state.turns === turns && !signal.aborted) this.#take(session, withKnown(all, turns));
      else looking.abort();
    } catch {
      // The next occasion to look will come.
    } finally {
      this.#isLooking = false;
    }
  }

  /** Servers that do not say whose session it is are told. */
  #getSession(id: string, signal: AbortSignal): Promise<Session> {
    const { client, agentName } = this.#options;
    return client.agents.getSession(id, { signal, agentName });
  }

  #take(session: Session, turns: readonly Turn[]): void {
    for (const turn of turns) {
      this.#rememberAnswers(turn.input);
      this.#rememberResponses(turn.snapshot());
    }
    this.#set({ session, turns, loading: false });
    const last = turns.at(-1);
    if (!last) return;
    this.#watch(last);
    if (!isLive(last.snapshot())) return;
    this.#isUntitled = this.client.capabilities.rename && !session.title;
    void this.#follow(last, (signal) => last.waitForCompletion({ signal }));
  }

  /** Sends a message, creating the session if this is the first one. */
  async send(message: TurnInputItem): Promise<void> {
    const session = this.#state.session ?? (await this.#createSession(message));
    if (session) this.#start(session.createTurn({ input: message }));
  }

  /** Sends a message though the agent waits for answers, which it will not get any more. */
  discard(message: TurnInputItem): void {
    const { session } = this.#state;
    if (session) this.#start(session.createTurn({ input: message, discardPending: true }));
  }

  /** Goes on after the person signed in to the servers that asked for it. */
  proceed(): void {
    const { session } = this.#state;
    if (session) this.#start(session.createTurn());
  }

  /**
   * Keeps the answer to a waiting call. While the turn runs, it goes out at once; otherwise all go out together as one
   * turn, when the last one missing is given.
   */
  answer(callId: string, answer: Answer | null): void {
    const old = this.#answers.get(callId);
    if (old?.sent) return;
    if (answer) this.#answers.set(callId, { answer, sent: false });
    else this.#answers.delete(callId);
    this.notify();
    if (answer && this.#state.running) void this.#answerLive(callId, answer);
    else this.#sendAnswers();
  }

  /** Answers a call while the turn still runs. */
  async #answerLive(callId: string, answer: Answer): Promise<void> {
    const turn = this.#state.turns.at(-1);
    const action = callActions(this.#state.pending).find((action) => action.tool_call_id === callId);
    if (!turn || !action) return;
    this.#answers.set(callId, { answer, sent: true });
    this.notify();
    try {
      const next = await turn.answer(toInput(action, answer));
      // It has paused meanwhile, and this answer was the only one missing.
      if (next !== turn) this.#start(next);
    } catch (error) {
      this.#answers.set(callId, { answer, sent: false });
      this.notify();
      // It has paused meanwhile, and waits for others as well.
      if (error instanceof InputError) this.#sendAnswers();
      else this.#set({ error });
    }
  }

  /** Runs a failed turn's input again, in the place of the failed turn. */
  retry(turn: Turn): void {
    const { session, turns } = this.#state;
    if (!session) return;
    // A turn that the server knows stays in its records; the new one forks from where that one began.
    const fork = turn.id === null ? {} : { previousTurnId: turn.previousTurnId ?? "none" };
    this.#set({ turns: turns.filter((other) => other !== turn) });
    this.#start(session.createTurn({ input: turn.input, ...fork }));
  }

  /** Goes on reading a turn whose stream was cut, after the last event that came. */
  resume(turn: Turn): void {
    void this.#follow(turn, (signal) => read(turn, signal));
    this.#watch(turn);
  }

  /** Asks the agent to stop. The turn's last events still come. */
  stop(): void {
    const turn = this.#state.turns.at(-1);
    if (!turn || !this.#state.running) return;
    this.#stopping = turn;
    this.#cancelIfStarted(turn);
  }

  /** A turn can be stopped only when the server has named it, which is with its first event. */
  #cancelIfStarted(turn: Turn): void {
    if (this.#stopping !== turn || turn.id === null) return;
    this.#stopping = null;
    turn.cancel().catch((error: unknown) => this.#set({ error }));
  }

  async #createSession(message: TurnInputItem): Promise<Session | null> {
    this.#set({ opening: [message], error: null });
    const { client, agentName, onActivity } = this.#options;
    try {
      const { signal } = this.#listening;
      const session = await client.agents.createSession(agentName, { title: titleFor(message), signal });
      // The page has gone elsewhere in the meantime.
      if (signal.aborted) return null;
      this.#isUntitled = client.capabilities.rename;
      this.#set({ session });
      onActivity(session);
      return session;
    } catch (error) {
      this.#set({ error });
      return null;
    } finally {
      if (this.#state.error === null) this.#set({ opening: null });
    }
  }

  #start(turn: Turn): void {
    this.#rememberAnswers(turn.input);
    this.#set({ turns: [...this.#state.turns, turn], opening: null });
    const tell = () => this.#options.onTurn(turn.session.id);
    // Where nobody else can read it, there is nothing to see before its end.
    if (this.client.capabilities.resume !== "none") onFirstEvent(turn, tell);
    void this.#follow(turn, (signal) => read(turn, onceNamed(turn, signal))).then(tell);
    this.#watch(turn);
  }

  /** Accompanies the turn until `reading` has ended. What happens on the way is seen through its snapshot. */
  async #follow(turn: Turn, reading: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const { signal } = this.#listening;
    const unlisten = this.#listen(turn);
    try {
      await reading(signal);
    } catch {
      // The snapshot holds the error, and the turn's view shows it.
    } finally {
      unlisten();
      if (!signal.aborted) await this.#tellActivity();
    }
  }

  /** The session has changed. Where it began with its first turn, its title was not told before. */
  async #tellActivity(): Promise<void> {
    const { session } = this.#state;
    const { title } = this;
    if (!session) return;
    if (this.#isUntitled && title) {
      this.#isUntitled = false;
      // Without a title it is found, too.
      await session.rename(title).catch(() => {});
    }
    this.#options.onActivity(session);
  }

  /** Logs the turn's events and frames, and what happens to its connection. */
  #listen(turn: Turn): () => void {
    const { events } = this;
    const number = this.#state.turns.indexOf(turn) + 1;
    const connection = this.connectionOf(turn);
    const ends = [
      events.follow(number, turn),
      turn.on("reconnecting", (told) => events.mark(number, { topic: "reconnecting", told })),
      turn.on("idle", (told) => events.mark(number, { topic: "idle", told })),
      turn.on("resumed", (told) => {
        events.mark(number, { topic: "resumed", told });
        connection.resumed(told);
      }),
      turn.on("gap", (told) => {
        events.mark(number, { topic: "gap", told });
        connection.lost(told);
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  /** Keeps `running`, `begun`, `lost` and `pending` true to the last turn. */
  #watch(turn: Turn): void {
    this.#unwatch?.();
    const check = () => {
      const snapshot = turn.snapshot();
      const { status, turn_id, required_actions, reconnecting } = snapshot;
      this.#rememberResponses(snapshot);
      this.#cancelIfStarted(turn);
      const running = isLive(snapshot);
      const begun = running && turn_id !== null;
      const lost = running && reconnecting !== null && reconnecting.attempt > 1;
      const isAnswerable = status === "done" || (running && this.client.capabilities.liveAnswers);
      const pending = isAnswerable ? required_actions : NOTHING.pending;
      const now = { running, begun, lost, pending };
      if (!differs(this.#state, now)) return;
      this.#set(now);
      this.#sendAnswers();
    };
    this.#unwatch = turn.subscribe(check);
    check();
  }

  #sendAnswers(): void {
    const { session, pending, running } = this.#state;
    const actions = callActions(pending);
    if (!session || running || actions.length === 0) return;
    const input: TurnInputItem[] = [];
    for (const action of actions) {
      const state = this.#answers.get(action.tool_call_id);
      if (!state || state.sent) return;
      input.push(toInput(action, state.answer));
    }
    this.#start(session.createTurn({ input }));
  }

  #rememberAnswers(input: readonly TurnInputItem[]): void {
    for (const item of input) {
      const known = fromInput(item);
      if (known) this.#answers.set(known.callId, { answer: known.answer, sent: true });
    }
  }

  #rememberResponses({ threads }: TurnSnapshot): void {
    let added = false;
    for (const { tool_responses } of threads) {
      for (const response of tool_responses) {
        added ||= !this.#lateResponses.has(response.tool_call_id);
        this.#lateResponses.set(response.tool_call_id, response);
      }
    }
    if (added) this.notify();
  }

  #set(change: Partial<ConversationState>): void {
    this.#state = { ...this.#state, ...change };
    this.notify();
  }
}

function differs(state: ConversationState, change: Partial<ConversationState>): boolean {
  return (Object.keys(change) as (keyof ConversationState)[]).some((name) => state[name] !== change[name]);
}
