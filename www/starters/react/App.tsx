import { memo } from "react";
import { useConversation, useReadable } from "turnwire/react";
import { chat } from "./chat";

export default function App() {
  const items = useReadable(useConversation(chat).items).map((key) => <Item key={key} id={key} />);
  const { bindForm } = chat;
  return (
    <main>
      <div role="log">{items}</div>
      <form ref={bindForm}>
        <input aria-label="Message" required />
        <button>Send</button>
      </form>
    </main>
  );
}

const Item = memo(({ id }: { id: string }) => {
  const item = useReadable(chat.item(id));
  return (
    <article className={item?.role}>
      {item?.parts.map(({ key, type, text }) => (
        <p key={key} className={type}>
          {text}
        </p>
      ))}
      {item?.actions.map((action) => (
        <button key={action} onClick={() => chat.act(id, action)}>
          {action}
        </button>
      ))}
    </article>
  );
});
