// One event in full.

import { useMemo } from "react";
import { Icon } from "../ui/Icon";
import type { LoggedEvent } from "./EventLog";

/** The event as it came, with its number in front. */
function jsonOf({ event: { sequence_number, ...fields } }: LoggedEvent): string {
  return JSON.stringify({ sequence_number, ...fields }, null, 2);
}

/** A message or a tool's result can be megabytes; a panel need not show them. In UTF-16 units. */
const LIMIT = 20_000;

export function EventDetail({ entry, onClose }: { entry: LoggedEvent; onClose: () => void }) {
  const json = useMemo(() => jsonOf(entry), [entry]);
  return (
    <div className="event-detail">
      <header>
        <span>
          Turn {entry.turn}, event {entry.event.sequence_number}
        </span>
        <button type="button" className="quiet small" onClick={onClose} aria-label="Close the detail">
          <Icon name="close" />
        </button>
      </header>
      <pre tabIndex={0}>
        {json.length > LIMIT ? `${json.slice(0, LIMIT)}\n… ${json.length - LIMIT} more characters` : json}
      </pre>
    </div>
  );
}
