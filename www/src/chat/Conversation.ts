// One conversation: its session, its turns, and the answers that it still needs. Components only watch it.

import {
  InputError,
  StateError,
  type Capabilities,
  type Client,
  type Run,
  type RunOptions,
  type Session,
  type ToolCallResponse,
  type Turn,
  type TurnInputItem,
} from "turnwire";
import { TurnConnection } from "../connection/TurnConnection";
import { EventLog } from "../events/EventLog";
import { alone, keepAlone } from "../tools/oneTab";
import { PageCalls } from "../tools/PageCalls";
import { Store } from "../ui/Store";
import { callActions, type Answer, type AnswerState, type CallAction } from "./answers";
import { CallAnswers } from "./CallAnswers";
import { Chain } from "./Chain";
import { differs, NOTHING, type ConversationState, type ShownTurn } from "./ConversationState";
import { isLive } from "./isLive";
import { ALL, newsOf, onceNamed, onFirstEvent, read, titleFor } from "./reading";

export interface ConversationOptions {
  readonly client: Client;
  readonly agentName: string;
  /** The session to load; null for a new one, which is created with the first message. */
  readonly sessionId: string | null;
  /** A session was created or has a new turn. */
  readonly onActivity: (session: Session) => void;
  /** A session was loaded. */
  readonly onLoad: (session: Session) => void;
  /** A turn that this page sent has begun, or has ended. */
  readonly onTurn: (sessionId: string) => void;
}

let opened = 0;

export class Conversation extends Store {
  /** Unique for every conversation that the page has shown; a new one has no id yet. */
  readonly key = (opened += 1);
  readonly events = new EventLog();
  /** Calls of the page's tools. */
  readonly pageCalls = new PageCalls(() => this.notify());
  readonly #options: ConversationOptions;
  #state: ConversationState;
  readonly #answers = new CallAnswers(() => this.notify());
  readonly #connections = new WeakMap<ShownTurn, TurnConnection>();
  #isOpen = false;
  #listening = new AbortController();
  #unwatch: (() => void) | null = null;
  /** Pending while the server is asked for turns that are unknown here. */
  #looking: Promise<void> | null = null;
  /** The server does not know the session's title yet. */
  #isUntitled = false;
  /** The turn to stop as soon as it can be stopped. */
  #stopping: Turn | null = null;
  /** The turns that follow each other automatically. */
  #chain: Chain | null = null;
  /** The server has continued, in a way that is unknown here. */
  #isOutdated = false;

  constructor(options: ConversationOptions) {
    super();
    this.#options = options;
    this.#state = options.sessionId === null ? NOTHING : { ...NOTHING, loading: true };
  }

  readonly state = (): ConversationState => this.#state;

  answerOf(callId: string): AnswerState | undefined {
    return this.#answers.answerOf(callId);
  }

  lateResponseOf(callId: string): ToolCallResponse | undefined {
    return this.#answers.lateResponseOf(callId);
  }

  /** The state of the connection on which the turn is read. */
  connectionOf(turn: ShownTurn): TurnConnection {
    let connection = this.#connections.get(turn);
    if (!connection) this.#connections.set(turn, (connection = new TurnConnection()));
    return connection;
  }

  get sessionId(): string | null {
    return this.#state.session?.id ?? this.#options.sessionId;
  }

  /** The title: the server's, or the first words. */
  get title(): string | null {
    const { session, turns } = this.#state;
    const first = turns[0]?.input[0];
    return session?.title || (first && titleFor(first)) || null;
  }

  get client(): Client {
    return this.#options.client;
  }

  /** What the session supports: agents of one server may differ. */
  get capabilities(): Capabilities {
    return this.#state.session?.capabilities ?? this.client.capabilities;
  }

