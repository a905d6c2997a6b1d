// What a conversation shows, put together from its turns. The cost of a change depends on the turn that changed, and not
// on how many there are.
import type { ToolCallResponse } from "../snapshot/snapshot.js";
import { type CallFacts, isShallowlySame, keptList, show, type ShownTurn, type TurnFacts } from "./shown.js";
import type { Call, Message, Row, Thread, TurnView } from "./types.js";

/** What can be asked for by key. */
export interface Keyed {
  message: Message;
  call: Call;
  thread: Thread;
  turn: TurnView;
}

/** The keys that have changed since they were last taken, by what they name. */
export type Changes = { readonly [Kind in keyof Keyed]: ReadonlySet<string> };

/** The shown path of a conversation. */
export class View {
  readonly #about: Omit<CallFacts, "lateResponseOf">;
  readonly #turns = new Map<string, ShownTurn>();
  /** The keys of the turns that are shown. */
  path: readonly string[] = Object.freeze([]);
  #rows: readonly Row[] = Object.freeze([]);
  #isRearranged = false;
  readonly #values: { [Kind in keyof Keyed]: Map<string, Keyed[Kind]> } = { message: new Map(), call: new Map(), thread: new Map(), turn: new Map() };
  #changed = noChanges();
  readonly #lateResponses = new Map<string, ToolCallResponse>();
  /** The call that began a thread. */
  readonly #parents = new Map<string, string>();
  /** The thread's parts are in these turns. */
  readonly #threadTurns = new Map<string, Set<string>>();

  constructor(about: Omit<CallFacts, "lateResponseOf">) {
    this.#about = about;
  }

  /** The rows of all turns. The same array while no row comes or goes. */
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

  /** What a turn was shown with last. */
  factsOf(key: string): TurnFacts | undefined {
    return this.#turns.get(key)?.facts;
  }

  /** The key of a call by the server's id; the newest turn's if several have it. */
  callKey(callId: string): string | undefined {
    for (const key of [...this.path].reverse()) {
      const callKey = this.#turns.get(key)?.callKeys.get(callId);
      if (callKey !== undefined) return callKey;
    }
    return undefined;
  }

  /** Takes the keys that have changed. */
  takeChanges(): Changes {
    const changed = this.#changed;
    this.#changed = noChanges();
    return changed;
  }

  /** Shows these turns, in this order. Turns that are not among them are forgotten. */
  arrange(path: readonly string[]): void {
    this.path = keptList(path, this.path);
    this.#isRearranged = true;
    const shown = new Set(path);
    for (const [key, turn] of this.#turns) if (!shown.has(key)) this.#remove(key, turn);
  }

  /** Shows a turn as it is now. */
  show(facts: TurnFacts): void {
    const before = this.#turns.get(facts.key);
    const { snapshot } = facts;
    if (before && isShallowlySame(before.facts, facts)) return;
    this.#put(show(facts, this.#facts, before), before);
    if (before?.facts.snapshot !== snapshot) this.#takeLateResponses(facts);
  }

  /** Shows calls again whose answers or actions have changed. */
  refreshCalls(callIds: Iterable<string>): void {
    const ids = [...callIds];
    if (ids.length === 0) return;
    for (const turn of [...this.#turns.values()]) {
      if (ids.some((id) => turn.callKeys.has(id))) this.#put(show(turn.facts, this.#facts, turn), turn);
    }
  }

  readonly #facts: CallFacts = {
    pendingOf: (callId) => this.#about.pendingOf(callId),
    answerOf: (callId) => this.#about.answerOf(callId),
    lateResponseOf: (callId) => this.#lateResponses.get(callId) ?? null,
  };

  /** Results of calls of earlier turns. */
  #takeLateResponses({ snapshot }: TurnFacts): void {
    const added: string[] = [];
    for (const { tool_responses } of snapshot.threads) {
      for (const response of tool_responses) {
        if (this.#lateResponses.get(response.tool_call_id) === response) continue;
        this.#lateResponses.set(response.tool_call_id, response);
        added.push(response.tool_call_id);
      }
    }
    if (added.length > 0) this.refreshCalls(added);
  }

  #put(turn: ShownTurn, before: ShownTurn | undefined): void {
    const { key } = turn.facts;
    this.#turns.set(key, turn);
    if (turn.rows !== before?.rows) this.#isRearranged = true;
    this.#replace("message", turn.messages, before?.messages);
    this.#replace("call", turn.calls, before?.calls);
    this.#replace("turn", new Map([[key, turn.view]]), before && new Map([[key, before.view]]));
    for (const { thread, key: callKey } of turn.calls.values()) {
      if (thread === null || this.#parents.get(thread) === callKey) continue;
      this.#parents.set(thread, callKey);
      this.#join(thread);
    }
    this.#putThreads(key, turn, before);
  }

  #remove(key: string, turn: ShownTurn): void {
    this.#turns.delete(key);
    this.#replace("message", new Map(), turn.messages);
    this.#replace("call", new Map(), turn.calls);
    this.#replace("turn", new Map(), new Map([[key, turn.view]]));
    this.#putThreads(key, undefined, turn);
    // Another branch may have other results of the same calls.
    const gone = turn.view.snapshot.threads.flatMap(({ tool_responses }) => tool_responses).map(({ tool_call_id }) => tool_call_id);
    for (const id of gone) this.#lateResponses.delete(id);
    if (gone.length > 0) this.refreshCalls(gone);
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

  /** Puts a thread's parts together: it may begin in one turn and continue in another. */
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

  #replace<Kind extends keyof Keyed>(kind: Kind, next: ReadonlyMap<string, Keyed[Kind]>, before: ReadonlyMap<string, Keyed[Kind]> = new Map()): void {
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
