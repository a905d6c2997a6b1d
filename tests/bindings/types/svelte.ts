import type { Readable as Store } from "svelte/store";
import { read, store } from "turnwire/svelte";
import { holds, words, type Same } from "./same.js";

holds<Same<ReturnType<typeof read<number>>, number>>();
export const first: string | undefined = read(words)[0];
export const asStore: Store<readonly string[]> = store(words);
// @ts-expect-error: a source, not a function
read(() => words);
