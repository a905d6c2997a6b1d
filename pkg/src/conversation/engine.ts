// The life of a conversation behind its readables: starts its plan when it is needed, tells it what happens, has its
// effects carried out, and puts together what is shown.
import { asTurnwireError, FrameNotifier, onReturn } from "../client/face.js";
import type { Client, CreateSessionOptions } from "../client/client.js";
import type { Session } from "../client/session.js";
import type { TurnwireError } from "../common/errors.js";
import type { Tools } from "../tools/tools.js";
import type { Turn } from "../turn/turn.js";
import type { TurnInputItem } from "../wire/events.js";
import { CallBook } from "./calls.js";
import { type Carried, Carrier } from "./carrier.js";
import { type BUSY, Fact, type FactLines, Plan, type PlannedTurn, type PlanView } from "./plan.js";
import { loadPlan } from "./plan-module.js";
import type { TextStore } from "./store.js";
import { lead } from "./tabs.js";
import type { TrackedTurn } from "./tracked.js";
import type { Branch, UserMessage } from "./types.js";
import { View } from "./view.js";

/** What a conversation is made with. */
export interface EngineOptions {
  readonly client: PromiseLike<Client>;
  readonly agentName: string;
  readonly session: CreateSessionOptions;
  readonly tools: Tools | undefined;
  readonly whenBusy: keyof typeof BUSY;
  readonly leavesUnseen: boolean;
  readonly page: number;
  readonly store: TextStore | null;
}

/** What an engine reports. */
export interface EngineHost {
  /** What is shown has changed: publish it. */
  publish(): void;
  /** An input is the person's again, and nowhere else. */
  giveBack(input: readonly TurnInputItem[]): void;
  began(turn: Turn, key: string): void;
  ended(turn: Turn, key: string): void;
  opened(session: Session): void;
  failed(error: TurnwireError): void;
}

/** A fact that waits for the plan. */
interface Waiting {
  readonly fact: FactLines;
  /** The name of what it sends. */
  readonly name?: string;
  readonly options?: TrackedTurn["options"];
}

const NOTHING: PlanView = {
  phase: "idle",
  canSend: false,
  canStop: false,
  canSteer: false,
  heldQueue: false,
  hasEarlier: false,
  draft: "",
  path: [],
  queue: [],
  calls: [],
};

