// A tool call in the form that suits it: a question, a sub-agent, or a tool.

import { memo } from "react";
import type { ToolCallSnapshot } from "turnwire";
import { useThread } from "./context";
import { QuestionCard } from "./QuestionCard";
import { SubAgentCard } from "./SubAgentCard";
import { ToolCard } from "./ToolCard";

interface Props {
  call: ToolCallSnapshot;
  /** The thread that made the call is still running. */
  live: boolean;
}

export const CallView = memo(function CallView({ call, live }: Props) {
  const name = call.tool_info?.name ?? call.name;
  if (call.thread_id !== null) return <StartedSubAgent call={call} threadId={call.thread_id} live={live} />;
  if (name === "ask_user_question") return <QuestionCard call={call} />;
  return <ToolCard call={call} name={name} live={live} />;
});

function StartedSubAgent({ call, threadId, live }: Props & { threadId: string }) {
  const thread = useThread(threadId);
  if (!thread) return <ToolCard call={call} name={call.name} live={live} />;
  return <SubAgentCard thread={thread} call={call} live={live} />;
}
