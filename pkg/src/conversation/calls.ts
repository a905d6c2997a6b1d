// What is known of calls besides their own turns: what waits for a person now, and the answers that were given.
import type { RequiredAction, TurnSnapshot } from "../snapshot/snapshot.js";
import type { TurnInputItem } from "../wire/events.js";
import { actionIn, answerIn, callIdIn } from "./answers.js";
import type { PlannedCall } from "./plan/effects.js";
import type { Answer, GivenAnswer } from "./types.js";

/** The actions and answers of a conversation's calls, by the calls' ids. */
export class CallBook {
  #pending = new Map<string, RequiredAction>();
  #given = new Map<string, GivenAnswer>();
  /** The answers in the inputs of turns. */
  readonly #sent = new Map<string, GivenAnswer>();
  readonly #inputs = new WeakSet<readonly TurnInputItem[]>();

  pendingOf(callId: string): RequiredAction | null {
    return this.#pending.get(callId) ?? null;
  }

  /** What was sent before answers nothing that is asked again. */
  answerOf(callId: string): GivenAnswer | null {
    return this.#given.get(callId) ?? (this.#pending.has(callId) ? undefined : this.#sent.get(callId)) ?? null;
  }

  /** Takes the answers in a turn's input; returns the calls that they answer. */
  takeInput(input: readonly TurnInputItem[]): string[] {
    if (this.#inputs.has(input)) return [];
    this.#inputs.add(input);
    return input.flatMap((item) => {
      const known = answerIn(item);
      if (!known) return [];
      this.#sent.set(known.callId, Object.freeze({ answer: Object.freeze(known.answer), sent: true }));
      return known.callId;
    });
  }

  /** Takes the calls that wait; `snapshotOf` returns the snapshot of their turn. Returns the calls that have changed. */
  take(calls: readonly PlannedCall[], snapshotOf: (turn: number) => TurnSnapshot): Set<string> {
    const pending = new Map<string, RequiredAction>();
    const given = new Map<string, GivenAnswer>();
    for (const { turn, call, who, sent, answer } of calls) {
      const id = callIdIn(call);
      const action = actionIn(snapshotOf(turn), call);
      if (id === undefined || !action) continue;
      if (!sent && who !== "tool") pending.set(id, action);
      if (answer === "") continue;
      const known = JSON.parse(answer) as Answer | TurnInputItem;
      const own = givenAnswer("type" in known ? answerIn(known)!.answer : known, sent, this.#given.get(id));
      given.set(id, own);
      // A turn that went on has it in no input.
      if (sent) this.#sent.set(id, own);
    }
    const changed = new Set<string>();
    const compare = <T>(next: Map<string, T>, before: Map<string, T>): void => {
      for (const id of [...next.keys(), ...before.keys()]) if (next.get(id) !== before.get(id)) changed.add(id);
    };
    compare(pending, this.#pending);
    compare(given, this.#given);
    this.#pending = pending;
    this.#given = given;
    return changed;
  }
}

/** The answer; the known object if it is the same. */
function givenAnswer(answer: Answer, sent: boolean, before: GivenAnswer | undefined): GivenAnswer {
  const isSame = before?.sent === sent && JSON.stringify(before.answer) === JSON.stringify(answer);
  return isSame ? before : Object.freeze({ answer: Object.freeze(answer), sent });
}
