// Reports occasions to check whether a conversation has continued elsewhere: messages of other tabs of this browser,
// and returning to the page.

const CHANNEL = "turnwire.turns";

let opened: BroadcastChannel | undefined;

/** One channel for the whole page: it receives the messages of other tabs, and not its own. */
function channel(): BroadcastChannel {
  return (opened ??= new BroadcastChannel(CHANNEL));
}

/** Tells other tabs that the session has a new turn. */
export function announceTurn(sessionId: string): void {
  channel().postMessage(sessionId);
}

/** Calls `look` when the session may have a turn that is unknown here. Returns the function that ends it. */
export function onNews(sessionId: () => string | null, look: () => void): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  channel().addEventListener("message", ({ data }) => data === sessionId() && look(), { signal });
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && look(), { signal });
  window.addEventListener("online", look, { signal });
  return () => ending.abort();
}
