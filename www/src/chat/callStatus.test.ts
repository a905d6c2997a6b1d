import type { ToolCallResponse, ToolCallSnapshot } from "turnwire";
import { expect, it } from "vitest";
import { pageResultOf, pageStatusOf, resultOf, shareOf, statusOf, type Surroundings } from "./callStatus";

const call = (status: ToolCallSnapshot["status"]) => ({ id: "c", status }) as ToolCallSnapshot;
const response = (part: Partial<ToolCallResponse>): ToolCallResponse => ({
  id: "r",
  content: "",
  created_at: null,
  ...part,
});
const words = (status: ToolCallSnapshot["status"], part: Partial<Surroundings> = {}) => {
  const around = { answer: null, response: null, pending: false, live: true, ended: "paused" as const, ...part };
  const { mark, words } = statusOf(call(status), around);
  return `${mark}: ${words}`;
};

it("a call that failed is not called done", () => {
  expect(words("done", { response: response({ outcome: "failed" }) })).toBe("failed: failed");
  expect(words("done", { response: response({ outcome: "succeeded" }) })).toBe("done: done");
  expect(words("done", { response: response({}) })).toBe("done: done");
});

it("a denial differs from a result even where the decision is no longer known", () => {
  expect(words("done", { response: response({ content: "Tool call denied: not now" }) })).toBe("failed: denied");
  expect(words("done", { response: response({ content: "The tool call denied me" }) })).toBe("done: done");
});

it("a call of the page's tool runs until it has a result, or nothing runs it", () => {
  const page = (status: ToolCallSnapshot["status"], part: object = {}) => {
    const around = { content: undefined, live: false, ended: "paused" as const, halted: false, ...part };
    const { mark, words } = pageStatusOf(call(status), around);
    return `${mark}: ${words}`;
  };
  expect(page("streaming", { live: true })).toBe("working: preparing");
  expect(page("response_required")).toBe("working: running");
  expect(page("response_required", { live: true })).toBe("working: running");
  expect(page("response_required", { halted: true })).toBe("waiting: waits");
  expect(page("response_required", { ended: "left" })).toBe("stopped: not answered");
  expect(page("response_required", { content: "42" })).toBe("done: done");
  expect(page("done", { content: "Tool execution failed: no batteries" })).toBe("failed: failed");
});

it("what a tool of the page gave is shown without what servers make of it", () => {
  expect(pageResultOf(response({ content: "42" }))).toBe("42");
  expect(pageResultOf(response({ content: '"noon"' }))).toBe("noon");
  expect(pageResultOf(response({ content: '{"a":1}' }))).toBe('{"a":1}');
  const result = { tool_name: "clock", status: "success" as const, data: "noon", message: null };
  expect(pageResultOf(response({ content: "{}", result }))).toBe("noon");
});

it("a call that will not be made is neither", () => {
  expect(words("cancelled")).toBe("stopped: cancelled");
  expect(words("cancelled", { live: false })).toBe("stopped: cancelled");
});

it("a question without an answer does not ask for ever", () => {
  expect(words("approval_required", { pending: true, live: false })).toBe("waiting: asks you");
  expect(words("response_required", { live: true })).toBe("waiting: asks you");
  expect(words("response_required", { live: false })).toBe("stopped: not answered");
  const answer = { answer: { kind: "allow" as const }, sent: true };
  expect(words("approval_required", { answer, live: false })).toBe("working: allowed");
  expect(words("approval_required", { answer, response: response({}) })).toBe("done: done");
});

it("of a result the data is shown, and the message beside it or alone", () => {
  const result = (data: unknown, message: string | null) =>
    resultOf(response({ content: "{}", result: { tool_name: "t", status: "success", data, message } }));
  expect(resultOf(response({ content: "as it came" }))).toEqual({ text: "as it came", remark: "" });
  expect(result({ a: 1 }, null)).toEqual({ text: '{"a":1}', remark: "" });
  expect(result({ a: 1 }, "went well")).toEqual({ text: '{"a":1}', remark: "went well" });
  expect(result("Amsterdam", "Amsterdam")).toEqual({ text: "Amsterdam", remark: "" });
  expect(result(null, "connection refused")).toEqual({ text: "connection refused", remark: "" });
  expect(result(0, null)).toEqual({ text: "0", remark: "" });
  expect(result(null, null)).toEqual({ text: "", remark: "" });
});

it("progress is a share, however it is told", () => {
  expect(shareOf({ progress: 0.25, loaded: 1, total: 4 })).toBe(0.25);
  expect(shareOf({ loaded: 1, total: 4 })).toBe(0.25);
  expect(shareOf({ progress: 3, total: 10 })).toBe(0.3);
  expect(shareOf({ progress: 0.5 })).toBe(0.5);
  expect(shareOf({ progress: 7 })).toBe(1);
  expect(shareOf({ message: "on it" })).toBeNull();
});

it("a call that has not ended says why nothing comes of it any more", () => {
  expect(words("running")).toBe("working: running");
  expect(words("running", { live: false })).toBe("waiting: waits");
  expect(words("running", { live: false, ended: "left" })).toBe("done: continued below");
  expect(words("running", { live: false, ended: "broken" })).toBe("stopped: cut off");
});
