// One frame as received, as a row of the list.

import { memo } from "react";
import { frameGist, frameType } from "./describe";
import type { LoggedFrame } from "./EventLog";

interface Props {
  id: string;
  entry: LoggedFrame;
  position: number;
  /** The position of the row, in CSS pixels from the top of the list. */
  top: number;
  selected: boolean;
}

export const FrameLine = memo(function FrameLine({ id, entry: { frame }, position, top, selected }: Props) {
  const type = frameType(frame);
  return (
    <div
      id={id}
      className="event"
      role="option"
      aria-selected={selected}
      data-position={position}
      data-frame={type}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span className="event-number">{position + 1}</span>
      <span className="event-type">{type}</span>
      <span className="event-gist">{frameGist(frame)}</span>
    </div>
  );
});
