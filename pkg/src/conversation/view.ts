// A conversation's rows and parts, assembled from its turns. The cost of a change depends on the turn that changed, and not on the number
// of turns.
import { type CallFacts, isShallowlySame, keptList, type Later, show, type ShownTurn, type TurnFacts } from "./shown.js";
import type { Call, Message, Row, Thread, TurnView } from "./types.js";

/** The parts that have keys. */
export interface Keyed {
  message: Message;
  call: Call;
  thread: Thread;
  turn: TurnView;
}

/** The keys that have changed since they were last taken, by kind. */
export type Changes = { readonly [Kind in keyof Keyed]: ReadonlySet<string> };

/** The shown path of a conversation. */
export class View implements CallFacts {
  readonly calls: CallFacts["calls"];
  readonly #turns = new Map<string, ShownTurn>();
  /** The keys of the shown turns. */
  path: readonly string[] = Object.freeze([]);
  #rows: readonly Row[] = Object.freeze([]);
  #isRearranged = false;
  readonly #values: { [Kind in keyof Keyed]: Map<string, Keyed[Kind]> } = { message: new Map(), call: new Map(), thread: new Map(), turn: new Map() };
  #changed = noChanges();
  /** The names of the calls with facts in later turns: few calls have any. */
  readonly #said = new Set<string>();
  /** The call that started a thread. */
  readonly #parents = new Map<string, string>();
  /** The turns with parts of the thread. */
  readonly #threadTurns = new Map<string, Set<string>>();

  constructor(calls: CallFacts["calls"]) {
    this.calls = calls;
  }

  /** The rows of all turns. The same array until a row is added or removed. */
  get rows(): readonly Row[] {
    if (this.#isRearranged) {
      this.#rows = keptList(this.path.flatMap((key) => this.#turns.get(key)?.rows ?? []), this.#rows);
      this.#isRearranged = false;
    }
    return this.#rows;
  }

  /** The messages of all rows. */
  messages(): readonly Message[] {
    return Object.freeze(this.rows.flatMap(({ key }) => this.#values.message.get(key) ?? []));
  }

  value<Kind extends keyof Keyed>(kind: Kind, key: string): Keyed[Kind] | undefined {
    return this.#values[kind].get(key);
  }

  /** What a turn was last shown with. */
  factsOf(key: string): TurnFacts | undefined {
    return this.#turns.get(key)?.facts;
  }

  /** The key of the call with this name as seen from a turn: its own, or the last one before it. */
  callKey(name: string, turn: string): string | undefined {
    const until = this.path.slice(0, this.path.indexOf(turn) + 1);
    return until.flatMap((key) => this.#turns.get(key)?.callKeys.get(name) ?? []).at(-1);
  }

  /** The facts about a call after its turn, until a turn has another call with this name. */
  later(name: string, turn: string): Later {
    const later: { -readonly [Member in keyof Later]: Later[Member] } = {};
    for (const key of this.#said.has(name) ? this.path.slice(this.path.indexOf(turn) + 1) : []) {
      const { said, callKeys } = this.#turns.get(key) ?? {};
      // The newest fact counts.
      Object.assign(later, said?.get(name));
      if (callKeys?.has(name)) break;
    }
    return later;
  }

  /** Takes the keys that have changed. */
  takeChanges(): Changes {
    const changed = this.#changed;
    this.#changed = noChanges();
    return changed;
  }

  /** Shows these turns, in this order. Forgets all others. */
  arrange(path: readonly string[]): void {
    this.path = keptList(path, this.path);
    this.#isRearranged = true;
    const shown = new Set(path);
    for (const [key, turn] of this.#turns) if (!shown.has(key)) this.#put(key, undefined, turn);
  }

  /** Shows a turn's current state. */
  show(facts: TurnFacts): void {
    const before = this.#turns.get(facts.key);
    if (before && isShallowlySame(before.facts, facts)) return;
    this.#put(facts.key, show(facts, this, before), before);
  }

  /** Shows calls again after a change, by their keys or names. */
  refreshCalls(calls: Iterable<string>): void {
    const all = [...calls];
    if (all.length === 0) return;
    for (const turn of [...this.#turns.values()]) {
      if (all.some((call) => turn.calls.has(call) || turn.callKeys.has(call))) this.#put(turn.facts.key, show(turn.facts, this, turn), turn);
    }
  }

  /** Puts a turn's parts in place of those before; without a turn, removes them. */
  #put(key: string, turn: ShownTurn | undefined, before: ShownTurn | undefined): void {
    if (turn) this.#turns.set(key, turn);
    else this.#turns.delete(key);
    if (turn?.rows !== before?.rows) this.#isRearranged = true;
    this.#replace("message", turn?.messages, before?.messages);
    this.#replace("call", turn?.calls, before?.calls);
    this.#replace("turn", turn && new Map([[key, turn.view]]), before && new Map([[key, before.view]]));
    for (const { thread, key: callKey } of turn?.calls.values() ?? []) {
      if (thread === null || this.#parents.get(thread) === callKey) continue;
      this.#parents.set(thread, callKey);
      this.#join(thread);
    }
    this.#putThreads(key, turn, before);
    for (const name of turn?.said.keys() ?? []) this.#said.add(name);
    const names = [...(turn?.said.keys() ?? []), ...(before?.said.keys() ?? [])];
    this.refreshCalls(names.filter((name) => turn?.said.get(name) !== before?.said.get(name)));
  }

  #putThreads(key: string, turn: ShownTurn | undefined, before: ShownTurn | undefined): void {
    for (const id of new Set([...(turn?.threads.keys() ?? []), ...(before?.threads.keys() ?? [])])) {
      if (turn?.threads.get(id) === before?.threads.get(id)) continue;
      const turns = this.#threadTurns.get(id) ?? new Set();
      if (turn?.threads.has(id)) turns.add(key);
      else turns.delete(key);
      this.#threadTurns.set(id, turns);
      this.#join(id);
    }
  }

  /** Assembles a thread's parts: it may begin in one turn and continue in another. */
  #join(id: string): void {
    const keys = this.#threadTurns.get(id);
    const parts = this.path.flatMap((key) => (keys?.has(key) ? (this.#turns.get(key)?.threads.get(id) ?? []) : []));
    const last = parts.at(-1);
    if (last) {
      const rows = parts.length === 1 ? last.rows : Object.freeze(parts.flatMap((part) => part.rows));
      // Only the turn in which it began may have its title.
      const title = parts.find((part) => part.title !== null)?.title ?? null;
      this.#values.thread.set(id, Object.freeze({ ...last, title, rows, call: this.#parents.get(id) ?? null }));
    } else {
      this.#values.thread.delete(id);
    }
    this.#changed.thread.add(id);
  }

  #replace<Kind extends keyof Keyed>(kind: Kind, next: ReadonlyMap<string, Keyed[Kind]> = new Map(), before: ReadonlyMap<string, Keyed[Kind]> = new Map()): void {
    for (const [key, value] of next) {
      if (before.get(key) === value) continue;
      this.#values[kind].set(key, value);
      this.#changed[kind].add(key);
    }
    for (const key of before.keys()) {
      if (next.has(key)) continue;
      this.#values[kind].delete(key);
      this.#changed[kind].add(key);
    }
  }
}

function noChanges(): { [Kind in keyof Keyed]: Set<string> } {
  return { message: new Set(), call: new Set(), thread: new Set(), turn: new Set() };
}
