// Announces to screen readers what happens, in whole sentences and only when it matters to the person.

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
  // Do not announce a connection that the first attempt restores.
  if (lost) return "The connection is lost. Trying again.";
  if (running && pending.length === 0) return "The agent is answering.";
  if (pending.length === 1) return "The agent waits for your decision.";
  if (pending.length > 1) return `The agent waits for ${pending.length} decisions.`;
  if (halted) return "The agent waits for tools of this page.";
  return turns.length > 0 ? "The answer is complete." : "";
}
