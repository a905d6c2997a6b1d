// A chat by `@assistant-ui/react` over a conversation, by the package's adapter.
import { AssistantRuntimeProvider, MessagePrimitive, ThreadPrimitive } from "@assistant-ui/react";
import { useEffect } from "react";
import { useTurnwireRuntime } from "turnwire/assistant-ui";
import { conversationOf } from "./conversation.mjs";
import { KeptText, page } from "./shell.jsx";

const User = () => <MessagePrimitive.Parts components={{ Text: ({ text }) => <KeptText role="user" text={text} /> }} />;
const Assistant = () => <MessagePrimitive.Parts components={{ Text: ({ text }) => <KeptText role="assistant" text={text} /> }} />;

export const open = page(async ({ control, ...world }) => {
  const chat = await conversationOf(world, control);
  return function Chat() {
    const runtime = useTurnwireRuntime(chat);
    useEffect(() => void (control.send = () => chat.send("Go")), []);
    return (
      <AssistantRuntimeProvider runtime={runtime}>
        <ThreadPrimitive.Root><ThreadPrimitive.Messages components={{ UserMessage: User, AssistantMessage: Assistant }} /></ThreadPrimitive.Root>
      </AssistantRuntimeProvider>
    );
  };
});
