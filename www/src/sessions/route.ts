// The conversation in the URL: `#/session/<id>`, or none.

import { useSyncExternalStore } from "react";

const PREFIX = "#/session/";

export function currentSessionId(): string | null {
  const { hash } = window.location;
  if (!hash.startsWith(PREFIX)) return null;
  try {
    return decodeURIComponent(hash.slice(PREFIX.length)) || null;
  } catch {
    return null;
  }
}

function subscribe(listener: () => void): () => void {
  window.addEventListener("hashchange", listener);
  return () => window.removeEventListener("hashchange", listener);
}

export function useSessionId(): string | null {
  return useSyncExternalStore(subscribe, currentSessionId);
}

export function hrefOf(sessionId: string): string {
  return PREFIX + encodeURIComponent(sessionId);
}

/** Opens the conversation, or with null a new one. */
export function goTo(sessionId: string | null): void {
  window.location.hash = sessionId === null ? "#/" : hrefOf(sessionId);
}
