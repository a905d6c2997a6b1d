// Tells people who listen to the page what happens, in whole sentences and only when something has changed for them.

import type { ConversationState } from "./ConversationState";

export function Announcer({ state }: { state: ConversationState }) {
  return (
    <p className="visually-hidden" role="status">
      {message(state)}
    </p>
  );
}

function message({ loading, running, lost, pending, halted, turns }: ConversationState): string {
  if (loading) return "The conversation is loading.";
  // A connection that comes back at the first try is nobody's concern.
  if (lost) return "The connection is lost. It is being tried again.";
  if (running && pending.length === 0) return "The agent is answering.";
  if (pending.length === 1) return "The agent waits for your decision.";
  if (pending.length > 1) return `The agent waits for ${pending.length} decisions.`;
  if (halted) return "The agent waits for tools of this page.";
  return turns.length > 0 ? "The answer is complete." : "";
}
