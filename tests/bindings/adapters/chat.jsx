// A page for `useChat` as its users have it: messages by their parts, approvals, questions, stop, edit, retry. It knows nothing
// of turnwire.
import { useChat } from "@ai-sdk/react";
import { getToolName, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from "ai";
import { useState } from "react";

const isAnswered = (options) => lastAssistantMessageIsCompleteWithApprovalResponses(options) || lastAssistantMessageIsCompleteWithToolCalls(options);

export function Chat(options) {
  const chat = useChat({ ...options, sendAutomaticallyWhen: isAnswered });
  const { messages, status, error, sendMessage, regenerate, stop } = chat;
  const [input, setInput] = useState("");
  const send = (event) => {
    event.preventDefault();
    sendMessage({ text: input });
    setInput("");
  };
  globalThis.chat = chat;
  return (
    <main data-status={status}>
      {messages.map((message) => (
        <article key={message.id} data-id={message.id} data-role={message.role}>
          {message.parts.map((part, at) => <Part key={at} part={part} chat={chat} />)}
          {message.role === "user" && <button onClick={() => sendMessage({ text: "plain", messageId: message.id })}>Edit</button>}
        </article>
      ))}
      {error && <p role="alert" data-code={error.code}>{error.message}</p>}
      <button onClick={() => regenerate()}>Again</button>
      {status !== "ready" && status !== "error" && <button onClick={stop}>Stop</button>}
      <form onSubmit={send}><input aria-label="Message" value={input} onChange={(event) => setInput(event.target.value)} /></form>
    </main>
  );
}

function Part({ part, chat }) {
  if (part.type === "text") return <p className="text" data-state={part.state}>{part.text}</p>;
  if (part.type === "reasoning") return <p className="reasoning">{part.text}</p>;
  if (part.type === "data-thread") return <p className="thread" data-status={part.data.status}>{part.data.messages.map(({ text }) => text).join(" ")}</p>;
  if (!isToolUIPart(part)) return null;
  const { toolCallId, state, approval, input, output, errorText } = part;
  const tool = getToolName(part);
  const answer = (approved) => chat.addToolApprovalResponse({ id: approval.id, approved, ...(!approved && { reason: "not today" }) });
  return (
    <section className="call" data-state={state} data-tool={tool}>
      {JSON.stringify(input)} {JSON.stringify(output)} {errorText}
      {state === "approval-requested" && <><button onClick={() => answer(true)}>Allow</button><button onClick={() => answer(false)}>Deny</button></>}
      {state === "input-available" && !part.providerExecuted && <button onClick={() => chat.addToolOutput({ tool, toolCallId, output: "the second one" })}>Answer</button>}
    </section>
  );
}
