// An answer in free text.

import { useId, useState, type FormEvent } from "react";
import { useChat } from "./chat";

interface Props {
  callKey: string;
  label?: string | undefined;
}

export function ResponseForm({ callKey, label = "Your answer" }: Props) {
  const conversation = useChat();
  const [text, setText] = useState("");
  const id = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim()) conversation.answer(callKey, { kind: "text", content: text.trim() });
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
