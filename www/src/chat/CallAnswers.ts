// What calls got that had to wait: the person's answers, and results that came in a later turn than their call.

import type { ToolCallResponse, Turn, TurnInputItem, TurnSnapshot } from "turnwire";
import { fromInput, toInput, type Answer, type AnswerState, type CallAction } from "./answers";

/** Answers on their way. */
export interface Sending {
  readonly input: readonly TurnInputItem[];
  /** They have not arrived, and can be changed again. */
  readonly takeBack: () => void;
}

export class CallAnswers {
  readonly #answers = new Map<string, AnswerState>();
  readonly #lateResponses = new Map<string, ToolCallResponse>();
  readonly #told: () => void;

  /** `told` is called when there is something new. */
  constructor(told: () => void) {
    this.#told = told;
  }

  answerOf(callId: string): AnswerState | undefined {
    return this.#answers.get(callId);
  }

  lateResponseOf(callId: string): ToolCallResponse | undefined {
    return this.#lateResponses.get(callId);
  }

  /** Keeps the answer to a call in place of the one before; `null` is none. Gives whether that could still be done. */
  keep(callId: string, answer: Answer | null): boolean {
    if (this.#answers.get(callId)?.sent) return false;
    if (answer) this.#answers.set(callId, { answer, sent: false });
    else this.#answers.delete(callId);
    this.#told();
    return true;
  }

  /** What goes out to these calls; nothing if one of them has no answer, or has sent it. */
  send(actions: readonly CallAction[]): Sending | null {
    const given = new Map<string, AnswerState>();
    const input: TurnInputItem[] = [];
    for (const action of actions) {
      const state = this.#answers.get(action.tool_call_id);
      if (!state || state.sent) return null;
      given.set(action.tool_call_id, state);
      input.push(toInput(action, state.answer));
    }
    for (const [callId, { answer }] of given) this.#answers.set(callId, { answer, sent: true });
    this.#told();
    const takeBack = () => {
      for (const [callId, state] of given) this.#answers.set(callId, state);
      this.#told();
    };
    return { input, takeBack };
  }

  /** Takes the answers that a turn was given. */
  rememberInput({ input }: Pick<Turn, "input">): void {
    for (const item of input) {
      const known = fromInput(item);
      if (known) this.#answers.set(known.callId, { answer: known.answer, sent: true });
    }
  }

  /** Takes the results that a turn has brought for calls of turns before it: those that had to be approved first. */
  rememberResponses({ threads }: TurnSnapshot): void {
    let added = false;
    for (const { tool_responses } of threads) {
      for (const response of tool_responses) {
        added ||= !this.#lateResponses.has(response.tool_call_id);
        this.#lateResponses.set(response.tool_call_id, response);
      }
    }
    if (added) this.#told();
  }
}
