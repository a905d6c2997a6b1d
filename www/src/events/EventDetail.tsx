// One event in full, or all details of an event of the connection.

import { TurnwireError } from "turnwire";
import { useMemo } from "react";
import { Icon } from "../ui/Icon";
import { frameType } from "./describe";
import { isFrame, isMark, type LoggedEvent, type LoggedFrame, type LogEntry } from "./EventLog";

/** An event as received, with its number first. */
function jsonOf(entry: LogEntry): string {
  if (isMark(entry)) return JSON.stringify(entry.mark.told, errorsToo, 2);
  if (isFrame(entry)) return JSON.stringify(entry.frame, null, 2);
  const { sequence_number, ...fields } = entry.event;
  return JSON.stringify({ sequence_number, ...fields }, null, 2);
}

/** Errors have no JSON of their own. */
function errorsToo(_name: string, value: unknown): unknown {
  if (!(value instanceof TurnwireError)) return value;
  const { name, code, status, retryAfter, message } = value;
  return { name, code, status, retryAfter, message };
}

function titleOf(entry: LogEntry): string {
  return `Turn ${entry.turn}, ${isMark(entry) ? `connection ${entry.mark.topic}` : thingOf(entry)}`;
}

function thingOf(entry: LoggedEvent | LoggedFrame): string {
  return isFrame(entry) ? `native frame ${frameType(entry.frame)}` : `event ${entry.event.sequence_number}`;
}

/** A message or a tool's result can have megabytes, too much for a panel. In UTF-16 units. */
const LIMIT = 20_000;

export function EventDetail({ entry, onClose }: { entry: LogEntry; onClose: () => void }) {
  const json = useMemo(() => jsonOf(entry), [entry]);
  return (
    <div className="event-detail">
      <header>
        <span>{titleOf(entry)}</span>
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
