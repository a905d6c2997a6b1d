import { useConversation, useDraft, useMessage, useQueue, useReadable, useRows, type Readable } from "turnwire/react";
import { holds, words, type Same } from "./same.js";

export function useWords() {
  const shown = useReadable(words);
  holds<Same<typeof shown, readonly string[]>>();
  const own: Readable<number> = { get: () => 1, subscribe: () => () => {} };
  holds<Same<ReturnType<typeof useReadable<number>>, number>>();
  // @ts-expect-error: a source, not what reads it
  useReadable(() => words);
  return [shown, useReadable(own)] as const;
}

interface Row {
  readonly key: string;
}

interface Conversation {
  attach(): () => void;
  readonly rows: Readable<readonly Row[]>;
  readonly queue: Readable<readonly string[]> & { remove(key: string): void };
  message(key: string): Readable<Row | undefined>;
}

export function useAll(chat: Conversation) {
  const same = useConversation(chat);
  const rows = useRows(same);
  const queue = useQueue(same);
  const message = useMessage(same, "key");
  holds<Same<[typeof same, typeof rows, typeof queue, typeof message], [Conversation, readonly Row[], readonly string[], Row | undefined]>>();
  // @ts-expect-error: this conversation has no draft
  useDraft(chat);
}
