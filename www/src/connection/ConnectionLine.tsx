// A turn's connection in one quiet line: lost, or restored with a small mark afterwards, or waiting for something to
// read.

import { memo, useEffect, useState } from "react";
import type { TurnSnapshot } from "turnwire";
import { useReadable } from "turnwire/react";
import { Icon } from "../ui/Icon";
import type { TurnConnection } from "./TurnConnection";
import { resumedWords, timesWords, tryingWords, waitingHint, waitingWords } from "./words";

/** How long a resume is shown as news, in milliseconds; styles/connection.css fades it out by then. */
const NEWS_MS = 5000;

interface Props {
  connection: TurnConnection;
  reconnecting: TurnSnapshot["reconnecting"];
  waiting: TurnSnapshot["waiting"];
}

export const ConnectionLine = memo(function ConnectionLine({ connection, reconnecting, waiting }: Props) {
  const state = useReadable(connection);
  const isNews = useIsNews(state.resumes);
  if (reconnecting !== null) {
    return (
      <span className="connection lost" title={reconnecting.cause.message}>
        <span className="spinner" aria-hidden="true" />
        <span className="connection-words">{tryingWords(reconnecting)}</span>
      </span>
    );
  }
  if (waiting !== null) {
    return (
      <span className="connection waiting" title={waitingHint(waiting)}>
        <span className="connection-words">{waitingWords(waiting)}</span>
      </span>
    );
  }
  if (state.resumes === 0) return null;
  if (isNews) {
    return (
      <span key={state.resumes} className="connection resumed">
        <Icon name="check" />
        <span className="connection-words">{resumedWords(state)}</span>
      </span>
    );
  }
  return (
    <span className="connection mark" title={resumedWords(state)}>
      {timesWords(state)}
    </span>
  );
});

/** Whether the count has just grown while the component is mounted. */
function useIsNews(count: number): boolean {
  const [known, setKnown] = useState(count);
  useEffect(() => {
    if (count === known) return;
    const timer = setTimeout(() => setKnown(count), NEWS_MS);
    return () => clearTimeout(timer);
  }, [count, known]);
  return count !== known;
}
