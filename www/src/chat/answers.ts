// What a person decided about the calls that wait for them, and how that becomes the next turn's input.

import type { RequiredAction, TurnInputItem } from "turnwire";

export type Answer =
  | { readonly kind: "allow" }
  | { readonly kind: "deny"; readonly reason: string }
  | { readonly kind: "text"; readonly content: string };

export interface AnswerState {
  readonly answer: Answer;
  /** It has gone to the agent and can not be changed any more. */
  readonly sent: boolean;
}

/** The actions that are answered by a decision on a call. Signing in to a server is not: it happens elsewhere. */
export type CallAction = Exclude<RequiredAction, { type: "mcp.auth_required" }>;

export function callActions(actions: readonly RequiredAction[]): CallAction[] {
  return actions.filter((action) => action.type !== "mcp.auth_required");
}

/** The input item that carries the answer. */
export function toInput(action: CallAction, answer: Answer): TurnInputItem {
  const { thread_id, tool_call_id } = action;
  if (answer.kind === "text") return { type: "user.tool_response", thread_id, tool_call_id, content: answer.content };
  const reason = answer.kind === "deny" ? answer.reason.trim() : "";
  const approval =
    answer.kind === "allow" ? ({ status: "allow" } as const) : ({ status: "deny", ...(reason && { reason }) } as const);
  return { type: "user.tool_approval", thread_id, tool_call_id, approval };
}

/** The answer that an input item of an earlier turn carried, with the id of its call. */
export function fromInput(item: TurnInputItem): { callId: string; answer: Answer } | null {
  switch (item.type) {
    case "user.tool_response":
      return { callId: item.tool_call_id, answer: { kind: "text", content: item.content } };
    case "user.tool_approval":
      return {
        callId: item.tool_call_id,
        answer:
          item.approval.status === "allow" ? { kind: "allow" } : { kind: "deny", reason: item.approval.reason ?? "" },
      };
    default:
      return null;
  }
}
