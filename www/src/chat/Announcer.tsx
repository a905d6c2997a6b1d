// Announces to screen readers what happens, in whole sentences and only when it matters to the person.

import type { Status } from "turnwire/conversation";
import { isBusy } from "./chat";

interface Props {
  status: Status;
  /** How many decisions the agent waits for. */
  asks: number;
  /** There is no turn. */
  empty: boolean;
}

export function Announcer(props: Props) {
  return (
    <p className="visually-hidden" role="status">
      {message(props)}
    </p>
  );
}

function message({ status, asks, empty }: Props): string {
  const { phase, canProceed } = status;
  if (phase === "loading") return "The conversation is loading.";
  // The first attempt to restore a connection is no such phase.
  if (phase === "reconnecting") return "The connection is lost. Trying again.";
  if (asks === 1) return "The agent waits for your decision.";
  if (asks > 1) return `The agent waits for ${asks} decisions.`;
  if (canProceed) return "The agent waits for you to continue.";
  if (isBusy(status) || phase === "waiting") return "The agent is answering.";
  return empty ? "" : "The answer is complete.";
}
