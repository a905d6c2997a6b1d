// The answers that the agent still needs, next to the message field.

import { useSyncExternalStore } from "react";
import type { RequiredAction } from "turnwire";
import { Icon } from "../ui/Icon";
import { callActions } from "./answers";
import { useConversation } from "./context";

interface Props {
  pending: readonly RequiredAction[];
  /** The turn continues meanwhile. */
  running: boolean;
  /** It waits for tools of the page, which do not run. */
  halted: boolean;
}

export function AnswerBar({ pending, running, halted }: Props) {
  const conversation = useConversation();
  const actions = callActions(pending);
  const given = useSyncExternalStore(
    conversation.subscribe,
    () => actions.filter((action) => conversation.answerOf(action.tool_call_id)).length,
  );
  const sent = useSyncExternalStore(
    conversation.subscribe,
    () => actions.length > 0 && actions.every((action) => conversation.answerOf(action.tool_call_id)?.sent),
  );
  if (halted) {
    return (
      <p className="answer-bar">
        <Icon name="tool" />
        <span>The agent waits for tools of this page.</span>
        <button type="button" className="small" onClick={() => conversation.proceedWithTools()}>
          Run them
        </button>
      </p>
    );
  }
  if (pending.length === 0 || sent) return null;
  return (
    <p className="answer-bar">
      <Icon name="shield" />
      <span>{words(actions.length, given, running)}</span>
    </p>
  );
}

function words(needed: number, given: number, running: boolean): string {
  if (needed === 0) return "Sign in above, then continue.";
  if (running) return "The agent is still working, and waits for your answer above. The answer is sent at once.";
  if (needed === 1) return "The agent waits for your answer above.";
  return `${given} of ${needed} answered. They are sent together, when the last one is given.`;
}
