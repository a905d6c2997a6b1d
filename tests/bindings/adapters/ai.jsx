// The page of `useChat`, on its own transport or on ours: the address says which, and of which protocol.
import { StrictMode, use, useState } from "react";
import { createRoot } from "react-dom/client";
import { TurnwireTransport } from "turnwire/ai";
import { Chat } from "./chat.jsx";
import { conversations, query } from "./conversations.js";
import { Chat as GuideChat } from "./use-chat.tsx";
import { own } from "./own-transport.js";

const id = query.get("id") ?? undefined;
const make = () => new TurnwireTransport(conversations, { ...(query.has("leave") && { onAbort: "leave" }) });
const ours = make();
const transport = query.has("own") ? own : ours;
const history = query.has("own") || !id ? Promise.resolve([]) : ours.history(id);

function Page() {
  const [isShown, setShown] = useState(true);
  globalThis.show = setShown;
  const messages = use(history);
  if (query.has("guide")) return <GuideChat id="guide" />;
  if (query.has("beside")) return <><Beside id="left" /><Beside id="right" /></>;
  if (!isShown) return null;
  return query.has("remade") ? <Remade /> : <Chat id={id} messages={messages} resume={id !== undefined} transport={transport} />;
}

/** One of two chats on the page, each with a transport of its own. */
function Beside({ id }) {
  const [transport] = useState(make);
  return <section aria-label={id}><Chat id={id} transport={transport} /></section>;
}

/** Makes its transport whenever it renders. */
function Remade() {
  const [, render] = useState(0);
  globalThis.render = () => render((count) => count + 1);
  return <Chat id={id} transport={make()} />;
}

Object.assign(globalThis, { transport });
createRoot(document.body.appendChild(document.createElement("div"))).render(<StrictMode><Page /></StrictMode>);
