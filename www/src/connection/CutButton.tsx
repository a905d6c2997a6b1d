// Cuts the connection on purpose, to show that the answer continues.

import { useLayoutEffect, useRef } from "react";
import { Icon } from "../ui/Icon";

interface Props {
  /** What the person will see then. */
  title: string;
  onCut: () => void;
  /** Called when the button is about to disappear while it has the focus. */
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
    // While the button is still on the page: afterwards its focus cannot be detected.
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
