// A native dialog of the browser: it keeps the focus inside, closes with Escape, and restores the focus.

import { useLayoutEffect, useId, useRef, type MouseEvent, type ReactNode } from "react";
import { Icon } from "./Icon";

interface Props {
  title: string;
  className: string;
  onClose: () => void;
  children: ReactNode;
}

export function Modal({ title, className, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // While it is still on the page: only then does closing restore the focus.
    return () => element?.close();
  }, []);
  // A click on the dialog itself is outside its content.
  const onClick = (event: MouseEvent) => {
    if (event.target === dialog.current) onClose();
  };
  return (
    <dialog ref={dialog} className={className} aria-labelledby={titleId} onCancel={onClose} onClick={onClick}>
      <div className="modal">
        <header>
          <h2 id={titleId}>{title}</h2>
          <button type="button" className="quiet round" onClick={onClose} aria-label="Close">
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
