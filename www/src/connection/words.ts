// The events of a connection as text.

import type { Capabilities, Reconnecting, Waiting } from "turnwire";
import type { ConnectionState, Gap } from "./TurnConnection";

/** What turnwire does about a lost connection. */
export function tryingWords({ attempt }: Reconnecting): string {
  return attempt > 1 ? `Connection lost, trying again (${attempt}) …` : "Connection lost, trying again …";
}

const AWAITED: Readonly<Record<Waiting["for"], string>> = {
  turn: "The agent is working; its answer comes when it is done …",
  history: "Waiting for the rest of the answer …",
  events: "Reading the rest of the answer …",
};

/** What turnwire waits for while the server can be reached. */
export function waitingWords(waiting: Waiting): string {
  return AWAITED[waiting.for];
}

/** More details of that wait. */
export function waitingHint(waiting: Waiting): string | undefined {
  return waiting.for === "history"
    ? "This server does not say whether the agent still works on it. Stop ends the wait."
    : undefined;
}

/** What the person will see when the connection is cut. */
export function cutWords(resume: Capabilities["resume"]): string {
  if (resume === "none") return "Cut the connection, to see what is left of the answer: this server cannot resume";
  if (resume === "history") return "Cut the connection, to see the answer completed from what the server keeps";
  return "Cut the connection, to see it resume";
}

export function resumedWords({ after, gaps }: ConnectionState): string {
  const isWhole = gaps.every((gap) => gap.after < after);
  const place = after > 0 ? `Resumed after event ${after}` : "Resumed from the first event";
  return isWhole ? `${place}, nothing lost` : place;
}

export function timesWords({ resumes }: ConnectionState): string {
  return `resumed ${resumes === 1 ? "once" : resumes === 2 ? "twice" : `${resumes} times`}`;
}

/** The most gaps that are listed. */
const LISTED = 5;

/** The numbers of the missing events. */
export function missingWords(gaps: readonly Gap[]): string {
  const ranges = gaps.slice(0, LISTED).map(({ after, next }) => {
    const [first, last] = [after + 1, next - 1];
    return first === last ? `${first}` : `${first} to ${last}`;
  });
  if (gaps.length > LISTED) ranges.push(`${gaps.length - LISTED} more`);
  const [only] = gaps;
  const isOne = gaps.length === 1 && only !== undefined && only.next - only.after === 2;
  return `${isOne ? "event" : "events"} ${joined(ranges)}`;
}

function joined(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
