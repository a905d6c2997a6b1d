// A session: a conversation with an agent, turn by turn.
import type { CoreSession, CoreTurn } from "../boundary/boundary.js";
import { Call } from "../boundary/calls.js";
import { type Capabilities, newId } from "../boundary/capabilities.js";
import { adopting, busy, InputError, StateError, type TurnwireError } from "../common/errors.js";
import type { ListedEvent } from "../delivery/delivery.js";
import { type Limits, within } from "../transport/clocks.js";
import { demandOptions, list, type ListOptions, type RequestOptions, split } from "../transport/lists.js";
import { checkedTurn, type CreateTurnOptions, inputOrOptions, type ResumeOptions, type TurnInput } from "../turn/options.js";
import type { SessionEvent, SessionRecord, Subject, ThreadMessage, TurnInputItem, TurnRecord, TurnState } from "../wire/events.js";
import type { Agent } from "./agent.js";
import { follows, type History, type HistoryOptions, pageOf, type HistoryPage } from "./history.js";
import type { ClientConnection, ConversationHost } from "./load.js";

import { demand, demandNames } from "../common/check.js";
import { Run, type RunOptions } from "../tools/run.js";
import { type ToolAnswer, ToolRegistry, type Tools, type ToolsOptions, type WaitingCall } from "../tools/tools.js";
import { Turn } from "../turn/turn.js";
import type { ManagedSession, SetUpRecord } from "./managed-session.js";
import type { SessionSettings } from "./settings.js";

/** An item of a session's list of events. */
export interface ListedSessionEvent extends SessionEvent {
  event: ListedEvent;
}

/** The server's location of a session, and what the session was created with while it has no messages. */
interface SessionPlace {
  workspace_id: string;
  creation?: object | undefined;
}

/** The position of a session, from all of its turns. */
interface Position {
  items: TurnRecord[];
  user_messages: number;
}

/** A conversation with an agent. */
export class Session {
  readonly #connection: ClientConnection;
  readonly #core: CoreSession;
  readonly #registry = new ToolRegistry();
  #record: SessionRecord;
  /** The newest turn that has begun, as far as this client knows. */
  #newest: Turn | undefined;
  /** The prepared turn that is not over. */
  #prepared: Turn | undefined;
  /** How many turns this client has prepared. */
  #starts = 0;
  /** Prepared turns that may still run, if only this client can tell turns apart. */
  #others: readonly Turn[] = [];
  /** The session's data, if the server has no ids for turns. */
  readonly #managed: ManagedSession | undefined;

  #where: SessionPlace | undefined;
  /** Where pages of the history begin in the list of turns, by the ids of the turns after them. */
  readonly #places = new Map<string, string | undefined>();

  /** @internal */
  unsent: Promise<void> | undefined;

  /** @internal */
  constructor(connection: ClientConnection, record: SetUpRecord, isNew: boolean, setup?: object) {
    this.#connection = connection;
    const actions = JSON.stringify(record.required_actions ?? []);
    this.#core = connection.core.session(record.id, record.agent_name ?? "", actions, isNew || record.is_new === true, () => this.#recall());
    this.#record = record;
    const { workspace_id, creation } = record;
    // Every connection that reads this session needs its location.
    if (workspace_id) this.#place({ workspace_id, creation });
    if (setup) this.#managed = new connection.extras.Managed!(this.#core, setup as never, record, isNew);
  }

