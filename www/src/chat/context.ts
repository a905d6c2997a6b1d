// How components below a conversation or a turn reach it, and watch only the part that they show.

import { createContext, useCallback, useContext, useSyncExternalStore } from "react";
import type { ThreadSnapshot, ToolCallResponse, ToolCallSnapshot, TurnSnapshot, TurnStatus } from "turnwire";
import { useReadable, useSelected } from "../ui/useReadable";
import type { AnswerState, CallAction } from "./answers";
import { pageResultOf } from "./callStatus";
import type { Conversation } from "./Conversation";
import type { ConversationState, ShownTurn } from "./ConversationState";

export const ConversationContext = createContext<Conversation | null>(null);
export const TurnContext = createContext<ShownTurn | null>(null);

function required<T>(value: T | null): T {
  if (value === null) throw new Error("This component must be inside a conversation.");
  return value;
}

export function useConversation(): Conversation {
  return required(useContext(ConversationContext));
}

export function useConversationState(conversation: Conversation): ConversationState {
  return useSyncExternalStore(conversation.subscribe, conversation.state);
}

export function useTurnSnapshot(turn: ShownTurn): TurnSnapshot {
  return useReadable(turn.view);
}

/** A thread of the turn around this component. Renders again only when that thread has changed. */
export function useThread(threadId: string): ThreadSnapshot | undefined {
  const turn = required(useContext(TurnContext));
  const select = useCallback(({ threads }: TurnSnapshot) => threads.find((thread) => thread.id === threadId), [threadId]);
  return useSelected(turn.view, select);
}

/** Whether the turn around this component is the conversation's last one. */
export function useIsLastTurn(): boolean {
  const conversation = useConversation();
  const turn = required(useContext(TurnContext));
  return useSyncExternalStore(conversation.subscribe, () => conversation.state().turns.at(-1) === turn);
}

const statusOf = ({ status }: TurnSnapshot): TurnStatus => status;

/** How the turn around this component ended, once it does not run. */
export function useTurnEnd(): "paused" | "left" | "broken" {
  const turn = required(useContext(TurnContext));
  const last = useIsLastTurn();
  const status = useSelected(turn.view, statusOf);
  if (status !== "done") return "broken";
  return last ? "paused" : "left";
}

/** The person's answer to the call, if there is one. */
export function useAnswer(callId: string): AnswerState | undefined {
  const conversation = useConversation();
  return useSyncExternalStore(conversation.subscribe, () => conversation.answerOf(callId));
}

/** The call's result, if it came in a later turn than the call. */
export function useLateResponse(callId: string): ToolCallResponse | undefined {
  const conversation = useConversation();
  return useSyncExternalStore(conversation.subscribe, () => conversation.lateResponseOf(callId));
}

/** The action of the call for the person, if the last turn waits for it. */
export function usePendingAction(callId: string): CallAction | undefined {
  const conversation = useConversation();
  return useSyncExternalStore(conversation.subscribe, () =>
    conversation
      .state()
      .pending.find((action) => action.type !== "mcp.auth_required" && action.tool_call_id === callId),
  ) as CallAction | undefined;
}

/** Whether the last turn waits for an answer in that thread. */
export function useAsksInside(threadId: string): boolean {
  const conversation = useConversation();
  return useSyncExternalStore(conversation.subscribe, () =>
    conversation.state().pending.some((action) => action.type !== "mcp.auth_required" && action.thread_id === threadId),
  );
}

/** The state of a call of one of the page's own tools; null for other tools. */
export interface PageCall {
  /** Its result, even if the agent does not have it yet. */
  readonly content: string | undefined;
  /** It ran since the page was loaded. */
  readonly ranHere: boolean;
  /** The agent gets the result together with the person's answers. */
  readonly held: boolean;
  readonly halted: boolean;
}

export function usePageCall(call: ToolCallSnapshot, response: ToolCallResponse | null): PageCall | null {
  const { id, name, tool_info } = call;
  const conversation = useConversation();
  const answer = useAnswer(id)?.answer;
  const result = useSyncExternalStore(conversation.subscribe, () => conversation.pageCalls.resultOf(id));
  const isOwn = useSyncExternalStore(conversation.subscribe, () => conversation.pageCalls.has(name));
  const halted = useSyncExternalStore(conversation.subscribe, () => conversation.state().halted);
  const asks = useSyncExternalStore(conversation.subscribe, () => conversation.state().pending.length > 0);
  if (!isOwn || tool_info?.type === "mcp") return null;
  const sent = answer?.kind === "text" ? answer.content : undefined;
  const ranHere = result !== undefined;
  const listed = response ? pageResultOf(response) : undefined;
  return { content: sent ?? result ?? listed, ranHere, held: sent === undefined && ranHere && asks, halted };
}
