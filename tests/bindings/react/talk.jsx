// A conversation, by all names of the binding.
import { memo } from "react";
import * as turnwire from "turnwire/react";
import { drawn } from "../kit.js";

export function Talk({ conversation, readers = 1 }) {
  return Array.from({ length: readers }, (_, at) => <Chat key={at} conversation={conversation} />);
}

function Chat({ conversation }) {
  const chat = turnwire.useConversation(conversation);
  drawn("chat");
  const parts = [turnwire.useRows(chat), turnwire.useStatus(chat), turnwire.usePending(chat), turnwire.useQueue(chat), turnwire.useDraft(chat)];
  return (
    <>
      <p className="reader">{parts.join(", ")}</p>
      <Row chat={chat} id="a" />
      <Row chat={chat} id="b" />
    </>
  );
}

const Row = memo(function Row({ chat, id }) {
  drawn(`row ${id}`);
  const parts = [turnwire.useMessage(chat, id), turnwire.useCall(chat, id), turnwire.useThread(chat, id), turnwire.useTurn(chat, id)];
  return <p className="row">{parts.join(", ")}</p>;
});
