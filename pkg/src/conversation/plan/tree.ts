// The tree of a session's turns, and the shown path through it.
import type { After } from "./effects.js";
import { isAside, last, NONE, type State, type Turn } from "./state.js";

/** The place of a new turn. */
export interface Place {
  readonly parent: Turn["parent"];
  readonly after: After;
  readonly isFork: boolean;
}

/** The turn with this id; if several continue each other under it, the last one. */
export function withId({ turns }: State, id: string): Turn | undefined {
  return id ? last(turns, (turn) => turn.id === id) : undefined;
}

/** The parent with this id. */
export function parentOf(plan: State, id: string): Turn["parent"] {
  return id ? (withId(plan, id) ?? id) : null;
}

/** The turn before this one, if known. Its rank is lower, so no list of a server can form a cycle. */
export function before({ parent, rank }: Turn): Turn | undefined {
  return parent && typeof parent === "object" && parent.rank < rank ? parent : undefined;
}

/** The last turn of the path. */
export function tip({ turns, chosen }: State): Turn | undefined {
  return last(turns, (turn) => {
    let from: Turn | undefined = turn;
    while (chosen && from && from.rank > chosen.rank) from = before(from);
    return !isAside(turn) && (!chosen || from === chosen);
  });
}

/** The turns of the path, oldest first, with the turns that were not sent beside them. */
export function pathOf(plan: State): Turn[] {
  const path: Turn[] = [];
  for (let turn = tip(plan); turn; turn = before(turn)) path.push(turn);
  path.reverse();
  for (const turn of plan.turns.filter(isAside)) {
    const { parent } = turn;
    let at = typeof parent === "string" ? path.length : path.indexOf(parent as Turn) + 1;
    if (parent && typeof parent === "object" && !at) continue;
    // After the earlier turns that stayed here.
    while (path[at] && isAside(path[at]!)) at += 1;
    path.splice(at, 0, turn);
  }
  return path;
}

/** The keys of a turn and its siblings; empty if it has none. */
export function siblings({ turns, options }: State): (turn: Turn) => readonly number[] {
  if (!options.fork) return () => NONE;
  const children = new Map<Turn["parent"], number[]>();
  for (const { parent, key } of turns.filter((turn) => !isAside(turn))) {
    children.set(parent, children.get(parent) ?? []);
    children.get(parent)!.push(key);
  }
  return (turn) => {
    const keys = children.get(turn.parent);
    // A turn after a gap follows no known turn.
    return keys?.[1] && turn.parent !== "" && !isAside(turn) ? keys : NONE;
  };
}

/** Goes to the branch with this turn. */
export function showBranch(plan: State, turn: Turn): void {
  plan.chosen = turn;
  // The path follows other clients' turns again.
  if (tip(plan) === last(plan.turns, (other) => !isAside(other))) plan.chosen = undefined;
}

/** The first turn of the newest pages, if the server has earlier turns that are not loaded. */
export function cut({ turns }: State): Turn | undefined {
  let isListed = false;
  return last(turns, ({ out, joint }) => !out && (isListed ||= joint !== "unlisted") && joint !== "joined");
}

/** The place of the path's next turn: after the last turn that the server knows. */
export function nextPlace(plan: State): Place {
  let turn = tip(plan);
  while (turn?.out) turn = before(turn);
  return { parent: turn ?? null, after: !turn || turn === last(plan.turns, ({ out }) => !out) ? "newest" : { id: turn.id }, isFork: false };
}

/** The place of a sibling of this turn. */
export function placeBeside({ parent }: Turn): Place {
  return { parent, after: parent === null ? "nothing" : { id: idOf(parent) }, isFork: true };
}

/** The id of a turn, loaded or not. */
export function idOf(turn: Turn | string): string {
  return typeof turn === "string" ? turn : turn.id;
}

/** The turn whose question this turn answers: itself, or the turn that its answers continue. */
export function questionOf(turn: Turn | undefined): Turn | undefined {
  let question = turn;
  while (question && !question.asks) question = before(question);
  return question;
}

/** The last turn of the path, if it has pending calls. */
export function waiting(plan: State): Turn | undefined {
  const turn = tip(plan);
  return turn?.state === "over" && turn.calls[0] ? turn : undefined;
}
