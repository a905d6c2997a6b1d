// The person's input: a message with its files, or decisions on waiting calls.

import { memo } from "react";
import type { TurnInputItem } from "turnwire";
import { Icon } from "../ui/Icon";
import { fromInput } from "./answers";
import { contentsOf, formatSize, type UserMessage } from "./attachments";
import { useConversation } from "./context";
import { callIn } from "./earlier";

export const TurnInput = memo(function TurnInput({ input }: { input: readonly TurnInputItem[] }) {
  const conversation = useConversation();
  const messages = input.filter((item) => item.type === "user.message");
  const answers = input.filter((item) => item.type !== "user.message");
  const decisions: TurnInputItem[] = [];
  const tools: string[] = [];
  for (const item of answers) {
    const name = item.type === "user.tool_response" && callIn(conversation.state().turns, item.tool_call_id)?.name;
    if (name && conversation.pageCalls.has(name)) tools.push(name);
    else decisions.push(item);
  }
  return (
    <>
      {messages.map((message, index) => (
        <UserBubble key={index} message={message} />
      ))}
      {answers.length > 0 && <p className="decisions">{[...describe(decisions), ...describeTools(tools)].join(" ")}</p>}
    </>
  );
});

export function UserBubble({ message }: { message: UserMessage }) {
  const { texts, files } = contentsOf(message);
  return (
    <div className="bubble">
      <span className="visually-hidden">You said: </span>
      {texts.map((text, index) => (
        <p key={index}>{text}</p>
      ))}
      {files.length > 0 && (
        <ul className="chips">
          {files.map(({ name, data }, index) => (
            <li key={index} className="chip">
              {data.startsWith("data:image/") ? <img src={data} alt="" /> : <Icon name="file" />}{" "}
              <span className="chip-name">{name}</span>
              {data.startsWith("data:") && <span className="faint">{formatSize(sizeOf(data))}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The size of the content of a base64 `data:` URI: three bytes for four characters. */
function sizeOf(data: string): number {
  return Math.floor(((data.length - data.indexOf(",") - 1) * 3) / 4);
}

function describe(items: readonly TurnInputItem[]): string[] {
  let allowed = 0;
  let denied = 0;
  let answered = 0;
  for (const item of items) {
    const kind = fromInput(item)?.answer.kind;
    if (kind === "text") answered += 1;
    else if (kind === "allow") allowed += 1;
    else if (kind === "deny") denied += 1;
  }
  const parts = [
    allowed > 0 && `allowed ${steps(allowed)}`,
    denied > 0 && `denied ${steps(denied)}`,
    answered > 0 && `answered ${answered === 1 ? "a question" : `${answered} questions`}`,
  ].filter((part) => part !== false);
  return parts.length > 0 ? [`You ${parts.join(" and ")}.`] : [];
}

function describeTools(names: readonly string[]): string[] {
  const calls = names.length > 2 ? `${names.length} calls` : names.join(" and ");
  return names.length > 0 ? [`This page ran ${calls}.`] : [];
}

const steps = (count: number): string => (count === 1 ? "one step" : `${count} steps`);
