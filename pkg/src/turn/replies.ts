// The answers to what a turn waits for, as items of the next turn's input.
import type { ApprovalAction, ResponseAction } from "../snapshot/snapshot.js";
import type { Approval, TurnInputItem } from "../wire/events.js";

/** How a call is allowed, besides the yes itself. */
export type AllowOptions = Omit<Extract<Approval, { status: "allow" }>, "status">;

/** Allows a call. `remember` allows later calls of the tool as well, if the server supports that. */
export function allow({ thread_id, tool_call_id }: ApprovalAction, options: AllowOptions = {}): TurnInputItem {
  return { type: "user.tool_approval", thread_id, tool_call_id, approval: { status: "allow", ...options } };
}

/** Denies a call; the model reads the reason. It also refuses a question about no call, where servers ask such: that cancels it. */
export function deny({ thread_id, tool_call_id }: ApprovalAction | ResponseAction, reason?: string): TurnInputItem {
  const approval = { status: "deny", ...(reason && { reason }) } as const;
  return { type: "user.tool_approval", thread_id, tool_call_id, approval };
}

/** Answers a call or a question: a text as it is, any other value as JSON. */
export function respond({ thread_id, tool_call_id }: ResponseAction, content: unknown): TurnInputItem {
  const text = typeof content === "string" ? content : (JSON.stringify(content) ?? "null");
  return { type: "user.tool_response", thread_id, tool_call_id, content: text };
}
