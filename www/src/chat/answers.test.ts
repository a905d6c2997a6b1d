import { expect, it } from "vitest";
import { decisionIn, innerCall, questionIn, type CallAction } from "./answers";

const action = (part: Partial<CallAction>) =>
  ({ type: "tool.approval_required", thread_id: "main", tool_call_id: "c1", name: "act", ...part }) as CallAction;
const nested = action({
  type: "tool.response_required",
  name: "create_sub_agent",
  suspension: {
    id: "s1",
    action: "tool:PermissionConfirm",
    parameters: { tool_name: "roll_back", tool_args: { version: "2.13" } },
  },
});

it("what would run is named where it is not the call that waits", () => {
  expect(innerCall(nested)).toEqual({ name: "roll_back", arguments: '{"version":"2.13"}' });
  const own = { id: "s", action: "a", parameters: { tool_name: "act", tool_args: {} } };
  expect(innerCall(action({ suspension: own }))).toBeNull();
  expect(innerCall(action({}))).toBeNull();
});

it("a decision is told from a text, also as the result of a call", () => {
  const response = (content: string) => decisionIn({ type: "user.tool_response", thread_id: "main", tool_call_id: "c1", content });
  expect(response('{"approved":true,"remember":true}')).toBe("allowed");
  expect(response('{"approved":false,"reason":"not now"}')).toBe("denied");
  expect(response('{"approved":"perhaps"}')).toBe("answered");
  expect(response("{ yes")).toBe("answered");
  const ids = { thread_id: "main", tool_call_id: "c1" };
  expect(decisionIn({ type: "user.tool_approval", ...ids, approval: { status: "allow" } })).toBe("allowed");
  expect(decisionIn({ type: "user.tool_approval", ...ids, approval: { status: "deny" } })).toBe("denied");
  expect(decisionIn({ type: "user.message", content: "Hello" })).toBeNull();
});

it("what is asked is the server's message, or its questions", () => {
  const ask = (suspension: object) =>
    questionIn(action({ type: "tool.response_required", suspension: { id: "s", action: "a", ...suspension } }));
  expect(ask({ message: "Where?", parameters: { questions: [{ question: "When?" }] } })).toBe("Where?");
  expect(ask({ parameters: { questions: [{ question: "When?" }, { question: "Where?" }, 3] } })).toBe("When? Where?");
  for (const none of [{}, { parameters: 3 }, { parameters: { questions: [] } }]) expect(ask(none)).toBeUndefined();
});
