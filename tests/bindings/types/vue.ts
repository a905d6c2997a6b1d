import { shallowRef, type ComputedRef } from "vue";
import { useReadable } from "turnwire/vue";
import { holds, words, type Same } from "./same.js";

const shown = useReadable(words);
holds<Same<typeof shown, ComputedRef<readonly string[]>>>();
const first: string | undefined = shown.value[0];
// @ts-expect-error: it is read only
shown.value = [first];
for (const source of [() => words, shallowRef(words)]) holds<Same<ReturnType<typeof useReadable<readonly string[]>>, typeof shown>>(), useReadable(source);
