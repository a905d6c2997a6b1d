/**
 * Composables over a Readable.
 *
 * @module turnwire/vue
 */
import { computed, shallowRef, toValue, watchPostEffect, type ComputedRef, type MaybeRefOrGetter } from "vue";
import type { Readable } from "../common/readable.js";
import type { Attachable } from "./conversation.js";

export type { Readable };

/**
 * The value of `source`, as a ref. A getter or a ref may name another source at any time. On a server it is read once, and
 * nothing listens.
 */
export function useReadable<T>(source: MaybeRefOrGetter<Readable<T>>): ComputedRef<T> {
  const current = computed(() => {
    const readable = toValue(source);
    return { readable, held: shallowRef(readable.get()) };
  });
  watchPostEffect((onCleanup) => {
    const { readable, held } = current.value;
    const update = () => {
      held.value = readable.get();
    };
    onCleanup(readable.subscribe(update));
    // A change since the component rendered notified no listener.
    update();
  });
  return computed(() => current.value.held.value);
}

/** Shows a conversation while the component is there. A getter or a ref may name another one at any time. */
export function useConversation<C extends Attachable>(conversation: MaybeRefOrGetter<C>): ComputedRef<C> {
  const current = computed(() => toValue(conversation));
  watchPostEffect((onCleanup) => onCleanup(current.value.attach()));
  return current;
}
