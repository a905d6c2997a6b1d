// The answers to what a turn waits for, as items of the next turn's input.
import { demand, isObject } from "../common/check.js";
import type { ApprovalAction, ResponseAction } from "../snapshot/snapshot.js";
import type { Approval, TurnInputItem } from "../wire/events.js";

/** How a call is allowed, besides the yes itself. */
export type AllowOptions = Omit<Extract<Approval, { status: "allow" }>, "status">;

/** The call that an action waits for. */
function callOf(action: ApprovalAction | ResponseAction): Pick<ApprovalAction, "thread_id" | "tool_call_id"> {
  demand(isObject(action), "an answer takes an action of `snapshot().required_actions`");
  const { thread_id, tool_call_id } = action;
  return { thread_id, tool_call_id };
}

/** Allows a call. `remember` allows later calls of the tool as well, if the server supports that. */
export function allow(action: ApprovalAction, options: AllowOptions = {}): TurnInputItem {
  return { type: "user.tool_approval", ...callOf(action), approval: { status: "allow", ...options } };
}

/** Denies a call; the model reads the reason. It also refuses a question about no call, where servers ask such: that cancels it. */
export function deny(action: ApprovalAction | ResponseAction, reason?: string): TurnInputItem {
  const approval = { status: "deny", ...(reason && { reason }) } as const;
  return { type: "user.tool_approval", ...callOf(action), approval };
}

/** Answers a call or a question: a text as it is, any other value as JSON. */
export function respond(action: ResponseAction, content: unknown): TurnInputItem {
  const text = typeof content === "string" ? content : (JSON.stringify(content) ?? "null");
  return { type: "user.tool_response", ...callOf(action), content: text };
}
