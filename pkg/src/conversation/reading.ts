// The parts of turns' snapshots and inputs that a conversation reads.
import { isOffline } from "../client/face.js";
import type { TurnSnapshot, TurnStatus } from "../snapshot/snapshot.js";
import type { ContentPart, TurnInputItem } from "../wire/events.js";
import type { Activity, End } from "./plan/facts.js";

/** A message of the user in an input. */
export type UserItem = Extract<TurnInputItem, { type: "user.message" }>;

/** The maximum length of a title, in characters. */
const TITLE = 60;
const LIVE: readonly string[] = ["unstarted", "starting", "running"];

/** A turn's status. If its core has failed, it cannot be read further, and whether it runs is unknown. */
export function statusOf({ status, error }: TurnSnapshot): TurnStatus {
  return error?.code === "internal" && status === "running" ? "incomplete" : status;
}

/** How the turn has ended; `undefined` if it has not, or if its end is unknown. */
export function endOf(status: TurnStatus): End | undefined {
  return status === "done" || status === "error" || status === "cancelled" ? status : undefined;
}

/** Whether the turn runs or will start. */
export function isLive(snapshot: TurnSnapshot): boolean {
  return LIVE.includes(statusOf(snapshot));
}

/** A turn's current activity. */
export function activityOf({ reconnecting, threads }: TurnSnapshot): Activity {
  // The first attempt is immediate, and not shown. Without a network there is none.
  if (reconnecting && (reconnecting.attempt > 1 || isOffline())) return "reconnecting";
  const message = threads[0]?.messages.at(-1);
  if (!message) return "thinking";
  const { content, reasoning_content, refusal, tool_calls, finish_reason } = message;
  if (tool_calls.some(({ status }) => status === "running" || status === "response_required")) return "working";
  const hasText = content !== "" || reasoning_content !== "" || refusal !== "" || tool_calls.length > 0;
  return hasText && finish_reason === null ? "answering" : "thinking";
}

/** The user's messages (JSON) in the turn's own record, besides its input. */
export function steeredIn({ notices }: TurnSnapshot): string[] {
  const messages = notices.flatMap(({ code, details }) => (code === "user_message" ? (details as { input: TurnInputItem[] }).input : []));
  return messages.map((message) => JSON.stringify([message]));
}

/** The parts of messages whose content is a text: the same objects each time. */
const textParts = new WeakMap<UserItem, readonly ContentPart[]>();

/** The parts of a user's message: a text is one part. */
export function partsOf(item: UserItem): readonly ContentPart[] {
  const { content } = item;
  if (typeof content !== "string") return content;
  let parts = textParts.get(item);
  if (!parts) textParts.set(item, (parts = Object.freeze([Object.freeze({ type: "text" as const, text: content })])));
  return parts;
}

/** The parts of all messages in an input. */
export function partsIn(input: readonly TurnInputItem[]): ContentPart[] {
  return input.flatMap((item) => (item.type === "user.message" ? partsOf(item) : []));
}

/** The text of all parts, without files. */
export function textOf(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** A file's name; its type if it has none. */
export function fileName(part: Exclude<ContentPart, { type: "text" }>): string {
  return ("name" in part && part.name) || ("file" in part && part.file?.filename) || ("path" in part && part.path) || part.type;
}

/** The first words of a message, or the names of its files. */
export function titleOf([item]: readonly TurnInputItem[]): string {
  if (item?.type !== "user.message") return "";
  const parts = partsOf(item);
  const names = parts.flatMap((part) => (part.type === "text" ? [] : fileName(part)));
  return [textOf(parts), ...names].join(" ").trim().replace(/\s+/g, " ").slice(0, TITLE);
}
