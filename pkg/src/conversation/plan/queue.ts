// The queue: inputs that wait for their turn, in order, and inputs in flight into a running turn.
import type { Refusal } from "./effects.js";
import type { FactOf } from "./facts.js";
import { cancel, start } from "./start.js";
import { drop, isBusy, isOpen, last, type Queued, type State } from "./state.js";
import { nextPlace, waiting } from "./tree.js";

/** Whether an input has left the queue. One that may have arrived returns if nothing will show whether it did. */
function isGone({ options }: State, { state }: Queued): boolean {
  return state === "steering" || (state === "unknown" && options.history);
}

export function editQueued(plan: State, item: Queued, { input }: FactOf<"editQueued">): Refusal | void {
  if (isGone(plan, item)) return "sent";
  if (!input) return "nothing";
  item.input = input;
}

export function removeQueued(plan: State, item: Queued): Refusal | void {
  if (isGone(plan, item)) return "sent";
  drop(plan.queue, item);
  plan.effects.push({ kind: "giveBack", key: item.key, input: item.input });
}

export function moveQueued(plan: State, item: Queued, { to }: FactOf<"moveQueued">): void {
  drop(plan.queue, item);
  plan.queue.splice(to, 0, item);
}

export function sendNow(plan: State, item: Queued): Refusal | void {
  if (isGone(plan, item)) return "sent";
  if (!isBusy(plan) && !item.discard && waiting(plan)) return "callsWait";
  drop(plan.queue, item);
  plan.queue.unshift(item);
  item.state = "here";
  item.isHeld = false;
  item.into = "";
  plan.rounds = 0;
  cancel(plan);
}

export function steerQueued(plan: State, item: Queued): Refusal | void {
  if (isGone(plan, item)) return "sent";
  if (!plan.options.steer) return "unsupported";
  const turn = last(plan.turns, isOpen);
  if (!turn) return "nothing";
  item.state = "steering";
  item.into = turn;
  plan.effects.push({ kind: "steer", turn: turn.key, key: item.key, input: item.input });
}

/** Sends the next input of the queue, if nothing runs and no call is pending. */
export function sendQueued(plan: State): void {
  const item = plan.queue.find(({ state, isHeld }) => state === "here" && !isHeld);
  // First learn the order of the turns that may have arrived.
  if (!item || isBusy(plan) || plan.wantsNewest || plan.reading === "newest") return;
  if (waiting(plan) && !item.discard) return;
  drop(plan.queue, item);
  start(plan, item.input, nextPlace(plan), item.discard, item.key);
}
