// Reads a part of a value that changes.

import { useMemo } from "react";
import { useReadable, type Readable } from "turnwire/react";

/** The part that `select` returns. Renders only when that part has changed. `select` must keep its identity. */
export function useSelected<T, S>(source: Readable<T>, select: (value: T) => S): S {
  const part = useMemo(
    () => ({ get: () => select(source.get()), subscribe: source.subscribe }),
    [source, select],
  );
  return useReadable(part);
}
