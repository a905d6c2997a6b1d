// A person's answers as items of a turn's input, and pending calls under names that survive a reload.
import type { AuthorizationAction, RequiredAction, TurnSnapshot } from "../snapshot/snapshot.js";
import type { Approval, TurnInputItem } from "../wire/events.js";
import { respond } from "../client/face.js";
import type { WaitingCall } from "./plan/facts.js";
import type { Answer, GivenAnswer, Pending } from "./types.js";

/** The name of a call: calls of two threads or two turns may have the same id. */
export function callName(threadId: string, callId: string): string {
  return JSON.stringify([threadId, callId]);
}

/** The name of a pending action: its call's, or that of a server that needs a sign-in. */
export function nameOf(action: RequiredAction): string {
  return action.type === "mcp.auth_required" ? JSON.stringify([action.server.id]) : callName(action.thread_id, action.tool_call_id);
}

/** A turn's pending action with this name. */
export function actionIn(snapshot: TurnSnapshot, name: string): RequiredAction | undefined {
  return snapshot.required_actions.find((action) => nameOf(action) === name);
}

/** A turn's pending actions. `isTool` returns whether one of the page's tools answers. */
export function waitingIn({ required_actions }: TurnSnapshot, isTool: (action: RequiredAction) => boolean): WaitingCall[] {
  return required_actions.map((action) => ({ id: nameOf(action), who: action.type === "mcp.auth_required" ? "signIn" : isTool(action) ? "tool" : "person" }));
}

/** The kind of answer to an action: a decision to let a call run, or the call's result. */
export function askedBy(action: RequiredAction): Pending["asks"] {
  if (action.type === "mcp.auth_required") return "signIn";
  return action.type === "tool.approval_required" || membersOf(action).approved?.type === "boolean" ? "approval" : "text";
}

/** The question of an action in words. `given` has the arguments of its call. */
export function wordsOf(action: RequiredAction, given: unknown): string {
  if (action.type === "mcp.auth_required") return action.server.name;
  const { suspension } = action;
  const { questions = [given] } = (suspension?.parameters ?? {}) as { questions?: unknown };
  const asked = [questions].flat().flatMap((one) => (one as { question?: unknown } | null | undefined)?.question ?? []);
  return suspension?.message || asked.join(" ") || `${action.name} ${action.arguments}`;
}

/** The members named in the schema of a call's result. */
function membersOf({ suspension }: Exclude<RequiredAction, AuthorizationAction>): { readonly [name in "approved" | "remember"]?: { readonly type?: unknown } } {
  return (suspension?.response_schema as { properties?: object } | null | undefined)?.properties ?? {};
}

/** The input item that answers a call. The page's tools answer with an item already. */
export function itemFor(action: RequiredAction, answer: Answer | TurnInputItem): TurnInputItem | undefined {
  if ("type" in answer) return answer;
  switch (action.type) {
    case "tool.approval_required": {
      const { thread_id, tool_call_id } = action;
      const { kind: status, ...more } = decision(answer.kind !== "deny", answer as Given);
      return { type: "user.tool_approval", thread_id, tool_call_id, approval: { status, ...more } as Approval };
    }
    case "tool.response_required":
      return respond(action, contentOf(answer));
    case "mcp.auth_required":
      return undefined;
  }
}

/** An answer as the content of a response: a decision becomes an object, as servers require. */
function contentOf(answer: Answer): unknown {
  if (answer.kind === "text") return answer.content;
  const approved = answer.kind === "allow";
  const { remember, reason, result } = decision(approved, answer) as Given;
  // JSON omits undefined members.
  return { approved, remember, reason, ...(result as object | undefined) };
}

/** An item of a turn's input that answers a call. */
export type AnswerItem = Exclude<TurnInputItem, { type: "user.message" }>;

/** The answers in items: the same objects each time. */
const sent = new WeakMap<AnswerItem, GivenAnswer>();

/** The answer that was sent with an item. */
export function sentIn(item: AnswerItem): GivenAnswer {
  let given = sent.get(item);
  if (!given) sent.set(item, (given = Object.freeze({ answer: Object.freeze(answerIn(item)), sent: true })));
  return given;
}

/** The answer in an item of a turn's input. */
export function answerIn(item: AnswerItem): Answer {
  if (item.type === "user.tool_response") return decisionIn(item.content) ?? { kind: "text", content: item.content };
  const { approval } = item;
  return decision(approval.status === "allow", approval);
}

/** The additional members of a decision. */
interface Given {
  readonly remember?: unknown;
  readonly result?: unknown;
  readonly reason?: unknown;
  readonly cancel?: unknown;
}

/** A decision, without empty members. */
function decision(isAllowed: boolean, { remember, result, reason, cancel }: Given): Exclude<Answer, { kind: "text" }> {
  if (isAllowed) return { kind: "allow", ...(remember === true && { remember }), ...(result !== undefined && { result: result as Record<string, unknown> }) };
  const words = typeof reason === "string" && reason.trim();
  return { kind: "deny", ...(words && { reason: words }), ...(cancel === true && { cancel }) };
}

function decisionIn(content: string): Answer | null {
  if (!content.startsWith("{")) return null;
  try {
    const given = JSON.parse(content) as Given & { readonly approved?: unknown };
    if (typeof given.approved !== "boolean") return null;
    return decision(given.approved, given);
  } catch {
    // A text that only begins like an object.
    return null;
  }
}

/**
 * Whether the server can remember an approval: the schema of its question has a field for it, its protocol supports it, or it lists the
 * tool as trustable.
 */
export function canRemember(action: RequiredAction, trusted: readonly { readonly name: string }[]): boolean {
  if (action.type === "mcp.auth_required") return false;
  if (membersOf(action).remember?.type === "boolean") return true;
  if (action.type !== "tool.approval_required") return false;
  return action.suspension?.action?.startsWith("item/") === true || trusted.some(({ name }) => name === action.name);
}
