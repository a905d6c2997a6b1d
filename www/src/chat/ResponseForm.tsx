// A free answer in words.

import { useId, useState, type FormEvent } from "react";
import type { AnswerState } from "./answers";
import { useConversation } from "./context";
import { GivenAnswer } from "./GivenAnswer";

interface Props {
  callId: string;
  state: AnswerState | undefined;
  label?: string;
}

export function ResponseForm({ callId, state, label = "Your answer" }: Props) {
  const conversation = useConversation();
  const [text, setText] = useState("");
  const id = useId();
  if (state) return <GivenAnswer callId={callId} state={state} />;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim()) conversation.answer(callId, { kind: "text", content: text.trim() });
  };
  return (
    <form className="ask" onSubmit={submit}>
      <label htmlFor={id}>{label}</label>
      <div className="row">
        <input id={id} value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit" className="primary" disabled={!text.trim()}>
          Answer
        </button>
      </div>
    </form>
  );
}
