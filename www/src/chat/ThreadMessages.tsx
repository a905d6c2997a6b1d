// The messages of one thread, in order.

import { Fragment, memo } from "react";
import type { MessageSnapshot } from "turnwire";
import { Markdown } from "../markdown/Markdown";
import { CallView } from "./CallView";
import type { Asides } from "./news";
import { Reasoning } from "./Reasoning";
import { UserBubble } from "./UserBubble";

interface Props {
  messages: readonly MessageSnapshot[];
  /** The thread is still running. */
  live: boolean;
  /** Messages of the user that were sent meanwhile. */
  asides?: Asides;
}

interface MessageProps {
  message: MessageSnapshot;
  live: boolean;
  /** The message is complete. */
  ended: boolean;
}

export const ThreadMessages = memo(function ThreadMessages({ messages, live, asides }: Props) {
  const said = (after: string | null) =>
    asides?.get(after)?.map((message, index) => <UserBubble key={index} message={message} />);
  return (
    <>
      {said(null)}
      {messages.map((message, index) => (
        <Fragment key={message.id}>
          <MessageView
            message={message}
            live={live}
            ended={!live || message.finish_reason !== null || index < messages.length - 1}
          />
          {said(message.id)}
        </Fragment>
      ))}
    </>
  );
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
