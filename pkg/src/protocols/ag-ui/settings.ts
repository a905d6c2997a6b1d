// Checks of the settings of a session's runs (AG-UI).
import { demand, isObject } from "../../client/face.js";
import type { KeptMessages, RunSettings } from "./types.js";

/** The names of the settings. */
export const RUN_SETTINGS: readonly string[] = ["state", "context", "forwardedProps", "answerableTools", "recovery"];

/** Throws an `InputError` that names the wrong setting. */
export function demandRunSettings({ context, forwardedProps, answerableTools, recovery }: RunSettings): void {
  const isContext = (given: unknown): boolean =>
    isObject(given) && "description" in given && typeof given.description === "string" && "value" in given && typeof given.value === "string";
  demand(context == null || (Array.isArray(context) && context.every(isContext)), "`context` must be a list of `{ description, value }`, both strings");
  demand(forwardedProps == null || (isObject(forwardedProps) && !Array.isArray(forwardedProps)), "`forwardedProps` must be an object");
  const isName = (given: unknown): boolean => typeof given === "string";
  demand(answerableTools == null || (Array.isArray(answerableTools) && answerableTools.every(isName)), "`answerableTools` must be a list of names");
  demand(recovery == null || ["connect", "snapshot", "state"].includes(recovery), '`recovery` must be "connect", "snapshot" or "state"');
}

/** Throws an `InputError` unless this can be continued as a conversation. */
export function demandMessages(messages: KeptMessages | undefined): void {
  const isMessage = (given: unknown): boolean => isObject(given) && "role" in given && typeof given.role === "string" && given.role !== "";
  demand(
    messages == null || typeof messages === "string" || (Array.isArray(messages) && messages.every(isMessage)),
    "`messages` must be what `session.messages()` returned, or a list of messages with a `role`",
  );
}
