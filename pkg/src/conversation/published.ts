// A conversation's published readables and their values. Unchanged values stay the same objects.
import { Listeners } from "../client/face.js";
import type { Readable } from "../common/readable.js";
import type { TurnInputItem } from "../wire/events.js";
import { actionIn, askedBy, canRemember, wordsOf } from "./answers.js";
import { Cell, type Cells, cells } from "./cells.js";
import type { Dehydrated } from "./dehydrated.js";
import type { Engine } from "./engine.js";
import { partsIn, textOf, titleOf } from "./reading.js";
import { kept, keptItems, keptList, textPart } from "./shown.js";
import type { Action, Call, Draft, Info, Item, Message, Pending, Queued, Row, Snapshot, Status, Thread, TurnView } from "./types.js";

const NONE: readonly never[] = Object.freeze([]);
const EMPTY_DRAFT: Draft = Object.freeze({ text: "", parts: NONE });
/** The parts of a snapshot. */
const WHOLE = ["status", "rows", "turns", "messages", "pending", "queue", "draft", "info"] as const;
const KINDS = ["message", "call", "thread", "turn"] as const;

/** The readables of a conversation. */
export class Published {
  readonly status: Cell<Status>;
  readonly rows: Cell<readonly Row[]>;
  readonly turns: Cell<readonly string[]>;
  readonly pending = new Cell<readonly Pending[]>(NONE);
  readonly queue = new Cell<readonly Queued[]>(NONE);
  readonly draft = new Cell<Draft>(EMPTY_DRAFT);
  readonly info: Cell<Info>;
  readonly messages: Readable<readonly Message[]>;
  readonly items: Cell<readonly string[]>;
  readonly message: Cells<Message>;
  readonly call: Cells<Call>;
  readonly thread: Cells<Thread>;
  readonly turn: Cells<TurnView>;
  readonly item: Cells<Item>;
  readonly #engine: Engine;
  readonly #agentName: string;
  /** The turns read before, until they are read here. */
  readonly #initial: Dehydrated | undefined;
  readonly #listeners = new Listeners<{ change: void }>();
  #messages: readonly Message[] | undefined;
  /** The items after the messages. */
  #asides: ReadonlyMap<string, Item> = new Map();
  #snapshot: Snapshot | undefined;
  #draftText = "";
  /** The inputs of the queue by their texts (JSON). */
  #inputs = new Map<string, readonly TurnInputItem[]>();

