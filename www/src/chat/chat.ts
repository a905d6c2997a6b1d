// How components below a conversation reach it, and the turn that they belong to.

import { createContext, useCallback, useContext } from "react";
import type { Conversation, Status, TurnView } from "turnwire/conversation";
import { useReadable, useStatus } from "turnwire/react";
import { useSelected } from "../ui/useSelected";

export const ChatContext = createContext<Conversation | null>(null);
/** Moves the focus to the message field, when what had it is about to disappear. */
export const FocusContext = createContext<() => void>(() => {});
/** The key of a turn. */
export const TurnContext = createContext("");

export function useChat(): Conversation {
  const conversation = useContext(ChatContext);
  if (conversation === null) throw new Error("This component must be inside a conversation.");
  return conversation;
}

/** Whether a turn runs or is being stopped, or the page runs tools for it. */
export function isBusy({ canStop, phase }: Status): boolean {
  return canStop || phase === "stopping";
}

export function useIsBusy(): boolean {
  return isBusy(useStatus(useChat()));
}

/** Whether the turn around this component is the conversation's last one. */
export function useIsLastTurn(): boolean {
  const key = useContext(TurnContext);
  const isLast = useCallback((turns: readonly string[]) => turns.at(-1) === key, [key]);
  return useSelected(useChat().turns, isLast);
}

const statusOf = (turn: TurnView | undefined) => turn?.snapshot.status;

/** How the turn around this component ended, once it does not run. */
export function useTurnEnd(): "paused" | "left" | "broken" {
  const status = useSelected(useChat().turn(useContext(TurnContext)), statusOf);
  const last = useIsLastTurn();
  if (status !== "done") return "broken";
  return last ? "paused" : "left";
}

/** Whether the last turn continues the one before it, by answering its calls. */
export function useIsContinued(): boolean {
  const conversation = useChat();
  const last = useReadable(conversation.turns).at(-1) ?? "";
  return useSelected(conversation.turn(last), continues);
}

const continues = (turn: TurnView | undefined) =>
  turn !== undefined && turn.snapshot.input.every(({ type }) => type !== "user.message");
