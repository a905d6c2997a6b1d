// What the agent asks the person, and what the person decided.

import type { RequiredAction, TurnInputItem } from "turnwire";
import type { Pending } from "turnwire/conversation";

/** The actions that a decision on a call answers. Signing in to a server is not one: it happens elsewhere. */
export type CallAction = Exclude<RequiredAction, { type: "mcp.auth_required" }>;

export function isCallAction(action: RequiredAction): action is CallAction {
  return action.type !== "mcp.auth_required";
}

/** What a decision answers of what waits. */
export function callsIn(pending: readonly Pending[]): readonly Pending[] {
  return pending.filter(({ action }) => isCallAction(action));
}

/** The question, if a text is wanted as its answer. */
export function questionIn({ suspension }: CallAction): string | undefined {
  const parameters = suspension?.parameters;
  if (suspension?.message || !isRecord(parameters) || !Array.isArray(parameters.questions)) return suspension?.message;
  const questions = parameters.questions.filter(isRecord).map(({ question }) => question);
  return questions.filter((question) => typeof question === "string").join(" ") || undefined;
}

/** What is to run, if the waiting call stands for one inside it. */
export function innerCall({ name, suspension }: CallAction): { name: string; arguments: string } | null {
  const parameters = suspension?.parameters;
  if (!isRecord(parameters) || typeof parameters.tool_name !== "string" || parameters.tool_name === name) return null;
  return { name: parameters.tool_name, arguments: JSON.stringify(parameters.tool_args ?? {}) };
}

/** What an item of a turn's input decides on a call. */
export function decisionIn(item: TurnInputItem): "allowed" | "denied" | "answered" | null {
  if (item.type === "user.tool_approval") return item.approval.status === "allow" ? "allowed" : "denied";
  if (item.type !== "user.tool_response") return null;
  // A decision as the result of a call is an object.
  const [, approved] = /^\{"approved":(true|false)\b/.exec(item.content) ?? [];
  if (approved === undefined) return "answered";
  return approved === "true" ? "allowed" : "denied";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
