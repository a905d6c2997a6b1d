// An event of the connection, as a row between the events.

import { memo } from "react";
import { wordsOf } from "./describe";
import type { LoggedMark } from "./EventLog";
import { Icon, type IconName } from "../ui/Icon";

interface Props {
  id: string;
  entry: LoggedMark;
  position: number;
  /** The position of the row, in CSS pixels from the top of the list. */
  top: number;
  selected: boolean;
}

const ICONS: Record<LoggedMark["mark"]["topic"], IconName> = {
  reconnecting: "cut",
  waiting: "clock",
  resumed: "check",
  gap: "warn",
  mismatch: "warn",
  idle: "clock",
};

export const MarkLine = memo(function MarkLine({ id, entry: { mark }, position, top, selected }: Props) {
  const [word, rest] = wordsOf(mark);
  return (
    <div
      id={id}
      className="event mark"
      role="option"
      aria-selected={selected}
      data-position={position}
      data-mark={mark.topic}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span className="event-number">
        <Icon name={ICONS[mark.topic]} />
      </span>
      <span className="event-type">{word}</span>
      <span className="event-gist">{rest}</span>
    </div>
  );
});
