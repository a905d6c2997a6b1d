// The plan of a conversation: what is sent, queued, held, steered, stopped, retried, answered and adopted, and the tree of its
// turns. It takes facts, and returns effects and a view.
//
// It has no clock, no connection and no randomness. A carrier has those: it carries out each effect, and reports the result as a
// fact. The rules:
//
// - Each text of a person is in exactly one place: in the queue, in a row, or given back.
// - Nothing is sent twice unless a person asks for it. What may have arrived is `unknown` until the server's list shows it.
// - A key never changes: not when the server assigns the turn's id, not at the turn's end.
// - `stop` cancels on the server, holds the queue, and returns unsent inputs to the person.
// - An answer is kept. It is sent at once if the protocol supports that, otherwise together with the last missing one.
// - An impossible action is refused, and changes nothing.
import { answer, answered, leading, proceed, runTools, sendAnswers, toolEnded } from "./answers.js";
import type { PlanView, Refusal, Taken } from "./effects.js";
import type { Fact, FactOf, PlanOptions } from "./facts.js";
import { attach, detach, loadEarlier, page, pageFailed, readPage } from "./pages.js";
import { dismiss, edit, regenerate, retry, send, show, stop } from "./person.js";
import { editQueued, moveQueued, removeQueued, sendNow, sendQueued, steerQueued } from "./queue.js";
import { handedOver, restored, save } from "./saved.js";
import { sessionFailed, sessionReady } from "./start.js";
import { hold, look, newState, type Queued, type State, type Turn } from "./state.js";
import { questionOf } from "./tree.js";
import { active, cancelFailed, ended, incomplete, lost, named, refused, said, steered, waits } from "./turns.js";
import { viewOf } from "./view.js";

export type { After, Effect, Phase, PlannedCall, PlannedInput, PlannedTurn, PlanView, Refusal, StartInput, Taken } from "./effects.js";
export type { Activity, Delivery, End, Fact, FactOf, ListedTurn, PlanOptions, WaitingCall, WhenBusy, Who } from "./facts.js";

/** The plan of one conversation. */
export interface Plan {
  /** Takes a fact. Returns its result, or why it was refused, which changes nothing. */
  take(fact: Fact): Taken | Refusal;
  /** The current view. */
  view(): PlanView;
  /** The key of the turn whose message a turn answers: itself, or the turn that it continues with answers; 0 if there is none. */
  questionOf(turn: number): number;
  /** The key as the text that pages see (see `PlannedTurn.name`), and the key for such a text; 0 if there is none. */
  nameOf(key: number): string;
  keyOf(name: string): number;
}

/** The plan of a conversation that is not shown yet. */
export function createPlan(options: PlanOptions): Plan {
  const state = newState(options);
  return {
    take: (fact) => take(state, fact),
    view: () => viewOf(state),
    questionOf(key) {
      return questionOf(state.turns.find((known) => known.key === key))?.key ?? 0;
    },
    nameOf: (key) => state.turns.find((turn) => turn.key === key)?.name ?? `n${key}`,
    // Inputs of the queue have no other names.
    keyOf: (name) => state.turns.find((turn) => turn.name === name)?.key ?? (Number(/^n(\d+)$/.exec(name)?.[1]) || 0),
  };
}

type Result = number | Refusal | void;

/** The functions for each kind of fact: those about a turn or an input in the queue also get that object. */
type Takers<K extends Fact["kind"]> = {
  readonly [P in K]: FactOf<P> extends { readonly turn: number }
    ? (plan: State, turn: Turn, fact: FactOf<P>) => Result
    : FactOf<P> extends { readonly key: number }
      ? (plan: State, item: Queued, fact: FactOf<P>) => Result
      : (plan: State, fact: FactOf<P>) => Result;
};

/** A person's actions on a turn or an input. Without it, they are refused. */
const acts = { answer, retry, regenerate, edit, show, dismiss, editQueued, removeQueued, moveQueued, sendNow, steerQueued } satisfies Partial<Takers<Fact["kind"]>>;

const takers: Takers<Fact["kind"]> = {
  ...acts,
  send,
  stop,
  proceed,
  hold: (plan, { on }) => hold(plan, on),
  attach,
  detach,
  loadEarlier,
  catchUp: look,
  sessionReady,
  sessionFailed,
  page,
  pageFailed,
  named,
  active,
  waits,
  ended,
  incomplete,
  refused,
  lost,
  cancelFailed,
  answered,
  toolEnded,
  said,
  steered,
  restored,
  handedOver,
  leading,
};

/** Takes a fact. A refusal changes nothing. */
export function take(plan: State, fact: Fact): Taken | Refusal {
  const result = apply(plan, fact);
  if (typeof result === "string") return result;
  // These need no person.
  sendAnswers(plan);
  runTools(plan);
  sendQueued(plan);
  readPage(plan);
  const stored = save(plan);
  if (stored !== plan.stored) plan.effects.push({ kind: "store", text: (plan.stored = stored) });
  const { effects } = plan;
  plan.effects = [];
  return { key: result ?? 0, effects };
}

function apply(plan: State, fact: Fact): Result {
  const { kind } = fact;
  const taker = takers[kind] as (plan: State, ...about: unknown[]) => Result;
  const turn = "turn" in fact ? plan.turns.find(({ key }) => key === fact.turn) : undefined;
  const about = "key" in fact ? plan.queue.find(({ key }) => key === fact.key) : turn;
  if (!("turn" in fact || "key" in fact)) return taker(plan, fact);
  const isReport = !(kind in acts);
  // A report about a turn that is gone changes nothing.
  if (!about) return isReport ? undefined : "gone";
  if (turn && isReport) turn.heard = plan.pages;
  return taker(plan, about, fact);
}
