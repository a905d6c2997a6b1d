// A conversation: what a page shows of a session, and what a person does with it.
import { checkedInput, InputError } from "../client/face.js";
import type { Readable } from "../common/readable.js";
import type { TurnInput } from "../turn/options.js";
import type { Turn } from "../turn/turn.js";
import type { TurnInputItem } from "../wire/events.js";
import { type Dehydrated, type DehydratedTurn, keyOf, withoutError } from "./dehydrated.js";
import { Engine, type EngineOptions } from "./engine.js";
import { bindForm, type Form, type Forms } from "./form.js";
import type { Fact } from "./plan/facts.js";
import { Published } from "./published.js";
import { partsIn, textOf } from "./reading.js";
import { demandBusy, refusalError } from "./refusals.js";
import type { Action, Answer, Call, ConversationTopics, Draft, Info, Item, Message, Pending, Queued, Row, SendOptions, Snapshot, Status, Thread, TurnView } from "./types.js";

/** The actions on the queue. Keys are those of `Queued`. */
export interface QueueActions {
  /** Changes a message. */
  edit(key: string, input: TurnInput): void;
  /** Removes a message from the queue, and returns it. */
  remove(key: string): readonly TurnInputItem[];
  /** Moves a message to an index, from 0. */
  move(key: string, to: number): void;
  /** Sends a message next, and stops the running turn for it. */
  sendNow(key: string): void;
  /** Sends a message to the running turn. */
  steer(key: string): void;
  /** Holds the queue, or releases it. */
  hold(on: boolean): void;
}

/**
 * A conversation with an agent. It belongs to no component: `Conversations` keeps it, and `attach()` shows it.
 *
 * Its readables change only when they are published: all together, at most once per frame, and at once for the person's own
 * actions. Methods are bound. After `forget`, methods that act throw a `StateError`; readables keep their values.
 */
export class Conversation {
  /** Unique among the conversations of the page. */
  readonly key: string;
  /** The conversation's phase, and what the person can do. */
  declare readonly status: Readable<Status>;
  /** The rows of the list. The same array while messages grow. */
  declare readonly rows: Readable<readonly Row[]>;
  /** The keys of the shown turns, oldest first, including those without a row yet. The same array until a turn is added or removed. */
  declare readonly turns: Readable<readonly string[]>;
  /** The actions that wait for the person, from all threads. */
  declare readonly pending: Readable<readonly Pending[]>;
  /** The messages that wait to be sent, and the actions on them. */
  declare readonly queue: Readable<readonly Queued[]> & QueueActions;
  /** The unsent draft. It survives a reload. */
  declare readonly draft: Readable<Draft>;
  /** The session, its title and its capabilities. */
  declare readonly info: Readable<Info>;
  /** All messages, for small pages. Created when it is read. */
  declare readonly messages: Readable<readonly Message[]>;
  /**
   * The keys of everything that a simple page shows, in one list: messages, pending actions, queued messages, and the status. The same
   * array while messages grow.
   */
  declare readonly items: Readable<readonly string[]>;
  /** An item, by its key in `items`. The same readable each time. Bound. */
  declare readonly item: (key: string) => Readable<Item | undefined>;
  /** Calls `listener` after each change of anything. Returns the function that removes it. Bound. */
  declare readonly subscribe: (listener: () => void) => () => void;
  /** The whole conversation: the same object until something is published. Bound. */
  declare readonly snapshot: () => Snapshot;
  /** A message, by the key of its row. The same readable each time. Bound. */
  declare readonly message: (key: string) => Readable<Message | undefined>;
  /** A call, by the key of its part. The same readable each time. Bound. */
  declare readonly call: (key: string) => Readable<Call | undefined>;
  /** A sub-agent's thread, by `call.thread`. The same readable each time. Bound. */
  declare readonly thread: (key: string) => Readable<Thread | undefined>;
  /** A turn, by `row.turn`. The same readable each time. Bound. */
  declare readonly turn: (key: string) => Readable<TurnView | undefined>;
  readonly #engine: Engine;
  readonly #shown: Published;
  #isClosed = false;
  #loaded: Promise<void> | undefined;
  readonly #forms: Forms = new Map();

