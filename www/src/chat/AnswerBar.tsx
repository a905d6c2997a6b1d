// The answers that the agent still needs, next to the message field.

import type { Status, Pending } from "turnwire/conversation";
import { Icon } from "../ui/Icon";
import { callsIn } from "./answers";
import { isBusy, useChat } from "./chat";

interface Props {
  status: Status;
  pending: readonly Pending[];
}

export function AnswerBar({ status, pending }: Props) {
  const { proceed } = useChat();
  const calls = callsIn(pending);
  const given = calls.filter(({ answer }) => answer !== null).length;
  const isMissing = given < calls.length;
  // Signing in has a card of its own.
  if (status.canProceed && !isMissing && (given > 0 || pending.length === 0)) {
    return (
      <p className="answer-bar">
        <Icon name={given > 0 ? "shield" : "tool"} />
        <span>{given > 0 ? "Your answers have not been sent." : "The agent waits for tools of this page."}</span>
        <button type="button" className="small" onClick={proceed}>
          {given > 0 ? "Send them" : "Run them"}
        </button>
      </p>
    );
  }
  if (pending.length === 0) return null;
  return (
    <p className="answer-bar">
      <Icon name="shield" />
      <span>{words(calls.length, given, isBusy(status))}</span>
    </p>
  );
}

function words(needed: number, given: number, running: boolean): string {
  if (needed === 0) return "Sign in above, then continue.";
  if (running) return "The agent is still working, and waits for your answer above. The answer is sent at once.";
  if (needed === 1) return "The agent waits for your answer above.";
  return `${given} of ${needed} answered. They are sent together, when the last one is given.`;
}
