"use client";

import { memo, useEffect, useState } from "react";
import { useConversation, useMessage, useRows, useStatus } from "turnwire/react";
import { open } from "../../../chat.mjs";

export function Chat({ id, baseUrl, initial }) {
  const [chat] = useState(() => open(baseUrl, id, initial));
  const [isShown, setShown] = useState(false);
  useEffect(() => void (document.body.dataset.hydrated = "yes"), []);
  return (
    <main data-phase={useStatus(chat).phase}>
      {isShown && <Shown chat={chat} />}
      <button onClick={() => setShown(true)}>Go on</button>
      {useRows(chat).map(({ key }) => <Row key={key} chat={chat} id={key} />)}
    </main>
  );
}

function Shown({ chat }) {
  useConversation(chat);
  return null;
}

const Row = memo(function Row({ chat, id }) {
  const message = useMessage(chat, id);
  return message && <article>{message.text}</article>;
});
