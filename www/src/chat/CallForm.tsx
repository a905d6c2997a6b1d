// The question of a waiting call to the person: a yes or no, or a text; afterwards, the answer.

import type { ToolCallSnapshot } from "turnwire";
import { ApprovalForm } from "./ApprovalForm";
import { questionIn, wantsConsent } from "./answers";
import { useAnswer, usePendingAction } from "./context";
import { GivenAnswer } from "./GivenAnswer";
import { ResponseForm } from "./ResponseForm";

export function CallForm({ call, name }: { call: ToolCallSnapshot; name: string }) {
  const answer = useAnswer(call.id);
  const action = usePendingAction(call.id);
  if (call.status !== "approval_required" && call.status !== "response_required") return null;
  if (answer) return <GivenAnswer callId={call.id} state={answer} />;
  if (!action) return null;
  if (wantsConsent(action)) return <ApprovalForm action={action} name={name} />;
  return <ResponseForm callId={call.id} label={questionIn(action)} />;
}
