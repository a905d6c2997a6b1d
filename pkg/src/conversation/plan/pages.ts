// Pages of the server's turns: when they are read, and how they change the plan.
import type { FactOf, ListedTurn } from "./facts.js";
import { dropAnswers, remove, watch } from "./start.js";
import { comeBack, drop, isActive, isAside, last, look, messageOf, newTurn, put, type State, type Turn } from "./state.js";
import { before, cut, questionOf, withId } from "./tree.js";
import { finish, said, settleParent } from "./turns.js";

export function attach(plan: State): void {
  if (plan.isShown) return;
  plan.isShown = true;
  look(plan);
  for (const turn of plan.turns) if (turn.state === "running" && !turn.isWatched) watch(plan, turn);
}

export function detach(plan: State): void {
  plan.isShown = false;
  if (!plan.options.leavesUnseen) return;
  for (const turn of plan.turns) {
    if (!turn.isWatched) continue;
    turn.isWatched = false;
    plan.effects.push({ kind: "leave", turn: turn.key });
  }
}

export function loadEarlier(plan: State): void {
  if (cut(plan)) plan.wantsEarlier = true;
}

/** Reads the requested page. While a start is in flight, its turn is unknown, so no page is read. */
export function readPage(plan: State): void {
  if (plan.reading || plan.session !== "ready" || isStarting(plan)) return;
  const first = plan.wantsNewest ? undefined : cut(plan);
  if (plan.wantsNewest) plan.wantsNewest = false;
  else if (plan.wantsEarlier && first) plan.wantsEarlier = false;
  else return;
  plan.reading = first ?? "newest";
  plan.pages += 1;
  plan.effects.push({ kind: "load", before: first ? first.id : null });
}

function isStarting({ turns }: State): boolean {
  return turns.some(({ state }) => state === "starting");
}

export function pageFailed(plan: State): void {
  plan.reading = undefined;
  plan.isLoaded = true;
}

export function page(plan: State, { turns, hasEarlier }: FactOf<"page">): void {
  const { reading } = plan;
  plan.reading = undefined;
  if (!reading) return;
  // A listed turn may be the one in flight.
  if (isStarting(plan)) {
    if (reading === "newest") look(plan);
    else plan.wantsEarlier = true;
    return;
  }
  plan.isLoaded = true;
  const { length } = plan.turns;
  // A turn without an id cannot be distinguished from others.
  const listed = turns.filter(({ id }) => id);
  const places = new Map(listed.map(({ id }, at) => [id, at]));
  if (reading === "newest") plan.newest = plan.pages;
  for (const one of listed) takeAnew(plan, one);
  if (!plan.options.fork) placeMerged(plan, listed, places, hasEarlier);
  place(plan, listed, places, reading);
  join(plan, places, reading, hasEarlier);
  // If several turns continue each other, the last one counts.
  const known = new Map(plan.turns.map((turn) => [turn.id, turn]));
  setParents(plan, listed, known);
  for (const one of listed) takeListed(plan, known.get(one.id)!, one);
  if (plan.turns.length > length && plan.turns.length < plan.options.turns) loadEarlier(plan);
  miss(plan);
}

/**
 * Reads a turn again, or takes it from the list, if it was pending and continued without a reader here, or if its end was not read.
 * If several turns continue each other under one id, the first then has everything.
 */
function takeAnew(plan: State, { id, state, calls }: ListedTurn): void {
  const [first, ...others] = plan.turns.filter((turn) => turn.id === id);
  const turn = others.at(-1) ?? first;
  if (!first || !turn || turn.heard >= plan.pages) return;
  // The list may have a turn that continued it under another id.
  if (plan.turns.some((next) => !next.asks && !next.out && before(next) === turn)) return;
  const isSame = (known: Turn["calls"][number]): boolean => known.state !== "sent" && calls.some((call) => call.id === known.id);
  const wentOn = turn.state === "over" && !!turn.calls[0] && (state === "running" || !turn.calls.every(isSame));
  if (!wentOn && (turn.state !== "incomplete" || state === "running")) return;
  first.calls = turn.calls;
  first.isHeld = turn.isHeld;
  for (const other of others) {
    remove(plan, other);
    for (const next of plan.turns) if (next.parent === other) next.parent = first;
  }
  plan.effects.push({ kind: "forget", turn: first.key, id });
}

/**
 * Places listed turns that the server merged. A server may list a turn and its continuations with answers as one turn, under the id
 * of the last, or of the first once other turns have followed. Known turns take its place; a pending turn that was continued
 * elsewhere becomes it.
 */
function placeMerged(plan: State, listed: readonly ListedTurn[], places: Map<string, number>, hasEarlier: boolean): void {
  for (const [at, { id, input, previous }] of listed.entries()) {
    if (!input) continue;
    let turn = plan.turns.find((other) => other.id === id);
    // The first turn of a page may follow a turn of the page before.
    if (!turn && !places.has(previous) && (at > 0 || !hasEarlier)) {
      const asking = withId(plan, previous);
      turn = asking?.calls[0] && questionOf(asking);
      if (!turn) continue;
      for (let other = asking!; other !== turn; other = before(other)!) remove(plan, other);
      turn.id = id;
      plan.effects.push({ kind: "forget", turn: turn.key, id });
    }
    while (turn && !turn.asks && (turn = before(turn)) && !places.has(turn.id)) places.set(turn.id, at);
  }
  for (const turn of plan.turns) {
    const at = places.get(before(turn)?.id ?? "");
    if (turn.id && !turn.asks && at !== undefined && !places.has(turn.id)) places.set(turn.id, at);
  }
}

