// Carries out the effects of a conversation's plan: sessions, turns, answers, tools and pages of the history. It reports the results as
// facts, and decides nothing.
import { asTurnwireError, ConnectionError, InputError, StateError } from "../client/face.js";
import type { Client, CreateSessionOptions } from "../client/client.js";
import type { History } from "../client/history.js";
import type { Session } from "../client/session.js";
import type { TurnwireError } from "../common/errors.js";
import type { Listeners } from "../common/listeners.js";
import type { TurnSnapshot } from "../snapshot/snapshot.js";
import type { ToolAnswer, Tools, WaitingCall as ToolCall } from "../tools/tools.js";
import type { CreateTurnOptions } from "../turn/options.js";
import type { Turn } from "../turn/turn.js";
import type { TurnInputItem } from "../wire/events.js";
import { actionIn, itemFor, waitingIn } from "./answers.js";
import type { Effect, StartInput } from "./plan/effects.js";
import type { Delivery, Fact, ListedTurn, WaitingCall } from "./plan/facts.js";
import { listedTurns } from "./listed.js";
import { activityOf, endOf, isLive, steeredIn, titleOf } from "./reading.js";
import { type Known, TrackedTurn } from "./tracked.js";
import type { Answer, ConversationTopics } from "./types.js";

/** The conversation that a carrier serves. */
export interface Carried {
  /** The session's id; `null` until it is created. */
  readonly sessionId: string | null;
  /** The text of the session's first turn, which becomes its title; empty if that turn is not loaded. */
  readonly firstInput: readonly TurnInputItem[];
  /** Resolves when the plan has the text that an earlier page stored; `undefined` if it already has. */
  readonly restored: Promise<unknown> | undefined;
  /** Reports a fact to the plan. */
  tell(fact: Fact): void;
  /** A turn has changed in a way that the plan need not know. */
  changed(turn: TrackedTurn): void;
  /** The client is ready. */
  connected(client: Client): void;
  /** The session is ready, or has a new title. */
  opened(session: Session): void;
  /** The listeners to which turns are read. */
  readonly topics: Pick<Listeners<ConversationTopics>, "tell">;
  /** A turn started here has begun, so that others can read it, or has ended. */
  isNews(): void;
  /** Something failed; `isLasting`: the session could not be read or created. */
  failed(error: TurnwireError, isLasting: boolean): void;
  giveBack(input: string): void;
  store(text: string): void;
}

/** Creates sessions and turns. */
export interface CarrierOptions {
  readonly client: PromiseLike<Client>;
  readonly agentName: string;
  readonly session: CreateSessionOptions;
  readonly tools: Tools | undefined;
  /** The turns of a page. */
  readonly page: number;
}

/** The effect of this kind. */
type EffectOf<K extends Effect["kind"]> = Effect & { readonly kind: K };

/** How many turns are read at once, if the server has pages: they are shown before the others arrive. */
const AT_ONCE = 50;

/** The functions that carry out the effects, by kind. */
type Carrying = { readonly [K in Effect["kind"]]: (effect: EffectOf<K>) => Promise<void> | void };

/** Carries out effects. */
export class Carrier implements Carrying {
  readonly #options: CarrierOptions;
  readonly #to: Carried;
  /** The turns by the plan's keys. */
  readonly turns = new Map<number, TrackedTurn>();
  /** The session, once it is ready. */
  session: Session | undefined;
  /** The parts read of turns, by id. */
  readonly #read = new Map<string, Known>();
  /** Whether a turn was started here. */
  #hasStarted = false;
  #opening: Promise<Session> | undefined;
  /** Whether the session is getting its title. */
  #renaming: Promise<void> | undefined;
  #tools = new AbortController();
  readonly #closing = new AbortController();
  /** The requested branches: one that cannot be read is not requested again before the next page. */
  readonly #branches = new Set<string>();

  constructor(options: CarrierOptions, to: Carried) {
    this.#options = options;
    this.#to = to;
  }

  /** The turn with this key. */
  turn(key: number, id = ""): TrackedTurn {
    let tracked = this.turns.get(key);
    if (!tracked) this.turns.set(key, (tracked = new TrackedTurn(key)));
    const read = this.#read.get(id);
    // A turn that is followed here is newer than a list.
    if (read && read !== tracked.known && !tracked.turn) tracked.take(read);
    return tracked;
  }

  /** Ends everything here. Turns continue on the server. */
  close(): void {
    this.#closing.abort();
    this.#tools.abort();
    for (const turn of this.turns.values()) this.#leave(turn);
  }

