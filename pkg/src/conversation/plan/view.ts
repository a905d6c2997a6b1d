// The view of a plan.
import type { Phase, PlannedTurn, PlanView } from "./effects.js";
import { canProceed, hasRunningTools } from "./answers.js";
import { isActive, isBusy, isLoading, isOpen, isUnclear, last, messageOf, NONE, type State, type Turn } from "./state.js";
import { cut, pathOf, siblings, waiting } from "./tree.js";

export function viewOf(plan: State): PlanView {
  const { options, turns, queue, isLoaded } = plan;
  const path = pathOf(plan);
  const asking = waiting(plan);
  const phase = phaseOf(plan, path.at(-1), asking);
  const siblingsOf = siblings(plan);
  const busy = isBusy(plan);
  return {
    phase,
    canSend: !asking && !busy,
    canQueue: busy && options.whenBusy !== "reject",
    canStop: turns.some((turn) => isActive(turn) && !turn.isStopping) || hasRunningTools(plan),
    canSteer: options.steer && turns.some(isOpen),
    canProceed: canProceed(plan),
    heldQueue: queue.some(({ state, isHeld }) => state === "here" && isHeld),
    isLoaded,
    hasEarlier: cut(plan) !== undefined,
    readsEarlier: plan.wantsEarlier || (plan.reading !== undefined && plan.reading !== "newest"),
    path: path.map((turn) => (turn.shown = shown(turn, siblingsOf(turn), turn.shown))),
    queue: queue.map(({ key, state, isHeld, input }) => ({ key, state: state !== "here" ? state : isHeld ? "held" : "waits", input })),
    calls: turns
      .filter((turn) => turn === asking || turn.state === "running")
      .flatMap(({ key, calls }) =>
        calls.map((call) => ({ turn: key, call: call.id, who: call.who, sent: isUnclear(call) || call.state === "sent", answer: call.text })),
      ),
  };
}

/** The view of a turn; `before` if it is unchanged. */
export function shown(turn: Turn, siblings: readonly number[], before?: PlannedTurn): PlannedTurn {
  const { key, name, id, state: stands, end, steered: said } = turn;
  const state = stands === "prepared" || stands === "starting" ? "sending" : stands;
  const canRetry = !isActive(turn) && (stands !== "over" || end !== "done");
  const input = messageOf(turn);
  const steered = said[0] ? said.map(({ key, text }) => [key, text] as const) : NONE;
  const isSame =
    before?.id === id &&
    before.state === state &&
    before.canRetry === canRetry &&
    before.input === input &&
    isSameList(before.steered, steered) &&
    isSameList(before.siblings, siblings);
  return isSame ? before : { key, name, id, state, canRetry, input, steered, siblings };
}

/** Whether the lists are equal. Most are empty. */
function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && (one.length === 0 || String(one) === String(other));
}

function phaseOf(plan: State, end: Turn | undefined, asking: Turn | undefined): Phase {
  const turn = last(plan.turns, isActive);
  if (turn) return phaseOfTurn(turn);
  if (isLoading(plan)) return "loading";
  if (asking) return asking.calls.some(({ state }) => state === "running" || state === "going") ? "working" : "waiting";
  return !end || (end.state === "over" && end.end !== "error") ? "idle" : "failed";
}

function phaseOfTurn({ state, isStopping, activity, calls }: Turn): Phase {
  if (isStopping) return "stopping";
  if (state !== "running") return "sending";
  if (activity !== "reconnecting" && calls.some((call) => call.who === "person" && call.state === "missing")) return "waiting";
  return activity;
}
