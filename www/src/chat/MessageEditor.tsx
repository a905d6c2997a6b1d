// Changes the text of a message. Enter takes it, Shift+Enter inserts a line break, Escape leaves it as it was.

import { useState, type FormEvent, type KeyboardEvent } from "react";

interface Props {
  label: string;
  text: string;
  /** The word for what taking it does. */
  action: string;
  /** The message may be without text. */
  optional: boolean;
  onTake: (text: string) => void;
  onCancel: () => void;
}

export function MessageEditor({ label, text: before, action, optional, onTake, onCancel }: Props) {
  const [text, setText] = useState(before);
  const ready = optional || text.trim() !== "";
  const take = (event: FormEvent | KeyboardEvent) => {
    event.preventDefault();
    if (ready) onTake(text.trim());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      // It does not stop the agent as well.
      event.preventDefault();
      onCancel();
    } else if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) take(event);
  };
  return (
    <form className="message-editor" onSubmit={take}>
      <textarea
        autoFocus
        rows={1}
        aria-label={label}
        value={text}
        onFocus={({ target }) => target.setSelectionRange(text.length, text.length)}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="row end">
        <button type="button" className="small" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" className="small primary" disabled={!ready}>
          {action}
        </button>
      </div>
    </form>
  );
}
