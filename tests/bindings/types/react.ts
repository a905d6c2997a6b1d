import { useReadable, type Readable } from "turnwire/react";
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
