// Errors as text that a person can act on.

import {
  ApiError,
  type Capabilities,
  ConnectionError,
  IncompleteError,
  TurnwireError,
  type TurnSnapshot,
  type TurnState,
} from "turnwire";

export interface Trouble {
  readonly title: string;
  readonly detail: string;
  /** The action that is likely to help. If a stream can be resumed, everything can also be loaded again. */
  readonly remedy: "retry" | "resume" | "reload" | "settings" | "none";
}

const CUT: Trouble = {
  title: "The answer was cut off before it was complete.",
  detail: "What has come so far is kept.",
  remedy: "resume",
};

/** For a page whose own server is no gateway. */
export const NO_GATEWAY: Trouble = {
  title: "No gateway answers at this page’s address.",
  detail: "Run “cargo xtask demo” in the repository and open the address that it prints, or connect to another server.",
  remedy: "settings",
};

/** For servers whose streams no client can resume. */
const LOST: Trouble = {
  title: "The connection broke, and the answer is lost.",
  detail:
    "This server drops an answer without a reader. Reloading the conversation shows what it has kept. " +
    "You can send another message.",
  remedy: "reload",
};

const UNKNOWN_START: Trouble = {
  title: "It is not known whether the message has arrived.",
  detail: "Continuing looks for it first, so that it is not sent twice.",
  remedy: "resume",
};

/** For a message that was not taken. */
export const NOT_SENT: Trouble = {
  title: "The message has not arrived.",
  detail: "Nothing is sent again by itself.",
  remedy: "retry",
};

/** Explains an error of the SDK. */
export function explain(error: unknown): Trouble {
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof IncompleteError) return CUT;
  if (error instanceof ConnectionError) {
    return { title: "The gateway cannot be reached.", detail, remedy: "retry" };
  }
  if (error instanceof ApiError) return explainStatus(error.status ?? 0, detail);
  // A server over a socket refused a call, and not an HTTP request.
  if (error instanceof TurnwireError && (error.code as string) === "rpc") return explainStatus(error.status ?? 400, detail);
  return { title: "Something went wrong.", detail, remedy: "retry" };
}

function explainStatus(status: number, detail: string): Trouble {
  if (status === 401 || status === 403) {
    return { title: "The gateway does not accept this token.", detail, remedy: "settings" };
  }
  if (status === 404) return { title: "The gateway does not have this.", detail, remedy: "none" };
  if (status === 429) return { title: "Too many requests. Please wait a moment.", detail, remedy: "retry" };
  if (status >= 500) return { title: "The gateway has an internal problem.", detail, remedy: "retry" };
  return { title: "The gateway did not accept this.", detail, remedy: "reload" };
}

/**
 * Explains how a turn ended; null if it ended well or has not ended. `resume` says what happens to a turn whose
 * connection drops.
 */
export function explainEnd(
  { status, state, error, turn_id }: TurnSnapshot,
  resume: Capabilities["resume"] = "cursor",
): Trouble | null {
  if (status === "incomplete") {
    if (turn_id === null) return UNKNOWN_START;
    return resume === "none" ? LOST : CUT;
  }
  // The server knows the turn, and refused to continue its stream: do not start it again.
  if (status === "running" && error !== null) return { ...explain(error), remedy: "resume" };
  if (status === "unstarted" && error !== null) return explain(error);
  if (status === "cancelled") return { title: stopped(state), detail: "", remedy: "none" };
  if (status === "done") return endedEarly(state);
  if (status !== "error") return null;
  if (state?.status === "error") {
    const { message, code = "" } = state;
    return { ...failure(message, code), detail: code && !message.includes(code) ? `${code}: ${message}` : message };
  }
  return explain(error);
}

function stopped(state: TurnState | null): string {
  switch (state?.status === "cancelled" ? state.reason : "") {
    case "server-execution-timeout":
      return "The gateway stopped this turn because it took too long.";
    case "cancelled-for-next-turn":
      return "Stopped, because a newer message was sent.";
    case "abandoned":
      return "The gateway abandoned this turn.";
    default:
      return "You stopped this turn.";
  }
}

/** A turn that is done although the agent was not. */
function endedEarly(state: TurnState | null): Trouble | null {
  const termination = state?.status === "done" ? state.termination : undefined;
  if (termination?.type === "refusal") return { title: "The model would not answer this.", detail: "", remedy: "none" };
  const limit = limitIn(termination?.type ?? "");
  if (limit !== null) return { title: limit, detail: "", remedy: "none" };
  if (termination?.type !== "stopped") return null;
  const { code = "", detail = "" } = typeof termination.value === "object" ? termination.value : {};
  return { title: limitIn(code) ?? "The server stopped the agent.", detail: detail || code, remedy: "none" };
}

function failure(message: string, code: string): Pick<Trouble, "title" | "remedy"> {
  const limit = limitIn(message);
  if (limit !== null) return { title: limit, remedy: "none" };
  if (code === "STATE_ERROR") return { title: "The conversation has changed in the meantime.", remedy: "reload" };
  return { title: "The agent could not finish.", remedy: "retry" };
}

/** The limit that was reached, if the text names one. */
function limitIn(words: string): string | null {
  if (/max_tokens|token_budget/i.test(words)) return "The answer reached its length limit.";
  if (/iteration limit|max_rounds/i.test(words)) return "The agent reached its limit of steps.";
  return null;
}
