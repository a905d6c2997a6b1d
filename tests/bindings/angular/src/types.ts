import { computed, type Signal } from "@angular/core";
import { injectRead, injectReadable, type Readable } from "turnwire/angular";

export function first(words: Readable<readonly string[]>): Signal<string> {
  const shown: Signal<readonly string[]> = injectReadable(() => words);
  // @ts-expect-error: it is read only
  shown.set([]);
  // @ts-expect-error: a function that names the source
  injectReadable(words);
  return computed(() => shown()[0] ?? "");
}

export function counter(): (words: Readable<readonly string[]>) => number {
  const read = injectRead();
  return (words) => read(words).length;
}
