// The raw events as they come. Only the rows in sight are on the page, whatever the number of events.

import {
  useEffect,
  useId,
  useState,
  useSyncExternalStore,
  type KeyboardEvent,
  type MouseEvent,
  type UIEvent,
} from "react";
import { useStickToBottom } from "../ui/useStickToBottom";
import { EventDetail } from "./EventDetail";
import { EventLine } from "./EventLine";
import { isMark, type EventLog, type LogEntry } from "./EventLog";
import { MarkLine } from "./MarkLine";

/** The height of a row in CSS pixels; styles/events.css draws it so. */
const ROW = 26;
/** Rows drawn beyond those in sight, so that a quick scroll finds them there. */
const SPARE = 10;

interface Selection {
  readonly position: number;
  readonly entry: LogEntry;
}

export function EventsPane({ log }: { log: EventLog }) {
  useSyncExternalStore(log.subscribe, log.version);
  const [withDeltas, setWithDeltas] = useState(true);
  const [selected, setSelected] = useState<Selection | null>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const { scroller, content, atEnd, toEnd } = useStickToBottom();
  const id = useId();
  const rows = log.rows(withDeltas);

  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const observer = new ResizeObserver(() => setView({ top: box.scrollTop, height: box.clientHeight }));
    observer.observe(box);
    return () => observer.disconnect();
  }, [scroller]);

  const onScroll = ({ currentTarget: { scrollTop, clientHeight } }: UIEvent) =>
    setView({ top: scrollTop, height: clientHeight });
  const select = (position: number) => {
    const entry = rows.at(position);
    const box = scroller.current;
    if (!entry || !box) return;
    setSelected({ position, entry });
    if (position * ROW < box.scrollTop) box.scrollTop = position * ROW;
    else if ((position + 1) * ROW > box.scrollTop + view.height) box.scrollTop = (position + 1) * ROW - view.height;
  };
  const onClick = (event: MouseEvent) => {
    const line = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-position]") : null;
    if (line) select(Number(line.dataset.position));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = selected?.position ?? rows.total;
    if (event.key === "ArrowUp") select(at - 1);
    else if (event.key === "ArrowDown") select(Math.min(at + 1, rows.total - 1));
    else if (event.key === "Escape" && selected) setSelected(null);
    else return;
    event.preventDefault();
  };
  const showDeltas = (show: boolean) => {
    setWithDeltas(show);
    setSelected(null);
    toEnd();
  };

  // Where the list is followed, its place is known without asking the page: the last rows.
  const end = Math.max(0, rows.total * ROW - view.height);
  const top = atEnd ? end : Math.min(view.top, end);
  const from = Math.max(rows.first, Math.floor(top / ROW) - SPARE);
  const to = Math.min(rows.total, Math.ceil((top + view.height) / ROW) + SPARE);
  return (
    <section className="events" aria-label="Events" onKeyDown={onKeyDown}>
      <div className="events-bar">
        <span className="faint">{summary(rows.events, rows.keptEvents)}</span>
        <label className="check">
          <input type="checkbox" checked={withDeltas} onChange={(event) => showDeltas(event.target.checked)} /> Deltas
        </label>
      </div>
      <div
        className="events-list"
        ref={scroller}
        onScroll={onScroll}
        onClick={onClick}
        tabIndex={0}
        role="listbox"
        aria-label="Events, newest last"
        aria-activedescendant={selected ? `${id}-${selected.position}` : undefined}
      >
        <div className="events-space" ref={content} role="presentation" style={{ height: rows.total * ROW }}>
          {positions(from, to).map((position) => {
            const entry = rows.at(position);
            if (!entry) return null;
            // Rows that leave the window are used again for those that enter it.
            const slot = position % SLOTS;
            const place = {
              id: `${id}-${position}`,
              position,
              top: position * ROW,
              selected: selected?.position === position,
            };
            return isMark(entry) ? (
              <MarkLine key={slot} entry={entry} {...place} />
            ) : (
              <EventLine key={slot} entry={entry} {...place} />
            );
          })}
        </div>
        {rows.total === 0 && <p className="faint events-empty">Events appear here while a turn streams.</p>}
      </div>
      {selected && <EventDetail entry={selected.entry} onClose={() => setSelected(null)} />}
    </section>
  );
}

/** More than a window ever shows: two rows of one window must not share a slot. */
const SLOTS = 400;

function positions(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, Math.min(to - from, SLOTS)) }, (_, index) => from + index);
}

function summary(total: number, kept: number): string {
  const events = `${total.toLocaleString()} ${total === 1 ? "event" : "events"}`;
  return kept < total ? `${events}, the last ${kept.toLocaleString()} kept` : events;
}
