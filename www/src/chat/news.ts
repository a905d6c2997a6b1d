// A turn's additional information as text, if the server sends it: the output of calls, and notices.

import type { TurnSnapshot } from "turnwire";

export interface ToldNotice {
  readonly level: "info" | "warning" | "error";
  readonly code: string;
  readonly message: string;
}

export interface Stream {
  readonly name: string;
  readonly text: string;
}

/** The most text of a stream that is shown, in UTF-16 units: its end. */
const SHOWN = 8000;

/** The output of a call so far, by stream; the end of a long one. */
export function outputOf(call: object): Stream[] {
  const { output = {} } = call as { output?: Readonly<Record<string, string>> | null };
  const streams = Object.entries(output ?? {}).filter(([, text]) => text !== "");
  return streams.map(([stream, text]) => ({ name: STREAMS[stream] ?? stream, text: endOf(text) }));
}

const STREAMS: Readonly<Record<string, string>> = {
  output: "Output",
  stdout: "Output",
  stderr: "Errors",
  file_change: "Changes",
  tool_progress: "Progress",
};

function endOf(text: string): string {
  if (text.length <= SHOWN) return text;
  const end = text.slice(-SHOWN);
  // Begin at the start of a line, if there is one.
  return `…\n${end.slice(end.indexOf("\n") + 1)}`;
}

export interface ShownNotice {
  readonly level: ToldNotice["level"];
  readonly words: string;
  /** The number of consecutive repetitions. */
  readonly times: number;
}

/** The notices for people. Consecutive equal ones become one. */
export function noticesOf(snapshot: TurnSnapshot): ShownNotice[] {
  const { notices = [] } = snapshot as { notices?: readonly ToldNotice[] | null };
  const shown: ShownNotice[] = [];
  for (const notice of notices ?? []) {
    const words = noticeWords(notice);
    if (words === "") continue;
    const last = shown.at(-1);
    if (last?.words === words) shown[shown.length - 1] = { ...last, times: last.times + 1 };
    else shown.push({ level: notice.level, words, times: 1 });
  }
  return shown;
}

/** What happened, and then the server's message. */
export function noticeWords({ code, message: told }: ToldNotice): string {
  if (SILENT.has(code)) return "";
  // Convert machine names to words.
  const message = /^[a-z]+(_[a-z]+)+$/.test(told) ? told.replaceAll("_", " ") : told;
  const known = EVENTS[code];
  if (known === undefined) return message || code;
  return message === "" || message === known ? known : `${known}: ${message}`;
}

/** Not interesting in the conversation; the events show them. */
const SILENT: ReadonlySet<string> = new Set([
  "prompt_manifest",
  // It is shown in its place.
  "user_message",
  "capability.attached",
  "task",
  "task_event",
  "item/recovery_attached",
  "item/retry_attempt_started",
]);

const EVENTS: Readonly<Record<string, string>> = {
  "context/compressing": "The conversation so far is being shortened",
  "context/compressed": "The conversation so far was shortened",
  "item/timeout_detected": "A step took too long",
  "item/recovery_opened": "A step failed and is tried again",
  "item/retry_scheduled": "Another attempt follows",
  "item/recovery_succeeded": "The next attempt went well",
  "item/recovery_exhausted": "No attempt went well",
  "item/tool/retry_scheduled": "A tool failed and is called again",
  "item/tool/retry_resolved": "The tool was called again",
  "item/tool/retry_exhausted": "The tool was called as often as it may be",
  "turn/tool_loop/budget_exceeded": "The agent has reached a limit",
  "model/rerouted": "Another model goes on",
  "thread/compacted": "The conversation so far was shortened",
  "turn/plan/updated": "The plan has changed",
};