  /** @internal */
  constructor(key: string, options: EngineOptions, sessionId: string | null, initial?: Dehydrated) {
    const engine = (this.#engine = new Engine(options, key, sessionId, {
      publish: (isPlanNew) => shown.publish(isPlanNew),
      giveBack: (input) => this.#giveBack(input),
    }));
    if (initial) engine.hydrate(initial.turns);
    const shown = (this.#shown = new Published(engine, options.agentName, initial));
    Object.assign(shown.queue, this.#queueActions());
    Object.assign(this, shown);
    this.key = key;
  }

  /** Resolves when the turns were read, or could not be: see `status`. Accessing it starts the reading. For Suspense. */
  get loaded(): Promise<void> {
    return (this.#loaded ??= this.#load());
  }

  async #load(): Promise<void> {
    // A component may access it while rendering, so nothing is notified then.
    await undefined;
    const isLoading = (): boolean => this.status.get().phase === "loading";
    if (!this.#isClosed && !this.#engine.planned.isLoaded && !isLoading()) this.#act("loaded", { kind: "catchUp" });
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (isLoading()) return;
        remove();
        resolve();
      };
      const remove = this.status.subscribe(look);
      look();
    });
  }

  /**
   * What `read` returns for the whole conversation: notifies only when that changes. `isSame` compares two values; by default they must be
   * identical. Another readable each time: a component creates it once. Bound.
   */
  readonly select = <T>(read: (now: Snapshot) => T, isSame: (a: T, b: T) => boolean = Object.is): Readable<T> => {
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
        const before = last;
        last = get();
        if (!Object.is(before, last)) listener();
      });
    };
    return { get, subscribe };
  };

  /**
   * Shows the conversation; returns the function that ends this. The first call reads the turns and follows one that runs, however many
   * components attach. The last release cancels nothing. Bound.
   */
  readonly attach = (): (() => void) => {
    this.#engine.attached += 1;
    this.#setAttached();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#engine.attached -= 1;
      // Components that are shown again at once, as in React's StrictMode, do not count.
      setTimeout(() => this.#setAttached());
    };
  };

  #setAttached(): void {
    const isAttached = this.#engine.attached > 0;
    if (isAttached === this.#engine.isShown || this.#isClosed) return;
    this.#engine.isShown = isAttached;
    this.#act("attach", { kind: isAttached ? "attach" : "detach" });
  }

  /**
   * Sends a message: at once, or as `whenBusy` says while a turn runs. Returns its key: its turn's, or its key in the queue. It is shown in
   * the same event. Bound.
   *
   * Throws an `InputError` if it breaks a rule, and a `StateError` if calls wait for an answer, or if a turn runs and
   * `whenBusy` is `"reject"`. Then nothing is sent or shown.
   */
  readonly send = (input: TurnInput, options: SendOptions = {}): string => {
    const { whenBusy, discardPending, turnOptions } = options;
    demandBusy(whenBusy);
    const fact: Fact = { kind: "send", input: this.#messageOf(input), ...(whenBusy && { whenBusy }), ...(discardPending && { discard: true }) };
    return this.#act("send", fact, turnOptions && { turnOptions });
  };

  /**
   * Stops the running turn, on the server and here, and holds the queue. An unsent message returns to the draft. Resolves when the server
   * has responded. Bound.
   */
  readonly stop = (): Promise<void> => this.#engine.actAndWait("stop", { kind: "stop" });

  /**
   * Answers a pending action, by its key in `pending` or its call's key; `null` takes the answer back. The answer is kept, and sent at once
   * if the protocol supports that, otherwise together with the last missing one. Bound.
   *
   * Throws a `StateError` if the call is not pending, or was answered.
   */
  readonly answer = (key: string, answer: Answer | null): void => {
    const asked = this.#engine.planned.calls.find(({ turn, call }) => this.#engine.callKey(turn, call) === key);
    if (!asked) throw refusalError("notWaiting", "answer");
    const { turn, call } = asked;
    this.#act("answer", { kind: "answer", turn, call, answer: answer && JSON.stringify(answer) });
  };

  /** Lets a call run, by its key in `pending`. `remember` asks the server not to ask again (`canRemember`). Throws as `answer`. Bound. */
  readonly allow = (key: string, options: Omit<Extract<Answer, { kind: "allow" }>, "kind"> = {}): void => this.answer(key, { kind: "allow", ...options });

  /** Denies a call, by its key in `pending`. Throws as `answer`. Bound. */
  readonly deny = (key: string, reason?: string): void => this.answer(key, { kind: "deny", ...(reason && { reason }) });

  /** Does one of an item's `actions`. Takes the key of the item. Throws as the method of that name. Bound. */
  readonly act = (key: string, action: Action): void => {
    if (action === "remove") this.queue.remove(key);
    else if (action === "release") this.queue.hold(false);
    else void this[action](key);
  };

  /** Continues: after the person has signed in to a server, or with tools of the page that were stopped. Bound. */
  readonly proceed = (): void => void this.#act("proceed", { kind: "proceed" });

  /**
   * Sends a failed message again, in its place; continues to read a turn with an unknown end. Takes the key of any of its rows. Returns the
   * key of the turn. Bound.
   */
  readonly retry = (key: string): string => {
    const turn = this.#turnKey(key);
    return this.#act("retry", { kind: "retry", turn, input: this.#engine.questionOf(turn) });
  };

  /**
   * Requests another answer: as a sibling if the protocol can branch, otherwise in a new turn. Takes the key of any of the answer's rows.
   * Bound.
   */
  readonly regenerate = (key: string, { turnOptions }: Pick<SendOptions, "turnOptions"> = {}): string => {
    const turn = this.#turnKey(key);
    return this.#act("regenerate", { kind: "regenerate", turn, input: this.#engine.questionOf(turn) }, turnOptions && { turnOptions });
  };

  /** Asks another question in place of this one, as a sibling (`info.capabilities.fork`). Takes the key of its row. Bound. */
  readonly edit = (key: string, input: TurnInput): string => this.#act("edit", { kind: "edit", turn: this.#turnKey(key), input: this.#messageOf(input) });

  /** Shows the branch with this turn: a key of `branch.of`. Bound. */
  readonly show = (turnKey: string): void => void this.#act("show", { kind: "show", turn: this.#engine.keyOf(turnKey) });

  /** Removes a message that failed or may not have arrived, and returns it. Takes the key of its row. Bound. */
  readonly dismiss = (key: string): readonly TurnInputItem[] => this.#engine.actBack("dismiss", { kind: "dismiss", turn: this.#turnKey(key) });

  /** Keeps the draft. A string leaves its files unchanged. Bound. */
  readonly setDraft = (draft: Draft | string): void => {
    const { text, parts } = typeof draft === "string" ? { ...this.draft.get(), text: draft } : draft;
    this.#engine.write(text === "" && parts.length === 0 ? "" : JSON.stringify({ text, parts }));
  };

  /**
   * Sends the draft and empties it: as the answer to the first question of `pending`, or as a message. Does nothing if the draft is empty.
   * If it is called with a form's event, prevents the browser's own action. Throws as `send` (`status.canSubmit`), and then keeps the
   * draft. Bound.
   */
  readonly submit = (event?: { preventDefault(): void }): void => {
    event?.preventDefault();
    const { text, parts } = this.draft.get();
    const { question } = this.#shown;
    if (text.trim() === "" && (question || parts.length === 0)) return;
    if (question) this.answer(question.key, { kind: "text", content: text });
    else this.send(parts.length === 0 ? text : { type: "user.message", content: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...parts] });
    this.setDraft({ text: "", parts: question ? parts : [] });
  };

  /**
   * Makes a form of the page a form of the draft: its first text field shows the draft, stores changes, and is enabled while
   * `status.canSubmit`. The form submits; in a text area, so does Enter without Shift. Returns the function that releases the form. A form
   * that is bound to another conversation is released, too; `null` releases those that have left the document: pass this method on as a
   * ref. There may be several forms. Bound.
   */
  readonly bindForm = (form: object | null): (() => void) => bindForm(form as Form | null, this.#forms, this);

  /** Reads the turns before the shown ones; resolves when they are shown, or could not be read. Bound. */
  readonly loadEarlier = (): Promise<void> => this.#engine.actAndWait("loadEarlier", { kind: "loadEarlier" });

  /** Looks for turns of other tabs and people. This happens automatically when the page is shown again. Bound. */
  readonly catchUp = (): Promise<void> => this.#engine.actAndWait("catchUp", { kind: "catchUp" });

  /** Calls `listener` for each event of this kind. Returns the function that removes it. Bound. */
  readonly on = <T extends keyof ConversationTopics>(topic: T, listener: (event: ConversationTopics[T]) => void): (() => void) => this.#engine.topics.add(topic, listener);

  /** The object of a turn, by `row.turn`, while it accepts actions. Bound. */
  readonly turnOf = (key: string): Turn | undefined => this.#engine.turnOf(key);

  /** The conversation as JSON: `conversations.open(id, dehydrated)` shows it again. Bound. */
  readonly dehydrate = (): Dehydrated => {
    const { sessionId, agentName, title, hasEarlier } = this.info.get();
    const { view } = this.#engine;
    const turns = new Map<string, DehydratedTurn>();
    for (const name of view.path) {
      const { snapshot, createdAt = null } = view.factsOf(name) ?? {};
      // A turn without an id is not on the server yet. A turn that continues another one may have its id.
      const own = snapshot?.turn_id && keyOf(snapshot.turn_id);
      const key = own && !turns.has(own) ? own : name;
      if (own) turns.set(key, { key, createdAt, snapshot: withoutError(snapshot) });
    }
    return { sessionId, agentName, title, hasEarlier, turns: [...turns.values()] };
  };

  /** The current session, even before it is published. @internal */
  get sessionId(): string | null {
    return this.#engine.sessionId;
  }

  /** Whether a registry must keep it: it is shown, something runs or waits for the person, or it has an unsent text. @internal */
  get isNeeded(): boolean {
    return this.#engine.attached > 0 || this.#engine.isHolding || !/idle|failed/.test(this.status.get().phase);
  }

  /** Releases everything. @internal */
  close(): void {
    this.#isClosed = true;
    this.#engine.close();
  }

  #act(method: string, fact: Fact, options?: Pick<SendOptions, "turnOptions"> | undefined): string {
    return this.#engine.act(method, fact, options);
  }

  /** Resolves the key of a row, a part or a turn to the plan's key of its turn. */
  #turnKey(key: string): number {
    return this.#engine.keyOf(this.message(key).get()?.turn ?? key.replace(/\/end$/, ""));
  }

  #queueActions(): QueueActions {
    const keyOf = (key: string): number => this.#engine.keyOf(key);
    return {
      edit: (key, input) => void this.#act("edit", { kind: "editQueued", key: keyOf(key), input: this.#messageOf(input) }),
      remove: (key) => this.#engine.actBack("remove", { kind: "removeQueued", key: keyOf(key) }),
      move: (key, to) => void this.#act("move", { kind: "moveQueued", key: keyOf(key), to }),
      sendNow: (key) => void this.#act("sendNow", { kind: "sendNow", key: keyOf(key) }),
      steer: (key) => void this.#act("steer", { kind: "steerQueued", key: keyOf(key) }),
      hold: (on) => void this.#act("hold", { kind: "hold", on }),
    };
  }

  /** A message as JSON. Throws if it breaks a rule that can be checked before sending. */
  #messageOf(input: TurnInput): string {
    const items = typeof input === "string" ? [{ type: "user.message", content: input }] : [input].flat();
    const isMessage = items.length > 0 && items.every((item) => (item as TurnInputItem | null)?.type === "user.message");
    if (!isMessage) throw new InputError("invalid_input", "a message is a text, or items of type `user.message`; calls are answered with `answer()`");
    if (input === "") throw new InputError("invalid_input", "a message must not be empty");
    return checkedInput(items);
  }

  /** Puts an unsent message before the draft. */
  #giveBack(input: readonly TurnInputItem[]): void {
    const { text, parts } = this.draft.get();
    const given = partsIn(input);
    const texts = [textOf(given), text].filter((one) => one !== "");
    this.setDraft({ text: texts.join("\n"), parts: [...given.filter(({ type }) => type !== "text"), ...parts] });
  }
}
