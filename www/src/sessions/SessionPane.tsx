// The list of conversations beside the page, or in a drawer on a narrow screen.

import { useReadable } from "turnwire/react";
import { explain } from "../chat/words";
import { Icon } from "../ui/Icon";
import { hrefOf } from "./route";
import type { ListedSession, SessionList } from "./SessionList";

interface Props {
  list: SessionList;
  currentId: string | null;
  onNew: () => void;
  /** A conversation was chosen. */
  onChoose: () => void;
}

export function SessionPane({ list, currentId, onNew, onChoose }: Props) {
  const { sessions, loading, more, error } = useReadable(list);
  return (
    <nav className="sessions" aria-label="Conversations">
      <button type="button" className="new-session" onClick={onNew}>
        <Icon name="plus" /> New conversation
      </button>
      {error !== null && (
        <div className="sessions-error">
          <p className="faint">{explain(error).title}</p>
          <button type="button" className="small" onClick={() => void list.refresh()}>
            Try again
          </button>
        </div>
      )}
      {groups(sessions).map(({ label, members }) => (
        <section key={label}>
          <h2>{label}</h2>
          <ul>
            {members.map((session) => (
              <li key={session.id}>
                <a
                  href={hrefOf(session.id)}
                  aria-current={session.id === currentId ? "page" : undefined}
                  onClick={onChoose}
                >
                  {session.title || "Untitled conversation"}
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {!loading && error === null && sessions.length === 0 && !list.isRemembered && (
        <p className="faint">Your conversations will be listed here.</p>
      )}
      {list.isRemembered && (
        <p className="faint unlisted">
          This server does not list conversations:{" "}
          {sessions.length === 0
            ? "yours will be remembered by this browser."
            : "these are the ones that this browser remembers."}
        </p>
      )}
      {more && (
        <button type="button" className="quiet small" disabled={loading} onClick={() => void list.more()}>
          Show more
        </button>
      )}
    </nav>
  );
}

interface Group {
  readonly label: string;
  readonly members: ListedSession[];
}

/** Groups the sessions by day, in people's terms. They are already sorted. */
function groups(sessions: readonly ListedSession[]): Group[] {
  const today = new Date().setHours(0, 0, 0, 0);
  const result: Group[] = [];
  for (const session of sessions) {
    const label = session.at === null ? "Others" : labelFor(session.at, today);
    const last = result.at(-1);
    if (last?.label === label) last.members.push(session);
    else result.push({ label, members: [session] });
  }
  return result;
}

const DAY_MS = 24 * 60 * 60 * 1000;

function labelFor(time: number, today: number): string {
  if (time >= today) return "Today";
  if (time >= today - DAY_MS) return "Yesterday";
  return time >= today - 7 * DAY_MS ? "This week" : "Earlier";
}
