// The least that a chat in React can do: the answer's text is put into one row's state once a frame.
import { createParser } from "eventsource-parser";
import { memo, useEffect, useState } from "react";
import { openai } from "../wires/peers.mjs";
import { serving } from "./peers.mjs";
import { KeptText, page } from "./shell.jsx";

export const open = page(async ({ messages, story, rate, control }) => {
  const fetch = serving(openai.frames(story), rate);
  let text = "";
  control.text = () => text;
  const Earlier = memo(() => messages.map(({ role, text }, at) => <KeptText key={at} role={role} text={text} />));
  const Answer = () => {
    const [shown, show] = useState("");
    useEffect(() => {
      control.send = async () => {
        const parser = createParser({ onEvent: ({ data }) => data !== "[DONE]" && (text += JSON.parse(data).choices[0].delta.content ?? "") });
        const frame = () => {
          show(text);
          requestAnimationFrame(frame);
        };
        frame();
        const decoder = new TextDecoder();
        for await (const chunk of (await fetch()).body) parser.feed(decoder.decode(chunk, { stream: true }));
      };
    }, []);
    return <KeptText role="assistant" text={shown} />;
  };
  return () => <><Earlier /><Answer /></>;
});