  /** Carries out an effect; its result is reported later. For a page, or a turn being cancelled, the promise resolves when that is done. */
  carry(effect: Effect): Promise<void> | undefined {
    const done = (this[effect.kind] as (effect: Effect) => Promise<void> | void)(effect);
    return effect.kind === "load" || effect.kind === "cancel" ? (done as Promise<void>) : undefined;
  }

  /** Connects, and reports the protocol's capabilities. */
  async connect(): Promise<void> {
    try {
      await (this.#to.sessionId === null ? this.#client() : this.#ready());
    } catch (error) {
      this.#fail(error, true);
    }
  }

  /** Reads the turns of another branch up to this one; only their records are known. Resolves to whether it did. */
  async loadBranch(lastTurnId: string): Promise<boolean> {
    if (this.#branches.has(lastTurnId)) return false;
    this.#branches.add(lastTurnId);
    try {
      this.#keep(await (await this.#ready()).history({ turns: this.#options.page, lastTurnId, signal: this.#closing.signal }));
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  stopTools(): void {
    this.#tools.abort();
    this.#tools = new AbortController();
  }

  store({ text }: EffectOf<"store">): void {
    this.#to.store(text);
  }

  giveBack({ input }: EffectOf<"giveBack">): void {
    this.#to.giveBack(input);
  }

  async #client(): Promise<Client> {
    const client = await this.#options.client;
    // Before that, the server's turns would be mistaken for other people's.
    await this.#to.restored;
    this.#to.connected(client);
    return client;
  }

  /** The session of the conversation, which must exist. */
  #ready(): Promise<Session> {
    return (this.#opening ??= this.#open().catch((error: unknown) => {
      // The next call tries again.
      this.#opening = undefined;
      throw error;
    }));
  }

  async #open(): Promise<Session> {
    const { agents } = await this.#client();
    const session = await agents.getSession(this.#to.sessionId!, { agentName: this.#options.agentName, signal: this.#closing.signal });
    this.#use(session);
    return session;
  }

  #use(session: Session): void {
    this.session = session;
    this.#opening = Promise.resolve(session);
    const { tools } = this.#options;
    if (tools && session.capabilities.pageTools) session.tools(tools);
    session.on("error", (error) => this.#fail(error));
    this.#to.opened(session);
  }

  async createSession(): Promise<void> {
    const { agentName, session: options } = this.#options;
    const title = titleOf(this.#to.firstInput);
    try {
      const { agents, capabilities } = await this.#client();
      const session = await agents.createSession(agentName, { ...(title && capabilities.titles && { title }), ...options });
      this.#use(session);
      this.#to.tell({ kind: "sessionReady" });
    } catch (error) {
      this.#fail(error, true);
      this.#to.tell({ kind: "sessionFailed" });
    }
  }

  async start({ turn: key, after, discard, input }: EffectOf<"start">): Promise<void> {
    const tracked = this.turn(key);
    tracked.error = null;
    tracked.isCancelled = false;
    if (input && "message" in input) tracked.takeText(input.message);
    try {
      const session = this.session ?? (await this.#ready());
      if (this.#renaming) await this.#renaming;
      if (tracked.isCancelled) throw new StateError("turn_not_started", "it was stopped before it was sent");
      const turn = session.createTurn({
        ...tracked.options,
        input: this.#itemsOf(input),
        ...(after !== "newest" && { previousTurnId: after === "nothing" ? "none" : after.id }),
        ...(discard && { discardPending: true }),
      } satisfies CreateTurnOptions);
      tracked.take(turn);
      tracked.isOwn = true;
      void this.#follow(tracked, turn);
    } catch (error) {
      this.#unsent(tracked, error);
      this.#to.tell({ kind: "refused", turn: key });
    }
  }

  /** Keeps the error of an unsent turn, and reports it. */
  #unsent(tracked: TrackedTurn, error: unknown): void {
    tracked.error = asTurnwireError(error);
    // The person already knows about a stop.
    if (tracked.error.code !== "turn_not_started") this.#fail(error);
  }

  #itemsOf(input: StartInput): TurnInputItem[] {
    if (input === null) return [];
    if ("message" in input) return JSON.parse(input.message) as TurnInputItem[];
    const snapshot = this.turn(input.asking).snapshot();
    return input.answers.flatMap(([call, answer]) => itemIn(snapshot, call, answer) ?? []);
  }

  /** Reads a turn to its end, and reports its changes. */
  async #follow(tracked: TrackedTurn, turn: Turn): Promise<void> {
    this.#leave(tracked);
    const reading = (tracked.reading = new AbortController());
    tracked.release = turn.subscribe(() => this.#look(tracked, turn));
    this.#to.topics.tell("turn", turn);
    let failure: TurnwireError | null = null;
    try {
      await turn.waitForCompletion({ signal: reading.signal });
    } catch (error) {
      failure = asTurnwireError(error);
    }
    if (tracked.reading !== reading) return;
    this.#leave(tracked);
    this.#look(tracked, turn);
    this.#to.topics.tell("end", turn);
    this.#end(tracked, turn, failure);
    if (tracked.isOwn) this.#to.isNews();
    // Servers refuse settings that change while a turn runs. So no turn runs here, no tool can start one, and the next turn waits.
    const isQuiet = this.#waitingIn(turn.snapshot()).every(({ who }) => who !== "tool") && [...this.turns.values()].every((other) => !other.reading);
    if (isQuiet) this.#renaming = this.#rename().finally(() => (this.#renaming = undefined));
  }

  /** Reports how a turn's reading has ended. */
  #end(tracked: TrackedTurn, { status, id, snapshot }: Turn, failure: TurnwireError | null): void {
    const turn = tracked.key;
    const end = endOf(status);
    if (end) {
      this.#to.tell({ kind: "ended", turn, end, calls: this.#waitingIn(snapshot()) });
    } else if (id !== null) {
      if (tracked.takeBack()) this.#read.delete(id);
      this.#to.tell({ kind: "incomplete", turn });
    } else {
      this.#unsent(tracked, failure);
      this.#hasStarted ||= status === "incomplete";
      this.#to.tell({ kind: status === "incomplete" ? "lost" : "refused", turn });
    }
  }