/** A conversation's plan, and what carries it out. */
export class Engine implements Carried {
  readonly #options: EngineOptions;
  readonly #host: EngineHost;
  readonly #calls = new CallBook();
  readonly view = new View(this.#calls);
  /** What the plan shows. */
  planned: PlanView = NOTHING;
  /** Why the conversation could not be read, or its session not be created. */
  error: TurnwireError | null = null;
  #sessionId: string | null;
  #plan: Plan | undefined;
  #carrier: Carrier | undefined;
  #starting: Promise<void> | undefined;
  readonly #waiting: Waiting[] = [];
  #isTelling = false;
  /** What the plan shows may have changed. */
  #isStale = false;
  /** The turns that have changed since they were shown. */
  readonly #changed = new Set<number>();
  /** The names of the plan's keys that were shown, or that were returned before there was a plan; and the keys by name. */
  readonly #names = new Map<number, string>();
  readonly #keys = new Map<string, number>();
  #early = 0;
  readonly #branches = new Map<number, Branch>();
  /** Collects what is given back to a call. */
  #given: (readonly TurnInputItem[])[] | undefined;
  readonly #frames = new FrameNotifier<object>(() => ({}));
  #unlead: (() => void) | undefined;
  readonly #unreturn: () => void;

  constructor(options: EngineOptions, sessionId: string | null, host: EngineHost) {
    this.#options = options;
    this.#sessionId = sessionId;
    this.#host = host;
    this.#frames.add(() => this.#update());
    // Another tab or person may have gone on while the page was away.
    this.#unreturn = onReturn(() => this.#plan && this.tell({ fact: Fact.CatchUp }));
  }

  get sessionId(): string | null {
    return this.#sessionId;
  }

  get session(): Session | undefined {
    return this.#carrier?.session;
  }

  get isStarted(): boolean {
    return this.#plan !== undefined;
  }

  /** The object of a turn, while it can be acted on. */
  turnOf(name: string): Turn | undefined {
    return this.#carrier?.turns.get(this.keyOf(name))?.turn;
  }

  /** The plan's key of this name; 0 if there is none. */
  keyOf(name: string): number {
    return this.#keys.get(name) ?? Number(/^n(\d+)$/.exec(name)?.[1] ?? 0);
  }

  /** The name of a key. */
  nameOf(key: number): string {
    return this.#names.get(key) ?? `n${key}`;
  }

  /** The turn whose message a turn answers; `undefined` if there is none. */
  questionOf(key: number): TrackedTurn | undefined {
    const question = this.#plan?.questionOf(key);
    return question ? this.#carrier!.turn(question) : undefined;
  }

  /** Starts the plan, once. If that fails, the error is reported, and the next call tries again. */
  start(): Promise<void> {
    return (this.#starting ??= this.#start().catch((error) => {
      this.#starting = undefined;
      this.failed(asTurnwireError(error));
    }));
  }

  async #start(): Promise<void> {
    const { agentName, session: creation, tools, page, store, leavesUnseen, whenBusy } = this.#options;
    const [client, exports] = await Promise.all([this.#options.client, loadPlan()]);
    const id = this.#sessionId;
    const session = id === null ? undefined : await client.agents.getSession(id, { agentName });
    const { fork, liveAnswers, steer, discardPending, history } = session?.capabilities ?? client.capabilities;
    const stored = await store?.get(this.#storeKey);
    this.#carrier = new Carrier({ client, agentName, session: creation, tools, page }, this);
    this.#plan = new Plan(exports, { hasSession: session !== undefined, fork, liveAnswers, steer, discardPending, history, leavesUnseen, whenBusy });
    this.error = null;
    if (stored) this.#waiting.unshift({ fact: { fact: Fact.Restored, lines: stored.replace(/\n$/, "").split("\n") } });
    if (session) this.#carrier.use(session);
    this.#drain();
  }

  get #storeKey(): string {
    return `turnwire:${this.#sessionId ?? "new"}`;
  }

  /**
   * Tells the plan what a person has done, and publishes at once. Returns the name of what was sent. Throws why the plan
   * refuses. Before there is a plan, the fact waits for it.
   */
  act(method: string, fact: FactLines, options?: TrackedTurn["options"]): string {
    if (!this.#plan) {
      void this.start();
      const name = `p${(this.#early += 1)}`;
      this.#waiting.push({ fact, name, ...(options && { options }) });
      return name;
    }
    const key = this.#take({ fact, ...(options && { options }) }, method);
    this.#drain();
    this.#frames.flush();
    return this.nameOf(key);
  }

  /** The same for what gives an input back. Returns that. */
  actBack(method: string, fact: FactLines): readonly TurnInputItem[] {
    const given = (this.#given = []);
    try {
      this.act(method, fact);
      return (given as (readonly TurnInputItem[])[])[0] ?? [];
    } finally {
      this.#given = undefined;
    }
  }

  /** Tells the plan what has happened. What is shown is published with the next frame. */
  tell(fact: FactLines): void {
    this.#waiting.push({ fact });
    this.#drain();
  }

  /** Publishes at once what has changed. */
  flush(): void {
    this.#frames.flush();
  }

  /** Tells all facts that wait, one after the other: carrying out effects may lead to others. */
  #drain(): void {
    if (!this.#plan || this.#isTelling) return;
    this.#isTelling = true;
    try {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
        try {
          this.#take(next, "send");
        } catch (error) {
          this.failed(error as TurnwireError);
        }
      }
    } finally {
      this.#isTelling = false;
    }
  }

  #take({ fact, name, options }: Waiting, method: string): number {
    const { key, effects } = this.#plan!.take(fact, method);
    if (key && name !== undefined) this.#putName(key, name);
    if (key && options) this.#carrier!.turn(key).options = options;
    this.#isStale = true;
    this.#frames.notify();
    for (const effect of effects) {
      if (effect.kind === "start" && effect.input && "message" in effect.input) {
        this.#carrier!.turn(effect.turn).takeInput(JSON.parse(effect.input.message) as TurnInputItem[]);
      }
      this.#carrier!.carry(effect);
    }
    return key;
  }

  #putName(key: number, name: string): void {
    this.#names.set(key, name);
    this.#keys.set(name, key);
  }

  /** Shows what has changed. */
  #update(): void {
    const isPlanNew = this.#isStale && this.#plan !== undefined;
    this.#isStale = false;
    if (isPlanNew) this.#readPlan();
    const { path } = this.planned;
    for (const turn of path) if (isPlanNew || this.#changed.has(turn.key)) this.#show(turn);
    this.#changed.clear();
    if (isPlanNew) {
      this.view.arrange(path.map(({ key }) => this.nameOf(key)));
      this.view.refreshCalls(this.#calls.take(this.planned.calls, (key) => this.#carrier!.turn(key).snapshot()));
    }
    this.#host.publish();
  }

  #readPlan(): void {
    this.planned = this.#plan!.view();
    for (const { key, name, siblings } of this.planned.path) {
      if (!this.#names.has(key)) this.#putName(key, name);
      this.#putBranch(key, siblings);
    }
    this.#readBranch();
  }

  /** Keeps the siblings of a turn; the known object if they are the same. */
  #putBranch(key: number, siblings: readonly number[]): void {
    const of = siblings.map((sibling) => this.nameOf(sibling));
    const before = this.#branches.get(key);
    if (of.length === 0) this.#branches.delete(key);
    else if (String(before?.of) !== String(of)) this.#branches.set(key, Object.freeze({ at: siblings.indexOf(key), of: Object.freeze(of) }));
  }

  /** Reads the turns of the path of which only the server's records are known: those of another branch. */
  #readBranch(): void {
    const tracked = this.planned.path.map(({ key, id }) => this.#carrier!.turn(key, id));
    const last = tracked.reverse().find(({ known }) => known !== undefined && !("snapshot" in known));
    if (last) void this.#carrier!.loadBranch(last.known!.id!).then(() => this.#refresh());
  }

  #refresh(): void {
    this.#isStale = true;
    this.#frames.notify();
  }

  #show({ key, id, state, canRetry, input, steered }: PlannedTurn): void {
    const tracked = this.#carrier!.turn(key, id);
    if (!tracked.known && input !== "" && tracked.input.length === 0) tracked.takeInput(JSON.parse(input) as TurnInputItem[]);
    const snapshot = tracked.snapshot();
    const answered = this.#calls.takeInput(snapshot.input);
    const delivery: UserMessage["delivery"] = state === "sending" || state === "unknown" || state === "failed" ? state : "sent";
    this.view.show({
      key: this.nameOf(key),
      snapshot,
      branch: this.#branches.get(key) ?? null,
      canRetry,
      delivery,
      error: tracked.error,
      createdAt: tracked.createdAt,
      steered: tracked.steeredRows(steered.map(([steeredKey, text]) => [this.nameOf(steeredKey), text] as const)),
    });
    if (answered.length > 0) this.view.refreshCalls(answered);
  }

  /** Lets go of everything here. Turns continue on the server. */
  close(): void {
    this.#unreturn();
    this.#unlead?.();
    this.#carrier?.close();
  }

  // What the carrier reports.

  changed({ key }: TrackedTurn): void {
    this.#changed.add(key);
    // Turns tell once per frame: what they tell is shown in that frame.
    this.#frames.notify();
    this.#frames.flush();
  }

  opened(session: Session): void {
    this.#sessionId = session.id;
    this.#refresh();
    this.#host.opened(session);
    const { tools } = this.#options;
    if (tools && session.capabilities.pageTools) this.#unlead ??= lead(`turnwire:${session.id}`, (on) => this.tell({ fact: Fact.Leading, number: Number(on) }));
  }

  began(turn: Turn, key: number): void {
    this.#host.began(turn, this.nameOf(key));
  }

  ended(turn: Turn, key: number): void {
    this.#host.ended(turn, this.nameOf(key));
  }

  failed(error: TurnwireError): void {
    this.error = error;
    this.#refresh();
    this.#host.failed(error);
  }

  giveBack(_key: number, input: string): void {
    const items = JSON.parse(input) as TurnInputItem[];
    if (this.#given) this.#given.push(items);
    else this.#host.giveBack(items);
  }

  store(text: string): void {
    const { store } = this.#options;
    if (text === "") store?.remove(this.#storeKey);
    else store?.set(this.#storeKey, text);
  }

  idOf(key: number): string {
    const known = this.#carrier?.turns.get(key)?.known;
    return known?.id ?? this.planned.path.find((turn) => turn.key === key)?.id ?? this.#plan!.view().path.find((turn) => turn.key === key)?.id ?? "";
  }
}
