// A person's answers as items of a turn's input, and the calls that wait by names that survive a reload.
import type { RequiredAction, TurnSnapshot } from "../snapshot/snapshot.js";
import type { TurnInputItem } from "../wire/events.js";
import { allow, deny, respond } from "../client/face.js";
import { PERSON, SIGN_IN, TOOL } from "./plan.js";
import type { Answer } from "./types.js";

/** The name of what waits: a call by its thread and id, or a server that must be signed in to. */
export function nameOf(action: RequiredAction): string {
  return JSON.stringify(action.type === "mcp.auth_required" ? [action.server.id] : [action.thread_id, action.tool_call_id]);
}

/** The id of the call with this name. */
export function callIdIn(name: string): string | undefined {
  return (JSON.parse(name) as string[])[1];
}

/** What of this name a turn waits for. */
export function actionIn(snapshot: TurnSnapshot, name: string): RequiredAction | undefined {
  return snapshot.required_actions.find((action) => nameOf(action) === name);
}

/** The lines of what a turn waits for: names, and who answers. `isTool` says what the page's tools answer. */
export function waitingLines({ required_actions }: TurnSnapshot, isTool: (action: RequiredAction) => boolean): string[] {
  const who = (action: RequiredAction): number => (action.type === "mcp.auth_required" ? SIGN_IN : isTool(action) ? TOOL : PERSON);
  return [...required_actions.flatMap((action) => [nameOf(action), String(who(action))]), ""];
}

/** The input item that answers a call. Tools of the page answer with an item. */
export function itemFor(action: RequiredAction, answer: Answer | TurnInputItem): TurnInputItem | undefined {
  if ("type" in answer) return answer;
  switch (action.type) {
    case "tool.approval_required":
      if (answer.kind === "deny") return deny(action, answer.reason?.trim());
      return allow(action, answer.kind === "allow" && answer.remember ? { remember: true } : {});
    case "tool.response_required":
      return respond(action, contentOf(answer));
    case "mcp.auth_required":
      return undefined;
  }
}

/** An answer as the content of a response: a decision is an object, as servers ask for it. */
function contentOf(answer: Answer): unknown {
  switch (answer.kind) {
    case "text":
      return answer.content;
    case "allow":
      return { approved: true, ...(answer.remember && { remember: true }) };
    case "deny": {
      const reason = answer.reason?.trim();
      return { approved: false, ...(reason && { reason }) };
    }
  }
}

/** The answer in an item of a turn's input, and the id of its call. */
export function answerIn(item: TurnInputItem): { readonly callId: string; readonly answer: Answer } | null {
  switch (item.type) {
    case "user.tool_response":
      return { callId: item.tool_call_id, answer: decisionIn(item.content) ?? { kind: "text", content: item.content } };
    case "user.tool_approval": {
      const { approval, tool_call_id: callId } = item;
      if (approval.status === "allow") return { callId, answer: { kind: "allow", ...(approval.remember && { remember: true }) } };
      return { callId, answer: { kind: "deny", ...(approval.reason && { reason: approval.reason }) } };
    }
    default:
      return null;
  }
}

function decisionIn(content: string): Answer | null {
  if (!content.startsWith("{")) return null;
  try {
    const decision = JSON.parse(content) as { approved?: unknown; remember?: unknown; reason?: unknown };
    if (typeof decision.approved !== "boolean") return null;
    if (decision.approved) return { kind: "allow", ...(decision.remember === true && { remember: true }) };
    return { kind: "deny", ...(typeof decision.reason === "string" && decision.reason !== "" && { reason: decision.reason }) };
  } catch {
    // A text that begins like an object.
    return null;
  }
}

/**
 * Whether the server can remember an approval: the schema of its question has a field for that, or its protocol, or it
 * lists the tool as one that can be trusted.
 */
export function canRemember(action: RequiredAction, trusted: readonly { readonly name: string }[]): boolean {
  if (action.type === "mcp.auth_required") return false;
  const { suspension } = action;
  const schema = suspension?.response_schema as { properties?: { remember?: { type?: unknown } } } | null | undefined;
  if (schema?.properties?.remember?.type === "boolean") return true;
  if (action.type !== "tool.approval_required") return false;
  return suspension?.action?.startsWith("item/") === true || trusted.some(({ name }) => name === action.name);
}