  /** Reports the changes of a turn that is read. */
  #look(tracked: TrackedTurn, { snapshot: read, previousTurnId: previous }: Turn): void {
    const { key: turn, told } = tracked;
    const snapshot = read();
    const { turn_id: id } = snapshot;
    if (!told.id && id !== null) {
      told.id = true;
      this.#hasStarted ||= tracked.isOwn;
      this.#to.tell({ kind: "named", turn, id, previous });
      // If no other client can read the turn, it cannot be seen before its end.
      if (this.session!.capabilities.resume !== "none") this.#to.isNews();
    }
    if (told.id && isLive(snapshot)) {
      const activity = activityOf(snapshot);
      if (activity !== told.activity) this.#to.tell({ kind: "active", turn, activity: (told.activity = activity) });
      if (this.session!.capabilities.liveAnswers) {
        const calls = this.#waitingIn(snapshot);
        const waiting = JSON.stringify(calls);
        if (waiting !== told.waiting) this.#to.tell({ kind: "waits", turn, calls });
        told.waiting = waiting;
      }
    }
    const steered = steeredIn(snapshot);
    for (const input of steered.slice(told.steered)) this.#to.tell({ kind: "said", turn, input });
    told.steered = steered.length;
    this.#to.changed(tracked);
  }

  #waitingIn(snapshot: TurnSnapshot): WaitingCall[] {
    const tools = this.#options.tools ?? {};
    return waitingIn(snapshot, (action) => action.type === "tool.response_required" && !!tools[action.name]?.run);
  }

  /** Stops reading a turn that is not shown. The page's listeners would keep it being read, so they are notified that it is not. */
  leave({ turn }: EffectOf<"leave">): void {
    const tracked = this.turn(turn);
    this.#leave(tracked);
    if (tracked.turn) this.#to.topics.tell("end", tracked.turn);
  }

  /** Forgets the parts read of a turn: they are no longer complete. */
  forget({ turn, id }: EffectOf<"forget">): void {
    this.turns.delete(turn);
    this.turn(turn, id);
  }

  #leave(tracked: TrackedTurn): void {
    const { reading } = tracked;
    tracked.release();
    tracked.release = (): void => {};
    tracked.reading = undefined;
    reading?.abort();
  }

  /** Continues to read a turn that runs, or whose end is unknown. */
  async watch({ turn: key, id }: EffectOf<"watch">): Promise<void> {
    const tracked = this.turn(key, id);
    // The server's list has it again.
    if (tracked.isBroken) {
      this.#to.tell({ kind: "incomplete", turn: key });
      return this.#to.tell({ kind: "catchUp" });
    }
    try {
      const turn = tracked.turn ?? (await (await this.#ready()).getTurn(id, { signal: this.#closing.signal }));
      tracked.take(turn);
      tracked.told.id = true;
      await this.#follow(tracked, turn);
    } catch (error) {
      this.#fail(error);
      this.#to.tell({ kind: "incomplete", turn: key });
    }
  }

  async cancel({ turn }: EffectOf<"cancel">): Promise<void> {
    const tracked = this.turn(turn);
    tracked.isCancelled = true;
    try {
      await tracked.turn?.cancel();
    } catch (error) {
      this.#fail(error);
      this.#to.tell({ kind: "cancelFailed", turn: tracked.key });
    }
  }

  async steer({ turn, key, input }: EffectOf<"steer">): Promise<void> {
    let delivery: Delivery = "taken";
    try {
      await this.turn(turn).turn!.steer(JSON.parse(input) as TurnInputItem[]);
    } catch (error) {
      delivery = error instanceof ConnectionError ? "lost" : "refused";
      if (!(error instanceof StateError)) this.#fail(error);
    }
    this.#to.tell({ kind: "steered", key, delivery });
  }

  async answer({ turn: key, call, answer }: EffectOf<"answer">): Promise<void> {
    const tracked = this.turn(key);
    const { turn } = tracked;
    let delivery: Delivery = "refused";
    try {
      const item = itemIn(tracked.snapshot(), call, answer);
      // If the turn has paused meanwhile, the answer is sent with the others.
      if (item && turn && (await turn.answer(item)) === turn) delivery = "taken";
    } catch (error) {
      if (error instanceof ConnectionError) delivery = "lost";
      // The call is no longer pending: it was answered already, or its turn is over.
      if (!(error instanceof StateError || error instanceof InputError)) this.#fail(error);
    }
    this.#to.tell({ kind: "answered", turn: key, call, delivery });
  }

  async runTool({ turn: key, call }: EffectOf<"runTool">): Promise<void> {
    const { signal } = this.#tools;
    const tracked = this.turn(key);
    let answer: ToolAnswer | undefined;
    try {
      // A history has only a snapshot of the pending turn, which is over.
      const turn = tracked.turn ?? (await this.session!.getTurn(tracked.known!.id!, { signal }));
      answer = await this.session!.runTool(turn, actionIn(tracked.snapshot(), call) as ToolCall, signal);
    } catch {
      // The registry answers for a tool that throws. So this one was stopped, which is not reported.
      if (signal.aborted) return;
    }
    this.#to.tell({ kind: "toolEnded", turn: key, call, result: answer ? JSON.stringify(answer) : null });
  }

  async load({ before }: EffectOf<"load">): Promise<void> {
    try {
      const session = await this.#ready();
      const { history, pages, turnIds } = session.capabilities;
      if (history && !turnIds && this.#hasStarted) await this.#lookForCalls(session);
      // Without the server's ids, turns started here could not be distinguished in a list.
      if (!history || (!turnIds && this.#hasStarted)) return this.#to.tell({ kind: "pageFailed" });
      const page = await session.history({ turns: pages ? Math.min(AT_ONCE, this.#options.page) : this.#options.page, ...(before !== null && { before }), signal: this.#closing.signal });
      this.#branches.clear();
      this.#keep(page);
      this.#to.tell({ kind: "page", turns: this.#listed(page), hasEarlier: page.hasEarlier });
    } catch (error) {
      this.#fail(error, true);
      this.#to.tell({ kind: "pageFailed" });
    }
  }

  /** Checks whether another page or person has answered the session's pending actions. The ids of calls are the server's. */
  async #lookForCalls(session: Session): Promise<void> {
    const waiting = [...this.turns.values()].filter((turn) => this.#waitingIn(turn.snapshot()).length > 0);
    if (waiting.length === 0 || [...this.turns.values()].some(({ reading }) => reading)) return;
    const { last } = await session.history({ turns: 1, signal: this.#closing.signal });
    const calls = last ? this.#waitingIn(last.snapshot()) : [];
    for (const { key: turn } of waiting) this.#to.tell({ kind: "waits", turn, calls });
  }

  #listed(page: History): ListedTurn[] {
    return listedTurns(page, (snapshot) => this.#waitingIn(snapshot));
  }

  #keep(page: History): void {
    for (const known of page) this.#read.set(known.id!, known);
    for (const known of page.branches) if (!this.#read.has(known.id)) this.#read.set(known.id, known);
  }

  /** Sets a session's title to the first words, if it has none and was not created with one. */
  async #rename(): Promise<void> {
    const { session } = this;
    if (!session?.capabilities.rename || session.title || this.#options.session.title) return;
    const title = titleOf(this.#to.firstInput);
    if (!title) return;
    // The session can also be found without a title.
    await session.rename(title).catch(() => {});
    this.#to.opened(session);
  }

  #fail(error: unknown, isLasting = false): void {
    if (!this.#closing.signal.aborted) this.#to.failed(asTurnwireError(error), isLasting);
  }
}

/** The input item that answers a call of a turn. */
function itemIn(snapshot: TurnSnapshot, call: string, answer: string): TurnInputItem | undefined {
  const action = actionIn(snapshot, call);
  return action && itemFor(action, JSON.parse(answer) as Answer | TurnInputItem);
}
