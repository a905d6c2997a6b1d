// The conversation, and the message field below it.

import { useCallback, useRef } from "react";
import type { Client, Protocol, TurnInputItem } from "turnwire";
import type { Conversation, Pending, Status, TurnView } from "turnwire/conversation";
import { usePending, useReadable, useStatus } from "turnwire/react";
import type { Cutter } from "../connection/DevelopmentGateway";
import { cutWords } from "../connection/words";
import type { ConversationLog } from "../events/ConversationLog";
import { useAgent } from "../settings/useAgent";
import { useSelected } from "../ui/useSelected";
import { AnswerBar } from "./AnswerBar";
import { callsIn } from "./answers";
import { Announcer } from "./Announcer";
import { ChatContext, FocusContext, isBusy } from "./chat";
import { Composer, focusField } from "./Composer";
import { EmptyPage } from "./EmptyPage";
import { isLive } from "./isLive";
import { Notice } from "./Notice";
import { Queue } from "./Queue";
import { Transcript } from "./Transcript";
import { explain } from "./words";

interface Props {
  conversation: Conversation;
  client: Client;
  log: ConversationLog;
  agentName: string;
  /** Null if the gateway is another one. */
  gateway: Cutter | null;
  /** Null if there is only one protocol. */
  onProtocol: ((protocol: Protocol) => void) | null;
  onSettings: () => void;
}

export function Chat({ conversation, client, log, agentName, gateway, onProtocol, onSettings }: Props) {
  const status = useStatus(conversation);
  const pending = usePending(conversation);
  const turns = useReadable(conversation.turns);
  const { sessionId, capabilities: known } = useReadable(conversation.info);
  const begun = useSelected(conversation.turn(turns.at(-1) ?? ""), hasBegun);
  const agent = useAgent(client, agentName);
  const field = useRef<HTMLTextAreaElement>(null);
  const toField = useCallback(() => focusField(field.current), []);
  // Agents of one server may differ.
  const capabilities = known ?? client.capabilities;
  const isDeclared = sessionId === null && agent && capabilities.agentCapabilities;
  const takesFiles = isDeclared ? agent.capabilities?.image?.data !== undefined : capabilities.files;
  const asks = callsIn(pending).filter(({ answer }) => answer === null).length;
  const waits = status.phase === "waiting" && (pending.length === 0 || callsIn(pending).length > 0);
  const cut = gateway && sessionId !== null && begun ? () => void gateway.cut(sessionId) : null;
  return (
    <ChatContext value={conversation}>
      <FocusContext value={toField}>
        <Transcript log={log}>
          {turns.length === 0 && (
            <Interlude
              status={status}
              conversation={conversation}
              client={client}
              agentName={agentName}
              onProtocol={onProtocol}
              onSettings={onSettings}
            />
          )}
        </Transcript>
        <Announcer status={status} asks={asks} empty={turns.length === 0} />
        <div className="dock">
          <AnswerBar status={status} pending={pending} />
          <Queue status={status} />
          <Composer
            field={field}
            status={status}
            blocked={blockedBy(status, pending)}
            accept={takesFiles ? (capabilities.documents ? "" : "image/*") : null}
            discards={capabilities.discardPending && waits}
            onCut={cut}
            cutTitle={cutWords(capabilities.resume)}
          />
        </div>
      </FocusContext>
    </ChatContext>
  );
}

/** Whether the server works on the turn, as far as this page knows. */
function hasBegun(turn: TurnView | undefined): boolean {
  return turn !== undefined && isLive(turn.snapshot) && turn.snapshot.turn_id !== null && !turn.canRetry;
}

interface InterludeProps extends Omit<Props, "log" | "gateway"> {
  status: Status;
}

/** Shown while there are no turns: loading, a problem, the empty page. */
function Interlude({ status, conversation, client, agentName, onProtocol, onSettings }: InterludeProps) {
  if (status.error !== null) {
    const again = () => void conversation.catchUp();
    return <Notice trouble={explain(status.error)} onRetry={again} onReload={again} onSettings={onSettings} />;
  }
  if (status.phase === "loading") return <p className="faint loading">Loading the conversation …</p>;
  const send = (message: TurnInputItem) => void conversation.send(message);
  return <EmptyPage client={client} agentName={agentName} onProtocol={onProtocol} onSend={send} />;
}

function blockedBy(status: Status, pending: readonly Pending[]): string | null {
  if (status.phase === "loading") return "Loading …";
  if (status.phase !== "waiting" || isBusy(status)) return null;
  if (pending.length === 0) return "The agent waits for this page";
  return callsIn(pending).length > 0 ? "First answer the agent above" : "First sign in above";
}
