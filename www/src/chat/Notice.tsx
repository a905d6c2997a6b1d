// A problem in plain words, and the one button that may help.

import { Icon } from "../ui/Icon";
import type { Trouble } from "./words";

interface Props {
  trouble: Trouble;
  onRetry?: (() => void) | undefined;
  onResume?: (() => void) | undefined;
  onReload?: (() => void) | undefined;
  onSettings?: (() => void) | undefined;
  /** Takes the message back into the field where one writes. */
  onTakeBack?: (() => void) | undefined;
}

export function Notice({ trouble, onRetry, onResume, onReload, onSettings, onTakeBack }: Props) {
  const { title, detail, remedy } = trouble;
  return (
    <div className="notice" role="alert">
      <Icon name="warn" />
      <div>
        <p className="notice-title">{title}</p>
        {detail && <p className="faint">{detail}</p>}
        <div className="row">
          {remedy === "retry" && onRetry && (
            <button type="button" onClick={onRetry}>
              <Icon name="retry" /> Try again
            </button>
          )}
          {remedy === "resume" && onResume && (
            <button type="button" onClick={onResume}>
              <Icon name="retry" /> Continue from here
            </button>
          )}
          {(remedy === "reload" || remedy === "resume") && onReload && (
            <button type="button" onClick={onReload}>
              Reload the conversation
            </button>
          )}
          {onTakeBack && (
            <button type="button" onClick={onTakeBack}>
              Take it back
            </button>
          )}
          {remedy === "settings" && onSettings && (
            <button type="button" onClick={onSettings}>
              <Icon name="settings" /> Open the settings
            </button>
          )}
        </div>
      </div>
    </div>
  );
}
