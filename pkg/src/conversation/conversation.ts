// A conversation: what a page shows of a session, and what a person does with it.
import { checkedInput, demand, Listeners, StateError } from "../client/face.js";
import type { Session } from "../client/session.js";
import type { TurnwireError } from "../common/errors.js";
import type { Readable } from "../common/readable.js";
import type { TurnInput } from "../turn/options.js";
import type { Turn } from "../turn/turn.js";
import type { TurnInputItem } from "../wire/events.js";
import { actionIn, callIdIn, canRemember } from "./answers.js";
import { titleOf } from "./carrier.js";
import { Cell, Cells } from "./cells.js";
import { type Dehydrated, withoutError } from "./dehydrated.js";
import { Engine, type EngineHost, type EngineOptions } from "./engine.js";
import { BUSY, Fact, TOOL } from "./plan.js";
import { isLive, isShallowlySame, partsOf, textOf } from "./shown.js";
import type { Answer, Call, Draft, Info, Message, Pending, Queued, Row, SendOptions, Snapshot, Status, Thread, TurnView } from "./types.js";

/** What `conversation.on` tells. */
export interface ConversationTopics {
  /** A turn has begun, or is read on. */
  turn: Turn;
  /** A turn is no longer read: it has ended, or its end is not known. */
  end: Turn;
  /** The session was opened, was created, or has got a title. */
  session: Session;
  /** Something failed. A turn's own error is in its snapshot. */
  error: TurnwireError;
}

/** What a person does with the queue. Keys are those of `Queued`. */
export interface QueueActions {
  /** Changes a message. */
  edit(key: string, input: TurnInput): void;
  /** Takes a message out of the queue, and returns it. */
  remove(key: string): readonly TurnInputItem[];
  /** Moves a message to a place, from 0. */
  move(key: string, to: number): void;
  /** Sends a message next, and stops what runs for it. */
  sendNow(key: string): void;
  /** Sends a message to the turn that runs. */
  steer(key: string): void;
  /** Holds all that waits, or lets it go. */
  hold(on: boolean): void;
}

const EMPTY_DRAFT: Draft = Object.freeze({ text: "", parts: Object.freeze([]) });
const NONE: readonly never[] = Object.freeze([]);

/**
 * A conversation with an agent. It is no component's: `Conversations` keeps it, and `attach()` says that it is shown.
 *
 * Its readables change only when they are published: all together, at most once a frame, and at once for what the person
 * does. Methods are bound.
 */
