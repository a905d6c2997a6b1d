// A part of the page beside the conversation, or a drawer over it if there is no space.

import { useLayoutEffect, useRef, type MouseEvent, type ReactNode } from "react";
import { Icon } from "./Icon";
import { Logo } from "./Logo";

interface Props {
  side: "left" | "right";
  title: string;
  overlay: boolean;
  onClose: () => void;
  children: ReactNode;
}

export function Pane({ overlay, ...props }: Props) {
  return overlay ? <Drawer {...props} /> : <Aside {...props} />;
}

type Content = Omit<Props, "overlay">;

function Aside({ side, title, onClose, children }: Content) {
  return (
    <aside className={`pane ${side}`} aria-label={title}>
      <Head side={side} title={title} onClose={onClose} />
      {children}
    </aside>
  );
}

function Drawer({ side, title, onClose, children }: Content) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // While it is still on the page: only then does closing restore the focus.
    return () => element?.close();
  }, []);
  const onClick = (event: MouseEvent) => {
    if (event.target === dialog.current) onClose();
  };
  return (
    <dialog ref={dialog} className={`drawer ${side}`} aria-label={title} onCancel={onClose} onClick={onClick}>
      <div className={`pane ${side}`}>
        <Head side={side} title={title} onClose={onClose} closable />
        {children}
      </div>
    </dialog>
  );
}

function Head({
  side,
  title,
  onClose,
  closable = side === "right",
}: {
  side: Props["side"];
  title: string;
  onClose: () => void;
  closable?: boolean;
}) {
  return (
    <div className="pane-head">
      {side === "left" ? <Logo /> : <h2>{title}</h2>}
      {closable && (
        <button type="button" className="quiet round" onClick={onClose} aria-label={`Close ${title.toLowerCase()}`}>
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}
