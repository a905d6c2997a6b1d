// The question of a waiting call to the person: a yes or no, or a text; afterwards, the answer.

import type { Call } from "turnwire/conversation";
import { usePending } from "turnwire/react";
import { ApprovalForm } from "./ApprovalForm";
import { isCallAction, questionIn } from "./answers";
import { useChat } from "./chat";
import { GivenAnswer } from "./GivenAnswer";
import { ResponseForm } from "./ResponseForm";

export function CallForm({ call, name }: { call: Call; name: string }) {
  const { key, answer, pending: action } = call;
  const asked = usePending(useChat()).find((pending) => pending.key === key);
  if (call.status !== "approval_required" && call.status !== "response_required") return null;
  if (answer) return <GivenAnswer callKey={key} given={answer} />;
  if (!asked || !action || !isCallAction(action)) return null;
  const { canRemember } = asked;
  if (asked.asks === "approval") return <ApprovalForm callKey={key} action={action} name={name} canRemember={canRemember} />;
  return <ResponseForm callKey={key} label={questionIn(action)} />;
}
