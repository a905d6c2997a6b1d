// The messages of one thread, in order.

import { memo } from "react";
import type { MessageSnapshot } from "turnwire";
import { Markdown } from "../markdown/Markdown";
import { CallView } from "./CallView";
import { Reasoning } from "./Reasoning";

interface Props {
  messages: readonly MessageSnapshot[];
  /** The thread goes on. */
  live: boolean;
}

interface MessageProps {
  message: MessageSnapshot;
  live: boolean;
  /** The message is complete. */
  ended: boolean;
}

export const ThreadMessages = memo(function ThreadMessages({ messages, live }: Props) {
  return messages.map((message, index) => (
    <MessageView
      key={message.id}
      message={message}
      live={live}
      ended={!live || message.finish_reason !== null || index < messages.length - 1}
    />
  ));
});

const MessageView = memo(function MessageView({ message, live, ended }: MessageProps) {
  const { content, reasoning_content, refusal, tool_calls } = message;
  const thinking = !ended && content === "" && tool_calls.length === 0;
  return (
    <div className="message">
      {reasoning_content !== "" && <Reasoning text={reasoning_content} thinking={thinking} />}
      {content !== "" && <Markdown text={content} ended={ended} />}
      {refusal !== "" && <p className="refusal">{refusal}</p>}
      {tool_calls.map((call) => (
        <CallView key={call.id} call={call} live={live} />
      ))}
    </div>
  );
});
