// Takes the reports of turns.
import type { End, FactOf, WaitingCall } from "./facts.js";
import { dropAnswers, giveBack } from "./start.js";
import { type Answer, comeBack, drop, hold, look, messageOf, pull, put, type Queued, type State, type Turn } from "./state.js";
import { before, idOf, parentOf } from "./tree.js";

export function named(plan: State, turn: Turn, { id, previous }: FactOf<"named">): void {
  if (!turn.out) return;
  const { isStopping } = turn;
  put(turn, "running", true);
  turn.isStopping = isStopping;
  turn.out = undefined;
  turn.begun = turn.heard;
  settleParent(turn);
  // Another client may have sent a turn in between. A turn that continues the one before it has its id.
  if (previous !== null && plan.options.fork && previous !== id && before(turn)?.id !== id) {
    turn.parent = parentOf(plan, previous);
    if (typeof turn.parent === "string") look(plan);
  }
  turn.id = id;
}

/** Settles the calls of the turn before this one: this turn has answered them, or continues without answers. */
export function settleParent(turn: Turn): void {
  const parent = before(turn);
  if (parent) parent.calls = [];
}

export function active(_: State, turn: Turn, { activity }: FactOf<"active">): void {
  if (turn.state === "running") turn.activity = activity;
}

export function waits(plan: State, turn: Turn, { calls }: FactOf<"waits">): void {
  if (turn.state === "running") setCalls(plan, turn, calls);
  else turn.calls = turn.calls.filter(({ id }) => calls.some((call) => call.id === id));
}

/** Sets the pending calls. Known ones keep their answers. */
function setCalls(plan: State, turn: Turn, calls: readonly WaitingCall[]): void {
  const known = turn.calls;
  turn.calls = calls.map(({ id, who }) => {
    let answer: Answer | undefined = pull(known, (call) => call.id === id);
    if (!answer) {
      answer = pull(plan.saved, (saved) => saved.turn === turn.id && saved.call === id);
      // The result of a page's tool needs no person.
      if (answer && who !== "tool") turn.isHeld = true;
    }
    return { id, who, state: answer?.state ?? "missing", text: answer?.text ?? "" };
  });
}

export function ended(plan: State, turn: Turn, { end, calls }: FactOf<"ended">): void {
  if (turn.state === "running" || turn.state === "incomplete") finish(plan, turn, end, calls);
}

/** Ends the turn: inputs sent into it have arrived by now, or never will. */
export function finish(plan: State, turn: Turn, end: End, calls: readonly WaitingCall[]): void {
  setCalls(plan, turn, end === "done" ? calls : []);
  put(turn, "over");
  turn.end = end;
  for (const call of turn.calls) if (call.state === "unknown" || call.state === "refused") call.state = "kept";
  for (const item of plan.queue) if (item.state === "unknown" && item.into === turn.id) comeBack(item);
  if (end === "error") hold(plan, true);
}

export function incomplete(plan: State, turn: Turn): void {
  if (turn.state !== "running") return;
  put(turn, "incomplete");
  hold(plan, true);
}

export function refused(plan: State, turn: Turn): void {
  if (turn.state !== "starting") return;
  const { isStopping } = turn;
  if (!messageOf(turn)) {
    dropAnswers(plan, turn);
    // Another tab or person may have answered.
    return look(plan);
  }
  put(turn, "failed");
  // A person has stopped it.
  if (isStopping) giveBack(plan, turn);
  hold(plan, true);
}

export function lost(plan: State, turn: Turn): void {
  if (turn.state !== "starting") return;
  turn.out!.wasLost = true;
  put(turn, "unknown");
  const asking = messageOf(turn) ? undefined : before(turn);
  for (const call of asking?.calls ?? []) if (call.state === "going") call.state = "unknown";
  hold(plan, true);
  look(plan);
}

export function cancelFailed(_: State, turn: Turn): void {
  turn.isStopping = false;
}

export function steered(plan: State, item: Queued, { delivery }: FactOf<"steered">): void {
  const { key, into } = item;
  if (typeof into === "string") return;
  if (delivery === "taken") {
    drop(plan.queue, item);
    into.steered.push({ key, text: item.input });
    return;
  }
  // A turn that continues under the same id may have taken it, and so may one in flight that continues it; a finished one has not.
  const isOver = plan.turns.every((turn) => (turn.id === into.id ? turn.state === "over" : turn.id || before(turn) !== into));
  const isLost = delivery === "lost";
  item.into = isLost ? into.id : "";
  item.state = isLost && !isOver ? "unknown" : "here";
  if (isLost) item.isHeld = true;
}

export function said(plan: State, turn: Turn, { input }: Pick<FactOf<"said">, "input">): void {
  const { id } = turn;
  const known = plan.turns.flatMap((other) => (other.id === id ? other.steered : [])).find(({ text }) => text === input);
  if (known) {
    known.text = "";
    return;
  }
  const item = pull(plan.queue, (other) => other.into !== "" && other.input === input && idOf(other.into) === id);
  if (item) turn.steered.push({ key: item.key, text: "" });
}