  constructor(engine: Engine, agentName: string, initial: Dehydrated | undefined) {
    const { view } = engine;
    this.#engine = engine;
    this.#agentName = agentName;
    this.#initial = initial;
    this.rows = new Cell(view.rows);
    this.turns = new Cell(view.path);
    this.message = cells((key) => view.value("message", key));
    this.call = cells((key) => view.value("call", key));
    this.thread = cells((key) => view.value("thread", key));
    this.turn = cells((key) => view.value("turn", key));
    this.item = cells((key) => view.value("message", key) ?? this.#asides.get(key));
    this.items = new Cell(view.rows.map(({ key }) => key));
    this.messages = { get: () => (this.#messages ??= view.messages()), subscribe: (listener) => this.subscribe(listener) };
    this.info = new Cell(this.#infoNow());
    this.status = new Cell(Object.freeze(this.#statusNow()));
  }

  /** Calls `listener` after each change of anything. */
  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add("change", listener);

  /** The whole conversation: the same object until something is published. */
  readonly snapshot = (): Snapshot => (this.#snapshot ??= this.#snapshotNow());

  /** Sets all readables, and then notifies their listeners. Without `isPlanNew`, only turns have changed. */
  publish(isPlanNew: boolean): void {
    const { view } = this.#engine;
    const changes = view.takeChanges();
    const told: Cell<unknown>[] = [];
    const put = <T>(cell: Cell<T>, value: T): void => {
      if (cell.put(value)) told.push(cell as Cell<unknown>);
    };
    put(this.draft, this.#draftNow());
    put(this.rows, view.rows);
    put(this.turns, view.path);
    if (isPlanNew) {
      put(this.pending, keptItems(this.#pendingNow(), this.pending.get()));
      put(this.queue, keptItems(this.#queueNow(), this.queue.get()));
      put(this.info, kept(this.#infoNow(), this.info.get()));
    }
    put(this.status, kept(this.#statusNow(), this.status.get()));
    const changed = [...changes.message];
    if (told.length > 0) {
      changed.push(...this.#asides.keys());
      this.#asides = this.#asidesNow();
      changed.push(...this.#asides.keys());
      put(this.items, keptList([...view.rows.map(({ key }) => key), ...this.#asides.keys()], this.items.get()));
    }
    told.push(...(this.item.put(changed) as Cell<unknown>[]));
    for (const kind of KINDS) told.push(...(this[kind].put(changes[kind]) as Cell<unknown>[]));
    if (changes.message.size > 0 || told.includes(this.rows as Cell<unknown>)) this.#messages = undefined;
    else if (told.length === 0) return;
    this.#snapshot = undefined;
    for (const cell of told) cell.tell();
    this.#listeners.tell("change", undefined);
  }

  /** The question that a text answers. */
  get question(): Pending | undefined {
    return this.pending.get().find(({ asks }) => asks === "text");
  }

  #statusNow(): Status {
    const engine = this.#engine;
    const { phase, canSend, canQueue, canStop, canSteer, canProceed, heldQueue, path } = engine.planned;
    const { error } = engine;
    const attempt = engine.view.factsOf(path.at(-1)?.name ?? "")?.snapshot.reconnecting?.attempt ?? null;
    const canSubmit = canSend || canQueue || this.question !== undefined;
    return { phase: phase === "idle" && error ? "failed" : phase, canSend, canSubmit, canStop, canSteer, canProceed, heldQueue, attempt, error };
  }

  #pendingNow(): Pending[] {
    const engine = this.#engine;
    return engine.planned.calls.flatMap(({ turn, call, who, sent }) => {
      const key = engine.nameOf(turn);
      const snapshot = engine.view.factsOf(key)?.snapshot;
      const action = snapshot && actionIn(snapshot, call);
      if (!action || who === "tool" || sent) return [];
      const pendingKey = engine.callKey(turn, call);
      const answer = engine.calls.answerOf(pendingKey);
      const text = wordsOf(action, engine.view.value("call", pendingKey)?.arguments);
      return [{ key: pendingKey, action, asks: answer ? null : askedBy(action), text, turn: key, canRemember: canRemember(action, engine.session?.agent?.tools ?? []), answer }];
    });
  }

  #queueNow(): Queued[] {
    const { planned } = this.#engine;
    const before = this.#inputs;
    this.#inputs = new Map(planned.queue.map(({ input }) => [input, before.get(input) ?? (Object.freeze(JSON.parse(input)) as TurnInputItem[])]));
    return planned.queue.map(({ key, state, input }) => {
      const items = this.#inputs.get(input)!;
      return {
        key: this.#engine.nameOf(key),
        input: items,
        text: textOf(partsIn(items)),
        how: state === "steering" || state === "unknown" ? "steer" : "queue",
        state: state === "steering" ? "waits" : state,
      };
    });
  }

  /** Pending actions, queued messages and the status as items. Unchanged ones stay the same objects. */
  #asidesNow(): Map<string, Item> {
    const { phase, error, canProceed, heldQueue, canStop } = this.status.get();
    const text = error?.message ?? (phase === "idle" ? "" : phase);
    const can = [canProceed && "proceed", heldQueue && "release", canStop && "stop"].filter(Boolean) as Action[];
    const items = [
      ...this.pending.get().map(({ key, text, asks }) => this.#aside(key, "ask", text, asks === "approval" ? ["allow", "deny"] : [])),
      ...this.queue.get().map(({ key, text, how }) => this.#aside(key, "queued", text, how === "queue" ? ["remove"] : [])),
      ...(text || can[0] ? [this.#aside("status", "status", text, can)] : []),
    ];
    return new Map(items.map((item) => [item.key, item]));
  }

  #aside(key: string, role: Item["role"], text: string, actions: readonly Action[]): Item {
    const before = this.#asides.get(key);
    if (before?.text === text && String(before.actions) === String(actions)) return before;
    const parts = text === "" ? NONE : Object.freeze([textPart(`${key}/text`, text)]);
    return Object.freeze({ key, role, text, parts, actions: Object.freeze(actions) });
  }

  #draftNow(): Draft {
    const { draft } = this.#engine;
    if (draft === this.#draftText) return this.draft.get();
    this.#draftText = draft;
    return draft === "" ? EMPTY_DRAFT : (Object.freeze(JSON.parse(draft)) as Draft);
  }

  #infoNow(): Info {
    const { session, sessionId, capabilities, planned, view } = this.#engine;
    const initial = planned.isLoaded ? undefined : this.#initial;
    const first = view.factsOf(view.rows[0]?.turn ?? "")?.snapshot.input;
    return {
      sessionId,
      agentName: session?.agentName ?? this.#initial?.agentName ?? this.#agentName,
      title: session?.title || this.#initial?.title || (first && titleOf(first)) || null,
      capabilities,
      hasEarlier: initial ? initial.hasEarlier : planned.hasEarlier,
    };
  }

  #snapshotNow(): Snapshot {
    return Object.freeze(Object.fromEntries(WHOLE.map((name) => [name, this[name].get()]))) as unknown as Snapshot;
  }
}
