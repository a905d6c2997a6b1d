// How a turn ended, if it did not end well, and what can be done about it.

import { memo } from "react";
import type { TurnView } from "turnwire/conversation";
import { useMessage, useReadable, useStatus } from "turnwire/react";
import { filesIn, partsIn, textIn } from "./attachments";
import { useChat } from "./chat";
import { Notice } from "./Notice";
import { explain, explainEnd, NOT_SENT, type Trouble } from "./words";

interface Props {
  turn: TurnView;
  /** The key of its first row, if it has one. */
  row: string;
  last: boolean;
}

export const TurnNotice = memo(function TurnNotice({ turn, row, last }: Props) {
  const conversation = useChat();
  const { capabilities } = useReadable(conversation.info);
  const { error } = useStatus(conversation);
  const message = useMessage(conversation, row);
  const { key, snapshot, canRetry } = turn;
  const isUnsent = message?.role === "user" && message.delivery === "failed";
  let trouble: Trouble | null = explainEnd(snapshot, capabilities?.resume);
  // Its session may not have been created.
  if (isUnsent) trouble = { ...explainUnsent(message.error ?? snapshot.error ?? error), remedy: "retry" };
  if (!trouble) return null;
  if (snapshot.status === "cancelled") return <p className="faint stopped">{trouble.title}</p>;
  const retry = () => void conversation.retry(key);
  const reload = () => void (canRetry && snapshot.status === "incomplete" ? retry() : conversation.catchUp());
  if (!last && !isUnsent) return <Notice trouble={trouble} onReload={reload} />;
  const takeBack = () => {
    const parts = partsIn(conversation.dismiss(row));
    const draft = conversation.draft.get();
    const text = [textIn(parts), draft.text].filter(Boolean).join("\n");
    conversation.setDraft({ text, parts: [...filesIn(parts), ...draft.parts] });
  };
  return (
    <Notice
      trouble={trouble}
      onRetry={retry}
      onResume={retry}
      onReload={isUnsent ? undefined : reload}
      onTakeBack={isUnsent ? takeBack : undefined}
    />
  );
});

function explainUnsent(error: unknown): Trouble {
  return error === null ? NOT_SENT : explain(error);
}
