// A person's actions on messages and turns.
import type { Refusal } from "./effects.js";
import type { FactOf } from "./facts.js";
import { endTools, hasRunningTools } from "./answers.js";
import { steerQueued } from "./queue.js";
import { cancel, giveBack, remove, start, watch } from "./start.js";
import { hold, isActive, isAside, isBusy, look, messageOf, newKey, newQueued, type State, type Turn } from "./state.js";
import { nextPlace, placeBeside, questionOf, showBranch, waiting } from "./tree.js";

/** The result of an action: the key of the sent input, or why it was refused. */
type Done = number | Refusal;

export function send(plan: State, { input, whenBusy = plan.options.whenBusy, discard = false }: FactOf<"send">): Done {
  if (!input) return "nothing";
  if (discard && !plan.options.discardPending) return "unsupported";
  const wasBusy = isBusy(plan);
  if (wasBusy && whenBusy === "reject") return "busy";
  if (!wasBusy && !discard && waiting(plan)) return "callsWait";
  plan.rounds = 0;
  if (!wasBusy) return start(plan, input, nextPlace(plan), discard);
  const item = newQueued(input, discard, newKey(plan));
  if (whenBusy === "interrupt") {
    plan.queue.unshift(item);
    cancel(plan);
  } else {
    plan.queue.push(item);
    // If it cannot be steered, it waits in the queue.
    if (whenBusy === "steer") steerQueued(plan, item);
  }
  return item.key;
}

export function stop(plan: State): void {
  if (isBusy(plan) || hasRunningTools(plan)) hold(plan, true);
  for (const turn of plan.turns.filter(({ state }) => state === "prepared")) giveBack(plan, turn);
  cancel(plan);
  endTools(plan, "halted");
}

export function retry(plan: State, turn: Turn, { input }: FactOf<"retry">): Done {
  if (turn.state === "incomplete") watch(plan, turn);
  else if (!turn.out) return regenerate(plan, turn, { input });
  else if (isActive(turn)) return "busy";
  // The server's list shows whether there is anything to send.
  else if (turn.state === "unknown" && plan.options.history) look(plan);
  else return resend(plan, turn, messageOf(turn));
  return turn.key;
}

/** Sends a turn that did not arrive, under its key. */
function resend(plan: State, turn: Turn, input: string): Done {
  // Answers are sent again when a person proceeds.
  if (!messageOf(turn)) return "nothing";
  const { key } = turn;
  const { discard, isFork } = turn.out!;
  const wasBusy = isBusy(plan);
  if (wasBusy ? isFork : !isFork && !discard && waiting(plan)) return wasBusy ? "busy" : "callsWait";
  plan.rounds = 0;
  remove(plan, turn);
  if (wasBusy) plan.queue.push(newQueued(input, discard, key));
  else start(plan, input, isFork ? placeBeside(turn) : nextPlace(plan), discard, key);
  return key;
}

export function regenerate(plan: State, turn: Turn, { input }: Pick<FactOf<"regenerate">, "input">): Done {
  if (isBusy(plan)) return "busy";
  const question = questionOf(turn);
  return !question || question.out ? "nothing" : askAgain(plan, question, input);
}

/** Asks in place of a question, or in a new turn if the protocol cannot fork. */
function askAgain(plan: State, question: Turn, input: string): Done {
  const { fork } = plan.options;
  if (!input) return "nothing";
  if (!fork && waiting(plan)) return "callsWait";
  plan.rounds = 0;
  return start(plan, input, fork ? placeBeside(question) : nextPlace(plan));
}

export function edit(plan: State, turn: Turn, { input }: FactOf<"edit">): Done {
  if (isBusy(plan)) return "busy";
  if (turn.state === "failed" && input) return resend(plan, turn, input);
  if (turn.state === "unknown") return "sent";
  if (!turn.asks) return "nothing";
  return plan.options.fork ? askAgain(plan, turn, input) : "unsupported";
}

export function show(plan: State, turn: Turn): void {
  if (!isAside(turn)) showBranch(plan, turn);
}

export function dismiss(plan: State, turn: Turn): Refusal | void {
  const { state } = turn;
  if (state !== "failed" && (state !== "unknown" || plan.options.history || !messageOf(turn))) return "sent";
  giveBack(plan, turn);
}
