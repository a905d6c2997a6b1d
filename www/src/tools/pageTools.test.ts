import type { ToolContext } from "turnwire";
import { expect, it, vi } from "vitest";
import { hasFailed, pageTools, RUNNING } from "./pageTools";

const context = (callId: string) => ({ callId, name: "", signal: AbortSignal.timeout(1000) }) satisfies ToolContext;

it("tells each result at once, as the agent will get it", async () => {
  const told = vi.fn();
  const { calculator, clock } = pageTools(told);
  await expect(calculator?.run?.({ expression: "6*7" }, context("c1"))).resolves.toBe(42);
  expect(told).toHaveBeenLastCalledWith("c1", "42");
  await expect(clock?.run?.({}, context("c2"))).resolves.toMatch(/^\d\d:\d\d on /);
});

it("tells what is wrong with a call, in a sentence", async () => {
  const told = vi.fn();
  const { calculator, clock } = pageTools(told);
  await expect(calculator?.run?.({ expression: "6*" }, context("c1"))).rejects.toThrow(/ends where a number/);
  const [, content] = told.mock.lastCall ?? [];
  expect(content).toBe("Tool execution failed: The expression ends where a number should stand.");
  expect(hasFailed(content)).toBe(true);
  await expect(calculator?.run?.({}, context("c2"))).rejects.toThrow("The expression must be a text.");
  await expect(clock?.run?.({ zone: 5 }, context("c3"))).rejects.toThrow("The zone must be a text.");
});

it("a question is declared, and left to the person", () => {
  expect(pageTools(() => {}).ask_user_question?.run).toBeNull();
  expect(RUNNING).toEqual(["clock", "calculator"]);
});
