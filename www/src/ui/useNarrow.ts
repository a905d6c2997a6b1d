// Whether the window is narrower than the page's parts need to stand side by side.

import { useCallback, useSyncExternalStore } from "react";

export function useNarrow(width: number): boolean {
  const query = `(max-width: ${width}px)`;
  const subscribe = useCallback(
    (listener: () => void) => {
      const list = window.matchMedia(query);
      list.addEventListener("change", listener);
      return () => list.removeEventListener("change", listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}
