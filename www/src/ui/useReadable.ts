// Reads a value that is published, such as `turn.view`. Not by `useSyncExternalStore`, whose updates interrupt
// transitions: with a value that changes in every frame, none would ever end.

import { useEffect, useMemo, useState } from "react";
import type { Readable } from "turnwire";

export function useReadable<T>(source: Readable<T>): T {
  const [state, setState] = useState(() => ({ source, value: source.get() }));
  let now = state;
  if (state.source !== source) setState((now = { source, value: source.get() }));
  useEffect(() => {
    const update = () => {
      const value = source.get();
      setState((was) => (was.source === source && Object.is(was.value, value) ? was : { source, value }));
    };
    update();
    return source.subscribe(update);
  }, [source]);
  return now.value;
}

/** The same of a part of the value. Renders only when that part has changed. `select` must keep its identity. */
export function useSelected<T, S>(source: Readable<T>, select: (value: T) => S): S {
  const part = useMemo(
    () => ({ get: () => select(source.get()), subscribe: source.subscribe }),
    [source, select],
  );
  return useReadable(part);
}
