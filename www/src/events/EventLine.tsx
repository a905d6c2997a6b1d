// One event as a row of the list.

import { memo } from "react";
import { gistOf, threadOf } from "./describe";
import type { LoggedEvent } from "./EventLog";

interface Props {
  id: string;
  entry: LoggedEvent;
  position: number;
  /** The position of the row, in CSS pixels from the top of the list. */
  top: number;
  selected: boolean;
}

export const EventLine = memo(function EventLine({ id, entry: { event }, position, top, selected }: Props) {
  return (
    <div
      id={id}
      className="event"
      role="option"
      aria-selected={selected}
      data-position={position}
      data-type={event.type}
      data-family={event.type.split(".", 1)[0]}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span className="event-number">{event.sequence_number}</span>
      <span className="event-type">{event.type === "model.message.delta" ? "delta" : event.type}</span>
      <span className="event-thread">{threadOf(event)}</span>
      <span className="event-gist">{gistOf(event)}</span>
    </div>
  );
});