export class Conversation {
  /** Unique among the conversations of the page. */
  readonly key: string;
  /** What the conversation does, and what the person can do. */
  readonly status: Readable<Status>;
  /** The rows of the list. The same array while messages grow. */
  readonly rows: Readable<readonly Row[]>;
  /** What waits for the person, in all threads. */
  readonly pending: Readable<readonly Pending[]>;
  /** The messages that wait to be sent, and what can be done with them. */
  readonly queue: Readable<readonly Queued[]> & QueueActions;
  /** What is written and not sent. It survives a reload. */
  readonly draft: Readable<Draft>;
  /** The session, its title, what it supports. */
  readonly info: Readable<Info>;
  /** All messages, for small pages. Made when it is read. */
  readonly messages: Readable<readonly Message[]>;
  readonly #engine: Engine;
  readonly #agentName: string;
  readonly #topics = new Listeners<ConversationTopics & { change: void }>();
  readonly #status = new Cell<Status>(IDLE);
  readonly #rows = new Cell<readonly Row[]>(NONE);
  readonly #pending = new Cell<readonly Pending[]>(NONE);
  readonly #queue = new Cell<readonly Queued[]>(NONE);
  readonly #draft = new Cell<Draft>(EMPTY_DRAFT);
  readonly #info: Cell<Info>;
  readonly #keyed = {
    message: new Cells<Message>((key) => this.#engine.view.value("message", key)),
    call: new Cells<Call>((key) => this.#engine.view.value("call", key)),
    thread: new Cells<Thread>((key) => this.#engine.view.value("thread", key)),
    turn: new Cells<TurnView>((key) => this.#engine.view.value("turn", key)),
  };
  #snapshot: Snapshot | undefined;
  #messages: readonly Message[] | undefined;
  #attached = 0;
  #isAttached = false;
  #initial: Dehydrated | undefined;
  #loaded: Promise<void> | undefined;

  /** @internal */
  constructor(key: string, options: EngineOptions, sessionId: string | null, initial: Dehydrated | undefined) {
    this.key = key;
    this.#agentName = options.agentName;
    this.#initial = initial;
    this.#engine = new Engine(options, sessionId, this.#host());
    this.#info = new Cell<Info>(this.#infoNow());
    const { get, subscribe } = this.#queue;
    this.status = this.#status;
    this.rows = this.#rows;
    this.pending = this.#pending;
    this.queue = { get, subscribe, ...this.#queueActions() };
    this.draft = this.#draft;
    this.info = this.#info;
    this.messages = { get: () => (this.#messages ??= this.#engine.view.messages()), subscribe: (listener) => this.subscribe(listener) };
    if (initial) this.#hydrate(initial);
  }

  /** Calls `listener` after each change of anything. Returns the function that removes it. Bound. */
  readonly subscribe = (listener: () => void): (() => void) => this.#topics.add("change", listener);

  /** All of the conversation: the same object until something is published. Bound. */
  readonly snapshot = (): Snapshot => (this.#snapshot ??= this.#snapshotNow());

  /** Resolves when the turns were read, or could not be: `status` tells. Reading it starts that. For Suspense. */
  get loaded(): Promise<void> {
    return (this.#loaded ??= this.#load());
  }

  /** A message, by the key of its row. The same readable each time. */
  message = (key: string): Readable<Message | undefined> => this.#keyed.message.of(key);

  /** A call, by the key of its part. The same readable each time. */
  call = (key: string): Readable<Call | undefined> => this.#keyed.call.of(key);

  /** A sub-agent's thread, by `call.thread`. The same readable each time. */
  thread = (key: string): Readable<Thread | undefined> => this.#keyed.thread.of(key);

  /** A turn, by `row.turn`. The same readable each time. */
  turn = (key: string): Readable<TurnView | undefined> => this.#keyed.turn.of(key);

  /** What `read` returns of the whole: tells only when that is another value. `isSame` compares two; by default they are identical. */
  select = <T>(read: (now: Snapshot) => T, isSame: (a: T, b: T) => boolean = Object.is): Readable<T> => {
    let from: Snapshot | undefined;
    let value: T;
    const get = (): T => {
      const now = this.snapshot();
      if (from === now) return value;
      const next = read(now);
      if (from === undefined || !isSame(value, next)) value = next;
      from = now;
      return value;
    };
    const subscribe = (listener: () => void): (() => void) => {
      let last = get();
      return this.subscribe(() => {
        const next = get();
        if (Object.is(next, last)) return;
        last = next;
        listener();
      });
    };
    return { get, subscribe };
  };

  /**
   * The conversation is shown; returns the function for when it is not shown any more. The first call reads the turns, and
   * goes on with one that runs, however many components attach. The last one cancels nothing. Bound.
   */
  readonly attach = (): (() => void) => {
    this.#attached += 1;
    if (!this.#isAttached) {
      this.#isAttached = true;
      this.#engine.act("attach", { fact: Fact.Attach });
    }
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#attached -= 1;
      // Components that are shown again at once, as in React's StrictMode, do not count.
      setTimeout(() => this.#detach());
    };
  };

  #detach(): void {
    if (this.#attached > 0 || !this.#isAttached) return;
    this.#isAttached = false;
    this.#engine.act("attach", { fact: Fact.Detach });
  }

  /**
   * Sends a message: at once, or as `whenBusy` says while a turn runs. Returns its key: that of its turn, or of its place
   * in the queue. It is shown in the same event. Bound.
   *
   * Throws an `InputError` if it breaks a rule, and a `StateError` if calls wait for an answer, or if a turn runs and
   * `whenBusy` is `"reject"`. Then nothing is sent or shown.
   */
  readonly send = (input: TurnInput, options: SendOptions = {}): string => {
    const { whenBusy, discardPending, turnOptions } = options;
    demand(whenBusy === undefined || whenBusy in BUSY, '`whenBusy` must be "queue", "steer", "interrupt" or "reject"');
    const number = (whenBusy ? BUSY[whenBusy] : 0) + (discardPending ? 8 : 0);
    return this.#engine.act("send", { fact: Fact.Send, number, lines: [messageLine(input)] }, turnOptions === undefined ? undefined : { turnOptions });
  };

  /** Stops what runs, on the server and here, and holds the queue. A message that was not sent goes back to the draft. Bound. */
  readonly stop = async (): Promise<void> => {
    this.#engine.act("stop", { fact: Fact.Stop });
  };

  /**
   * Answers what waits, by its key in `pending` or that of its call; `null` takes the answer back. It is kept, and goes out
   * at once where the protocol takes that, else together with the last one that is missing. Bound.
   *
   * Throws a `StateError` if the call does not wait, or was answered.
   */
  readonly answer = (key: string, answer: Answer | null): void => {
    const { planned } = this.#engine;
    const asked = planned.calls.find(({ call }) => this.#pendingKey(call) === key);
    if (!asked) throw new StateError("turn_not_running", "the call does not wait for an answer");
    const lines = [asked.call, ...(answer ? [JSON.stringify(answer)] : [])];
    this.#engine.act("answer", { fact: Fact.Answer, key: asked.turn, number: Number(answer !== null), lines });
  };

  /** Goes on: after the person has signed in to a server, or with tools of the page that were stopped. Bound. */
  readonly proceed = (): void => {
    this.#engine.act("proceed", { fact: Fact.Proceed });
  };

  /** Sends what failed again, in its place; a turn whose end is not known is read on. Takes the key of any of its rows. Returns the key of the turn. Bound. */
  readonly retry = (key: string): string => this.#again("retry", Fact.Retry, key);

  /** Asks for another answer: a sibling where the protocol can branch, else a new turn. Takes the key of any of the answer's rows. Bound. */
  readonly regenerate = (key: string, options: Pick<SendOptions, "turnOptions"> = {}): string => this.#again("regenerate", Fact.Regenerate, key, options);

  /** Asks something else in place of a question, as a sibling (`info.capabilities.fork`). Takes the key of its row. Bound. */
  readonly edit = (key: string, input: TurnInput): string =>
    this.#engine.act("edit", { fact: Fact.Edit, key: this.#turnKey(key), lines: [messageLine(input)] });

  /** Shows the branch with this turn: a key of `branch.of`. Bound. */
  readonly show = (turnKey: string): void => {
    this.#engine.act("show", { fact: Fact.Show, key: this.#engine.keyOf(turnKey) });
  };

  /** Takes back what failed or may not have arrived, and returns it. Takes the key of its row. Bound. */
  readonly dismiss = (key: string): readonly TurnInputItem[] => this.#engine.actBack("dismiss", { fact: Fact.Dismiss, key: this.#turnKey(key) });

  /** Keeps what is written. Bound. */
  readonly setDraft = (draft: Draft): void => {
    const isEmpty = draft.text === "" && draft.parts.length === 0;
    this.#engine.act("setDraft", { fact: Fact.Draft, lines: [isEmpty ? "" : JSON.stringify(draft)] });
  };

  /** Reads the turns before those that are shown. Bound. */
  readonly loadEarlier = async (): Promise<void> => {
    this.#engine.act("loadEarlier", { fact: Fact.LoadEarlier });
  };

  /** Looks for turns of other tabs and people. It is done by itself when the page is shown again. Bound. */
  readonly catchUp = async (): Promise<void> => {
    this.#engine.act("catchUp", { fact: Fact.CatchUp });
  };

  /** Calls `listener` for each event of this kind. Returns the function that removes it. */
  on<T extends keyof ConversationTopics>(topic: T, listener: (event: ConversationTopics[T]) => void): () => void {
    return this.#topics.add(topic, listener as (value: (ConversationTopics & { change: void })[T]) => void);
  }

  /** The object of a turn that was started or is read here; `undefined` for one that is over, or is not shown. */
  turnOf(turnKey: string): Turn | undefined {
    return this.#engine.turnOf(turnKey);
  }

  /** What is shown, as JSON: for `conversations.open()` on another page. */
  dehydrate(): Dehydrated {
    const { sessionId, agentName, title, hasEarlier } = this.#info.get();
    const keys = [...new Set(this.#rows.get().map(({ turn }) => turn))];
    const turns = keys.flatMap((key) => {
      const facts = this.#engine.view.factsOf(key);
      return facts && !isLive(facts.snapshot) ? [{ key, createdAt: facts.createdAt, snapshot: withoutError(facts.snapshot) }] : [];
    });
    return { sessionId, agentName, title, hasEarlier, turns };
  }

  /** Whether something runs here. @internal */
  get isBusy(): boolean {
    return this.#status.get().canStop;
  }

  /** Whether the page shows it, or something of the person is in it. @internal */
  get isNeeded(): boolean {
    return this.#isAttached || this.isBusy || this.#queue.get().length > 0;
  }

  /** Lets go of the connection. Turns continue on the server. @internal */
  close(): void {
    this.#engine.close();
  }

  /** Resolves the key of a row, a part or a turn to the plan's key of its turn. */
  #turnKey(key: string): number {
    const { view } = this.#engine;
    const turn = view.value("message", key)?.turn ?? (view.value("turn", key) ? key : key.replace(/\/end$/, ""));
    return this.#engine.keyOf(turn);
  }

  #again(method: string, fact: typeof Fact.Retry | typeof Fact.Regenerate, key: string, options?: Pick<SendOptions, "turnOptions">): string {
    const turn = this.#turnKey(key);
    const input = this.#engine.questionOf(turn)?.snapshot().input ?? NONE;
    return this.#engine.act(method, { fact, key: turn, lines: [input.length > 0 ? JSON.stringify(input) : ""] }, options?.turnOptions && { turnOptions: options.turnOptions });
  }

  #queueActions(): QueueActions {
    const engine = this.#engine;
    const keyOf = (key: string): number => engine.keyOf(key);
    return {
      edit: (key, input) => void engine.act("edit", { fact: Fact.EditQueued, key: keyOf(key), lines: [messageLine(input)] }),
      remove: (key) => engine.actBack("remove", { fact: Fact.RemoveQueued, key: keyOf(key) }),
      move: (key, to) => void engine.act("move", { fact: Fact.MoveQueued, key: keyOf(key), number: to }),
      sendNow: (key) => void engine.act("sendNow", { fact: Fact.SendNow, key: keyOf(key) }),
      steer: (key) => void engine.act("steer", { fact: Fact.SteerQueued, key: keyOf(key) }),
      hold: (on) => void engine.act("hold", { fact: Fact.Hold, number: Number(on) }),
    };
  }

  async #load(): Promise<void> {
    await this.#engine.start();
    this.#engine.tell({ fact: Fact.CatchUp });
    this.#engine.flush();
    if (this.#status.get().phase !== "loading") return;
    await new Promise<void>((resolve) => {
      const remove = this.#status.subscribe(() => {
        if (this.#status.get().phase === "loading") return;
        remove();
        resolve();
      });
    });
  }

  /** Shows a conversation that was read before, until it is read here. */
  #hydrate({ turns }: Dehydrated): void {
    const { view } = this.#engine;
    for (const { key, snapshot, createdAt } of turns) {
      view.show({ key, snapshot, createdAt, branch: null, canRetry: false, delivery: "sent", error: null, steered: NONE });
    }
    view.arrange(turns.map(({ key }) => key));
    this.#publish();
  }

  #host(): EngineHost {
    return {
      publish: () => this.#publish(),
      giveBack: (input) => this.#giveBack(input),
      began: (turn) => this.#topics.tell("turn", turn),
      ended: (turn) => this.#topics.tell("end", turn),
      opened: (session) => this.#topics.tell("session", session),
      failed: (error) => this.#topics.tell("error", error),
    };
  }

  /** Puts what was not sent before what is written. */
  #giveBack(input: readonly TurnInputItem[]): void {
    const { text, parts } = this.#draft.get();
    const given = input.flatMap((item) => (item.type === "user.message" ? partsOf(item) : []));
    const texts = [textOf(given), text].filter((one) => one !== "");
    const draft: Draft = { text: texts.join("\n"), parts: [...given.filter(({ type }) => type !== "text"), ...parts] };
    this.#engine.tell({ fact: Fact.Draft, lines: [JSON.stringify(draft)] });
  }

  /** Publishes what has changed: sets all readables, and then tells their listeners. */
  #publish(): void {
    const { view, planned } = this.#engine;
    const changes = view.takeChanges();
    const told: Cell<unknown>[] = [];
    const put = <T>(cell: Cell<T>, value: T): void => {
      if (cell.put(value)) told.push(cell as Cell<unknown>);
    };
    // Until the turns were read, those of an earlier page are shown.
    const isRead = this.#engine.isStarted && planned.phase !== "loading";
    if (isRead) this.#initial = undefined;
    put(this.#rows, view.rows);
    put(this.#status, kept(this.#status.get(), this.#statusNow()));
    put(this.#pending, keptList(this.#pending.get(), this.#pendingNow()));
    put(this.#queue, keptList(this.#queue.get(), this.#queueNow()));
    put(this.#draft, this.#draftNow());
    put(this.#info, kept(this.#info.get(), this.#infoNow()));
    for (const kind of ["message", "call", "thread", "turn"] as const) told.push(...(this.#keyed[kind].put(changes[kind]) as Cell<unknown>[]));
    if (changes.message.size > 0 || told.includes(this.#rows as Cell<unknown>)) this.#messages = undefined;
    else if (told.length === 0) return;
    this.#snapshot = undefined;
    for (const cell of told) cell.tell();
    this.#topics.tell("change", undefined);
  }

  #statusNow(): Status {
    const { planned, error, isStarted } = this.#engine;
    const { phase, canSend, canStop, canSteer, heldQueue, path } = planned;
    const last = path.at(-1);
    const reconnecting = last && this.#engine.view.factsOf(this.#engine.nameOf(last.key))?.snapshot.reconnecting;
    const isIdle = phase === "idle";
    const now = !isStarted && this.#isAttached && !error ? "loading" : isIdle && error ? "failed" : phase;
    return { phase: now, canSend, canStop, canSteer, heldQueue, attempt: reconnecting?.attempt ?? null, error };
  }

  #pendingNow(): Pending[] {
    const engine = this.#engine;
    return engine.planned.calls.flatMap(({ turn, call, who, sent, answer }) => {
      const key = engine.nameOf(turn);
      const snapshot = engine.view.factsOf(key)?.snapshot;
      const action = snapshot && actionIn(snapshot, call);
      if (!action || who === TOOL || sent) return [];
      const given = answer === "" ? null : { answer: JSON.parse(answer) as Answer, sent };
      return [{ key: this.#pendingKey(call), action, turn: key, canRemember: canRemember(action, engine.session?.agent?.tools ?? []), answer: given }];
    });
  }

  /** The key of what waits: that of its call, if that is shown. */
  #pendingKey(call: string): string {
    const id = callIdIn(call);
    return (id !== undefined && this.#engine.view.callKey(id)) || call;
  }

  #queueNow(): Queued[] {
    return this.#engine.planned.queue.map(({ key, state, input }) => ({
      key: this.#engine.nameOf(key),
      input: JSON.parse(input) as TurnInputItem[],
      how: state === "steering" || state === "unknown" ? "steer" : "queue",
      state: state === "steering" ? "waits" : state,
    }));
  }

  #draftNow(): Draft {
    const { draft } = this.#engine.planned;
    if (draft === "") return EMPTY_DRAFT;
    const before = this.#draft.get();
    return JSON.stringify(before) === draft ? before : (Object.freeze(JSON.parse(draft)) as Draft);
  }

  #infoNow(): Info {
    const { session, sessionId, planned, isStarted } = this.#engine;
    const first = this.#engine.view.factsOf(this.#rows.get()[0]?.turn ?? "")?.snapshot.input;
    return {
      sessionId,
      agentName: session?.agentName ?? this.#initial?.agentName ?? this.#agentName,
      title: session?.title || this.#initial?.title || (first && titleOf(first)) || null,
      capabilities: session?.capabilities ?? null,
      hasEarlier: isStarted ? planned.hasEarlier : (this.#initial?.hasEarlier ?? false),
    };
  }

  #snapshotNow(): Snapshot {
    const messages = this.messages;
    return Object.freeze({
      status: this.#status.get(),
      rows: this.#rows.get(),
      // Made when it is read.
      get messages() {
        return messages.get();
      },
      pending: this.#pending.get(),
      queue: this.#queue.get(),
      draft: this.#draft.get(),
      info: this.#info.get(),
    });
  }
}

const IDLE: Status = Object.freeze({ phase: "idle", canSend: true, canStop: false, canSteer: false, heldQueue: false, attempt: null, error: null });

/** An input as the line of a fact. */
function messageLine(input: TurnInput): string {
  const items = typeof input === "string" ? [{ type: "user.message", content: input }] : [input].flat();
  demand(items.length > 0 && items.every((item) => (item as TurnInputItem).type === "user.message"), "a message must be a text, or items of type `user.message`; calls are answered with `answer()`");
  return checkedInput(items);
}

/** The new value; the known one if it is the same. */
function kept<T extends object>(before: T, next: T): T {
  return isShallowlySame(before, next) ? before : Object.freeze(next);
}

/** The same for lists of small values. */
function keptList<T extends object>(before: readonly T[], next: readonly T[]): readonly T[] {
  const known = new Map(before.map((item) => [JSON.stringify(item), item]));
  const list = next.map((item) => known.get(JSON.stringify(item)) ?? Object.freeze(item));
  return list.length === before.length && list.every((item, at) => item === before[at]) ? before : Object.freeze(list);
}
