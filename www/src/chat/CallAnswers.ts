// Answers and results of calls that had to wait: the person's answers, and results from a later turn than the call.

import type { ToolCallResponse, Turn, TurnInputItem, TurnSnapshot } from "turnwire";
import { fromInput, toInput, type Answer, type AnswerState, type CallAction } from "./answers";

/** Answers that are being sent. */
export interface Sending {
  readonly input: readonly TurnInputItem[];
  /** They have not arrived: lets the person change them again. */
  readonly takeBack: () => void;
}

export class CallAnswers {
  readonly #answers = new Map<string, AnswerState>();
  readonly #lateResponses = new Map<string, ToolCallResponse>();
  readonly #onChange: () => void;

  /** Calls `onChange` when there is something new. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  answerOf(callId: string): AnswerState | undefined {
    return this.#answers.get(callId);
  }

  lateResponseOf(callId: string): ToolCallResponse | undefined {
    return this.#lateResponses.get(callId);
  }

  /** Stores the answer to a call in place of the one before; `null` removes it. Returns whether that was still possible. */
  keep(callId: string, answer: Answer | null): boolean {
    if (this.#answers.get(callId)?.sent) return false;
    if (answer) this.#answers.set(callId, { answer, sent: false });
    else this.#answers.delete(callId);
    this.#onChange();
    return true;
  }

  /** The input with the answers to these calls; null if one of them has no answer, or was sent already. */
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
    this.#onChange();
    const takeBack = () => {
      for (const [callId, state] of given) this.#answers.set(callId, state);
      this.#onChange();
    };
    return { input, takeBack };
  }

  /** Stores the answers in a turn's input. */
  rememberInput({ input }: Pick<Turn, "input">): void {
    for (const item of input) {
      const known = fromInput(item);
      if (known) this.#answers.set(known.callId, { answer: known.answer, sent: true });
    }
  }

  /** Stores a turn's results for calls of earlier turns, which had to be approved first. */
  rememberResponses({ threads }: TurnSnapshot): void {
    let added = false;
    for (const { tool_responses } of threads) {
      for (const response of tool_responses) {
        added ||= !this.#lateResponses.has(response.tool_call_id);
        this.#lateResponses.set(response.tool_call_id, response);
      }
    }
    if (added) this.#onChange();
  }
}
