// A chat by `useStream` of `@langchain/langgraph-sdk`.
import { FetchStreamTransport, useStream } from "@langchain/langgraph-sdk/react";
import { useEffect } from "react";
import { langgraph } from "../wires/peers.mjs";
import { serving } from "./peers.mjs";
import { page, Text } from "./shell.jsx";

export const open = page(async ({ messages, story, rate, control }) => {
  const initial = messages.map(({ role, text }, at) => ({ id: `past${at}`, type: role === "user" ? "human" : "ai", content: text }));
  const question = { id: "question", type: "human", content: "Go" };
  const transport = new FetchStreamTransport({ apiUrl: "/memory", fetch: serving(langgraph.frames(story, [...initial, question]), rate) });
  const options = { transport, initialValues: { messages: initial } };
  return function Chat() {
    const stream = useStream(options);
    useEffect(() => {
      control.send = () => void stream.submit({ messages: [question] });
      control.text = () => stream.messages.slice(messages.length + 1).map(({ content }) => content).join("");
    });
    // With its own transport it shows the initial values once something was submitted.
    const shown = stream.messages.length > 0 ? stream.messages : initial;
    return shown.map(({ id, type, content }) => <Text key={id} role={type === "human" ? "user" : "assistant"} text={content} />);
  };
});
