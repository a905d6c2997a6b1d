// The versions of a question and its answer: which one is shown, and the way to the others.

import type { Branch } from "turnwire/conversation";
import { Icon } from "../ui/Icon";
import { useChat } from "./chat";

export function BranchPicker({ branch: { at, of } }: { branch: Branch }) {
  const conversation = useChat();
  const step = (by: number, label: string, className?: string) => {
    const key = of[at + by];
    return (
      <button
        type="button"
        className="quiet small"
        aria-label={label}
        // Still there for the keyboard: the focus stays where it is.
        aria-disabled={key === undefined}
        onClick={() => key !== undefined && conversation.show(key)}
      >
        <Icon name="chevron" {...(className && { className })} />
      </button>
    );
  };
  return (
    <span className="branches" role="group" aria-label="Versions">
      {step(-1, "Previous version", "backward")}
      <span aria-live="polite">
        {at + 1}/{of.length}
      </span>
      {step(1, "Next version")}
    </span>
  );
}
