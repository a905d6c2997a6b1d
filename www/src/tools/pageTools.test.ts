import type { ToolContext } from "turnwire";
import { expect, it } from "vitest";
import { RUNNING, TOOLS } from "./pageTools";

const context = { callId: "c", name: "", signal: AbortSignal.timeout(1000) } satisfies ToolContext;
const { calculator, clock } = TOOLS;
const run = async (tool: typeof calculator, input: Record<string, unknown>): Promise<unknown> => tool?.run?.(input, context);

it("calculates, and tells the time", async () => {
  await expect(run(calculator, { expression: "6*7" })).resolves.toBe(42);
  await expect(run(clock, {})).resolves.toMatch(/^\d\d:\d\d on /);
});

it("tells what is wrong with a call, in a sentence", async () => {
  await expect(run(calculator, { expression: "6*" })).rejects.toThrow(/ends where a number/);
  await expect(run(calculator, {})).rejects.toThrow("The expression must be a text.");
  await expect(run(clock, { zone: 5 })).rejects.toThrow("The zone must be a text.");
});

it("a question is declared, and left to the person", () => {
  expect(TOOLS.ask_user_question?.run).toBeNull();
  expect(RUNNING).toEqual(["clock", "calculator"]);
});
