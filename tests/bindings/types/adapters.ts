import type { AssistantRuntime } from "@assistant-ui/react";
import type { ChatTransport, UIMessage } from "ai";
import { TurnwireTransport } from "turnwire/ai";
import { useTurnwireRuntime } from "turnwire/assistant-ui";
import { Conversations } from "turnwire/conversation";
import { connect } from "turnwire";
import { holds, type Same } from "./same.js";

const chats = new Conversations({ client: connect({ baseUrl: "/api" }), agentName: "support-bot" });
const plain = new TurnwireTransport(chats);
holds<Same<typeof plain, TurnwireTransport<UIMessage>>>();

type Own = UIMessage<{ at: number }, { thread: { title: string } }, { weather: { input: { city: string }; output: { degrees: number } } }>;
export const transport: ChatTransport<Own> = new TurnwireTransport<Own>(chats, { onAbort: "leave", sessions: null });
export const earlier: Promise<Own[]> = new TurnwireTransport<Own>(chats).history("id");
// @ts-expect-error: no such way
new TurnwireTransport(chats, { onAbort: "stop" });

export function useRuntime(): AssistantRuntime {
  // @ts-expect-error: a conversation, not all of them
  useTurnwireRuntime(chats);
  return useTurnwireRuntime(chats.create(), { adapters: {} });
}
