// One turn: the person's input, the agent's work, and how it ended.

import { memo } from "react";
import type { ThreadSnapshot, TurnSnapshot } from "turnwire";
import { GapNotice } from "../connection/GapNotice";
import { Icon } from "../ui/Icon";
import { AgentState } from "./AgentState";
import { AuthCard } from "./AuthCard";
import { TurnContext, useConversation, useTurnSnapshot } from "./context";
import type { ShownTurn } from "./ConversationState";
import { newServersOf } from "./earlier";
import { isLive } from "./isLive";
import { asidesOf } from "./news";
import { Notices } from "./Notices";
import { SubAgentCard } from "./SubAgentCard";
import { ThreadMessages } from "./ThreadMessages";
import { TurnFooter } from "./TurnFooter";
import { TurnNotice } from "./TurnNotice";
import { TurnInput } from "./UserBubble";

interface Props {
  turn: ShownTurn;
  /** The turn is the conversation's last one, the only one with actions. */
  last: boolean;
  /** The next turn continues it. */
  continued: boolean;
}

export const TurnView = memo(function TurnView({ turn, last, continued }: Props) {
  const snapshot = useTurnSnapshot(turn);
  const connection = useConversation().connectionOf(turn);
  const live = isLive(snapshot);
  const main = snapshot.threads[0];
  return (
    <TurnContext value={turn}>
      <article className="turn" aria-busy={live}>
        <TurnInput input={snapshot.input} />
        <div className="answer">
          <Notes turn={turn} sandboxId={snapshot.sandbox_id} servers={snapshot.mcp_servers} />
          {resumed(snapshot.threads).map((thread) => (
            <SubAgentCard key={thread.id} thread={thread} live={live} />
          ))}
          {main && <ThreadMessages messages={main.messages} live={live} asides={asidesOf(snapshot)} />}
          {snapshot.status === "done" && <AuthCard actions={snapshot.required_actions} active={last} />}
          {last && <AgentState state={snapshot.agent_state} problem={snapshot.agent_state_problem} />}
          <Notices snapshot={snapshot} />
          <GapNotice connection={connection} live={live} />
          <TurnNotice turn={turn} snapshot={snapshot} last={last} />
          <TurnFooter snapshot={snapshot} connection={connection} live={live} last={last} continued={continued} />
        </div>
      </article>
    </TurnContext>
  );
});

/** Sub-agents that an earlier turn started and that continue in this one: no call of this turn shows them. */
function resumed(threads: readonly ThreadSnapshot[]): readonly ThreadSnapshot[] {
  if (threads.length === 1) return [];
  const started = new Set<string | null>();
  for (const { messages } of threads) {
    for (const { tool_calls } of messages) for (const call of tool_calls) started.add(call.thread_id);
  }
  return threads.filter(({ id }) => id !== "main" && !started.has(id));
}

interface NotesProps {
  turn: ShownTurn;
  sandboxId: string | null;
  servers: TurnSnapshot["mcp_servers"];
}

/** The sandbox and servers of the turn, if they are new. */
const Notes = memo(function Notes({ turn, sandboxId, servers }: NotesProps) {
  const conversation = useConversation();
  const names = servers.length > 0 ? newServersOf(turn, conversation.state().turns) : [];
  if (sandboxId === null && names.length === 0) return null;
  return (
    <ul className="notes">
      {names.length > 0 && (
        <li>
          <Icon name="plug" /> Connected to {names.join(", ")}
        </li>
      )}
      {sandboxId !== null && (
        <li>
          <Icon name="box" /> Works in a sandbox <code>{sandboxId}</code>
        </li>
      )}
    </ul>
  );
});
