// A chat by the package's own binding: each row reads its message.
import { memo, useEffect } from "react";
import { useConversation, useMessage, useRows } from "turnwire/react";
import { conversationOf } from "./conversation.mjs";
import { page, Text } from "./shell.jsx";

export const open = page(async ({ control, ...world }) => {
  const chat = await conversationOf(world, control);
  const Row = memo(function Row({ id }) {
    const message = useMessage(chat, id);
    return message && <Text role={message.role} text={message.text} />;
  });
  return function Chat() {
    useConversation(chat);
    useEffect(() => void (control.send = () => chat.send("Go")), []);
    return useRows(chat).map(({ key }) => <Row key={key} id={key} />);
  };
});
