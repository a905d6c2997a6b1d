// The model's reasoning: visible while it reasons, one line afterwards.

import { memo, useState } from "react";
import { Markdown } from "../markdown/Markdown";
import { Icon } from "../ui/Icon";

interface Props {
  text: string;
  /** The model has not begun to answer. */
  thinking: boolean;
}

export const Reasoning = memo(function Reasoning({ text, thinking }: Props) {
  // Until the reader decides, it is open while there is nothing else to read.
  const [chosen, setChosen] = useState<boolean | null>(null);
  const open = chosen ?? thinking;
  return (
    <section className="reasoning">
      <button type="button" className="disclosure" aria-expanded={open} onClick={() => setChosen(!open)}>
        <Icon name="thought" />
        <span className={thinking ? "shimmer" : undefined}>{thinking ? "Thinking" : "Thoughts"}</span>
        <Icon name="chevron" className="turning" />
      </button>
      {open && (
        <div className={thinking ? "reasoning-text pinned" : "reasoning-text"}>
          <Markdown text={text} ended={!thinking} />
        </div>
      )}
    </section>
  );
});
