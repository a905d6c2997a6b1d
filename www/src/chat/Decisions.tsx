// What a turn began with besides a message: the person's decisions on waiting calls, and results of the page's tools.

import { memo } from "react";
import type { TurnInputItem } from "turnwire";
import type { Conversation } from "turnwire/conversation";
import { RUNNING } from "../tools/pageTools";
import { decisionIn } from "./answers";
import { useChat } from "./chat";

export const Decisions = memo(function Decisions({ input }: { input: readonly TurnInputItem[] }) {
  const conversation = useChat();
  const counts = { allowed: 0, denied: 0, answered: 0 };
  const tools: string[] = [];
  for (const item of input) {
    const kind = decisionIn(item);
    if (kind === null) continue;
    const name = item.type === "user.tool_response" ? calledIn(conversation, item.tool_call_id) : undefined;
    if (name && conversation.info.get().capabilities?.pageTools && RUNNING.includes(name)) tools.push(name);
    else counts[kind] += 1;
  }
  const words = [...describe(counts), ...describeTools(tools)];
  return words.length > 0 && <p className="decisions">{words.join(" ")}</p>;
});

/** The name of a call of one of the turns. */
function calledIn({ turns, turn }: Conversation, callId: string): string | undefined {
  for (const key of turns.get().toReversed()) {
    for (const { messages } of turn(key).get()?.snapshot.threads ?? []) {
      const call = messages.flatMap(({ tool_calls }) => tool_calls).find(({ id }) => id === callId);
      if (call) return call.name;
    }
  }
  return undefined;
}

function describe({ allowed, denied, answered }: Record<"allowed" | "denied" | "answered", number>): string[] {
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
