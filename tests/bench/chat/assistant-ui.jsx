// A chat by `@assistant-ui/react` with its own store, and a model adapter as its documentation shows one.
import { AssistantRuntimeProvider, MessagePrimitive, ThreadPrimitive, useLocalRuntime } from "@assistant-ui/react";
import { createParser } from "eventsource-parser";
import { useEffect } from "react";
import { openai } from "../wires/peers.mjs";
import { serving } from "./peers.mjs";
import { KeptText, page } from "./shell.jsx";

const User = () => <MessagePrimitive.Parts components={{ Text: ({ text }) => <KeptText role="user" text={text} /> }} />;
const Assistant = () => <MessagePrimitive.Parts components={{ Text: ({ text }) => <KeptText role="assistant" text={text} /> }} />;

/** The text so far, after each piece of a stream of chat completions. */
async function* texts(response) {
  let text = "";
  const parser = createParser({ onEvent: ({ data }) => data !== "[DONE]" && (text += JSON.parse(data).choices[0].delta.content ?? "") });
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    const before = text;
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (text !== before) yield text;
  }
}

export const open = page(async ({ messages, story, rate, control }) => {
  const fetch = serving(openai.frames(story), rate);
  const initialMessages = messages.map(({ role, text }) => ({ role, content: [{ type: "text", text }] }));
  const model = {
    async *run() {
      for await (const text of texts(await fetch())) yield { content: [{ type: "text", text }] };
    },
  };
  return function Chat() {
    const runtime = useLocalRuntime(model, { initialMessages });
    useEffect(() => {
      control.send = () => runtime.thread.append("Go");
      control.text = () => runtime.thread.getState().messages.slice(messages.length + 1).flatMap(({ content }) => content.map(({ text }) => text)).join("");
    }, [runtime]);
    return (
      <AssistantRuntimeProvider runtime={runtime}>
        <ThreadPrimitive.Root><ThreadPrimitive.Messages components={{ UserMessage: User, AssistantMessage: Assistant }} /></ThreadPrimitive.Root>
      </AssistantRuntimeProvider>
    );
  };
});
