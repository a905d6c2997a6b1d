// A chat with many rows. What the list, each row and each call's card show counts how often it is computed.
import { For, Show } from "solid-js";
import { useConversation, useReadable } from "turnwire/solid";
import { drawn } from "../kit.js";

export function Rows(props) {
  const chat = useConversation(() => props.chat);
  const rows = useReadable(() => chat().rows);
  const shown = () => {
    drawn("list");
    return rows();
  };
  return <main>{drawn("app")}<For each={shown()}>{({ key }) => <Row chat={props.chat} id={key} />}</For></main>;
}

function Row(props) {
  const message = useReadable(() => props.chat.message(props.id));
  const textIn = (parts) => parts.find(({ type }) => type === "text")?.text.length;
  // By their keys, which are texts: the same call has the same card.
  const cards = () => message()?.parts.flatMap(({ type, key }) => (type === "call" ? [key] : []));
  return (
    <article>
      <p>{drawn(`row ${props.id}`, textIn(message()?.parts ?? []))}</p>
      <For each={cards()}>{(key) => <Card chat={props.chat} id={key} />}</For>
    </article>
  );
}

function Card(props) {
  const call = useReadable(() => props.chat.call(props.id));
  return (
    <section>
      {drawn(`card ${props.id}`, call()?.argumentsText.length)}
      <Show when={call()?.thread}>{(id) => <Thread chat={props.chat} id={id()} />}</Show>
    </section>
  );
}

function Thread(props) {
  const thread = useReadable(() => props.chat.thread(props.id));
  const shown = () => {
    drawn(`thread ${props.id}`);
    return thread()?.rows;
  };
  return <For each={shown()}>{({ key }) => <Row chat={props.chat} id={key} />}</For>;
}
