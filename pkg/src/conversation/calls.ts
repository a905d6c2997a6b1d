// Facts about calls that their turns lack: the pending actions, and the answers given here.
import type { RequiredAction, TurnSnapshot } from "../snapshot/snapshot.js";
import { actionIn, type AnswerItem, answerIn } from "./answers.js";
import type { PlannedCall } from "./plan/effects.js";
import type { Answer, GivenAnswer } from "./types.js";

/** The actions and answers of a conversation's calls, by the calls' keys. */
export class CallBook {
  #pending = new Map<string, RequiredAction>();
  #given = new Map<string, GivenAnswer>();
  /** Answers that were sent: for a turn that continued, no input has them. */
  readonly #sent = new Map<string, GivenAnswer>();

  pendingOf(key: string): RequiredAction | null {
    return this.#pending.get(key) ?? null;
  }

  /** An earlier answer does not answer a new question. */
  answerOf(key: string): GivenAnswer | null {
    return this.#given.get(key) ?? (this.#pending.has(key) ? undefined : this.#sent.get(key)) ?? null;
  }

  /** Takes the pending calls. Returns the keys of those that have changed. */
  take(calls: readonly PlannedCall[], of: { snapshotOf(turn: number): TurnSnapshot; callKey(turn: number, call: string): string }): Set<string> {
    const pending = new Map<string, RequiredAction>();
    const given = new Map<string, GivenAnswer>();
    for (const { turn, call, who, sent, answer } of calls) {
      const action = actionIn(of.snapshotOf(turn), call);
      if (!action || who === "signIn") continue;
      const key = of.callKey(turn, call);
      if (!sent && who !== "tool") pending.set(key, action);
      if (answer === "") continue;
      const known = JSON.parse(answer) as Answer | AnswerItem;
      const own = givenAnswer("type" in known ? answerIn(known) : known, sent, this.#given.get(key));
      given.set(key, own);
      if (sent) this.#sent.set(key, own);
    }
    const changed = new Set<string>();
    const compare = <T>(next: Map<string, T>, before: Map<string, T>): void => {
      for (const key of [...next.keys(), ...before.keys()]) if (next.get(key) !== before.get(key)) changed.add(key);
    };
    compare(pending, this.#pending);
    compare(given, this.#given);
    this.#pending = pending;
    this.#given = given;
    return changed;
  }
}

/** The answer; the known object if it is unchanged. */
function givenAnswer(answer: Answer, sent: boolean, before: GivenAnswer | undefined): GivenAnswer {
  const isSame = before?.sent === sent && JSON.stringify(before.answer) === JSON.stringify(answer);
  return isSame ? before : Object.freeze({ answer: Object.freeze(answer), sent });
}
