// A thread of assistant-ui's primitives, as its users have it: messages by their parts, approvals, branches, edit, reload, queue,
// stop. It knows nothing of turnwire.
import { ActionBarPrimitive, AuiIf, BranchPickerPrimitive, ComposerPrimitive, ErrorPrimitive, MessagePartPrimitive, MessagePrimitive, QueueItemPrimitive, ThreadPrimitive } from "@assistant-ui/react";
import { useState } from "react";

export function Thread() {
  return (
    <ThreadPrimitive.Root>
      <ThreadPrimitive.Viewport>
        <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage, UserEditComposer }} />
      </ThreadPrimitive.Viewport>
      <ComposerPrimitive.Root>
        <ComposerPrimitive.Queue>{() => <p className="queued"><QueueItemPrimitive.Text /> <QueueItemPrimitive.Remove>Remove</QueueItemPrimitive.Remove></p>}</ComposerPrimitive.Queue>
        <ComposerPrimitive.Input aria-label="Message" />
        <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
        <AuiIf condition={({ thread }) => thread.isRunning}><ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel></AuiIf>
      </ComposerPrimitive.Root>
    </ThreadPrimitive.Root>
  );
}

globalThis.renders = {};
const drawn = (name) => (globalThis.renders[name] = (globalThis.renders[name] ?? 0) + 1);

function Branches() {
  return (
    <BranchPickerPrimitive.Root hideWhenSingleBranch className="branches">
      <BranchPickerPrimitive.Previous>Previous</BranchPickerPrimitive.Previous>
      <BranchPickerPrimitive.Number /> / <BranchPickerPrimitive.Count />
      <BranchPickerPrimitive.Next>Next</BranchPickerPrimitive.Next>
    </BranchPickerPrimitive.Root>
  );
}

function UserMessage() {
  drawn("user");
  return (
    <MessagePrimitive.Root data-role="user">
      <MessagePrimitive.Attachments>{({ attachment }) => <i className="attachment">{attachment.name}</i>}</MessagePrimitive.Attachments>
      <MessagePrimitive.Parts components={{ Text }} />
      <ActionBarPrimitive.Edit>Edit</ActionBarPrimitive.Edit>
      <Branches />
    </MessagePrimitive.Root>
  );
}

function UserEditComposer() {
  return (
    <ComposerPrimitive.Root className="edit">
      <ComposerPrimitive.Input aria-label="Edited message" />
      <ComposerPrimitive.Send>Save</ComposerPrimitive.Send>
    </ComposerPrimitive.Root>
  );
}

function AssistantMessage() {
  drawn("assistant");
  return (
    <MessagePrimitive.Root data-role="assistant">
      <MessagePrimitive.Parts components={{ Text, Reasoning, tools: { Fallback: Call } }} />
      <MessagePrimitive.Error><ErrorPrimitive.Root><ErrorPrimitive.Message /></ErrorPrimitive.Root></MessagePrimitive.Error>
      <ActionBarPrimitive.Reload>Again</ActionBarPrimitive.Reload>
      <Branches />
    </MessagePrimitive.Root>
  );
}

const Text = ({ text, status }) => <p className="text" data-status={status.type}>{text}</p>;
const Reasoning = ({ text }) => <p className="reasoning">{text}</p>;

function Call({ toolName, args, result, status, approval, respondToApproval, addResult }) {
  const [text, setText] = useState("");
  const isOpen = approval && approval.approved === undefined;
  return (
    <section className="call" data-status={status.type} data-tool={toolName}>
      {JSON.stringify(args)} {JSON.stringify(result)}
      {isOpen && approval.display === undefined && (
        <>
          <button onClick={() => respondToApproval({ approved: true })}>Allow</button>
          <button onClick={() => respondToApproval({ approved: false, reason: "not today" })}>Deny</button>
        </>
      )}
      {isOpen && approval.display === "text" && (
        <>
          <input aria-label="Answer" value={text} onChange={(event) => setText(event.target.value)} />
          <button onClick={() => respondToApproval({ text })}>Answer</button>
          <button onClick={() => addResult(text)}>Result</button>
        </>
      )}
      <MessagePartPrimitive.Messages components={{ AssistantMessage: SubAgentMessage }} />
    </section>
  );
}

function SubAgentMessage() {
  return <MessagePrimitive.Root className="sub-agent"><MessagePrimitive.Parts components={{ Text, Reasoning, tools: { Fallback: Call } }} /></MessagePrimitive.Root>;
}
