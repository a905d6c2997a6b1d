/**
 * A runtime for assistant-ui over a conversation.
 *
 * @module turnwire/assistant-ui
 */
"use client";
import { type AppendMessage, type AssistantRuntime, type Attachment, type ExternalStoreAdapter, useExternalStoreRuntime } from "@assistant-ui/react";
import { useEffect, useMemo } from "react";
import type { Conversation } from "../conversation/conversation.js";
import type { Snapshot } from "../conversation/types.js";
import type { TurnInput } from "../turn/options.js";
import type { ContentPart } from "../wire/events.js";
import { ThreadMessages } from "./assistant-ui-messages.js";
import { filePart, inputOf, waitingAs } from "./exchanges.js";
import { useConversation, useReadable } from "./react.js";

/** The options of `useTurnwireRuntime`. */
export interface TurnwireRuntimeOptions {
  /** assistant-ui's own adapters, for instance for attachments, speech, feedback, or its list of threads; none by default. */
  adapters?: ExternalStoreAdapter["adapters"];
}

type Complete = Extract<Attachment, { status: { type: "complete" } }>;

const RESTS: readonly string[] = ["idle", "loading", "waiting", "failed"];
/** The unsent attachments of conversations that are not shown. */
const unsent = new WeakMap<Conversation, readonly Attachment[]>();

/**
 * The runtime for `AssistantRuntimeProvider`. The conversation is shown while the component is there, and outlives it: stop,
 * edit, retry, branches, approvals and the queue are those of the conversation.
 */
export function useTurnwireRuntime(conversation: Conversation, { adapters }: TurnwireRuntimeOptions = {}): AssistantRuntime {
  const { source, messages } = useMemo(() => {
    const { snapshot: get, subscribe } = conversation;
    return { source: { get, subscribe }, messages: new ThreadMessages(conversation) };
  }, [conversation]);
  const now = useReadable(source);
  useConversation(conversation);
  const store = useMemo(() => storeOf(conversation, now, messages, adapters), [conversation, now, messages, adapters]);
  const runtime = useExternalStoreRuntime(store);
  useEffect(() => {
    const { composer } = runtime.thread;
    // A message stopped before it was sent returns to the composer.
    const giveBack = (): void => {
      const { text, parts } = conversation.draft.get();
      if (text === "" || composer.getState().text !== "") return;
      composer.setText(text);
      conversation.setDraft({ text: "", parts });
    };
    giveBack();
    const unsubscribe = conversation.draft.subscribe(giveBack);
    // Later: an adapter takes its time, and React's StrictMode ends the first effect at once.
    const attaching = setTimeout(() => {
      const files = unsent.get(conversation) ?? [];
      unsent.delete(conversation);
      // assistant-ui reports a failure to its listeners.
      for (const one of files) void composer.addAttachment(one.status.type === "complete" ? (one as Complete) : one.file!).catch(() => {});
    });
    return () => {
      clearTimeout(attaching);
      unsubscribe();
      // What was not sent stays with its conversation: another one may be shown next.
      const { text, attachments, submission } = composer.getState();
      const files = [...(submission?.attachments ?? []), ...attachments];
      if (files.length > 0) unsent.set(conversation, files);
      // A file that could not be removed from its store is only in the way there.
      void composer.reset().catch(() => {});
      const texts = [conversation.draft.get().text, submission?.text, text].filter(Boolean);
      if (texts.length === 0) return;
      try {
        conversation.setDraft(texts.join("\n"));
      } catch {
        // The page has forgotten it.
      }
    };
  }, [conversation, runtime]);
  return runtime;
}

/** The conversation at one moment, in assistant-ui's form. */
function storeOf(conversation: Conversation, now: Snapshot, messages: ThreadMessages, adapters: TurnwireRuntimeOptions["adapters"]): ExternalStoreAdapter {
  const { send, stop, answer, allow, deny, retry, regenerate, edit, show, loadEarlier, turn, message } = conversation;
  const { status, info, queue } = now;
  const { phase, canSteer, heldQueue } = status;
  const isRunning = !RESTS.includes(phase);
  const keyOf = (id: string): string => waitingAs(conversation, id)?.key ?? id;
  const reply = (id: string, content: string): void => answer(keyOf(id), { kind: "text", content });
  const sendNow = (appended: AppendMessage, isSteered = false): void => {
    send(inputIn(appended), isSteered ? { whenBusy: "steer" } : {});
    // `stop` has held the queue.
    if (heldQueue) conversation.queue.hold(false);
  };
  const items = (how: "queue" | "steer") =>
    queue.filter((item) => item.how === how).map(({ key, text }) => ({ id: key, prompt: text, parts: [{ type: "text" as const, text }] }));
  return {
    isLoading: phase === "loading",
    isRunning,
    isSendDisabled: phase === "waiting",
    messageRepository: messages.now(now, isRunning),
    hasEarlier: info.hasEarlier,
    onLoadEarlier: loadEarlier,
    onNew: async (appended) => sendNow(appended),
    onCancel: stop,
    onReload: async (parentId) => {
      const key = parentId ?? "";
      if (turn(message(key).get()?.turn ?? "").get()?.canRetry) retry(key);
      else regenerate(key);
    },
    onRespondToToolApproval: ({ approvalId, approved, optionId, text, reason }) => {
      if (text !== undefined) reply(approvalId, text);
      else if (approved) allow(keyOf(approvalId), { remember: optionId === "always" });
      else deny(keyOf(approvalId), reason);
    },
    onAddToolResult: ({ toolCallId, result }) => reply(toolCallId, typeof result === "string" ? result : JSON.stringify(result)),
    queue: {
      items: items("queue"),
      steerItems: items("steer"),
      enqueue: (appended) => sendNow(appended),
      steer: (appended) => sendNow(appended, appended.steer),
      edit: (id, appended) => conversation.queue.edit(id, inputIn(appended)),
      remove: (id) => void conversation.queue.remove(id),
      move: (id, { lane, insertAfter, insertBefore }) => {
        const before = queue.findIndex(({ key }) => key === insertBefore);
        if (lane !== "steer") conversation.queue.move(id, before >= 0 ? before : queue.findIndex(({ key }) => key === insertAfter) + 1);
        else if (canSteer) conversation.queue.steer(id);
        else conversation.queue.sendNow(id);
      },
    },
    ...(info.capabilities?.fork && {
      onEdit: async (appended: AppendMessage) => void edit(appended.sourceId ?? "", inputIn(appended)),
      // assistant-ui reports a change of the branch this way.
      setMessages: (shown: readonly { readonly id: string }[]) => {
        const other = shown.map(({ id }) => messages.branches.get(id)).find((key) => key !== undefined);
        if (other !== undefined) show(other);
      },
    }),
    ...(adapters && { adapters }),
  };
}

/** The composer's text and attachments. */
function inputIn({ content, attachments = [] }: AppendMessage): TurnInput {
  const parts = [...content, ...attachments.flatMap((attachment) => attachment.content)];
  return inputOf(parts.flatMap((part): ContentPart[] => {
    switch (part.type) {
      case "text":
        return [{ type: "text", text: part.text }];
      case "image":
        return [filePart(part.image, "image/*", part.filename)];
      case "file":
        return [filePart(/^(data|https?):/.test(part.data) ? part.data : `data:${part.mimeType};base64,${part.data}`, part.mimeType, part.filename)];
      default:
        return [];
    }
  }));
}
