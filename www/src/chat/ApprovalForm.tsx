// Allows or denies a call that needs the person's approval.

import { useId, useState, type FormEvent } from "react";
import { Icon } from "../ui/Icon";
import { innerCall, type CallAction } from "./answers";
import { useChat } from "./chat";
import { DataView } from "./DataView";

interface Props {
  /** The key of the waiting call. */
  callKey: string;
  action: CallAction;
  /** The display name of the waiting call. */
  name: string;
  canRemember: boolean;
}

export function ApprovalForm({ callKey, action, name, canRemember }: Props) {
  const conversation = useChat();
  const [denying, setDenying] = useState(false);
  const [reason, setReason] = useState("");
  const [remember, setRemember] = useState(false);
  const reasonId = useId();
  const inner = innerCall(action);
  const tool = inner?.name ?? name;
  const message = action.suspension?.message ?? "";

  const allow = () => conversation.allow(callKey, { remember });
  const deny = (event: FormEvent) => {
    event.preventDefault();
    conversation.deny(callKey, reason);
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
        {canRemember && (
          <label className="check">
            <input type="checkbox" checked={remember} onChange={({ target }) => setRemember(target.checked)} /> Always
            allow
          </label>
        )}
      </div>
    </div>
  );
}
