// Carries out what the plan of a conversation wants: sessions, turns, answers, tools and pages of the history. It reports
// what comes of it as facts, and decides nothing.
import { asTurnwireError, ConnectionError, InputError } from "../client/face.js";
import type { Client, CreateSessionOptions } from "../client/client.js";
import type { History } from "../client/history.js";
import type { Session } from "../client/session.js";
import type { TurnwireError } from "../common/errors.js";
import type { TurnSnapshot } from "../snapshot/snapshot.js";
import type { Tools, WaitingCall } from "../tools/tools.js";
import type { CreateTurnOptions } from "../turn/options.js";
import type { Turn } from "../turn/turn.js";
import type { TurnInputItem, TurnRecord } from "../wire/events.js";
import { actionIn, itemFor, waitingLines } from "./answers.js";
import { type Effect, Fact, type FactLines, LOST, REFUSED, type StartInput, TAKEN } from "./plan.js";
import { isLive, partsOf, textOf } from "./shown.js";
import { type Known, TrackedTurn } from "./tracked.js";
import type { Answer } from "./types.js";

/** What a carrier serves. */
export interface Carried {
  /** Tells the plan. */
  tell(fact: FactLines): void;
  /** Something of a turn has changed that the plan need not know. */
  changed(turn: TrackedTurn): void;
  /** A session is there. */
  opened(session: Session): void;
  /** A turn has begun, or is read on. */
  began(turn: Turn, key: number): void;
  /** A turn is no longer read. */
  ended(turn: Turn, key: number): void;
  failed(error: TurnwireError): void;
  giveBack(key: number, input: string): void;
  store(text: string): void;
  /** The id of a turn; empty if it has none. */
  idOf(key: number): string;
}

/** How sessions and turns are made. */
export interface CarrierOptions {
  readonly client: Client;
  readonly agentName: string;
  readonly session: CreateSessionOptions;
  readonly tools: Tools | undefined;
  /** The turns of a page. */
  readonly page: number;
}

/** A title has at most so many characters. */
const TITLE = 60;

/** How a turn stands, by the plan's numbers. */
const ENDED = { done: 0, error: 1, cancelled: 2, running: 3 } as const;

/** What a turn does, by the plan's numbers. */
const THINKING = 0;
const ANSWERING = 1;
const WORKING = 2;
const RECONNECTING = 3;

/** Carries out effects. */
export class Carrier {
  readonly #options: CarrierOptions;
  readonly #to: Carried;
  /** The turns by the plan's keys. */
  readonly turns = new Map<number, TrackedTurn>();
  /** What was read of turns that the plan has not asked for, by their ids. */
  readonly #read = new Map<string, Known>();
  #session: Session | undefined;
  #tools = new AbortController();
  #loading = new AbortController();
  /** The first message of a session that has no title yet. */
  #untitled: string | undefined;

  constructor(options: CarrierOptions, to: Carried) {
    this.#options = options;
    this.#to = to;
  }

  get session(): Session | undefined {
    return this.#session;
  }

  /** Takes the session of a conversation that was opened. */
  use(session: Session): void {
    this.#session = session;
    const { tools } = this.#options;
    if (tools && session.capabilities.pageTools) session.tools(tools);
    this.#to.opened(session);
  }

  /** The turn of this key. */
  turn(key: number, id = ""): TrackedTurn {
    let tracked = this.turns.get(key);
    if (!tracked) this.turns.set(key, (tracked = new TrackedTurn(key)));
    const read = id !== "" && !tracked.turn ? this.#read.get(id) : undefined;
    if (read && read !== tracked.known) tracked.take(read);
    return tracked;
  }

  /** Ends everything here. Turns continue on the server. */
  close(): void {
    this.#loading.abort();
    this.#tools.abort();
    for (const turn of this.turns.values()) this.#leave(turn);
  }

