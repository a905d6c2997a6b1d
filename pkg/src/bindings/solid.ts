/**
 * Primitives over a Readable.
 *
 * @module turnwire/solid
 */
import { createEffect, createMemo, createSignal, onCleanup } from "solid-js";
import type { Readable } from "../common/readable.js";
import type { Attachable } from "./conversation.js";

export type { Readable };

/**
 * The value of `source`, as an accessor. An accessor may name another source at any time. On a server it is read once, and
 * nothing listens.
 */
export function useReadable<T>(source: Readable<T> | (() => Readable<T>)): () => T {
  const current = createMemo(() => {
    const readable = typeof source === "function" ? source() : source;
    const [value, setValue] = createSignal(readable.get());
    createEffect(() => {
      const update = () => void setValue(() => readable.get());
      onCleanup(readable.subscribe(update));
      // A change since the value was first read notified no listener.
      update();
    });
    return value;
  });
  return () => current()();
}

/** Shows a conversation while the component is there. An accessor may name another one at any time. */
export function useConversation<C extends Attachable>(conversation: C | (() => C)): () => C {
  const current = createMemo(() => (typeof conversation === "function" ? conversation() : conversation));
  createEffect(() => onCleanup(current().attach()));
  return current;
}
