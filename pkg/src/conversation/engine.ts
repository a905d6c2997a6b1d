// The life of a conversation behind its readables: reports events to its plan, has the plan's effects carried out, and assembles what is
// shown.
import { FrameNotifier, Listeners, onReturn, StateError } from "../client/face.js";
import type { Client } from "../client/client.js";
import type { Session } from "../client/session.js";
import type { TurnwireError } from "../common/errors.js";
import type { TextStore } from "../common/store.js";
import { inTime, watchedStore } from "../protocols/watched-store.js";
import type { TurnSnapshot } from "../snapshot/snapshot.js";
import type { Turn } from "../turn/turn.js";
import type { Capabilities } from "../wire/capabilities.js";
import type { TurnInputItem } from "../wire/events.js";
import { CallBook } from "./calls.js";
import { type Carried, Carrier, type CarrierOptions } from "./carrier.js";
import type { DehydratedTurn } from "./dehydrated.js";
import type { PlannedTurn, PlanView } from "./plan/effects.js";
import type { Fact, PlanOptions, WhenBusy } from "./plan/facts.js";
import { createPlan } from "./plan/plan.js";
import { refusalError } from "./refusals.js";
import { lead, type News, news } from "./tabs.js";
import type { TrackedTurn } from "./tracked.js";
import type { ConversationTopics, UserMessage } from "./types.js";
import { View } from "./view.js";

/** The parts a conversation is created with. */
export interface EngineOptions extends CarrierOptions {
  readonly whenBusy: WhenBusy;
  readonly leavesUnseen: boolean;
  readonly store: TextStore | null;
}

/** What an engine reports. */
export interface EngineHost {
  /** The view has changed: publish it. `isPlanNew`: more than the snapshots of turns. */
  publish(isPlanNew: boolean): void;
  /** An input returns to the person, and is nowhere else. */
  giveBack(input: readonly TurnInputItem[]): void;
}

/** The suffix of the draft's name in the store: each keystroke stores it. */
const DRAFT = "/draft";

/** The engines of the page that have stored names. */
const named = new Set<Engine>();

/** The start of a message's turn besides the text. */
type StartOptions = TrackedTurn["options"];

/** A conversation's plan, and its carrier. */
export class Engine implements Carried {
  readonly calls = new CallBook();
  readonly view = new View(this.calls);
  /** The listeners to the conversation. */
  readonly topics = new Listeners<ConversationTopics>();
  /** The plan's view. */
  planned: PlanView;
  /** Why the conversation could not be read, or its session could not be created. */
  error: TurnwireError | null = null;
  /** The session's capabilities; `null` until the client is ready. */
  capabilities: Capabilities | null = null;
  sessionId: string | null;
  readonly #options: EngineOptions;
  readonly #key: string;
  readonly #host: EngineHost;
  /** The plan reads its options when it needs them: the protocol's capabilities are known later. */
  readonly #planOptions: { -readonly [Name in keyof PlanOptions]: PlanOptions[Name] };
  readonly #plan;
  readonly #carrier: Carrier;
  /** The turns read before, until they are read here. */
  #initial: readonly string[] = [];
  #isStarted = false;
  /** How many components show the conversation, and whether it counts as shown: components that change places take a moment. */
  attached = 0;
  isShown = false;
  #isClosed = false;
  /** The name of its texts in the store; empty if it has none. */
  #name = "";
  /** The texts stored for the next page, by the suffixes of their names: the plan's, and the draft. */
  readonly #kept = new Map([["", ""], [DRAFT, ""]]);
  /** The suffixes of the names that are being read. */
  readonly #unread = new Set<string>();
  restored: Promise<unknown> | undefined;
  readonly #use = watchedStore((error) => this.failed(error, false));
  /** The facts that wait until the one before has been taken. */
  readonly #facts: Fact[] = [];
  #isTelling = false;
  /** Whether the plan's view may have changed. */
  #isStale = false;
  /** The turns of the path by their keys, and those that have changed since they were shown. */
  #path = new Map<number, PlannedTurn>();
  readonly #changed = new Set<number>();
  #isRearranged = false;
  /** Collects the inputs that a call returns to the person. */
  #given: (readonly TurnInputItem[])[] | undefined;
  /** The promise that the last call must wait for. */
  #work: Promise<unknown> | undefined;
  /** The last requested page. */
  #reading: Promise<unknown> | undefined;
  readonly #frames = new FrameNotifier<object>(() => ({}));
  #unlead: (() => void) | undefined;
  /** The channel to other tabs. */
  #news: News | undefined;
  readonly #unreturn: () => void;

