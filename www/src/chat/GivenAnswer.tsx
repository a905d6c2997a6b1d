// The person's answer. It can be changed while other answers are missing.

import type { Answer, GivenAnswer as Given } from "turnwire/conversation";
import { Icon } from "../ui/Icon";
import { useChat } from "./chat";

export function GivenAnswer({ callKey, given }: { callKey: string; given: Given }) {
  const conversation = useChat();
  return (
    <p className="given">
      <Icon name={given.answer.kind === "deny" ? "close" : "check"} />
      <span>{describe(given.answer)}</span>
      {!given.sent && (
        <button type="button" className="quiet small" onClick={() => conversation.answer(callKey, null)}>
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