  /** Carries out an effect; what comes of it is told later. */
  carry(effect: Effect): void {
    switch (effect.kind) {
      case "createSession":
        return void this.#createSession();
      case "start":
        return this.#start(effect);
      case "steer":
        return void this.#steer(effect.turn, effect.key, JSON.parse(effect.input) as TurnInputItem[]);
      case "cancel":
        return void this.#cancel(this.turn(effect.turn));
      case "answer":
        return void this.#answer(this.turn(effect.turn), effect.call, effect.answer);
      case "runTool":
        return void this.#runTool(this.turn(effect.turn), effect.call);
      case "stopTools":
        this.#tools.abort();
        this.#tools = new AbortController();
        return;
      case "watch":
        return void this.#watch(this.turn(effect.turn, this.#to.idOf(effect.turn)));
      case "leave":
        return this.#leave(this.turn(effect.turn));
      case "load":
        return void this.#load(effect.before);
      case "store":
        return this.#to.store(effect.text);
      case "giveBack":
        return this.#to.giveBack(effect.key, effect.input);
      case "publish":
        return;
    }
  }

  /** Reads the turns of another branch, if they are not there yet: those up to this one. */
  async loadBranch(lastTurnId: string): Promise<void> {
    try {
      this.#keep(await this.#session!.history({ turns: this.#options.page, lastTurnId, signal: this.#loading.signal }));
    } catch (error) {
      this.#fail(error);
    }
  }