  constructor(options: EngineOptions, key: string, sessionId: string | null, host: EngineHost) {
    const { whenBusy, leavesUnseen } = options;
    this.#options = options;
    this.#key = key;
    this.sessionId = sessionId;
    this.#host = host;
    // Until the session is ready, its turns are assumed to be listed.
    this.#planOptions = { hasSession: sessionId !== null, turns: options.page, fork: false, liveAnswers: false, steer: false, discardPending: false, history: true, leavesUnseen, whenBusy };
    this.#plan = createPlan(this.#planOptions);
    this.planned = this.#plan.view();
    this.#carrier = new Carrier(options, this);
    this.#frames.add(() => this.#update());
    // Another tab or person may have continued while the page was away.
    this.#unreturn = onReturn(this.#catchUp);
  }

  /** Looks for changes by others, if the conversation is shown. Otherwise they are read when it is. */
  readonly #catchUp = (): void => {
    if (this.isShown) this.tell({ kind: "catchUp" });
  };

  get session(): Session | undefined {
    return this.#carrier.session;
  }

  get firstInput(): readonly TurnInputItem[] {
    const { path, hasEarlier } = this.#plan.view();
    // A new session is created for the last one.
    const first = path.find(({ id }) => id) ?? path.at(-1);
    if (!first || hasEarlier) return [];
    return first.input ? (JSON.parse(first.input) as TurnInputItem[]) : this.#carrier.turn(first.key, first.id).snapshot().input;
  }

  /** Whether the person has an unsent text here. */
  get isHolding(): boolean {
    return [...this.#kept.values()].some(Boolean);
  }

  /** The draft (JSON); empty if there is none. */
  get draft(): string {
    return this.#kept.get(DRAFT)!;
  }

  /** The object of a turn, while it accepts actions. */
  turnOf(name: string): Turn | undefined {
    return this.#carrier.turns.get(this.keyOf(name))?.turn;
  }

  /** The plan's key for this name; 0 if there is none. */
  keyOf(name: string): number {
    return this.#plan.keyOf(name);
  }

  /** The name of a key. */
  nameOf(key: number): string {
    return this.#plan.nameOf(key);
  }

  /** The newest snapshot of a turn. */
  snapshotOf(turn: number): TurnSnapshot {
    return this.#carrier.turn(turn).snapshot();
  }

  /** The key of a turn's pending action: its call's, if the call is shown. */
  callKey(turn: number, call: string): string {
    return this.view.callKey(call, this.nameOf(turn)) ?? call;
  }

  /** The input of the question that a turn answers (JSON); empty if there is none. */
  questionOf(key: number): string {
    const question = this.#plan.questionOf(key);
    const input = question ? this.#carrier.turn(question).snapshot().input : [];
    return input.length > 0 ? JSON.stringify(input) : "";
  }

  /** Shows turns that were read before, until they are read here. */
  hydrate(turns: readonly DehydratedTurn[]): void {
    this.#initial = turns.map(({ key }) => key);
    this.view.arrange(this.#initial);
    for (const { key, snapshot, createdAt } of turns) {
      this.view.show({ key, snapshot, createdAt, branch: null, canRetry: false, delivery: "sent", error: null, steered: [] });
    }
  }

  /** Reports a person's action to the plan, and publishes at once. Returns the name of the sent input. Throws the plan's refusal. */
  act(method: string, fact: Fact, options?: StartOptions): string {
    this.#demandOpen();
    this.#start();
    const key = this.#take(fact, method, options);
    this.#drain();
    this.#frames.flush();
    return this.nameOf(key);
  }

  /** Stores the draft, and publishes it at once. Nothing else is stored then. */
  write(draft: string): void {
    this.#demandOpen();
    this.#start();
    this.#keep(DRAFT, draft);
    this.#frames.notify();
    this.#frames.flush();
  }

  /** The same for an action that takes an unsent input back. Returns that input. */
  actBack(method: string, fact: Fact): readonly TurnInputItem[] {
    const given = (this.#given = []) as (readonly TurnInputItem[])[];
    try {
      this.act(method, fact);
      return given[0] ?? [];
    } finally {
      this.#given = undefined;
    }
  }

  /** The same for an action that takes time: resolves when pages are read and turns cancelled. */
  async actAndWait(method: string, fact: Fact): Promise<void> {
    this.#work = undefined;
    this.act(method, fact);
    await this.#work;
    // A page that is being read may be older than this request: another one follows.
    for (let read: unknown; fact.kind !== "stop" && read !== this.#reading; ) await (read = this.#reading);
    this.#frames.flush();
  }

  /** Reports an event to the plan. The view is published with the next frame. */
  tell(fact: Fact): void {
    if (this.#isClosed) return;
    this.#facts.push(fact);
    this.#drain();
  }

  /** Reads what an earlier page stored, and connects; once. */
  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#claim();
    for (const end of this.#kept.keys()) {
      const restore = (text: string | null | undefined): void => {
        // Ignores a text that was given up: the current one has replaced it.
        if (!this.#unread.delete(end)) return;
        if (text && end === "") this.tell({ kind: "restored", text });
        // A draft written meanwhile stays.
        else if (text && this.draft === "") this.#kept.set(end, text);
        const kept = this.#kept.get(end)!;
        if (kept !== (text ?? "")) this.#keep(end, kept);
        this.#frames.notify();
      };
      this.#unread.add(end);
      const read = this.#withStore(end, "", (store, key) => {
        const stored = store.get(key);
        return stored && typeof stored === "object" ? inTime(stored).then(restore) : restore(stored);
      });
      // The page continues whatever the store throws.
      this.restored = Promise.all([this.restored, read.then(() => restore(null))]);
    }
    void this.#carrier.connect();
  }

  /**
   * Takes a name in the store. What another engine of the page shows or sends under that name stays its own. One that is no longer shown,
   * such as that of a component that was unmounted with its registry, hands its texts over: they would be sent twice.
   */
  #claim(): void {
    const { store, agentName } = this.#options;
    if (!store) return;
    let owner: Engine | undefined;
    let name = `turnwire:${this.sessionId ?? `${agentName}/${this.#key}`}`;
    const isOwner = (other: Engine): boolean => other !== this && other.#name === name && other.#options.store === store;
    while ((owner = [...named].find(isOwner)) && (owner.attached > 0 || owner.planned.phase === "sending")) name += "+";
    named.add(this);
    this.#name = name;
    if (!owner) return;
    named.delete(owner);
    owner.#name = "";
    owner.#unread.clear();
    owner.tell({ kind: "handedOver" });
  }

  #demandOpen(): void {
    if (this.#isClosed) throw new StateError("unsupported", "the conversation was let go: `open` it again");
  }

  /** Reports all waiting facts, one after the other: carrying out effects may lead to others. */
  #drain(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    try {
      for (let fact = this.#facts.shift(); fact; fact = this.#facts.shift()) this.#take(fact, "");
    } finally {
      this.#isTelling = false;
    }
  }

  #take(fact: Fact, method: string, options?: StartOptions): number {
    const taken = this.#plan.take(fact);
    if (typeof taken === "string") throw refusalError(taken, method);
    const { key, effects } = taken;
    if (options) this.#carrier.turn(key).options = options;
    if (fact.kind === "page" || fact.kind === "sessionReady") this.error = null;
    if (fact.kind === "page") this.#lookAtAll();
    this.#refresh();
    const work = effects.flatMap((effect) => this.#carrier.carry(effect) ?? []);
    if (work.length > 0) this.#work = Promise.all(work);
    if (effects.some(({ kind }) => kind === "load")) this.#reading = this.#work;
    return key;
  }

  #refresh(): void {
    this.#isStale = true;
    this.#frames.notify();
  }

  /** More may be known of any turn, including the turns of the effects. */
  #lookAtAll(): void {
    for (const { key, id } of this.#plan.view().path) {
      this.#carrier.turn(key, id);
      this.#changed.add(key);
    }
  }

  /** Shows the changes. */
  #update(): void {
    const isPlanNew = this.#isStale;
    this.#isStale = false;
    if (isPlanNew) this.#readPlan();
    const { path } = this.planned;
    if (this.#isRearranged) {
      const names = path.map(({ name }) => name);
      this.view.arrange([...this.#initial.filter((name) => !names.includes(name)), ...names]);
      this.#isRearranged = false;
    }
    let unread = "";
    for (const key of this.#changed) {
      const turn = this.#path.get(key);
      if (!turn) continue;
      // For turns of another branch, only the server's records are known.
      if (!this.#show(turn)) unread = turn.id;
      // The status of its calls changes with the turn that answers them.
      const before = path[path.lastIndexOf(turn) - 1];
      if (before && !this.#changed.has(before.key)) this.#show(before);
    }
    this.#changed.clear();
    if (unread) void this.#carrier.loadBranch(unread).then((isRead) => isRead && (this.#lookAtAll(), this.#refresh()));
    if (isPlanNew) this.view.refreshCalls(this.calls.take(this.planned.calls, this));
    this.#host.publish(isPlanNew);
  }

  #readPlan(): void {
    const { path: before } = this.planned;
    const { path, isLoaded, readsEarlier } = (this.planned = this.#plan.view());
    const hasInitial = this.#initial.length > 0;
    if (isLoaded && !readsEarlier && !this.error) this.#initial = [];
    if (!hasInitial && path.length === before.length && path.every((turn, at) => turn === before[at])) return;
    this.#isRearranged = true;
    const known = this.#path;
    this.#path = new Map(path.map((turn) => [turn.key, turn]));
    for (const turn of path) if (known.get(turn.key) !== turn) this.#changed.add(turn.key);
  }

  /** Shows a turn; returns whether it was read. */
  #show({ key, name, id, state, canRetry, input, steered, siblings }: PlannedTurn): boolean {
    const tracked = this.#carrier.turn(key, id);
    const { known } = tracked;
    if (input !== "") tracked.takeText(input);
    const snapshot = tracked.snapshot();
    const delivery: UserMessage["delivery"] = state === "sending" || state === "unknown" || state === "failed" ? state : "sent";
    this.view.show({
      key: name,
      snapshot,
      branch: tracked.branchOf(siblings.indexOf(key), siblings.map((sibling) => this.nameOf(sibling))),
      canRetry,
      delivery,
      error: tracked.error,
      createdAt: tracked.createdAt,
      steered: tracked.steeredRows(steered.map(([steeredKey, text]) => [this.nameOf(steeredKey), text] as const)),
    });
    return !known || "snapshot" in known;
  }

  /** Releases everything. Turns continue on the server. */
  close(): void {
    this.#isClosed = true;
    named.delete(this);
    this.#unreturn();
    this.#unlead?.();
    this.#news?.close();
    this.#carrier.close();
  }

  // Reports of the carrier.

  changed({ key }: TrackedTurn): void {
    if (this.#isClosed) return;
    this.#changed.add(key);
    // Turns notify once per frame, and their changes are shown in that frame.
    this.#frames.notify();
    this.#frames.flush();
  }

  connected({ capabilities }: Client): void {
    if (!this.capabilities) this.#know(capabilities);
  }

  opened(session: Session): void {
    if (this.#isClosed) return;
    if (this.sessionId === null) {
      // The stored texts move to the session's name.
      for (const end of this.#kept.keys()) void this.#withStore(end, "", (store, key) => store.remove(key));
      this.sessionId = session.id;
      this.#claim();
      for (const [end, text] of this.#kept) if (text) this.#keep(end, text);
    }
    this.#know(session.capabilities);
    this.topics.tell("session", session);
    this.#news ??= news(`turnwire:${session.id}`, () => {
      this.#catchUp();
      this.topics.tell("news", undefined);
    });
    if (this.#options.tools && session.capabilities.pageTools) this.#unlead ??= lead(`turnwire:${session.id}`, (on) => this.tell({ kind: "leading", on }));
  }

  #know(capabilities: Capabilities): void {
    // A session that is one list of messages shows all turns in it: it has no branches.
    const fork = capabilities.fork && !capabilities.messages;
    const { liveAnswers, steer, discardPending, history } = capabilities;
    this.capabilities = Object.freeze({ ...capabilities, fork });
    Object.assign(this.#planOptions, { fork, liveAnswers, steer, discardPending, history });
    this.#refresh();
  }

  isNews(): void {
    this.#news?.tell();
  }

  failed(error: TurnwireError, isLasting: boolean): void {
    if (error === this.error) return;
    if (isLasting) {
      this.error = error;
      this.#refresh();
    }
    this.topics.tell("error", error);
  }

  giveBack(input: string): void {
    const items = JSON.parse(input) as TurnInputItem[];
    if (this.#given) this.#given.push(items);
    else this.#host.giveBack(items);
  }

  store(text: string): void {
    this.#keep("", text);
  }

  #keep(end: string, text: string): void {
    this.#kept.set(end, text);
    // The stored texts are read first.
    if (!this.#unread.has(end)) void this.#withStore(end, text, (store, key) => (text ? store.set(key, text) : store.remove(key)));
  }

  /** Stores the text for this suffix of its name. */
  #withStore(end: string, text: string, use: (store: TextStore, key: string) => unknown): Promise<void> {
    const { store } = this.#options;
    const name = this.#name;
    // A store that cannot be read may work again when the queue is stored, which happens with each message.
    return this.#use(text && end, text, () => name && use(store!, name + end));
  }
}
