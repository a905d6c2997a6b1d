// The vocabulary of the tables of a plan's rules: facts, and the effects of each in words.
import assert from "node:assert/strict";
import { OpenPlan } from "./plan.mjs";

/** A protocol with all capabilities. */
export const ALL = { hasSession: true, fork: true, liveAnswers: true, steer: true, discardPending: true, history: true, turns: 0, leavesUnseen: false, whenBusy: "queue" };
/** A protocol whose turns follow each other, without branches, live answers and steering. */
export const LINEAR = { ...ALL, fork: false, liveAnswers: false, steer: false, discardPending: false };

export const send = (input, more) => ({ kind: "send", input, ...more });
export const named = (turn, id, previous = null) => ({ kind: "named", turn, id, previous });
export const ended = (turn, calls = [], end = "done") => ({ kind: "ended", turn, end, calls });
export const calls = (who, ...ids) => ids.map((id) => ({ id, who }));
export const answer = (turn, call, text) => ({ kind: "answer", turn, call, answer: text });
const of = (kind) => (turn, input) => ({ kind, turn, ...(input !== undefined && { input }) });
export const [retry, regenerate, edit, show, dismiss, refused, lost, incomplete] = "retry regenerate edit show dismiss refused lost incomplete".split(" ").map(of);
const kind = (name) => ({ kind: name });
export const [attach, detach, stop, proceed, catchUp, loadEarlier, pageFailed, sessionReady, sessionFailed] =
  "attach detach stop proceed catchUp loadEarlier pageFailed sessionReady sessionFailed".split(" ").map(kind);
export const hold = (on) => ({ kind: "hold", on });
/** An ended turn in a list: its id, the previous turn, its message. */
export const listed = (id, previous, input, more) => ({ id, previous, input, state: "done", calls: [], said: [], ...more });
export const page = (turns, hasEarlier = false) => ({ kind: "page", turns, hasEarlier });

/** What follows from a fact, except what is stored, in words. */
export function take(plan, fact) {
  const taken = plan.take(fact);
  if (typeof taken === "string") return `refused: ${taken}`;
  return taken.effects.filter((effect) => effect.kind !== "store").map(word).join("; ");
}

function word(effect) {
  const { kind: what, turn, key, call, input } = effect;
  switch (what) {
    case "createSession":
      return "create";
    case "start": {
      const after = effect.after.id ?? effect.after;
      const says = input === null ? "-" : (input.message ?? input.answers.map((pair) => pair.join("=")).join(","));
      return `start ${turn} after ${after}: ${says}${effect.discard ? ", discards" : ""}`;
    }
    case "steer":
      return `steer ${key} into ${turn}: ${input}`;
    case "answer":
      return `answer ${turn}: ${call}=${effect.answer}`;
    case "runTool":
      return `run ${call}`;
    case "stopTools":
      return "stop tools";
    case "watch":
      return `watch ${turn}: ${effect.id}`;
    case "load":
      return effect.before === null ? "load" : `load before ${effect.before}`;
    case "giveBack":
      return `give back ${key}: ${input}`;
    default:
      return `${what} ${turn}`;
  }
}

/** Plays facts, each with what must follow from it. */
export function play(options, ...steps) {
  const plan = new OpenPlan(options);
  for (const [at, [fact, expected]] of steps.entries()) assert.equal(take(plan, fact), expected, `step ${at}: ${JSON.stringify(fact)}`);
  return plan;
}

/** The ids or messages of the shown turns. */
export const path = (plan) => plan.view().path.map(({ id, input }) => id || input).join(" ");
/** The queue: each input and its state. */
export const queue = (plan) => plan.view().queue.map(({ input, state }) => `${input} ${state}`).join(", ");
export const phase = (plan) => plan.view().phase;
/** The siblings of the turn at this place of the path. */
export const siblings = (plan, at) => plan.view().path[at].siblings;

export const started = [send("a"), "start 1 after newest: a"];
export const running = [started, [named(1, "x"), ""]];
export const loaded = (options, turns, hasEarlier) => play(options, [attach, "load"], [page(turns, hasEarlier), ""]);
