// The small status icon at the end of a card's head.

import { Icon } from "../ui/Icon";

export type Mark = "working" | "waiting" | "done" | "failed" | "stopped";

export function StatusMark({ mark, words }: { mark: Mark; words: string }) {
  return (
    <span className={`status ${mark}`}>
      {mark === "working" && <span className="spinner" aria-hidden="true" />}
      {mark === "waiting" && <Icon name="clock" />}
      {mark === "done" && <Icon name="check" />}
      {mark === "failed" && <Icon name="warn" />}
      {mark === "stopped" && <Icon name="close" />}
      <span className="status-words">{words}</span>
    </span>
  );
}
