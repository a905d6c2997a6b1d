// The conversation, and the message field below it.

import type { Protocol, TurnInputItem } from "turnwire";
import type { DevelopmentGateway } from "../connection/DevelopmentGateway";
import { cutWords } from "../connection/words";
import { knownProtocol } from "../settings/protocols";
import { useAgent } from "../settings/useAgent";
import { AnswerBar } from "./AnswerBar";
import { callActions } from "./answers";
import { Announcer } from "./Announcer";
import { Composer } from "./Composer";
import { ConversationContext, useConversationState } from "./context";
import type { Conversation } from "./Conversation";
import type { ConversationState } from "./ConversationState";
import { EmptyPage } from "./EmptyPage";
import { Notice } from "./Notice";
import { Transcript } from "./Transcript";
import { explain } from "./words";

interface Props {
  conversation: Conversation;
  agentName: string;
  /** Null if the gateway is another one. */
  gateway: DevelopmentGateway | null;
  /** Null if there is only one protocol. */
  onProtocol: ((protocol: Protocol) => void) | null;
  onSettings: () => void;
}

export function Chat({ conversation, agentName, gateway, onProtocol, onSettings }: Props) {
  const state = useConversationState(conversation);
  const { session, running, begun, pending, halted, loading } = state;
  const { capabilities, client } = conversation;
  const waits = halted || callActions(pending).length > 0;
  const agent = useAgent(client, agentName);
  const { declares, files = "" } = knownProtocol(client.protocol) ?? {};
  const takesFiles = session || !agent || !declares ? capabilities.files : agent.capabilities?.image?.data !== undefined;
  const discards = capabilities.discardPending && !loading && waits;
  const cut = gateway && session && begun ? () => void gateway.cut(session.id) : null;
  const send = (message: TurnInputItem) => void conversation.send(message);
  return (
    <ConversationContext value={conversation}>
      <Transcript state={state}>
        <Interlude
          state={state}
          conversation={conversation}
          agentName={agentName}
          onProtocol={onProtocol}
          onSettings={onSettings}
          onSend={send}
        />
      </Transcript>
      <Announcer state={state} />
      <div className="dock">
        <AnswerBar pending={pending} running={running} halted={halted} />
        <Composer
          running={running || (state.opening !== null && state.error === null)}
          blocked={blockedBy(state)}
          accept={takesFiles ? files : null}
          onSend={send}
          onSteer={capabilities.steer && begun ? (message) => conversation.steer(message) : null}
          onDiscard={discards ? (message) => conversation.discard(message) : null}
          onStop={() => conversation.stop()}
          onCut={cut}
          cutTitle={cutWords(capabilities.resume)}
        />
      </div>
    </ConversationContext>
  );
}

interface InterludeProps extends Omit<Props, "gateway"> {
  state: ConversationState;
  onSend: (message: TurnInputItem) => void;
}

/** Shown in place of turns, or below them: loading, a problem, the empty page. */
function Interlude({ state, conversation, agentName, onProtocol, onSettings, onSend }: InterludeProps) {
  if (state.error !== null) {
    const first = state.opening?.[0];
    const again = () => (first ? onSend(first) : void conversation.load());
    return <Notice trouble={explain(state.error)} onRetry={again} onReload={again} onSettings={onSettings} />;
  }
  if (state.loading && state.turns.length === 0) return <p className="faint loading">Loading the conversation …</p>;
  if (state.turns.length > 0 || state.opening !== null) return null;
  return <EmptyPage client={conversation.client} agentName={agentName} onProtocol={onProtocol} onSend={onSend} />;
}

function blockedBy({ loading, pending, halted }: ConversationState): string | null {
  if (loading) return "Loading …";
  if (halted) return "The agent waits for this page";
  if (pending.length === 0) return null;
  return callActions(pending).length > 0 ? "First answer the agent above" : "First sign in above";
}
