// Answers to pending calls: from people, and from tools of the page.
import type { Refusal } from "./effects.js";
import type { FactOf } from "./facts.js";
import { start } from "./start.js";
import { type Answer, type Call, isBusy, isKept, isOpen, isUnclear, look, type State, type Turn } from "./state.js";
import { nextPlace, waiting } from "./tree.js";

/** How many turns in a row may start with results of tools before a person is asked. */
const MAX_ROUNDS = 10;

export function answer(plan: State, turn: Turn, { call, answer: text }: FactOf<"answer">): Refusal | void {
  const known = turn.calls.find(({ id, who }) => id === call && who !== "signIn");
  if (!known) return "notWaiting";
  const { state } = known;
  // A start may contain it. A person may answer again after an answer that was sent alone.
  if (state === "going" || state === "sent" || (state === "unknown" && turn.state === "over")) return "sent";
  if (state === "running") return "busy";
  give(known, text, "missing");
  turn.isHeld = false;
  plan.rounds = 0;
}

/** Keeps an answer; without an answer, the call gets this state. */
function give(call: Call, text: string | null, state: Answer["state"]): void {
  call.state = text === null ? state : "kept";
  call.text = text ?? "";
}

export function proceed(plan: State): Refusal | void {
  if (isBusy(plan)) return "busy";
  const turn = waiting(plan);
  if (!turn) return "nothing";
  // An answer that may have arrived is not sent again.
  if (turn.calls.some(isUnclear)) return "sent";
  turn.isHeld = false;
  for (const call of turn.calls) if (call.state === "halted") call.state = "missing";
  plan.rounds = 0;
  if (turn.calls.every(({ who, state }) => who === "signIn" || state === "sent")) start(plan, "", nextPlace(plan));
}

/** Whether pending calls continue when a person proceeds: no answer is missing, and no tool runs. */
export function canProceed(plan: State): boolean {
  const turn = waiting(plan);
  const isTired = plan.rounds >= MAX_ROUNDS;
  const isReady = ({ who, state }: Call): boolean =>
    who === "signIn" || state === "kept" || state === "halted" || state === "sent" || (isTired && who === "tool" && state === "missing");
  return !!turn && !isBusy(plan) && turn.calls.every(isReady);
}

/** Sends the complete answers: one by one to a turn that accepts that, otherwise all together. */
export function sendAnswers(plan: State): void {
  const { options, turns, effects } = plan;
  for (const turn of turns) {
    if (!options.liveAnswers || !isOpen(turn) || turn.isHeld) continue;
    for (const call of turn.calls.filter(isKept)) {
      call.state = "going";
      effects.push({ kind: "answer", turn: turn.key, call: call.id, answer: call.text });
    }
  }
  const turn = waiting(plan);
  if (!turn || turn.isHeld || isBusy(plan)) return;
  const kept = turn.calls.filter(isKept);
  if (kept.length === 0 || !turn.calls.every((call) => call.who === "signIn" || call.state === "sent" || isKept(call))) return;
  if (kept.every(({ who }) => who === "tool")) plan.rounds += 1;
  // Placed after the newest turn, so that a server refuses them if another client has answered. Naming their turn would fork.
  start(plan, "", nextPlace(plan));
}

export function answered(plan: State, turn: Turn, { call, delivery }: FactOf<"answered">): void {
  const known = turn.calls.find(({ id }) => id === call);
  if (known?.state !== "going") return;
  if (delivery === "taken") {
    known.state = "sent";
    // If the turn has paused meanwhile, the answer continues it.
    if (turn.state === "over") look(plan);
  }
  // A turn that is over has paused, and still waits for the answer.
  else if (turn.state === "over") known.state = "kept";
  else known.state = delivery === "lost" ? "unknown" : "refused";
}

export function runTools(plan: State): void {
  if (!plan.isLeading) return;
  // Until a requested page has arrived, another tab may have answered.
  const isOld = plan.wantsNewest || plan.reading === "newest";
  const asking = plan.rounds < MAX_ROUNDS && !isOld && !isBusy(plan) && waiting(plan);
  for (const turn of plan.turns) {
    if (turn !== asking && !(plan.options.liveAnswers && isOpen(turn) && turn.isWatched)) continue;
    for (const call of turn.calls) {
      if (call.who !== "tool" || call.state !== "missing") continue;
      call.state = "running";
      plan.effects.push({ kind: "runTool", turn: turn.key, call: call.id });
    }
  }
}

export function toolEnded(_: State, turn: Turn, { call, result }: FactOf<"toolEnded">): void {
  const known = turn.calls.find(({ id }) => id === call);
  if (known?.state === "running") give(known, result, "halted");
}

/** The calls whose page tools are running. */
function running({ turns }: State): Call[] {
  return turns.flatMap(({ calls }) => calls.filter(({ state }) => state === "running"));
}

export function hasRunningTools(plan: State): boolean {
  return running(plan).length > 0;
}

/** Stops the tools: they run again when a person proceeds, or in another tab. */
export function endTools(plan: State, state: "halted" | "missing"): void {
  const calls = running(plan);
  for (const call of calls) call.state = state;
  if (calls.length > 0) plan.effects.push({ kind: "stopTools" });
}

export function leading(plan: State, { on }: FactOf<"leading">): void {
  plan.isLeading = on;
  if (!on) endTools(plan, "missing");
  // Another tab may have run the tools meanwhile.
  else if (waiting(plan)) look(plan);
}
