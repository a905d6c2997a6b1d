// Starts turns, cancels them, and returns unsent ones to the person.
import type { StartInput } from "./effects.js";
import { drop, hold, isKept, isUnclear, messageOf, newTurn, put, type State, type Turn } from "./state.js";
import { before, type Place, tip } from "./tree.js";

/** Starts a turn, and shows it. */
export function start(plan: State, input: string, { parent, after, isFork }: Place, discard = false, key?: number): number {
  const turn = newTurn(plan, "prepared", parent, key);
  turn.out = { input, after, discard, isFork, wasLost: false };
  turn.asks = !!input;
  plan.turns.push(turn);
  // The path then leads to the newest turn.
  if (tip(plan) !== turn) plan.chosen = undefined;
  if (plan.session === "none") {
    plan.session = "creating";
    plan.effects.push({ kind: "createSession" });
  }
  sendPrepared(plan);
  return turn.key;
}

/** Starts the turns that waited for the session. */
function sendPrepared(plan: State): void {
  if (plan.session !== "ready") return;
  for (const turn of plan.turns) {
    if (turn.state !== "prepared") continue;
    const { after, discard } = turn.out!;
    turn.state = "starting";
    plan.effects.push({ kind: "start", turn: turn.key, after, discard, input: startInput(turn) });
  }
}

/** The start of a turn. Its answers are then in flight. */
function startInput(turn: Turn): StartInput {
  const message = messageOf(turn);
  if (message) return { message };
  const asking = before(turn);
  const leaving = asking?.calls.filter(isKept);
  if (!leaving?.[0]) return null;
  for (const call of leaving) call.state = "going";
  return { asking: asking!.key, answers: leaving.map(({ id, text }) => [id, text]) };
}

export function sessionReady(plan: State): void {
  plan.session = "ready";
  // A new session has no turns.
  plan.isLoaded = true;
  plan.wantsNewest = false;
  sendPrepared(plan);
}

export function sessionFailed(plan: State): void {
  if (plan.session !== "creating") return;
  plan.session = "none";
  for (const turn of plan.turns) if (turn.state === "prepared") turn.state = "failed";
  hold(plan, true);
}

/** Cancels the running turns. */
export function cancel({ turns, effects }: State): void {
  for (const turn of turns) {
    if ((turn.state !== "starting" && turn.state !== "running") || turn.isStopping) continue;
    turn.isStopping = true;
    effects.push({ kind: "cancel", turn: turn.key });
  }
}

/** Removes a turn that the server does not have from the tree. */
export function remove(plan: State, turn: Turn): void {
  drop(plan.turns, turn);
  if (plan.chosen === turn) plan.chosen = undefined;
}

/** Removes a turn that was not sent, and returns its message to the person. */
export function giveBack(plan: State, turn: Turn): void {
  remove(plan, turn);
  const input = messageOf(turn);
  if (input) plan.effects.push({ kind: "giveBack", key: turn.key, input });
}

/** Keeps the answers of a turn that did not arrive until a person releases them. */
export function dropAnswers(plan: State, turn: Turn): void {
  remove(plan, turn);
  const asking = before(turn);
  if (!asking) return;
  asking.isHeld = true;
  for (const call of asking.calls) if (isUnclear(call)) call.state = "kept";
}

/** Continues to read a turn. */
export function watch(plan: State, turn: Turn): void {
  turn.heard = plan.pages;
  put(turn, "running", true);
  plan.effects.push({ kind: "watch", turn: turn.key, id: turn.id });
}
