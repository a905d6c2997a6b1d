// A chat by `useChat` of `@ai-sdk/react`.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { useEffect } from "react";
import { ai } from "../wires/peers.mjs";
import { serving } from "./peers.mjs";
import { page, Text } from "./shell.jsx";

/** A page with these options of `useChat`, whose messages are shown by `Message`. */
export const pageWith = (options, Message = Text) =>
  page(async ({ messages, story, rate, control }) => {
    const transport = new DefaultChatTransport({ fetch: serving(ai.frames(story), rate) });
    const initial = messages.map(({ role, text }, at) => ({ id: `past${at}`, role, parts: [{ type: "text", text }] }));
    const said = ({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("");
    return function Chat() {
      const chat = useChat({ messages: initial, transport, ...options });
      useEffect(() => {
        control.send = () => void chat.sendMessage({ text: "Go" });
        control.text = () => chat.messages.slice(messages.length + 1).map(said).join("");
      });
      return chat.messages.map((message) => <Message key={message.id} role={message.role} text={said(message)} />);
    };
  });

export const open = pageWith({});
