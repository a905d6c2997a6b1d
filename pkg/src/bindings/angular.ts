// turnwire/angular: signals over a Readable.
import { afterRenderEffect, computed, signal, type Signal } from "@angular/core";
import type { Readable } from "../common/readable.js";
import type { Attachable } from "./conversation.js";

export type { Readable };

/**
 * The value of a source, as a signal. `source` may read signals, such as inputs, and so name another source at any time. Call
 * it where `inject` may be called. On a server the source is read, and nothing listens.
 */
export function injectReadable<T>(source: () => Readable<T>): Signal<T> {
  const current = computed(() => {
    const readable = source();
    return { readable, held: signal(readable.get()) };
  });
  afterRenderEffect((onCleanup) => {
    const { readable, held } = current();
    const update = () => held.set(readable.get());
    onCleanup(readable.subscribe(update));
    // What changed since the component rendered told no one.
    update();
  });
  return computed(() => current().held());
}

/** Shows a conversation while the component is there. `conversation` may read signals, and so name another one at any time. */
export function injectConversation<C extends Attachable>(conversation: () => C): Signal<C> {
  const current = computed(conversation);
  afterRenderEffect((onCleanup) => onCleanup(current().attach()));
  return current;
}
