"use client";
// turnwire/react: hooks over a Readable. It is no useSyncExternalStore: a store that changes each frame would interrupt
// transitions for as long as it changes.
import { useEffect, useState } from "react";
import type { Readable } from "../common/readable.js";

export type { Readable };

/** A value, and what it was read from. */
interface Reading<T> {
  readonly source: Readable<T>;
  readonly value: T;
}

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
      // Read when told and not when rendered, so that all components of one render show the same.
      const next = read(source);
      setLast((was) => (was.source !== source || Object.is(was.value, next.value) ? was : next));
    };
    const unsubscribe = source.subscribe(update);
    // What changed since the component rendered told no one.
    update();
    return unsubscribe;
  }, [source]);
  return shown.value;
}