  async #createSession(): Promise<void> {
    const { client, agentName, session: options } = this.#options;
    const first = [...this.turns.values()].find(({ input }) => input.length > 0);
    const title = first && titleOf(first.input);
    try {
      const session = await client.agents.createSession(agentName, { ...(title && client.capabilities.titles && { title }), ...options });
      if (session.capabilities.rename && !session.title && !options.title) this.#untitled = title;
      this.use(session);
      this.#to.tell({ fact: Fact.SessionReady });
    } catch (error) {
      this.#fail(error);
      this.#to.tell({ fact: Fact.SessionFailed });
    }
  }

  #start({ turn: key, after, discard, input }: Extract<Effect, { kind: "start" }>): void {
    const tracked = this.turn(key);
    const previousTurnId = after === "newest" ? {} : { previousTurnId: after === "nothing" ? "none" : after.id };
    try {
      const turn = this.#session!.createTurn({
        ...tracked.options,
        input: this.#itemsOf(input),
        ...previousTurnId,
        ...(discard && { discardPending: true }),
      } satisfies CreateTurnOptions);
      tracked.error = null;
      tracked.take(turn);
      void this.#follow(tracked, turn);
    } catch (error) {
      tracked.error = asTurnwireError(error);
      this.#to.tell({ fact: Fact.Refused, key });
    }
  }

  #itemsOf(input: StartInput): TurnInputItem[] {
    if (input === null) return [];
    if ("message" in input) return JSON.parse(input.message) as TurnInputItem[];
    const snapshot = this.turn(input.asking).snapshot();
    return input.answers.flatMap(([call, answer]) => {
      const action = actionIn(snapshot, call);
      return (action && itemFor(action, JSON.parse(answer) as Answer | TurnInputItem)) ?? [];
    });
  }

  /** Reads a turn to its end, and tells what it does meanwhile. */
  async #follow(tracked: TrackedTurn, turn: Turn): Promise<void> {
    this.#leave(tracked);
    const reading = (tracked.reading = new AbortController());
    const { key } = tracked;
    tracked.release = turn.subscribe(() => this.#look(tracked, turn));
    this.#to.began(turn, key);
    let failure: TurnwireError | undefined;
    try {
      await turn.waitForCompletion({ signal: reading.signal });
    } catch (error) {
      failure = asTurnwireError(error);
    }
    if (tracked.reading !== reading) return;
    this.#leave(tracked);
    this.#look(tracked, turn);
    this.#to.ended(turn, key);
    this.#end(tracked, turn, failure);
    void this.#rename();
  }

  /** Tells how a turn's reading has ended. */
  #end(tracked: TrackedTurn, turn: Turn, failure: TurnwireError | undefined): void {
    const { key } = tracked;
    const { status } = turn;
    if (status === "done" || status === "error" || status === "cancelled") {
      this.#to.tell({ fact: Fact.Ended, key, number: ENDED[status], lines: this.#waitingLines(turn.snapshot()) });
    } else if (turn.id !== null) {
      this.#to.tell({ fact: Fact.Incomplete, key });
    } else {
      tracked.error = failure ?? null;
      this.#to.tell({ fact: status === "incomplete" ? Fact.Lost : Fact.Refused, key });
    }
  }

  /** Tells what has changed of a turn that is read. */
  #look(tracked: TrackedTurn, turn: Turn): void {
    const { key, told } = tracked;
    const snapshot = turn.snapshot();
    if (!told.id && snapshot.turn_id !== null) {
      told.id = true;
      const { previousTurnId } = turn;
      this.#to.tell({ fact: Fact.Named, key, number: Number(previousTurnId !== null), lines: [snapshot.turn_id, previousTurnId ?? ""] });
    }
    if (told.id && isLive(snapshot)) {
      const activity = activityOf(snapshot);
      if (activity !== told.activity) this.#to.tell({ fact: Fact.Active, key, number: (told.activity = activity) });
      if (this.#session!.capabilities.liveAnswers) {
        const lines = this.#waitingLines(snapshot);
        const waiting = lines.join("\n");
        if (waiting !== told.waiting) this.#to.tell({ fact: Fact.Waits, key, lines });
        told.waiting = waiting;
      }
    }
    const steered = steeredIn(snapshot);
    for (const input of steered.slice(told.steered)) this.#to.tell({ fact: Fact.Said, key, lines: [JSON.stringify([input])] });
    told.steered = steered.length;
    this.#to.changed(tracked);
  }

  #waitingLines(snapshot: TurnSnapshot): string[] {
    const tools = this.#options.tools ?? {};
    return waitingLines(snapshot, (action) => action.type === "tool.response_required" && !!tools[action.name]?.run);
  }

  #leave(tracked: TrackedTurn): void {
    tracked.release();
    tracked.release = (): void => {};
    const { reading } = tracked;
    tracked.reading = undefined;
    reading?.abort();
  }

  /** Reads a turn on: one that runs, or whose end is not known. */
  async #watch(tracked: TrackedTurn): Promise<void> {
    const { key } = tracked;
    try {
      const { signal } = this.#loading;
      const turn = tracked.turn ?? (await this.#session!.getTurn(this.#to.idOf(key), { signal }));
      tracked.take(turn);
      tracked.told.id = true;
      await this.#follow(tracked, turn);
    } catch (error) {
      this.#fail(error);
      this.#to.tell({ fact: Fact.Incomplete, key });
    }
  }

  async #cancel(tracked: TrackedTurn): Promise<void> {
    try {
      await tracked.turn?.cancel();
    } catch (error) {
      this.#fail(error);
      this.#to.tell({ fact: Fact.CancelFailed, key: tracked.key });
    }
  }

  async #steer(turn: number, key: number, input: TurnInputItem[]): Promise<void> {
    let number = TAKEN;
    try {
      await this.turn(turn).turn!.steer(input);
    } catch (error) {
      number = error instanceof ConnectionError ? LOST : REFUSED;
      if (!isStateError(error)) this.#fail(error);
    }
    this.#to.tell({ fact: Fact.Steered, key, number });
  }

  async #answer(tracked: TrackedTurn, call: string, answer: string): Promise<void> {
    const { key, turn } = tracked;
    let number = REFUSED;
    try {
      const action = actionIn(tracked.snapshot(), call);
      const item = action && itemFor(action, JSON.parse(answer) as Answer | TurnInputItem);
      // If the turn has paused meanwhile, the answer goes with the others.
      if (item && turn && (await turn.answer(item)) === turn) number = TAKEN;
    } catch (error) {
      if (error instanceof ConnectionError) number = LOST;
      // The call no longer waits: it was answered already, or its turn is over.
      if (!isStateError(error) && !(error instanceof InputError)) this.#fail(error);
    }
    this.#to.tell({ fact: Fact.Answered, key, number, lines: [call] });
  }

  async #runTool(tracked: TrackedTurn, call: string): Promise<void> {
    const { signal } = this.#tools;
    const { key, turn } = tracked;
    try {
      const action = actionIn(tracked.snapshot(), call) as WaitingCall;
      const item = await this.#session!.runTool(turn!, action, signal);
      this.#to.tell({ fact: Fact.ToolEnded, key, number: 1, lines: [call, JSON.stringify(item)] });
    } catch {
      // The registry answers for a tool that throws: this one was stopped.
      if (!signal.aborted) this.#to.tell({ fact: Fact.ToolEnded, key, lines: [call] });
    }
  }

  async #load(before: number): Promise<void> {
    const { page: turns } = this.#options;
    const { signal } = this.#loading;
    try {
      const page = await this.#session!.history({ turns, ...(before && { before: this.#to.idOf(before) }), signal });
      this.#keep(page);
      this.#to.tell({ fact: Fact.Page, number: Number(page.hasEarlier), lines: this.#pageLines(page) });
    } catch (error) {
      this.#fail(error);
      this.#to.tell({ fact: Fact.PageFailed });
    }
  }

  #keep(page: History): void {
    for (const turn of page) this.#read.set(turn.id!, turn);
    for (const record of page.branches) if (!this.#read.has(record.id)) this.#read.set(record.id, record);
  }

  /** The lines of a page, oldest turn first: those of other branches stand between the turn that they follow and its next. */
  #pageLines(page: History): string[] {
    const lines: string[] = [];
    const branches = new Set(page.branches);
    const putBranches = (previous: string | null): void => {
      for (const record of page.branches) {
        if (record.previous_turn_id !== previous || !branches.delete(record)) continue;
        lines.push(...this.#turnLines(record, record.previous_turn_id, record.created_at, []));
        putBranches(record.id);
      }
    };
    for (const [at, turn] of page.entries()) {
      if (at === 0) putBranches(turn.previousTurnId);
      const listed = { id: turn.id!, input: turn.input, state: turn.snapshot() };
      lines.push(...this.#turnLines(listed, turn.previousTurnId, turn.createdAt, this.#saidIn(turn)));
      putBranches(turn.id);
    }
    return lines;
  }

  #turnLines({ id, input = [], state }: ListedTurn, previous: string | null, createdAt: string | null, said: readonly string[]): string[] {
    const { status } = state;
    const isMessage = input.some(({ type }) => type === "user.message");
    const calls = "required_actions" in state && "threads" in state ? this.#waitingLines(state as TurnSnapshot) : [""];
    const number = ENDED[status as keyof typeof ENDED] ?? ENDED.running;
    return [id, previous ?? "", createdAt ?? "", isMessage ? JSON.stringify(input) : "", String(number), ...calls, ...said, ""];
  }

  #saidIn(turn: History[number]): string[] {
    return steeredIn(turn.snapshot()).map((input) => JSON.stringify([input]));
  }

  /** Gives a session the first words as its title, if it has none and was not made with one. */
  async #rename(): Promise<void> {
    const title = this.#untitled;
    this.#untitled = undefined;
    // The session can also be found without a title.
    if (title) await this.#session!.rename(title).catch(() => {});
    if (title) this.#to.opened(this.#session!);
  }

  #fail(error: unknown): void {
    if (!this.#loading.signal.aborted) this.#to.failed(asTurnwireError(error));
  }
}

