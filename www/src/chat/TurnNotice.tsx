// How a turn ended, if it did not end well, and what can be done about it.

import { memo } from "react";
import type { TurnSnapshot } from "turnwire";
import type { ShownTurn } from "./ConversationState";
import { useConversation } from "./context";
import { Notice } from "./Notice";
import { explainEnd } from "./words";

interface Props {
  turn: ShownTurn;
  snapshot: TurnSnapshot;
  last: boolean;
}

export const TurnNotice = memo(function TurnNotice({ turn, snapshot, last }: Props) {
  const conversation = useConversation();
  const trouble = explainEnd(snapshot, conversation.capabilities.resume);
  if (!trouble) return null;
  if (snapshot.status === "cancelled") return <p className="faint stopped">{trouble.title}</p>;
  const onReload = () => void conversation.load();
  if (!last) return <Notice trouble={trouble} onReload={onReload} />;
  return (
    <Notice
      trouble={trouble}
      onRetry={() => conversation.retry(turn)}
      onResume={() => conversation.resume(turn)}
      onReload={onReload}
    />
  );
});
