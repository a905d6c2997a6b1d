import { expect, it } from "vitest";
import { canRemember, fromInput, innerCall, questionIn, toInput, wantsConsent, type Answer, type CallAction } from "./answers";

const consent = { properties: { approved: { type: "boolean" }, remember: { type: "boolean" } } };
const action = (part: Partial<CallAction>) =>
  ({ type: "tool.approval_required", thread_id: "main", tool_call_id: "c1", name: "act", ...part }) as CallAction;
const nested = action({
  type: "tool.response_required",
  name: "create_sub_agent",
  suspension: {
    id: "s1",
    action: "tool:PermissionConfirm",
    parameters: { tool_name: "roll_back", tool_args: { version: "2.13" } },
    response_schema: consent,
  },
});

it("consent is what an approval wants, and a call whose server says so", () => {
  expect(wantsConsent(action({}))).toBe(true);
  expect(wantsConsent(nested)).toBe(true);
  expect(wantsConsent(action({ type: "tool.response_required" }))).toBe(false);
  const other = { id: "s", action: "a", response_schema: { properties: { approved: { type: "string" } } } };
  expect(wantsConsent(action({ type: "tool.response_required", suspension: other }))).toBe(false);
});

it("only a server that can remember is asked to", () => {
  expect(canRemember(nested, null)).toBe(true);
  expect(canRemember(action({}), null)).toBe(false);
  const request = { id: "7", action: "item/commandExecution/requestApproval" };
  expect(canRemember(action({ suspension: request }), null)).toBe(true);
  const asked = { id: "8", action: "mcpServer/elicitation/request" };
  expect(canRemember(action({ suspension: asked }), null)).toBe(false);
  const odd = { id: "s", action: "a", response_schema: "none" };
  expect(canRemember(action({ suspension: odd }), null)).toBe(false);
  const agent = { name: "bot", version: "1", tools: [{ name: "act", description: "Acts.", parameters: {} }] };
  expect(canRemember(action({}), agent)).toBe(true);
  expect(canRemember(action({ name: "other" }), agent)).toBe(false);
  expect(canRemember(action({ type: "tool.response_required" }), agent)).toBe(false);
});

it("what would run is named where it is not the call that waits", () => {
  expect(innerCall(nested)).toEqual({ name: "roll_back", arguments: '{"version":"2.13"}' });
  const own = { id: "s", action: "a", parameters: { tool_name: "act", tool_args: {} } };
  expect(innerCall(action({ suspension: own }))).toBeNull();
  expect(innerCall(action({}))).toBeNull();
});

it("a verdict that is the result of a call is sent as an object, and read again", () => {
  const answers: Answer[] = [
    { kind: "allow" },
    { kind: "allow", remember: true },
    { kind: "deny", reason: "not now" },
    { kind: "deny", reason: "" },
    { kind: "text", content: '{"approved":"perhaps"}' },
    { kind: "text", content: "{ yes" },
  ];
  for (const answer of answers) expect(fromInput(toInput(nested, answer))).toEqual({ callId: "c1", answer });
  expect(toInput(nested, { kind: "deny", reason: " not now " })).toMatchObject({
    type: "user.tool_response",
    content: '{"approved":false,"reason":"not now"}',
  });
});

it("an approval is sent as one, and read again", () => {
  const answers: Answer[] = [{ kind: "allow" }, { kind: "allow", remember: true }, { kind: "deny", reason: "no" }];
  for (const answer of answers) expect(fromInput(toInput(action({}), answer))).toEqual({ callId: "c1", answer });
  expect(toInput(action({}), { kind: "allow", remember: true })).toMatchObject({
    approval: { status: "allow", remember: true },
  });
});

it("what is asked is the server's message, or its questions", () => {
  const ask = (suspension: object) =>
    questionIn(action({ type: "tool.response_required", suspension: { id: "s", action: "a", ...suspension } }));
  expect(ask({ message: "Where?", parameters: { questions: [{ question: "When?" }] } })).toBe("Where?");
  expect(ask({ parameters: { questions: [{ question: "When?" }, { question: "Where?" }, 3] } })).toBe("When? Where?");
  for (const none of [{}, { parameters: 3 }, { parameters: { questions: [] } }]) expect(ask(none)).toBeUndefined();
});
