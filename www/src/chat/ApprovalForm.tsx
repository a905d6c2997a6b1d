// Allows or denies a call that needs the person's approval.

import { useId, useState, type FormEvent } from "react";
import { Icon } from "../ui/Icon";
import { canRemember, innerCall, type CallAction } from "./answers";
import { DataView } from "./DataView";
import { useConversation } from "./context";

interface Props {
  action: CallAction;
  /** The display name of the waiting call. */
  name: string;
}

export function ApprovalForm({ action, name }: Props) {
  const callId = action.tool_call_id;
  const conversation = useConversation();
  const [denying, setDenying] = useState(false);
  const [reason, setReason] = useState("");
  const [remember, setRemember] = useState(false);
  const reasonId = useId();
  const agent = conversation.state().session?.agent ?? null;
  const inner = innerCall(action);
  const tool = inner?.name ?? name;
  const message = action.suspension?.message ?? "";

  const allow = () => conversation.answer(callId, { kind: "allow", ...(remember && { remember }) });
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
        The agent wants to run <strong>{tool}</strong>. Nothing happens until you decide.
      </p>
      {/* What the server says, unless it is the same. */}
      {message !== "" && !message.includes(tool) && <p>{message}</p>}
      {inner && <DataView caption="Arguments" content={inner.arguments} />}
      <div className="row">
        <button type="button" className="primary" onClick={allow}>
          <Icon name="check" /> Allow
        </button>
        <button type="button" onClick={() => setDenying(true)}>
          Deny …
        </button>
        {canRemember(action, agent) && (
          <label className="check">
            <input type="checkbox" checked={remember} onChange={({ target }) => setRemember(target.checked)} /> Always
            allow
          </label>
        )}
      </div>
    </div>
  );
}
