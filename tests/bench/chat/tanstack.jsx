// A chat by `useChat` of `@tanstack/ai-react`.
import { fetchServerSentEvents, useChat } from "@tanstack/ai-react";
import { useEffect } from "react";
import { agUi } from "../wires/peers.mjs";
import { serving } from "./peers.mjs";
import { page, Text } from "./shell.jsx";

export const open = page(async ({ messages, story, rate, control }) => {
  const connection = fetchServerSentEvents("/memory", { fetchClient: serving(agUi.frames(story), rate) });
  const initialMessages = messages.map(({ role, text }, at) => ({ id: `past${at}`, role, parts: [{ type: "text", content: text }] }));
  const said = ({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.content : [])).join("");
  return function Chat() {
    const chat = useChat({ connection, initialMessages });
    useEffect(() => {
      control.send = () => void chat.sendMessage("Go");
      control.text = () => chat.messages.slice(messages.length + 1).map(said).join("");
    });
    return chat.messages.map((message) => <Text key={message.id} role={message.role} text={said(message)} />);
  };
});
