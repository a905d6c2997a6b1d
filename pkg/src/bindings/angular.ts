/**
 * Signals over a Readable.
 *
 * @module turnwire/angular
 */
import { afterRenderEffect, computed, inject, Injector, runInInjectionContext, signal, type Signal, untracked } from "@angular/core";
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
    // A change since the component rendered notified no listener.
    update();
  });
  return computed(() => current().held());
}

/**
 * A function that returns the value of a source, for templates: `@let message = read(chat.message(key))`. When the value changes,
 * only the view that has read it is rendered again, such as one row of `@for`. Listeners stay as long as the component.
 */
export function injectRead(): <T>(source: Readable<T>) => T {
  const injector = inject(Injector);
  const signals = new WeakMap<Readable<unknown>, Signal<unknown>>();
  return <T>(source: Readable<T>): T => {
    const known = signals.get(source) ?? untracked(() => runInInjectionContext(injector, () => injectReadable(() => source)));
    signals.set(source, known);
    return known() as T;
  };
}

/** Shows a conversation while the component is there. `conversation` may read signals, and so name another one at any time. */
export function injectConversation<C extends Attachable>(conversation: () => C): Signal<C> {
  const current = computed(conversation);
  afterRenderEffect((onCleanup) => onCleanup(current().attach()));
  return current;
}
