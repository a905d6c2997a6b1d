// The raw events as they arrive. Only visible rows are on the page, whatever the number of events.

import {
  useEffect,
  useId,
  useState,
  type ChangeEvent,
  type KeyboardEvent,
  type MouseEvent,
  type UIEvent,
} from "react";
import { useReadable } from "turnwire/react";
import { useStickToBottom } from "../ui/useStickToBottom";
import { EventDetail } from "./EventDetail";
import { EventLine } from "./EventLine";
import { isFrame, isMark, type Choice, type EventLog, type EventRows, type LogEntry } from "./EventLog";
import { FrameLine } from "./FrameLine";
import { MarkLine } from "./MarkLine";

/** The height of a row in CSS pixels; styles/events.css uses the same. */
const ROW = 26;
/** Rows rendered outside the visible ones, for quick scrolling. */
const SPARE = 10;

interface Selection {
  readonly position: number;
  readonly entry: LogEntry;
}

export function EventsPane({ log }: { log: EventLog }) {
  useReadable(log);
  const [withDeltas, setWithDeltas] = useState(true);
  const [native, setNative] = useState(false);
  const [selected, setSelected] = useState<Selection | null>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const { scroller, content, atEnd, toEnd } = useStickToBottom();
  const id = useId();
  const choice: Choice = native ? "frames" : withDeltas ? "all" : "rare";
  const rows = log.rows(choice);

  useEffect(() => {
    log.wantFrames(native);
    return () => log.wantFrames(false);
  }, [log, native]);

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
  const change = (setChoice: (checked: boolean) => void) => (event: ChangeEvent<HTMLInputElement>) => {
    setChoice(event.target.checked);
    setSelected(null);
    toEnd();
  };

  // While the list follows its end, the position is known without measuring: the last rows.
  const end = Math.max(0, rows.total * ROW - view.height);
  const top = atEnd ? end : Math.min(view.top, end);
  const from = Math.max(rows.first, Math.floor(top / ROW) - SPARE);
  const to = Math.min(rows.total, Math.ceil((top + view.height) / ROW) + SPARE);
  return (
    <section className="events" aria-label="Events" onKeyDown={onKeyDown}>
      <div className="events-bar">
        <span className="faint">{summary(rows, native ? "frame" : "event")}</span>
        {!native && (
          <label className="check">
            <input type="checkbox" checked={withDeltas} onChange={change(setWithDeltas)} /> Deltas
          </label>
        )}
        <label className="check" title="What comes over the wire, before turnwire reads it">
          <input type="checkbox" checked={native} onChange={change(setNative)} /> Native frames
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
            // Rows that leave the window are reused for those that enter it.
            const slot = position % SLOTS;
            const place = {
              id: `${id}-${position}`,
              position,
              top: position * ROW,
              selected: selected?.position === position,
            };
            if (isMark(entry)) return <MarkLine key={slot} entry={entry} {...place} />;
            if (isFrame(entry)) return <FrameLine key={slot} entry={entry} {...place} />;
            return <EventLine key={slot} entry={entry} {...place} />;
          })}
        </div>
        {rows.total === 0 && (
          <p className="faint events-empty">{native ? "Frames" : "Events"} appear here while a turn streams.</p>
        )}
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

function summary({ events, keptEvents }: EventRows, unit: string): string {
  const count = `${events.toLocaleString()} ${events === 1 ? unit : `${unit}s`}`;
  return keptEvents < events ? `${count}, the last ${keptEvents.toLocaleString()} kept` : count;
}
