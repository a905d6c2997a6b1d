// A person's answers as items of a turn's input, and the calls that wait by names that survive a reload.
import type { AuthorizationAction, RequiredAction, TurnSnapshot } from "../snapshot/snapshot.js";
import type { TurnInputItem } from "../wire/events.js";
import { allow, deny, respond } from "../client/face.js";
import type { WaitingCall } from "./plan/facts.js";
import type { Answer, Pending } from "./types.js";

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

/** What a turn waits for. `isTool` says what the page's tools answer. */
export function waitingIn({ required_actions }: TurnSnapshot, isTool: (action: RequiredAction) => boolean): WaitingCall[] {
  return required_actions.map((action) => ({ id: nameOf(action), who: action.type === "mcp.auth_required" ? "signIn" : isTool(action) ? "tool" : "person" }));
}

/** What answers an action: a decision is wanted to let a call run, or as its result. */
export function askedBy(action: RequiredAction): Pending["asks"] {
  if (action.type === "mcp.auth_required") return "signIn";
  return action.type === "tool.approval_required" || membersOf(action).approved?.type === "boolean" ? "approval" : "text";
}

/** What an action asks in words. `given` has the arguments of its call. */
export function wordsOf(action: RequiredAction, given: unknown): string {
  if (action.type === "mcp.auth_required") return action.server.name;
  const { suspension } = action;
  const { questions = [given] } = (suspension?.parameters ?? {}) as { questions?: unknown };
  const asked = [questions].flat().flatMap((one) => (one as { question?: unknown } | null | undefined)?.question ?? []);
  return suspension?.message || asked.join(" ") || `${action.name} ${action.arguments}`;
}

/** The members that the schema of a call's result names. */
function membersOf({ suspension }: Exclude<RequiredAction, AuthorizationAction>): { readonly [name in "approved" | "remember"]?: { readonly type?: unknown } } {
  return (suspension?.response_schema as { properties?: object } | null | undefined)?.properties ?? {};
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
      return { callId, answer: decision(approval.status === "allow", approval) };
    }
    default:
      return null;
  }
}

/** What a decision may have beside it. */
interface Given {
  readonly remember?: unknown;
  readonly reason?: unknown;
}

function decision(isAllowed: boolean, { remember, reason }: Given): Answer {
  if (isAllowed) return { kind: "allow", ...(remember === true && { remember }) };
  return { kind: "deny", ...(typeof reason === "string" && reason !== "" && { reason }) };
}

function decisionIn(content: string): Answer | null {
  if (!content.startsWith("{")) return null;
  try {
    const given = JSON.parse(content) as Given & { readonly approved?: unknown };
    if (typeof given.approved !== "boolean") return null;
    return decision(given.approved, given);
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
  if (membersOf(action).remember?.type === "boolean") return true;
  if (action.type !== "tool.approval_required") return false;
  return action.suspension?.action?.startsWith("item/") === true || trusted.some(({ name }) => name === action.name);
}
