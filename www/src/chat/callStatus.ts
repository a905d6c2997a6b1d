// The status of a tool call, for the small icon in its card's head.

import type { ToolCallResponse, ToolCallSnapshot, ToolProgress } from "turnwire";
import type { GivenAnswer } from "turnwire/conversation";
import { hasFailed } from "../tools/pageTools";
import type { Mark } from "./StatusMark";

export interface Status {
  readonly mark: Mark;
  readonly words: string;
}

export interface Surroundings {
  readonly answer: GivenAnswer | null;
  /** Its result, even if it came in a later turn. */
  readonly response: ToolCallResponse | null;
  /** The conversation waits for an answer to it. */
  readonly pending: boolean;
  /** The thread that made the call is still running. */
  readonly live: boolean;
  /** If the thread does not run: its turn waits for the person, has continued in a later turn, or broke off. */
  readonly ended: "paused" | "left" | "broken";
}

/** What a status depends on. */
type Called = Pick<ToolCallSnapshot, "status">;

export function statusOf(call: Called, { answer, response, pending, live, ended }: Surroundings): Status {
  if (answer?.answer.kind === "deny" || DENIED.test(response?.content ?? "")) return { mark: "failed", words: "denied" };
  if (response?.outcome === "failed") return FAILED;
  if (response !== null || call.status === "done") return DONE;
  switch (call.status) {
    case "streaming":
      return live ? { mark: "working", words: "preparing" } : { mark: "failed", words: "cut off" };
    case "cancelled":
      return { mark: "stopped", words: "cancelled" };
    case "approval_required":
      if (answer?.sent) return { mark: "working", words: "allowed" };
      return pending || live || answer ? ASKS : DISCARDED;
    case "response_required":
      if (answer?.sent) return { mark: "done", words: "answered" };
      return pending || live || answer ? ASKS : DISCARDED;
    case "running":
      return live ? { mark: "working", words: "running" } : UNFINISHED[ended];
  }
}

export interface PageSurroundings extends Pick<Surroundings, "live" | "ended"> {
  /** Its result, if it is known. */
  readonly content: string | undefined;
  /** The page no longer runs it, or not automatically. */
  readonly halted: boolean;
}

/** The status of a call of one of the page's own tools. */
export function pageStatusOf(call: Called, { content, live, ended, halted }: PageSurroundings): Status {
  if (content !== undefined) return hasFailed(content) ? FAILED : DONE;
  if (call.status !== "response_required") {
    return statusOf(call, { answer: null, response: null, pending: false, live, ended });
  }
  if (!live && ended !== "paused") return DISCARDED;
  return halted ? { mark: "waiting", words: "waits" } : { mark: "working", words: "running" };
}

/** Calls that need no answer wait for those that do. */
const UNFINISHED: Record<Surroundings["ended"], Status> = {
  paused: { mark: "waiting", words: "waits" },
  left: { mark: "done", words: "continued below" },
  broken: { mark: "stopped", words: "cut off" },
};
/** The text that servers keep in place of the result if they do not keep the answer. */
const DENIED = /^Tool (call|use) denied\b/;
const DONE: Status = { mark: "done", words: "done" };
const FAILED: Status = { mark: "failed", words: "failed" };
const ASKS: Status = { mark: "waiting", words: "asks you" };
/** The conversation continued without an answer. */
const DISCARDED: Status = { mark: "stopped", words: "not answered" };

/**
 * A tool's result, without the envelope of some servers: the text, and a remark beside it. If the envelope is the
 * record of the whole call, only the text is the result.
 */
export function resultOf({ content, result }: ToolCallResponse, isRecord = false): { text: string; remark: string } {
  if (!result || isRecord) return { text: content, remark: "" };
  const message = result.message ?? "";
  const data = result.data ?? "";
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return text === "" ? { text: message, remark: "" } : { text, remark: message === text ? "" : message };
}

/** The completed share, from 0 to 1; null if the server does not report it. */
export function shareOf({ progress, loaded, total }: ToolProgress): number | null {
  if (typeof loaded === "number" && typeof total === "number" && total > 0)
    return Math.min(1, Math.max(0, loaded / total));
  if (typeof progress !== "number") return null;
  const share = typeof total === "number" && total > 0 && progress > 1 ? progress / total : progress;
  return Math.min(1, Math.max(0, share));
}

/** The result of one of the page's own tools, as the server returns it: some store a text as JSON. */
export function pageResultOf(response: ToolCallResponse): string {
  const { text } = resultOf(response);
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : text;
  } catch {
    return text;
  }
}