  /** The last turn. It is a turn that can be acted on, also in a loaded conversation. */
  get #last(): Turn | undefined {
    return this.#state.turns.at(-1) as Turn | undefined;
  }

  /** Whether the page shows it. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether its turn runs, and the server would drop the turn without a reader. */
  get isBound(): boolean {
    return this.#state.running && this.capabilities.resume === "none";
  }

  /** Loads the conversation, if there is one to load. Call it when the page shows the conversation. */
  open(): void {
    this.#isOpen = true;
    if (this.isBound) return;
    if (this.sessionId !== null) void this.load();
    else this.#listening = new AbortController();
  }

  /** Stops listening, if a running turn continues on the server. */
  close(): void {
    this.#isOpen = false;
    if (this.isBound) return;
    this.#listening.abort();
    this.#unwatch?.();
    this.#unwatch = null;
  }

  /** Loads everything from the server again; a running turn continues. */
  async load(): Promise<void> {
    const id = this.sessionId;
    if (id === null) return;
    // What is being read will be read again.
    this.#listening.abort();
    const { signal } = (this.#listening = new AbortController());
    this.#set({ loading: true, error: null });
    try {
      const session = await this.#getSession(id, signal);
      const turns = await session.resume({ signal, turns: ALL });
      if (!signal.aborted) this.#take(session, turns);
    } catch (error) {
      if (!signal.aborted) this.#set({ loading: false, error });
    }
  }

  /**
   * Checks whether the session has a new turn from another tab or person, and shows it. The shown turns stay meanwhile,
   * even if the check fails.
   */
  async catchUp(): Promise<void> {
    const { session, turns, loading, running } = this.#state;
    if (session === null || loading || this.#looking || (running && !this.#chain?.waits)) return;
    // A turn that could not be sent exists only on this page.
    if (turns.at(-1)?.id === null) return;
    this.#looking = this.#look(session.id, turns);
    await this.#looking;
    this.#looking = null;
  }

  async #look(id: string, turns: readonly ShownTurn[]): Promise<void> {
    const looking = new AbortController();
    const signal = AbortSignal.any([this.#listening.signal, looking.signal]);
    try {
      const session = await this.#getSession(id, signal);
      const news = await newsOf(session, turns, signal);
      if (!news) return;
      // A turn that was sent from here in the meantime is newer.
      if (this.#state.turns === turns && !signal.aborted) this.#take(session, news);
      else looking.abort();
    } catch {
      // The next check will come.
    }
  }

  /** Some servers do not record a session's agent. */
  #getSession(id: string, signal: AbortSignal): Promise<Session> {
    const { client, agentName } = this.#options;
    return client.agents.getSession(id, { signal, agentName });
  }

  /** Gives the session the page's tools, if its agent can use them. */
  #equip(session: Session): void {
    if (session.capabilities.pageTools) this.pageCalls.equip(session);
  }

  #take(session: Session, turns: readonly ShownTurn[]): void {
    for (const turn of turns) {
      this.#answers.rememberInput(turn);
      this.#answers.rememberResponses(turn.snapshot());
    }
    const isAlone = this.#chain?.isAlone ?? false;
    // It was meant to continue from the earlier state.
    if (!isAlone) this.#chain?.stop();
    this.#equip(session);
    this.#set({ session, turns, loading: false });
    this.#options.onLoad(session);
    const last = this.#last;
    if (!last) return;
    this.#watch(last);
    if (isLive(last.snapshot())) {
      this.#isUntitled = this.capabilities.rename && !session.title;
      void this.#follow(last, (signal) => last.waitForCompletion({ signal }));
    }
    if (!isAlone) void this.#goOn(last);
  }

  /** Sends a message, creating the session if this is the first one. */
  async send(message: TurnInputItem): Promise<void> {
    const session = this.#state.session ?? (await this.#createSession(message));
    if (session) this.#start(session, (options) => session.run(message, options));
  }

  /** Sends a message to the agent while its turn runs, if the agent accepts it. */
  async steer(message: TurnInputItem): Promise<void> {
    await this.#last?.steer(message);
  }

  /** Sends a message although the agent waits for answers; it will not get them any more. */
  discard(message: TurnInputItem): void {
    const { session } = this.#state;
    if (session) this.#start(session, (options) => session.run(message, { ...options, discardPending: true }));
  }

  /** Continues after the person has signed in to the servers that required it. */
  proceed(): void {
    const { session } = this.#state;
    if (session) this.#start(session, (options) => session.run([], options));
  }

  /** Lets the page run the tools for which the last turn waits, after they were stopped. */
  proceedWithTools(): void {
    const turn = this.#last;
    if (turn) void this.#goOn(turn);
  }

  /**
   * Stores the answer to a waiting call. While the turn runs, the answer goes out at once. Otherwise all answers go out
   * together as one turn, once none is missing.
   */
  answer(callId: string, answer: Answer | null): void {
    if (!this.#answers.keep(callId, answer)) return;
    if (answer && this.#state.running) void this.#answerLive(callId);
    else this.#sendAnswers();
  }

  /** Answers a call while the turn runs. */
  async #answerLive(callId: string): Promise<void> {
    const turn = this.#last;
    const action = callActions(this.#state.pending).find((action) => action.tool_call_id === callId);
    const sending = turn && action && this.#answers.send([action]);
    if (!sending) return;
    try {
      const next = await turn.answer(sending.input);
      // The turn has paused meanwhile, and this was the last missing answer.
      if (next !== turn) void this.#play(next).then(() => this.#goOn(next));
    } catch (error) {
      sending.takeBack();
      // The turn has paused meanwhile, and needs other answers as well.
      if (error instanceof InputError) this.#sendAnswers();
      else this.#set({ error });
    }
  }

  /** Runs a failed turn's input again, in the place of the failed turn. */
  retry(turn: ShownTurn): void {
    const { session, turns } = this.#state;
    if (!session) return;
    // A turn that the server knows stays in its records; the new one branches off where that one began.
    const hasFork = turn.id !== null && this.capabilities.fork;
    const fork = hasFork ? { previousTurnId: turn.previousTurnId ?? "none" } : {};
    this.#set({ turns: turns.filter((other) => other !== turn) });
    this.#start(session, (options) => session.run(turn.input, { ...options, ...fork }));
  }

  /** Continues to read a turn whose stream was cut, after the last received event. */
  resume(turn: ShownTurn): void {
    if (!("stream" in turn)) return;
    void this.#follow(turn, (signal) => read(turn, signal)).then(() => this.#goOn(turn));
    this.#watch(turn);
  }

  /** Asks the agent to stop; the turn's last events still come. Aborts running tools of the page. */
  stop(): void {
    const turn = this.#last;
    if (!turn || !this.#state.running) return;
    if (!isLive(turn.snapshot())) return this.#chain?.stop();
    this.#stopping = turn;
    this.#cancelIfStarted(turn);
  }

  /** A turn can be stopped only once it has an id, which comes with its first event. */
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
      const title = client.capabilities.titles && { title: titleFor(message) };
      const session = await client.agents.createSession(agentName, { ...title, signal });
      // The person has left the conversation in the meantime.
      if (signal.aborted) return null;
      this.#isUntitled = client.capabilities.rename;
      this.#equip(session);
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

  /** Starts a turn, and those that follow it with results of the page's tools. */
  #start(session: Session, begin: (options: RunOptions) => Run): { run: Run; shown: Promise<void> } {
    const started = this.#begin(begin);
    keepAlone(session.id, started.shown);
    return started;
  }

  #begin(begin: (options: RunOptions) => Run): { run: Run; shown: Promise<void> } {
    const chain = (this.#chain = new Chain(this.#listening.signal, false));
    const run = begin({ signal: chain.signal });
    const shown = this.#show(run).finally(() => this.#end(chain));
    this.#check();
    return { run, shown };
  }

  #end(chain: Chain): void {
    if (this.#chain === chain) this.#chain = null;
    this.#check();
    if (this.#isOutdated) void this.load();
    this.#isOutdated = false;
  }

  /** Shows the turns of a run as they come. */
  async #show(run: Run): Promise<void> {
    // Show what the person has sent at once.
    const [first] = run.turns;
    try {
      if (first && !(await this.#play(first))) return this.#note(first);
      for await (const turn of run) if (turn !== first && !(await this.#play(turn))) return this.#note(turn);
    } catch (error) {
      const turn = this.#last;
      const isStopped = error instanceof Error && error.name === "AbortError";
      // The error of a turn is in its snapshot.
      if (!isStopped && turn?.snapshot().error !== error) this.#set({ error });
    }
  }

  /** A turn was not played to its end. Its calls may have been answered already, and the server may have continued. */
  #note(turn: Turn): void {
    const { error } = turn.snapshot();
    this.#isOutdated = error instanceof StateError && error.code === "turn_not_running";
  }

  /** Starts a turn, and shows it to its end. Returns whether it reached the end. */
  async #play(turn: Turn): Promise<boolean> {
    this.#answers.rememberInput(turn);
    this.#set({ turns: [...this.#state.turns, turn], opening: null });
    const tell = () => this.#options.onTurn(turn.session.id);
    // If no other client can read the turn, there is nothing to see before its end.
    if (this.capabilities.resume !== "none") onFirstEvent(turn, tell);
    const reading = this.#follow(turn, (signal) => read(turn, onceNamed(turn, signal)));
    this.#watch(turn);
    await reading;
    tell();
    return turn.snapshot().status === "done";
  }

  /** Continues after a turn that this page did not send, or did not read to its end, if it waits for tools of the page. */
  async #goOn(turn: Turn): Promise<void> {
    if (this.#last !== turn || this.#chain?.isBusy || !this.#mayWait()) return;
    const chain = (this.#chain = new Chain(this.#listening.signal, true));
    const { signal } = chain;
    this.#check();
    const work = async (waited: boolean) => {
      chain.isAlone = true;
      // Another tab has continued meanwhile.
      if (waited) {
        await this.#looking;
        await this.catchUp();
      }
      const { session } = this.#state;
      if (!session || this.#chain !== chain || signal.aborted || !this.#mayWait()) return;
      chain.waits = false;
      await this.#show(session.run(null, { signal }));
    };
    // Leaving the conversation also ends this.
    await alone(turn.session.id, signal, work).catch(() => {});
    this.#end(chain);
  }

  /** Whether the last turn waits for tools of the page, or may still do so. */
  #mayWait(): boolean {
    const turn = this.#last;
    return turn !== undefined && (isLive(turn.snapshot()) || this.pageCalls.areAwaited);
  }

  /** Follows the turn until `reading` has ended. Its snapshot shows what happens meanwhile. */
  async #follow(turn: Turn, reading: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const { signal } = this.#listening;
    const unlisten = this.#listen(turn);
    try {
      await reading(signal);
    } catch {
      // The snapshot has the error, and the turn's view shows it.
    } finally {
      unlisten();
      if (!signal.aborted) await this.#tellActivity();
    }
  }

  /** The session has changed. If it began with its first turn, its title was not sent before. */
  async #tellActivity(): Promise<void> {
    const { session } = this.#state;
    const { title } = this;
    if (!session) return;
    if (this.#isUntitled && title) {
      this.#isUntitled = false;
      // The session can also be found without a title.
      await session.rename(title).catch(() => {});
    }
    this.#options.onActivity(session);
  }

  /** Logs the turn's events and frames, and the events of its connection. */
  #listen(turn: Turn): () => void {
    const number = this.#state.turns.indexOf(turn) + 1;
    const ends = [this.events.follow(number, turn), this.connectionOf(turn).follow(turn)];
    return () => {
      for (const end of ends) end();
    };
  }

  /** Updates the state from the last turn. */
  #watch(turn: Turn): void {
    this.#unwatch?.();
    this.#unwatch = turn.subscribe(this.#check);
    this.#check();
  }

  readonly #check = (): void => {
    const turn = this.#last;
    if (!turn) return;
    const snapshot = turn.snapshot();
    const { status, turn_id, required_actions, reconnecting } = snapshot;
    this.#answers.rememberResponses(snapshot);
    this.#cancelIfStarted(turn);
    const live = isLive(snapshot);
    const begun = live && turn_id !== null;
    const lost = live && reconnecting !== null && reconnecting.attempt > 1;
    const isAnswerable = status === "done" || (live && this.capabilities.liveAnswers);
    const { person: pending, page } = this.pageCalls.sort(isAnswerable ? required_actions : NOTHING.pending);
    const isSent = (action: CallAction) => this.answerOf(action.tool_call_id)?.sent;
    const isOpen = pending.some((action) => action.type === "mcp.auth_required" || !isSent(action));
    const isForPage = status === "done" && page.length > 0 && !isOpen;
    const now = {
      running: live || (isForPage && this.#chain !== null),
      begun,
      lost,
      pending,
      halted: isForPage && this.#chain === null,
    };
    if (!differs(this.#state, now)) return;
    this.#set(now);
    this.#sendAnswers();
  };

  /** Sends the person's answers once none is missing, together with results of the page's tools. */
  #sendAnswers(): void {
    const { session, pending, running } = this.#state;
    const actions = callActions(pending);
    if (!session || running || actions.length === 0) return;
    const sending = this.#answers.send(actions);
    if (!sending) return;
    const { run, shown } = this.#start(session, (options) => session.run(sending.input, options));
    // The answers were stopped before they were sent.
    void shown.then(() => run.turns.length === 0 && sending.takeBack());
  }

  #set(change: Partial<ConversationState>): void {
    this.#state = { ...this.#state, ...change };
    this.notify();
  }
}