/** A turn in a page. */
interface ListedTurn {
  readonly id: string;
  readonly input?: readonly TurnInputItem[];
  readonly state: Pick<TurnRecord["state"], "status"> | TurnSnapshot;
}

/** What a turn does now. */
function activityOf({ reconnecting, threads }: TurnSnapshot): number {
  // The first attempt comes at once: nothing is to be seen of it.
  if (reconnecting && reconnecting.attempt > 1) return RECONNECTING;
  const message = threads[0]?.messages.at(-1);
  if (!message) return THINKING;
  if (message.tool_calls.some(({ status }) => status === "running" || status === "response_required")) return WORKING;
  const { content, reasoning_content, refusal, tool_calls, finish_reason } = message;
  const hasText = content !== "" || reasoning_content !== "" || refusal !== "" || tool_calls.length > 0;
  return hasText && finish_reason === null ? ANSWERING : THINKING;
}

/** The messages of the user that the turn's own record has besides its input. */
function steeredIn({ notices }: TurnSnapshot): TurnInputItem[] {
  return notices.flatMap(({ code, details }) => (code === "user_message" ? (details as { input: TurnInputItem[] }).input : []));
}

function isStateError(error: unknown): boolean {
  return (error as TurnwireError).name === "StateError";
}

/** The first words of a message, or the names of its files. */
export function titleOf(input: readonly TurnInputItem[]): string {
  const item = input[0];
  if (item?.type !== "user.message") return "";
  const parts = partsOf(item);
  const names = parts.flatMap((part) => ("name" in part && part.name ? [part.name] : []));
  return [textOf(parts), ...names].join(" ").trim().replace(/\s+/g, " ").slice(0, TITLE);
}
