// The person's answer. It can be changed while other answers are missing.

import { Icon } from "../ui/Icon";
import type { Answer, AnswerState } from "./answers";
import { useConversation } from "./context";

export function GivenAnswer({ callId, state }: { callId: string; state: AnswerState }) {
  const conversation = useConversation();
  return (
    <p className="given">
      <Icon name={state.answer.kind === "deny" ? "close" : "check"} />
      <span>{describe(state.answer)}</span>
      {!state.sent && (
        <button type="button" className="quiet small" onClick={() => conversation.answer(callId, null)}>
          Change
        </button>
      )}
    </p>
  );
}

function describe(answer: Answer): string {
  switch (answer.kind) {
    case "allow":
      return answer.remember ? "You allowed this, now and from now on." : "You allowed this.";
    case "deny":
      return answer.reason ? `You denied this: ${answer.reason}` : "You denied this.";
    case "text":
      return `You answered: ${answer.content}`;
  }
}
