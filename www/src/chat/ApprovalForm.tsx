// Allow or deny a call that must not run without the person's word.

import { useId, useState, type FormEvent } from "react";
import { Icon } from "../ui/Icon";
import type { AnswerState } from "./answers";
import { GivenAnswer } from "./GivenAnswer";
import { useConversation } from "./context";

interface Props {
  callId: string;
  name: string;
  state: AnswerState | undefined;
}

export function ApprovalForm({ callId, name, state }: Props) {
  const conversation = useConversation();
  const [denying, setDenying] = useState(false);
  const [reason, setReason] = useState("");
  const reasonId = useId();
  if (state) return <GivenAnswer callId={callId} state={state} />;

  const deny = (event: FormEvent) => {
    event.preventDefault();
    conversation.answer(callId, { kind: "deny", reason });
  };
  if (denying) {
    return (
      <form className="ask" onSubmit={deny}>
        <label htmlFor={reasonId}>Tell the agent why, if you like</label>
        <input
          id={reasonId}
          autoFocus
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          placeholder="Not during business hours"
        />
        <div className="row">
          <button type="submit" className="danger">
            Deny
          </button>
          <button type="button" onClick={() => setDenying(false)}>
            Back
          </button>
        </div>
      </form>
    );
  }
  return (
    <div className="ask">
      <p>
        The agent wants to run <strong>{name}</strong>. Nothing happens until you decide.
      </p>
      <div className="row">
        <button type="button" className="primary" onClick={() => conversation.answer(callId, { kind: "allow" })}>
          <Icon name="check" /> Allow
        </button>
        <button type="button" onClick={() => setDenying(true)}>
          Deny …
        </button>
      </div>
    </div>
  );
}
