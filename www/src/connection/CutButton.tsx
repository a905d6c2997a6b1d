// Cuts the connection on purpose, to see that the answer goes on.

import { useLayoutEffect, useRef } from "react";
import { Icon } from "../ui/Icon";

interface Props {
  /** What it is to see then. */
  title: string;
  onCut: () => void;
  /** The button is about to vanish while it has the focus. */
  onFocusLost: () => void;
}

export function CutButton({ title, onCut, onFocusLost }: Props) {
  const button = useRef<HTMLButtonElement>(null);
  const leave = useRef(onFocusLost);
  useLayoutEffect(() => {
    leave.current = onFocusLost;
  });
  useLayoutEffect(() => {
    const element = button.current;
    // While it is still on the page: afterwards nobody knows that it had the focus.
    return () => {
      if (element !== null && document.activeElement === element) leave.current();
    };
  }, []);
  return (
    <button ref={button} type="button" className="cut" onClick={onCut} aria-label="Cut the connection" title={title}>
      <Icon name="cut" />
      <span>
        Cut<span className="cut-rest"> the connection</span>
      </span>
    </button>
  );
}
