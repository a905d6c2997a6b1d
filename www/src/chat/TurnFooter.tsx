// The last line of a turn: an activity indicator while it runs, and afterwards the actions for the answer. Both have
// the same height, so that nothing moves when a turn ends.

import { memo, useState } from "react";
import type { TurnSnapshot } from "turnwire";
import { useReadable } from "turnwire/react";
import { ConnectionLine } from "../connection/ConnectionLine";
import type { TurnConnection } from "../connection/TurnConnection";
import { Icon } from "../ui/Icon";
import { useChat, useIsBusy } from "./chat";

interface Props {
  /** The key of the turn. */
  turn: string;
  snapshot: TurnSnapshot;
  connection: TurnConnection;
  live: boolean;
  last: boolean;
  continued: boolean;
}

export const TurnFooter = memo(function TurnFooter({ turn, snapshot, connection, live, last, continued }: Props) {
  const complete = !live && snapshot.required_actions.length === 0;
  // The turn with the answer directly follows the turn that waited for it.
  if (!live && (continued || (!complete && !last))) return null;
  return (
    <div className="turn-footer">
      {live ? (
        <span className={snapshot.reconnecting ? "dots still" : "dots"} role="img" aria-label="The agent is working">
          <i /> <i /> <i />
        </span>
      ) : (
        <>
          {complete && hasText(snapshot) && <CopyAnswer snapshot={snapshot} />}
          {complete && last && <AnswerAgain turn={turn} />}
        </>
      )}
      <ConnectionLine connection={connection} reconnecting={snapshot.reconnecting} waiting={snapshot.waiting} />
    </div>
  );
});

function hasText({ threads }: TurnSnapshot): boolean {
  return threads[0]?.messages.some((message) => message.content !== "") ?? false;
}

/** Where the conversation can branch, another answer stands beside the one before. */
function AnswerAgain({ turn }: { turn: string }) {
  const conversation = useChat();
  const { capabilities } = useReadable(conversation.info);
  if (useIsBusy() || !capabilities?.fork) return null;
  return (
    <button type="button" className="quiet small" onClick={() => conversation.regenerate(turn)}>
      <Icon name="retry" /> Answer again
    </button>
  );
}

function CopyAnswer({ snapshot }: { snapshot: TurnSnapshot }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    const messages = snapshot.threads[0]?.messages ?? [];
    await navigator.clipboard.writeText(
      messages
        .map((message) => message.content)
        .filter(Boolean)
        .join("\n\n"),
    );
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" className="quiet small" onClick={copy}>
      <Icon name={copied ? "check" : "copy"} /> {copied ? "Copied" : "Copy answer"}
    </button>
  );
}
