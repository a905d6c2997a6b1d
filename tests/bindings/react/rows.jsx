// A chat with many rows. The app, the list, each row and each call's card count how often they render.
import { memo } from "react";
import { useCall, useConversation, useMessage, useRows, useThread } from "turnwire/react";
import { drawn } from "../kit.js";

export function Rows({ chat }) {
  drawn("app");
  return <main><List chat={chat} /></main>;
}

function List({ chat }) {
  drawn("list");
  return useRows(useConversation(chat)).map(({ key }) => <Row key={key} chat={chat} id={key} />);
}

const Row = memo(function Row({ chat, id }) {
  drawn(`row ${id}`);
  const message = useMessage(chat, id);
  return (
    <article>
      {message?.parts.map((part) => (part.type === "call" ? <Card key={part.key} chat={chat} id={part.key} /> : <p key={part.key ?? part.type}>{part.text.length}</p>))}
    </article>
  );
});

const Card = memo(function Card({ chat, id }) {
  drawn(`card ${id}`);
  const call = useCall(chat, id);
  return (
    <section>
      {call?.argumentsText.length}
      {call?.thread && <Thread chat={chat} id={call.thread} />}
    </section>
  );
});

const Thread = memo(function Thread({ chat, id }) {
  drawn(`thread ${id}`);
  return useThread(chat, id)?.rows.map(({ key }) => <Row key={key} chat={chat} id={key} />);
});
