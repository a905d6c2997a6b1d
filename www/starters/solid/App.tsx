import { For, Index } from "solid-js";
import { useConversation, useReadable } from "turnwire/solid";
import { chat } from "./chat";

export default function App() {
  useConversation(chat);
  const items = useReadable(chat.items);
  return (
    <main>
      <div role="log">
        <For each={items()}>{(key) => <Item id={key} />}</For>
      </div>
      <form ref={chat.bindForm}>
        <input aria-label="Message" required />
        <button>Send</button>
      </form>
    </main>
  );
}

function Item({ id }: { id: string }) {
  const item = useReadable(chat.item(id));
  return (
    <article class={item()?.role}>
      <Index each={item()?.parts}>{(part) => <p class={part().type}>{part().text}</p>}</Index>
      <For each={item()?.actions}>{(action) => <button onClick={() => chat.act(id, action)}>{action}</button>}</For>
    </article>
  );
}
