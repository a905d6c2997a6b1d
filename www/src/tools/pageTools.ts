// The page's tools for agents: each call runs here, in the browser.

import type { ToolDefinition, Tools } from "turnwire";
import { timeIn } from "./clock";
import { calculate } from "./expression";

const clock: ToolDefinition = {
  title: "Clock",
  description: "Tells what time it is where the user is, or in another time zone.",
  parameters: {
    type: "object",
    properties: { zone: { type: "string", description: "An IANA time zone such as Asia/Tokyo; the user's by default." } },
  },
  run: ({ zone }) => {
    if (zone !== undefined && typeof zone !== "string") throw new Error("The zone must be a text.");
    return timeIn(zone, new Date());
  },
};

const calculator: ToolDefinition = {
  title: "Calculator",
  description: "Calculates an arithmetic expression exactly.",
  parameters: {
    type: "object",
    properties: { expression: { type: "string", description: "Such as 6*7, or sqrt(2)^2." } },
    required: ["expression"],
  },
  run: ({ expression }) => {
    if (typeof expression !== "string") throw new Error("The expression must be a text.");
    return calculate(expression);
  },
};

/** The person answers it, at a card of its own. It is only declared, to servers that need declarations. */
const question: ToolDefinition = {
  title: "Question",
  description: "Asks the user a question and waits for the answer.",
  parameters: {
    type: "object",
    properties: { question: { type: "string" }, options: { type: "array", items: { type: "string" } } },
    required: ["question"],
  },
  run: null,
};

/** The page's tools. */
export const TOOLS: Tools = { clock, calculator, ask_user_question: question };

/** The names of the tools that run. */
export const RUNNING: readonly string[] = Object.keys(TOOLS).filter((name) => TOOLS[name]?.run !== null);

/** Whether the result of a call is that the tool failed. */
export function hasFailed(content: string): boolean {
  return content.startsWith("Tool execution failed");
}
