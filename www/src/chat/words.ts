// What went wrong, in words that a person can act on.

import { ApiError, ConnectionError, IncompleteError, type TurnSnapshot } from "turnwire";

export interface Trouble {
  readonly title: string;
  readonly detail: string;
  /** What is likely to help; where a stream can be resumed, everything can also be loaded again. */
  readonly remedy: "retry" | "resume" | "reload" | "settings" | "none";
}

const CUT: Trouble = {
  title: "The answer was cut off before it was complete.",
  detail: "What has come so far is kept.",
  remedy: "resume",
};

const UNKNOWN_START: Trouble = {
  title: "It is not known whether the message has arrived.",
  detail: "To go on looks for it first, so that it is not sent twice.",
  remedy: "resume",
};

/** Explains an error of the SDK. */
export function explain(error: unknown): Trouble {
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof IncompleteError) return CUT;
  if (error instanceof ConnectionError) {
    return { title: "The gateway can not be reached.", detail, remedy: "retry" };
  }
  if (error instanceof ApiError) return explainStatus(error.status ?? 0, detail);
  return { title: "Something went wrong.", detail, remedy: "retry" };
}

function explainStatus(status: number, detail: string): Trouble {
  if (status === 401 || status === 403) {
    return { title: "The gateway does not accept this token.", detail, remedy: "settings" };
  }
  if (status === 404) return { title: "The gateway does not know this.", detail, remedy: "none" };
  if (status === 429) return { title: "Too many requests. Please wait a moment.", detail, remedy: "retry" };
  if (status >= 500) return { title: "The gateway has a problem of its own.", detail, remedy: "retry" };
  return { title: "The gateway did not accept this.", detail, remedy: "reload" };
}

/** Explains how a turn ended, or returns null when it ended well or has not ended. */
export function explainEnd({ status, state, error, turn_id }: TurnSnapshot): Trouble | null {
  if (status === "incomplete") return turn_id === null ? UNKNOWN_START : CUT;
  // The server knows the turn, and refused to go on with its stream: it is not to be started again.
  if (status === "running" && error !== null) return { ...explain(error), remedy: "resume" };
  if (status === "unstarted" && error !== null) return explain(error);
  if (status === "cancelled") return { title: stopped(state), detail: "", remedy: "none" };
  if (status !== "error") return null;
  if (state?.status === "error") return { ...failure(state.message), detail: state.message };
  return explain(error);
}

function stopped(state: TurnSnapshot["state"]): string {
  switch (state?.status === "cancelled" ? state.reason : "") {
    case "server-execution-timeout":
      return "The gateway stopped this turn because it took too long.";
    case "cancelled-for-next-turn":
      return "Stopped, because a newer message was sent.";
    case "abandoned":
      return "The gateway gave this turn up.";
    default:
      return "You stopped this turn.";
  }
}

function failure(message: string): Pick<Trouble, "title" | "remedy"> {
  if (/max_tokens/i.test(message)) return { title: "The answer reached its length limit.", remedy: "none" };
  if (/iteration limit/i.test(message)) return { title: "The agent took as many steps as it may.", remedy: "none" };
  return { title: "The agent could not finish.", remedy: "retry" };
}
