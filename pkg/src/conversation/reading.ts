// What a conversation reads out of a turn's snapshot, and out of an input.
import { isOffline } from "../client/face.js";
import type { TurnSnapshot, TurnStatus } from "../snapshot/snapshot.js";
import type { ContentPart, TurnInputItem } from "../wire/events.js";
import type { Activity } from "./plan/facts.js";

/** A message of the user in an input. */
export type UserItem = Extract<TurnInputItem, { type: "user.message" }>;

/** A title has at most so many characters. */
const TITLE = 60;
const LIVE: readonly string[] = ["unstarted", "starting", "running"];

/** How a turn stands. One whose core has failed cannot be read on: whether it runs is not known any more. */
export function statusOf({ status, error }: TurnSnapshot): TurnStatus {
  return error?.code === "internal" && status === "running" ? "incomplete" : status;
}

/** Whether the turn runs or is about to. */
export function isLive(snapshot: TurnSnapshot): boolean {
  return LIVE.includes(statusOf(snapshot));
}

/** What a turn does now. */
export function activityOf({ reconnecting, threads }: TurnSnapshot): Activity {
  // The first attempt comes at once: nothing is to be seen of it. Without a network there is none.
  if (reconnecting && (reconnecting.attempt > 1 || isOffline())) return "reconnecting";
  const message = threads[0]?.messages.at(-1);
  if (!message) return "thinking";
  const { content, reasoning_content, refusal, tool_calls, finish_reason } = message;
  if (tool_calls.some(({ status }) => status === "running" || status === "response_required")) return "working";
  const hasText = content !== "" || reasoning_content !== "" || refusal !== "" || tool_calls.length > 0;
  return hasText && finish_reason === null ? "answering" : "thinking";
}

/** The messages (JSON) of the user that the turn's own record has besides its input. */
export function steeredIn({ notices }: TurnSnapshot): string[] {
  const messages = notices.flatMap(({ code, details }) => (code === "user_message" ? (details as { input: TurnInputItem[] }).input : []));
  return messages.map((message) => JSON.stringify([message]));
}

/** The parts of messages whose content is a text: the same ones each time. */
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

/** What a file is called; its type if it has no name. */
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
