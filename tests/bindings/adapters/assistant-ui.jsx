// The thread of assistant-ui, on a runtime of its own or on ours: the address says which, and of which protocol.
import { AssistantRuntimeProvider, SimpleTextAttachmentAdapter, useLocalRuntime } from "@assistant-ui/react";
import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { useTurnwireRuntime } from "turnwire/assistant-ui";
import { Assistant } from "./assistant.tsx";
import { conversations, query } from "./conversations.js";
import { Thread } from "./thread.jsx";

const conversation = location.hash ? conversations.open(location.hash.slice(1)) : conversations.create();
conversation.on("session", ({ id }) => history.replaceState(null, "", `#${id}`));

/** A model that repeats the message. */
const echo = { run: async ({ messages }) => ({ content: [{ type: "text", text: `You said: ${messages.at(-1).content[0].text}` }] }) };

const adapters = { attachments: new SimpleTextAttachmentAdapter() };

function Own() {
  const runtime = useLocalRuntime(echo);
  return <AssistantRuntimeProvider runtime={runtime}><Thread /></AssistantRuntimeProvider>;
}

function Ours() {
  const [shown, setShown] = useState(conversation);
  globalThis.showConversation = setShown;
  const runtime = useTurnwireRuntime(shown, { adapters });
  globalThis.runtime = runtime;
  return <AssistantRuntimeProvider runtime={runtime}><Thread /></AssistantRuntimeProvider>;
}

function Page() {
  const [isShown, setShown] = useState(true);
  globalThis.show = setShown;
  if (!isShown) return null;
  if (query.has("guide")) return <Assistant><Thread /></Assistant>;
  return query.has("own") ? <Own /> : <Ours />;
}

Object.assign(globalThis, { conversation, create: () => conversations.create(), forget: (chat) => conversations.forget(chat) });
createRoot(document.body.appendChild(document.createElement("div"))).render(<StrictMode><Page /></StrictMode>);
