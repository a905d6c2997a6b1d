/**
 * Hooks over a Readable. It is no useSyncExternalStore: a store that changes each frame would interrupt transitions.
 *
 * @module turnwire/react
 */
"use client";
import { useEffect, useState } from "react";
import type { Readable } from "../common/readable.js";
import type { Attachable, Part, Parts } from "./conversation.js";

export type { Readable };

/** A value, and what it was read from. */
type Reading<T> = { readonly source: Readable<T>; readonly value: T };
const read = <T>(source: Readable<T>): Reading<T> => ({ source, value: source.get() });

/**
 * The value of `source`. The component renders again when it changes, and when it gets another source; no other component
 * does. A transition that renders meanwhile is not interrupted.
 */
export function useReadable<T>(source: Readable<T>): T {
  const [last, setLast] = useState(() => read(source));
  let shown = last;
  if (last.source !== source) setLast((shown = read(source)));
  useEffect(() => {
    const update = () => {
      // Read on notification, not while rendering, so that all components of one render show the same value.
      const next = read(source);
      setLast((was) => (was.source !== source || Object.is(was.value, next.value) ? was : next));
    };
    const unsubscribe = source.subscribe(update);
    // A change since the component rendered notified no listener.
    update();
    return unsubscribe;
  }, [source]);
  return shown.value;
}

/** Shows a conversation while the component is there. */
export function useConversation<C extends Attachable>(conversation: C): C {
  useEffect(() => conversation.attach(), [conversation]);
  return conversation;
}
/** The rows of a conversation: the same array while a message grows. */
export const useRows = <T>(conversation: Part<"rows", T>): T => useReadable(conversation.rows);
/** One message, by its row's key. */
export const useMessage = <T>(conversation: Parts<"message", T>, key: string): T => useReadable(conversation.message(key));
/** One tool call. */
export const useCall = <T>(conversation: Parts<"call", T>, key: string): T => useReadable(conversation.call(key));
/** The thread that a call began. */
export const useThread = <T>(conversation: Parts<"thread", T>, key: string): T => useReadable(conversation.thread(key));
/** One turn. */
export const useTurn = <T>(conversation: Parts<"turn", T>, key: string): T => useReadable(conversation.turn(key));
/** What the conversation does, and what can be done. */
export const useStatus = <T>(conversation: Part<"status", T>): T => useReadable(conversation.status);
/** What waits for a person. */
export const usePending = <T>(conversation: Part<"pending", T>): T => useReadable(conversation.pending);
/** What is sent later. */
export const useQueue = <T>(conversation: Part<"queue", T>): T => useReadable(conversation.queue);
/** What is being written. */
export const useDraft = <T>(conversation: Part<"draft", T>): T => useReadable(conversation.draft);
