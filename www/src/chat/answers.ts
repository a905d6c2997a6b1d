// The person's answers to waiting calls, as the next turn's input.

import { type Agent, allow, deny, type RequiredAction, respond, type TurnInputItem } from "turnwire";

export type Answer =
  | { readonly kind: "allow"; readonly remember?: boolean }
  | { readonly kind: "deny"; readonly reason: string }
  | { readonly kind: "text"; readonly content: string };

export interface AnswerState {
  readonly answer: Answer;
  /** It was sent to the agent and can no longer be changed. */
  readonly sent: boolean;
}

/** The actions that a decision on a call answers. Signing in to a server is not one: it happens elsewhere. */
export type CallAction = Exclude<RequiredAction, { type: "mcp.auth_required" }>;

export function callActions(actions: readonly RequiredAction[]): CallAction[] {
  return actions.filter((action) => action.type !== "mcp.auth_required");
}

/** Whether a yes or no is wanted: to let the call run, or as the call's input. */
export function wantsConsent(action: CallAction): boolean {
  return action.type === "tool.approval_required" || isBoolean(schemaOf(action, "approved"));
}

/**
 * Whether the server can remember the decision: the schema of its question has a field for that, its protocol can, or
 * it lists the tool as one that can be trusted.
 */
export function canRemember(action: CallAction, agent: Agent | null): boolean {
  if (isBoolean(schemaOf(action, "remember"))) return true;
  if (action.suspension?.action?.startsWith("item/") && action.type === "tool.approval_required") return true;
  const isListed = agent?.tools?.some(({ name }) => name === action.name) ?? false;
  return action.type === "tool.approval_required" && isListed;
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

/** The input item for the answer. */
export function toInput(action: CallAction, answer: Answer): TurnInputItem {
  if (action.type === "tool.response_required") return respond(action, contentOf(answer));
  if (answer.kind === "deny") return deny(action, answer.reason.trim());
  return allow(action, answer.kind === "allow" && answer.remember ? { remember: true } : {});
}

/** An answer as the result of the call: a decision is an object, as in the server's schema. */
function contentOf(answer: Answer): string {
  switch (answer.kind) {
    case "text":
      return answer.content;
    case "allow":
      return JSON.stringify({ approved: true, ...(answer.remember && { remember: true }) });
    case "deny": {
      const reason = answer.reason.trim();
      return JSON.stringify({ approved: false, ...(reason && { reason }) });
    }
  }
}

/** The answer in an input item of an earlier turn, with the id of its call. */
export function fromInput(item: TurnInputItem): { callId: string; answer: Answer } | null {
  switch (item.type) {
    case "user.tool_response":
      return { callId: item.tool_call_id, answer: verdictIn(item.content) ?? { kind: "text", content: item.content } };
    case "user.tool_approval": {
      const { approval } = item;
      return {
        callId: item.tool_call_id,
        answer:
          approval.status === "allow"
            ? { kind: "allow", ...(approval.remember && { remember: true }) }
            : { kind: "deny", reason: approval.reason ?? "" },
      };
    }
    default:
      return null;
  }
}

function verdictIn(content: string): Answer | null {
  if (!content.startsWith("{")) return null;
  try {
    const verdict: unknown = JSON.parse(content);
    if (!isRecord(verdict) || typeof verdict.approved !== "boolean") return null;
    if (verdict.approved) return { kind: "allow", ...(verdict.remember === true && { remember: true }) };
    return { kind: "deny", reason: typeof verdict.reason === "string" ? verdict.reason : "" };
  } catch {
    // A text that begins like an object.
    return null;
  }
}

/** The schema of one field of the answer. */
function schemaOf({ suspension }: CallAction, field: string): unknown {
  const schema = suspension?.response_schema;
  return isRecord(schema) && isRecord(schema.properties) ? schema.properties[field] : undefined;
}

const isBoolean = (schema: unknown): boolean => isRecord(schema) && schema.type === "boolean";

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
