// The server's notices about a turn: small lines, the newest at the bottom.

import { useState } from "react";
import type { TurnSnapshot } from "turnwire";
import { Icon, type IconName } from "../ui/Icon";
import { noticesOf, type ShownNotice } from "./news";

/** The rest can be shown on demand. */
const SHOWN = 6;

const ICONS: Record<ShownNotice["level"], IconName> = { info: "info", warning: "warn", error: "warn" };

export function Notices({ snapshot }: { snapshot: TurnSnapshot }) {
  const notices = noticesOf(snapshot);
  const [all, setAll] = useState(false);
  if (notices.length === 0) return null;
  const from = all ? 0 : Math.max(0, notices.length - SHOWN);
  return (
    <ul className="notices" aria-label="Notices">
      {from > 0 && (
        <li>
          <button type="button" className="quiet small" onClick={() => setAll(true)}>
            Show {from} earlier
          </button>
        </li>
      )}
      {notices.slice(from).map(({ level, words, times }, index) => (
        <li key={from + index} className={level}>
          <Icon name={ICONS[level] ?? "info"} />
          <span>
            {words}
            {times > 1 && <span className="faint"> ({times} times)</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