  #place(where: SessionPlace): void {
    this.#where = where;
    this.#core.setTerms(JSON.stringify(where), -1);
  }

  /** Continues in another core after the first one failed: sets its state as after a reload of the page. */
  #recall(): void {
    if (this.#where) this.#place(this.#where);
    if (this.#managed) return this.#managed.recall();
    const newest = this.#newest;
    if (!newest) return;
    this.#taken({ id: newest.id, state: newest.snapshot().state ?? { status: "running" } }, true);
    this.#core.listed();
  }

  /** The session now has a message: a new connection needs only its place. */
  #forgetCreation(): void {
    if (this.#where?.creation) this.#place({ workspace_id: this.#where.workspace_id });
  }

  /** The session's id; keep it to return with `client.agents.getSession(id)`. */
  get id(): string {
    return this.#record.id;
  }

  /** What the session supports: not every protocol has everything. */
  get capabilities(): Capabilities {
    return this.#managed?.capabilities ?? this.#connection.capabilities;
  }

  /** The agent as the server lists it, if it does (`"aap"`). */
  get agent(): Agent | null {
    return this.#managed?.agent ?? null;
  }

  /** `"session/draft"` for a draft: its agent comes from `agentSpec` and can be changed. */
  get type(): "session" | "session/draft" {
    return this.#record.type;
  }

  /** The saved agent's name. */
  get agentName(): string | null {
    return this.#record.agent_name;
  }

  /** A label for people, once the server has derived one. */
  get title(): string | null {
    return this.#record.title;
  }

  /** A draft's agent, in the server's schema. */
  get agentSpec(): Record<string, unknown> | null {
    return this.#record.agent_spec ?? null;
  }

  /** The session's creator. */
  get createdBySubject(): Subject | null {
    return this.#record.created_by_subject;
  }

  /** ISO 8601. */
  get createdAt(): string | null {
    return this.#record.created_at;
  }

  /** ISO 8601. */
  get updatedAt(): string | null {
    return this.#record.updated_at;
  }

  /**
   * Prepares a turn: `createTurn("Hello")`, `createTurn([allow(action)])`, or `createTurn({ input, … })`. Sends no
   * request yet: `stream()`, `waitForCompletion()` or `state()` starts it.
   *
   * Throws an `InputError` if the input breaks a rule (user messages are not mixed with answers, every pending call is
   * answered, files are data URIs), and a `StateError` if the session was cancelled.
   */
  createTurn(given?: TurnInput | CreateTurnOptions, more?: Omit<CreateTurnOptions, "input">): Turn {
    const options = inputOrOptions(given, more);
    const { socket } = this.#connection.conventions;
    const { input, previousTurnId, discardPending, whenBusy, turnOptions } = checkedTurn(options, socket);
    demand(this.#connection.capabilities.fork || (previousTurnId ?? "auto") === "auto", "`previousTurnId` is not known to this protocol: turns follow each other");
    const core = this.#core.turn(previousTurnId ?? "", newId(), false);
    const sent = adopting(() => core.takeInput(turnOptions ? `${input}\0${turnOptions}` : input, discardPending));
    const record = { input: JSON.parse(sent) as TurnInputItem[] };
    return new Turn(this, this.#connection, core, record, { discardPending, whenBusy });
  }

  /**
   * Replaces the tools that `run()` runs in the page; without an argument, changes nothing. Returns their names. If the
   * protocol declares tools (`"aap"`), the next turn does.
   */
  tools(tools?: Tools, options: ToolsOptions = {}): string[] {
    demandNames("tools", options, ["timeout"]);
    if (tools !== undefined) {
      this.#registry.putTools(tools, options, (names) => this.#managed?.demandTools(names));
      this.#managed?.declare(this.#registry.toolSpecs());
    }
    return this.#registry.toolNames;
  }

  /**
   * Runs a turn. While it waits only for tools of the page, another turn follows with their results. Sends no request
   * yet. Without an input, continues with the newest turn's calls, for instance after a reload. To answers as input,
   * adds the results of tools for which the newest turn also waits.
   *
   * Throws an `InputError` if the input breaks a rule, or if there is no input and nothing waits.
   */
  run(input?: TurnInput | null, options: RunOptions = {}): Run {
    return new Run(this, this.#registry, this.#newest, input, options);
  }

  /**
   * Lists the turns, over all pages: newest first, though TrueForge servers may differ. Does not read their events: a
   * snapshot has the last message, and no waiting call until `waitForCompletion()` has filled it.
   */
  listTurns(options: ListOptions = {}): AsyncGenerator<Turn, void, undefined> {
    let before: TurnRecord | undefined;
    let isSorted = options.pageToken === undefined;
    const isCurrent = this.#watchTurns();
    const turns = list(this.#connection, Call.ListTurns, this.params(), options, (record: TurnRecord) => {
      const isNewest = before === undefined ? isSorted : follows(record, before);
      if (before && !isNewest && !follows(before, record)) isSorted = false;
      before = record;
      return this.#attach(record, isNewest && isCurrent());
    });
    return this.#listed(turns, options, () => isSorted && this.#core.listed());
  }

  /**
   * Reads a turn by its id, and if it has ended its snapshot as well. If its events cannot be read, `snapshot().error`
   * says why, and `waitForCompletion()` reads them again.
   */
  async getTurn(id: string, options: RequestOptions = {}): Promise<Turn> {
    demandOptions("getTurn", options);
    if (this.#managed) {
      if (this.#newest?.id === id) return this.#newest;
      for await (const turn of this.listTurns(options)) if (turn.id === id) return turn;
      throw new InputError("invalid_input", `the session's history has no turn \`${id}\``);
    }
    return within(options, async (limits) => {
      const turn = this.#attach(await this.#connection.transport.ask(Call.GetTurn, this.params({ turnId: id }), limits), false);
      // If the turn is known already, the known object keeps representing it.
      if (this.#newest === undefined || this.#newest.id === turn.previousTurnId) this.began(turn, turn.previousTurnId);
      await turn.filled(limits);
      return turn;
    });
  }

  /** Lists the events of all finished turns, newest first, over all pages. The list has no deltas. */
  listEvents(options: ListOptions & { lastTurnId?: string } = {}): AsyncGenerator<ListedSessionEvent, void, undefined> {
    const events = list(this.#connection, Call.ListSessionEvents, this.params(), options, (event: ListedSessionEvent) => event);
    return this.#listed(events, options, () => {});
  }

  /** Lists items. Calls `ended` at the end of the list. */
  async *#listed<T>(items: AsyncGenerator<T, void, undefined>, options: ListOptions, ended: () => void): AsyncGenerator<T, void, undefined> {
    try {
      yield* items;
    } catch (error) {
      const { isEmptyList } = this.#connection.extras;
      const read = (): Promise<SessionRecord> => this.#connection.transport.ask(Call.GetSession, this.params(), split(options)[0]);
      if (!(await isEmptyList?.(error, read))) throw error;
    }
    ended();
  }

  /**
   * The conversation so far: its newest turns, 50 by default, the oldest of them first. For those before them, pass the
   * id of the first one as `before`. Each turn that is over has its complete snapshot, and is no more than that: a
   * frozen `SettledTurn`. The newest, `last`, is a `Turn`. If it still runs, it is included without its events: its `stream()`
   * brings all of them.
   *
   * Turns that were retried or edited away are not part of it: `branches` has those that the server lists, and
   * `lastTurnId` shows the conversation up to one of them.
   */
  async history(options: HistoryOptions = {}): Promise<History> {
    const page = pageOf("history", options, "before", "lastTurnId");
    return within(options, ({ signal, ...limits }) => this.#history(page, { ...split(limits)[0], signal }));
  }

  async #history(page: HistoryPage, limits: Limits & { signal: AbortSignal }): Promise<History> {
    const turns = await this.#connection.extras.readHistory(this.#host(limits), page);
    if (page.before !== undefined || page.lastTurnId !== undefined) return turns;
    // A waiting call may come from an earlier turn.
    await turns.last?.filled(limits);
    return turns;
  }

  /** What the reading of a history needs of this session. */
  #host(limits: Limits): ConversationHost {
    const [newest, wasOver, isCurrent] = [this.#newest, this.#newest?.isOver, this.#watchTurns()];
    return {
      limits,
      records: (options) => {
        const records = list(this.#connection, Call.ListTurns, this.params(), { ...limits, ...options }, (record: TurnRecord, place) => [record, place] as const);
        return this.#listed(records, limits, () => {});
      },
      events: (options) => this.listEvents({ ...limits, ...options }),
      ask: (call, params) => this.#connection.transport.ask(call, this.params(params), limits),
      places: this.#places,
      hasPages: this.capabilities.pages,
      reread: async () => (this.#managed ? undefined : (await this.refresh(limits)).#record),
      liveTurn: () => this.#managed && this.#prepared,
      isForgotten: this.capabilities.resume === "none",
      adopt: (record, isLast) => {
        const isNewest = isLast && isCurrent() && !this.#known(record.id);
        return this.#attach(record, isNewest, isNewest ? {} : null);
      },
      wasRead: (last, record, said = 0) => {
        if (this.#newest !== last && (this.#newest !== newest || newest?.isOver !== wasOver || this.#known(last?.id))) return;
        if (this.#newest && last) this.#registry.transfer(this.#newest, last);
        this.#newest = last;
        this.#core.listed();
        this.#managed?.stands(record, said);
      },
    };
  }

  /**
   * Returns to a conversation after a reload, or in another tab. The same as `history()`, and a turn that still runs is
   * streamed from its beginning, so that its snapshot, its listeners and `waitForCompletion()` continue. Listeners that
   * you add at once miss nothing. If the server has no stream of the turn, waits for its end (`"waiting"`).
   *
   * The options also apply to that stream.
   */
  async resume(options: ResumeOptions & Pick<HistoryOptions, "turns"> = {}): Promise<History> {
    const page = pageOf("resume", options, "reconnect");
    const { turns: _, ...reading } = options;
    const turns = await within(options, ({ signal, ...limits }) => this.#history(page, { ...split(limits)[0], signal }));
    const { last } = turns;
    if (last && !last.isOver && !last.isRead) last.readOn(reading);
    return turns;
  }

  /** Deletes the session, if the protocol supports it. */
  async delete(options: RequestOptions = {}): Promise<void> {
    demandOptions("delete", options);
    await this.#connection.transport.ask(Call.DeleteSession, this.params(), options);
  }

  /** Cancels the session and the running turn. Afterwards `createTurn` throws. */
  async cancel(options: RequestOptions = {}): Promise<void> {
    demandOptions("cancel", options);
    await this.#connection.transport.ask(Call.CancelSession, this.params(), options);
    this.#core.markCancelled();
  }

  /** Stops the running turn, whichever it is. The session continues. */
  async interrupt(options: RequestOptions = {}): Promise<void> {
    demandOptions("interrupt", options);
    await this.#connection.transport.ask(Call.InterruptSession, this.params(), options);
  }

  /** Sets the session's title, if the protocol supports it. */
  async rename(title: string, options: RequestOptions = {}): Promise<void> {
    demandOptions("rename", options);
    demand(typeof title === "string", "`title` must be a string");
    await this.#connection.transport.ask(Call.RenameSession, this.params({ title }), options);
    this.#record = { ...this.#record, title };
  }

  /** The agent's state, if the protocol has one; without the names that begin with `__`. */
  async state(options: RequestOptions = {}): Promise<Record<string, unknown>> {
    demandOptions("state", options);
    const answer = await this.#connection.transport.ask<{ state: Record<string, unknown> }>(
      Call.GetSessionState,
      this.params(),
      options,
    );
    return answer.state;
  }

  /** Lists the messages that the server keeps, over all pages, oldest first by default. */
  listMessages(options: ListOptions & { order?: "asc" | "desc" } = {}): AsyncGenerator<ThreadMessage, void, undefined> {
    return list(this.#connection, Call.ListMessages, this.params(), options, (message: ThreadMessage) => message);
  }

  /**
   * The conversation so far, as JSON, if only the client keeps it; otherwise empty. Pass it as `messages` to `getSession`, to
   * continue it in another page. By default, the client stores it in `store` of `connect`.
   */
  messages(): string {
    return this.#managed?.messages?.() ?? "";
  }

  /**
   * Calls `listener` with failures of which no call is notified: where only the client keeps the conversation, the errors of
   * `connect`'s `store`, once until it works again. Without a listener they are uncaught errors. Returns the function that removes it.
   */
  on(topic: "error", listener: (error: TurnwireError) => void): () => void {
    return this.#managed?.on?.(topic, listener) ?? (() => {});
  }

  /**
   * Changes a draft's agent, or the settings that the session was created with, which the next turn sends to the server.
   *
   * Throws a `StateError` (`unsupported`) for a session of a saved agent, which servers do not change.
   */
  async update(options: RequestOptions & SessionSettings & { agentSpec?: Record<string, unknown> } = {}): Promise<this> {
    if (this.#managed) {
      this.#managed.configure(options);
      return this;
    }
    demandOptions("update", options, "agentSpec");
    if (this.type === "session") throw new StateError("unsupported", "only a draft's agent can be changed: this session's is not given by the client");
    const [limits, rest] = split(options);
    this.#record = await this.#connection.transport.ask(Call.UpdateDraftSession, this.params(rest), limits);
    return this;
  }

  /** Reads the session again: its title comes with the first turn. */
  async refresh(options: RequestOptions = {}): Promise<this> {
    demandOptions("refresh", options);
    const call = this.type === "session" ? Call.GetSession : Call.GetDraftSession;
    const record = await this.#connection.transport.ask<SessionRecord>(call, this.params(), options);
    // Some servers do not record the session's agent.
    this.#record = { ...record, agent_name: record.agent_name ?? this.agentName };
    return this;
  }

  // The methods below implement `TurnHost`.

  /** @internal */
  prepare(turn: Turn, whenBusy: "wait" | "fail", signal: AbortSignal): Promise<void> | undefined {
    this.#starts += 1;
    if (this.#connection.conventions.socket) return this.#queue(turn, whenBusy, signal);
    const ready = this.#managed?.enter(turn.input, whenBusy, signal, async () => {
      const params = this.params();
      const { items, user_messages: said } = await this.#connection.transport.ask<Position>(Call.ListTurns, params, { signal });
      this.#managed!.stands(items.at(-1), said);
    });
    if (ready) return ready.then(() => void (this.#prepared = turn));
    this.#prepared = turn;
    return undefined;
  }

  /** @internal */
  hasOthers(turn: Turn): boolean {
    return this.unsent !== undefined || (this.#connection.conventions.socket && this.#busy(turn).length > 0);
  }

  /** @internal */
  hold(sent: Promise<void>): void {
    this.unsent = sent;
    void sent.then(() => (this.unsent = undefined));
  }

  #busy(turn: Turn): Turn[] {
    const newest = this.#newest;
    // Another client's turn may no longer run although it is listed as running; the server, which refuses a second
    // turn, knows.
    const isKnown = newest && (newest.isRead || this.capabilities.steer);
    const known = new Set([...this.#others, ...(isKnown ? [newest] : [])]);
    return [...known].filter((other) => other !== turn && other.isBusy);
  }

  /**
   * A thread has one turn at a time. The gateway refuses a second one. Codex adds its input to the running turn, which
   * would deliver it twice.
   */
  #queue(turn: Turn, whenBusy: "wait" | "fail", signal: AbortSignal): Promise<void> | undefined {
    const others = this.#busy(turn);
    if (others.length > 0 && whenBusy === "fail") throw busy();
    this.#others = [...others, turn];
    if (others.length === 0) return undefined;
    const all = async (): Promise<void> => {
      for (const other of others) await other.ended(signal);
    };
    return all();
  }

  /** @internal */
  leave({ status }: Turn, state: TurnState | null): void {
    this.#prepared = undefined;
    this.#managed?.leave(status, state);
  }

  /** @internal */
  began(turn: Turn, previousTurnId: string | null): void {
    this.#managed?.began();
    this.#forgetCreation();
    const before = this.#newest;
    if (before === turn) return;
    this.#newest = turn;
    if (before && previousTurnId !== null && before.id === previousTurnId) turn.follows(before);
  }

  /** Returns whether no turn has started or ended here since: otherwise a list requested then is out of date. */
  #watchTurns(): () => boolean {
    const [newest, starts, isOver] = [this.#newest, this.#starts, this.#newest?.isOver];
    return () => this.#newest === newest && this.#starts === starts && newest?.isOver === isOver;
  }

  /** The known object of a turn that continues here keeps representing it. A turn whose core has failed does not continue. */
  #known(id: string | null | undefined): Turn | undefined {
    const newest = this.#newest;
    return newest && newest.id === id && !newest.isOver && !newest.isBroken ? newest : undefined;
  }

  /** `how` is null for a turn of the past. */
  #attach(record: TurnRecord, isNewest: boolean, how: object | null = {}): Turn {
    // Unless the list has its question as well: that belongs to the turn whose calls it answers.
    const known = this.#known(record.id);
    const asks = ([first]: readonly TurnInputItem[] = []): boolean | undefined => first && first.type === "user.message";
    const hasMore = asks(record.input) && asks(known?.input) === false;
    if (known && !hasMore) return known;
    this.#forgetCreation();
    return new Turn(this, this.#connection, this.#taken(record, isNewest), record, how);
  }

  /** Takes a turn from the server. */
  #taken(record: object, isNewest: boolean): CoreTurn {
    const core = this.#core.turn("", "", isNewest);
    adopting(() => core.takeRecord(JSON.stringify(record)));
    return core;
  }

  /** Runs a tool of the page for a call of a turn; returns the answer. Rejects if `signal` aborts it. @internal */
  runTool(turn: Turn, call: WaitingCall, signal: AbortSignal): Promise<ToolAnswer> {
    this.#registry.callsOf(turn);
    return this.#registry.answerOf(call, signal);
  }

  /** The parameters that name the session in requests. @internal */
  params(more: object = {}): object {
    const terms = this.#managed ?? this.#where;
    return { sessionId: this.id, ...(terms && { terms }), ...more };
  }
}

// Files must not import each other in a circle, so this file adds the turn's reference to its session.
declare module "../turn/turn.js" {
  interface Turn {
    /** The session that the turn belongs to. */
    readonly session: Session;
  }
}
