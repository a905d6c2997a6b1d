// One turn: the person's input, the agent's work, and how it ended.

import { memo } from "react";
import type { TurnSnapshot } from "turnwire";
import type { Row } from "turnwire/conversation";
import { useThread, useTurn } from "turnwire/react";
import { GapNotice } from "../connection/GapNotice";
import type { ConversationLog } from "../events/ConversationLog";
import { Icon } from "../ui/Icon";
import { AgentState } from "./AgentState";
import { AuthCard } from "./AuthCard";
import { TurnContext, useChat } from "./chat";
import { Decisions } from "./Decisions";
import { isLive } from "./isLive";
import { MessageView } from "./MessageView";
import { Notices } from "./Notices";
import { SubAgentCard } from "./SubAgentCard";
import { TurnFooter } from "./TurnFooter";
import { TurnNotice } from "./TurnNotice";
import { UserRow } from "./UserBubble";

interface Props {
  /** Its key. */
  turn: string;
  rows: readonly Row[];
  log: ConversationLog;
  /** The turn is the conversation's last one, the only one with actions. */
  last: boolean;
  /** The next turn continues it. */
  continued: boolean;
}

export const TurnView = memo(function TurnView({ turn: key, rows, log, last, continued }: Props) {
  const conversation = useChat();
  const turn = useTurn(conversation, key);
  if (!turn) return null;
  const { snapshot } = turn;
  // A message that was not sent has no turn that could end.
  const live = isLive(snapshot) && !turn.canRetry;
  const connection = log.connectionOf(conversation.turnOf(key));
  const begun = rows.findIndex(({ role }) => role !== "user");
  // Of what comes before the first answer, the rest was said meanwhile.
  const messages = snapshot.input.filter(({ type }) => type === "user.message").length;
  const asked = Math.min(begun < 0 ? rows.length : begun, messages);
  return (
    <TurnContext value={key}>
      <article className="turn" aria-busy={live}>
        {/* Another version takes the place of the one before, and the focus stays. */}
        {rows.slice(0, asked).map((row, at) => (
          <UserRow key={at} row={row.key} />
        ))}
        <Decisions input={snapshot.input} />
        <div className="answer">
          <Notes turn={key} sandboxId={snapshot.sandbox_id} servers={snapshot.mcp_servers} />
          {snapshot.threads.slice(1).map(({ id }) => (
            <LooseSubAgent key={id} turn={key} thread={id} />
          ))}
          {rows.slice(asked).map((row) => {
            if (row.role === "end") return null;
            const View = row.role === "user" ? UserRow : MessageView;
            return <View key={row.key} row={row.key} live={live} />;
          })}
          {snapshot.status === "done" && <AuthCard actions={snapshot.required_actions} active={last} />}
          {last && <AgentState state={snapshot.agent_state} problem={snapshot.agent_state_problem} />}
          <Notices snapshot={snapshot} />
          <GapNotice connection={connection} live={live} />
          <TurnNotice turn={turn} row={rows[0]?.key ?? ""} last={last} />
          <TurnFooter turn={key} snapshot={snapshot} connection={connection} live={live} last={last} continued={continued} />
        </div>
      </article>
    </TurnContext>
  );
});

/** A sub-agent that no call shows, in the turn in which it began. */
function LooseSubAgent({ turn, thread: key }: { turn: string; thread: string }) {
  const thread = useThread(useChat(), key);
  if (!thread || thread.call !== null || (thread.rows[0]?.turn ?? turn) !== turn) return null;
  return <SubAgentCard thread={thread} />;
}

interface NotesProps {
  turn: string;
  sandboxId: string | null;
  servers: TurnSnapshot["mcp_servers"];
}

/** The sandbox and servers of the turn, if they are new. */
const Notes = memo(function Notes({ turn, sandboxId, servers }: NotesProps) {
  const conversation = useChat();
  const turns = conversation.turns.get();
  const before = servers.length > 0 ? turns.slice(0, turns.indexOf(turn)) : [];
  const known = new Set(before.flatMap((key) => conversation.turn(key).get()?.snapshot.mcp_servers.map(({ id }) => id)));
  const names = servers.filter(({ id }) => !known.has(id)).map(({ name }) => name);
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
