import type { Thread } from "turnwire/conversation";
import { expect, it } from "vitest";
import { startedBy, subAgentNames } from "./subAgentNames";

const thread = (part: Partial<Thread>) => ({ title: null, agent_info: null, ...part });
const call = (args: unknown) => ({ name: "create_sub_agent", arguments: args });

it("takes the server's names", () => {
  const named = thread({ title: "Read the logs", agent_info: { type: "a", name: "reader", input: "Find it." } });
  expect(subAgentNames(named, call({ name: "x" }))).toEqual({ title: "Read the logs", task: "Find it." });
});

it("looks into the call where there are none, or only the tool's", () => {
  const anonymous = thread({ title: "create_sub_agent" });
  const args = { name: "historian", input: "Compare." };
  expect(subAgentNames(anonymous, call(args))).toEqual({ title: "historian", task: "Compare." });
  expect(subAgentNames(thread({}), call({ agent_id: "historian" }))).toEqual({ title: "historian", task: "" });
  expect(subAgentNames(anonymous, call({ name: "his" }))).toEqual({ title: "his", task: "" });
  expect(subAgentNames(anonymous, call(undefined))).toEqual({ title: "create_sub_agent", task: "" });
});

it("has a word for one without a name", () => {
  expect(subAgentNames(thread({}), undefined).title).toBe("Sub-agent");
});

it("knows the calls that start sub-agents, and what they say of them", () => {
  const args = { name: "historian", input: "Compare." };
  expect(startedBy(call(args), "create_sub_agent")).toEqual({ title: "historian", task: "Compare." });
  expect(startedBy(call({ agent_id: "historian", prompt: "Go." }), "agent_run")).toEqual({
    title: "historian",
    task: "Go.",
  });
  expect(startedBy(call("odd"), "create_sub_agent")).toEqual({ title: "create_sub_agent", task: "" });
  expect(startedBy(call(args), "list_services")).toBeNull();
});
