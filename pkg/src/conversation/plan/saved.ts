// What survives the page: the queue, kept answers, and turns that may not have arrived.
import type { FactOf } from "./facts.js";
import { isUnclear, newKey, newTurn, type State } from "./state.js";
import { idOf } from "./tree.js";

/**
 * A record: its kind, and what is kept.
 *
 * - `q`: an input of the queue; the id of the turn in which it may arrive; whether it discards; whether it may have arrived.
 * - `a`: an answer; the id of the turn that asks; the call; whether it may have arrived.
 * - `t`: the message of a turn; the id of the turn that it follows; whether it discards; whether it is a sibling; and 0 if it
 *   was not sent, 1 if it may have arrived once, 2 if it may have arrived.
 */
type SavedRecord = readonly [kind: string, text: string, id?: string, ...more: unknown[]];

/** Everything that is kept, as text; empty for nothing. */
export function save({ queue, turns, saved }: State): string {
  const records: SavedRecord[] = [];
  for (const { input, into, discard, state } of queue) records.push(["q", input, idOf(into), discard, state !== "here"]);
  for (const { id, calls, out, state, parent } of turns) {
    for (const call of calls) {
      if (isUnclear(call) || call.state === "kept" || call.state === "refused") records.push(["a", call.text, id, call.id, isUnclear(call)]);
    }
    if (!out?.input) continue;
    const fate = state === "prepared" ? 0 : state === "failed" ? Number(out.wasLost) : 2;
    records.push(["t", out.input, idOf(parent ?? ""), out.discard, out.isFork, fate]);
  }
  for (const answer of saved) records.push(["a", answer.text, answer.turn, answer.call, isUnclear(answer)]);
  return records[0] ? JSON.stringify(records) : "";
}

/** Takes the text that an earlier page stored. The person's inputs and decisions are held until the person releases them. */
export function restored(plan: State, { text: stored }: FactOf<"restored">): void {
  for (const [kind, text, id = "", one, two, fate] of read(stored)) {
    if (kind === "q") plan.queue.push({ key: newKey(plan), input: text, state: two ? "unknown" : "here", isHeld: true, into: id, discard: !!one });
    else if (kind === "a") plan.saved.push({ turn: id, call: one as string, state: two ? "unknown" : "kept", text });
    else if (kind === "t") {
      const turn = newTurn(plan, fate === 2 ? "unknown" : "failed", id || null);
      turn.out = { input: text, after: !two ? "newest" : id ? { id } : "nothing", discard: !!one, isFork: !!two, wasLost: !!fate };
      turn.asks = true;
      plan.turns.push(turn);
    }
  }
}

/** What waits here has another place now. An input in flight does not. */
export function handedOver(plan: State): void {
  plan.queue.splice(0, Infinity, ...plan.queue.filter(({ state }) => state === "steering"));
}

/** The records in a text, without the damaged ones. */
function read(text: string): SavedRecord[] {
  try {
    const records = JSON.parse(text) as SavedRecord[];
    return records.filter((record) => record.length > 1 && record.slice(0, 3).every((field) => typeof field === "string"));
  } catch {
    return [];
  }
}
