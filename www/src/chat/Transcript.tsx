// The turns of the conversation, newest at the bottom.

import { useEffect, useMemo, type ReactNode } from "react";
import type { Row } from "turnwire/conversation";
import { useReadable, useRows } from "turnwire/react";
import type { ConversationLog } from "../events/ConversationLog";
import { Icon } from "../ui/Icon";
import { useStickToBottom } from "../ui/useStickToBottom";
import { useChat, useIsBusy } from "./chat";
import { rowsByTurn } from "./rowsByTurn";
import { TurnView } from "./TurnView";

const NONE: readonly Row[] = [];

interface Props {
  log: ConversationLog;
  /** Shown below the turns. */
  children: ReactNode;
}

export function Transcript({ log, children }: Props) {
  const conversation = useChat();
  const rows = useRows(conversation);
  const turns = useReadable(conversation.turns);
  const { hasEarlier } = useReadable(conversation.info);
  const busy = useIsBusy();
  const byTurn = useMemo(() => rowsByTurn(rows), [rows]);
  const empty = turns.length === 0;
  const { scroller, content, atEnd, toEnd } = useStickToBottom(!empty);
  const newest = turns.at(-1);
  // The reader has started the new turn: scroll to it.
  useEffect(() => {
    if (newest !== undefined) toEnd();
  }, [newest, toEnd]);

  const rowsOf = (turn: string) => byTurn.get(turn) ?? NONE;
  return (
    <div className="transcript">
      {/* New text is not read out token by token: `Announcer` says what matters. */}
      <div
        className="scroller"
        ref={scroller}
        role="log"
        aria-live="off"
        aria-label="Conversation"
        aria-busy={busy}
        tabIndex={0}
      >
        <div className={empty ? "column empty" : "column"} ref={content}>
          {hasEarlier && (
            <button type="button" className="quiet earlier" onClick={() => void conversation.loadEarlier()}>
              Show earlier turns
            </button>
          )}
          {turns.map((turn, at) => {
            const next = turns[at + 1];
            // It answers the calls of this one, if it does not begin with a message.
            const continued = next !== undefined && rowsOf(next)[0]?.role !== "user";
            return (
              <TurnView
                // Another version of it takes its place.
                key={conversation.turn(turn).get()?.branch?.of[0] ?? turn}
                turn={turn}
                rows={rowsOf(turn)}
                log={log}
                last={next === undefined}
                continued={continued}
              />
            );
          })}
          {children}
        </div>
      </div>
      {!atEnd && (
        <button type="button" className="to-end" onClick={toEnd} aria-label="Scroll to the newest text">
          <Icon name="down" />
        </button>
      )}
    </div>
  );
}
