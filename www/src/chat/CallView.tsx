// A tool call in the form that suits it: a question, a sub-agent, or a tool.

import { memo } from "react";
import type { Call } from "turnwire/conversation";
import { useThread } from "turnwire/react";
import { useChat } from "./chat";
import { QuestionCard } from "./QuestionCard";
import { SubAgentCard } from "./SubAgentCard";
import { ToolCard } from "./ToolCard";

interface Props {
  call: Call;
  /** The thread that made the call is still running. */
  live: boolean;
}

export const CallView = memo(function CallView({ call, live }: Props) {
  const name = call.tool_info?.name ?? call.name;
  if (call.thread !== null) return <StartedSubAgent call={call} threadKey={call.thread} live={live} />;
  if (name === "ask_user_question") return <QuestionCard call={call} />;
  return <ToolCard call={call} name={name} live={live} />;
});

function StartedSubAgent({ call, threadKey, live }: Props & { threadKey: string }) {
  const thread = useThread(useChat(), threadKey);
  if (!thread) return <ToolCard call={call} name={call.name} live={live} />;
  return <SubAgentCard thread={thread} call={call} />;
}
