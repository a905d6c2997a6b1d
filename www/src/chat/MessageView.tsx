// A message of an agent: its reasoning, its text, its calls.

import { memo } from "react";
import type { Part } from "turnwire/conversation";
import { useMessage } from "turnwire/react";
import { Markdown } from "../markdown/Markdown";
import { CallView } from "./CallView";
import { useChat } from "./chat";
import { Reasoning } from "./Reasoning";

interface Props {
  /** The key of its row. */
  row: string;
  /** Its thread is still running. */
  live: boolean;
}

export const MessageView = memo(function MessageView({ row, live }: Props) {
  const message = useMessage(useChat(), row);
  if (message?.role !== "assistant") return null;
  return (
    <div className="message">
      {message.parts.map((part) => (
        <PartView key={part.key} part={part} live={live} />
      ))}
    </div>
  );
});

const PartView = memo(function PartView({ part, live }: { part: Part; live: boolean }) {
  switch (part.type) {
    case "reasoning":
      return <Reasoning text={part.text} thinking={part.streaming} />;
    case "text":
      return <Markdown text={part.text} ended={!part.streaming} />;
    case "refusal":
      return <p className="refusal">{part.text}</p>;
    case "call":
      return <CallView call={part.call} live={live} />;
    // Agents send no files.
    case "file":
      return null;
  }
});
