// Occasions to look whether a conversation has gone on elsewhere: other tabs of this browser tell it, and whoever comes
// back to the page expects it.

const CHANNEL = "turnwire.turns";

let opened: BroadcastChannel | undefined;

/** One for the whole page: it hears what others say, and not itself. */
function channel(): BroadcastChannel {
  return (opened ??= new BroadcastChannel(CHANNEL));
}

/** Tells other tabs that the session has a new turn. */
export function tellTurn(sessionId: string): void {
  channel().postMessage(sessionId);
}

/** Calls `look` when the session may have a turn that is not known here. Gives the function that ends it. */
export function onNews(sessionId: () => string | null, look: () => void): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  channel().addEventListener("message", ({ data }) => data === sessionId() && look(), { signal });
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && look(), { signal });
  window.addEventListener("online", look, { signal });
  return () => ending.abort();
}