/** Places listed turns. */
function place(plan: State, listed: readonly ListedTurn[], places: ReadonlyMap<string, number>, reading: "newest" | Turn): void {
  const { turns } = plan;
  const isPlaced = ({ joint }: Turn): boolean => joint !== "unlisted";
  let at = turns.findIndex((turn) => isPlaced(turn) && places.has(turn.id));
  if (at < 0) at = reading === "newest" ? turns.indexOf(last(turns, isPlaced)!) + 1 : turns.indexOf(reading);
  if (reading === "newest") {
    // A turn that had begun before this page was requested, and is not in it, is older than the page's turns, and than the turns
    // directly before them without a gap.
    let start = at;
    while (turns[start]?.joint === "joined" && start > 0) start -= 1;
    for (const turn of turns.slice(at)) {
      if (turn.out || isPlaced(turn) || turn.begun >= plan.pages || places.has(turn.id)) continue;
      drop(turns, turn);
      turns.splice(start, 0, turn);
      start += 1;
      at += 1;
    }
  }
  const known = listed.map((): Turn[] => []);
  for (const turn of turns) known[places.get(turn.id)!]?.push(turn);
  const lost = turns.filter(({ out }) => out?.wasLost);
  for (const [nth, one] of listed.entries()) {
    const own = known[nth]!;
    if (!own[0]) own.push(adopt(plan, lost, one, listed[nth - 1]));
    for (const turn of own) {
      const from = turns.indexOf(turn);
      if (from >= 0) drop(turns, turn);
      if (from >= 0 && from < at) at -= 1;
      turns.splice(at, 0, turn);
      at += 1;
    }
  }
  for (const turn of turns) turn.rank = plan.lastRank += 1;
}

/** The turn of an unknown listed one: a turn sent from here that may have arrived, or another client's. */
function adopt(plan: State, lost: readonly Turn[], one: ListedTurn, previous: ListedTurn | undefined): Turn {
  let turn = lost.find((other) => isSame(plan, other, one, previous));
  if (!turn) {
    turn = newTurn(plan, "incomplete", null);
    turn.name = `t${one.id}`;
  }
  put(turn, "incomplete");
  turn.out = undefined;
  turn.id = one.id;
  turn.asks = !!one.input;
  return turn;
}

/** Whether a turn of this plan may be the listed one: it may have arrived, and has the same input. */
function isSame({ options }: State, turn: Turn, { input, previous }: ListedTurn, beforeIt: ListedTurn | undefined): boolean {
  const { out } = turn;
  if (!out?.wasLost) return false;
  const { after } = out;
  if (after === "nothing" ? previous : after !== "newest" && options.fork && previous !== after.id) return false;
  const asking = before(turn);
  return out.input === input && (input !== "" || (!!asking && asking.id === (options.fork ? previous : beforeIt?.id)));
}

/** Notes which turns the page shows as following each other without a gap. */
function join({ turns }: State, places: ReadonlyMap<string, number>, reading: "newest" | Turn, hasEarlier: boolean): void {
  let last: number | undefined;
  for (const turn of turns) {
    const at = places.get(turn.id);
    if (at === undefined) continue;
    // A turn's continuation under its id follows it.
    if (at > 0 || !hasEarlier || last === at) turn.joint = "joined";
    else if (turn.joint === "unlisted") turn.joint = "open";
    last = at;
  }
  if (reading !== "newest") reading.joint = "joined";
}

function setParents(plan: State, listed: readonly ListedTurn[], known: ReadonlyMap<string, Turn>): void {
  const { turns, options } = plan;
  const parentWith = (id: string): Turn["parent"] => (id ? (known.get(id) ?? id) : null);
  if (options.fork) {
    for (const { id, previous } of listed) {
      const turn = known.get(id)!;
      // A turn that continues another one has its id.
      if (before(turn)?.id !== id) turn.parent = parentWith(previous);
    }
  } else {
    let last: Turn["parent"] = null;
    for (const turn of turns) {
      if (isAside(turn)) continue;
      turn.parent = turn.joint === "open" ? "" : last;
      last = turn;
    }
  }
  // Links parents that have arrived.
  for (const turn of turns) if (turn.parent && typeof turn.parent === "string") turn.parent = parentWith(turn.parent);
}

function takeListed(plan: State, turn: Turn, { said: messages, state, calls }: ListedTurn): void {
  settleParent(turn);
  for (const input of messages) said(plan, turn, { input });
  // The page may be older than the last report.
  if (turn.heard >= plan.pages || (turn.state === "running" && turn.isWatched)) return;
  if (state !== "running") return finish(plan, turn, state, calls);
  // Another page answered a call of this turn. The turn itself reports what is pending now.
  if (turn.state === "over") turn.calls = turn.calls.filter((call) => call.state !== "missing" && call.state !== "halted");
  if (plan.isShown || !plan.options.leavesUnseen) watch(plan, turn);
  else put(turn, "running");
}

/** Marks what is missing from the pages as not arrived. */
function miss(plan: State): void {
  const { turns, queue, newest } = plan;
  const first = cut(plan);
  for (const turn of [...turns]) {
    if (turn.state !== "unknown" || turn.heard >= newest) continue;
    // It would be before the loaded turns.
    if (first && (before(turn)?.rank ?? 0) < first.rank) continue;
    if (messageOf(turn)) put(turn, "failed");
    else dropAnswers(plan, turn);
  }
  // Answers to calls that are no longer pending are not needed, and only the newest turns have pending calls.
  plan.saved = plan.saved.filter((saved) => turns.some((turn) => turn.id === saved.turn && isActive(turn)));
  if (!first) for (const item of queue) if (item.state === "unknown" && !withId(plan, item.into as string)) comeBack(item);
}
