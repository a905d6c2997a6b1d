// The tools that agents can use because this page has them: each call runs here, in the browser.

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

/** The one who answers is the person, at a card of its own: it is only declared, to servers that want to know it. */
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

const TOOLS: Tools = { clock, calculator, ask_user_question: question };

/** The names of those that run. */
export const RUNNING: readonly string[] = Object.keys(TOOLS).filter((name) => TOOLS[name]?.run !== null);

/** What became of a call: the result, as text. */
export type ToldResult = (callId: string, content: string) => void;

/** The tools; `told` hears of each result at once, though the agent may get it later. */
export function pageTools(told: ToldResult): Tools {
  return Object.fromEntries(Object.entries(TOOLS).map(([name, tool]) => [name, { ...tool, run: telling(tool, told) }]));
}

function telling({ run }: ToolDefinition, told: ToldResult): ToolDefinition["run"] {
  if (run === null) return null;
  return async (input, context) => {
    try {
      const result = await run(input, context);
      told(context.callId, String(result));
      return result;
    } catch (error) {
      told(context.callId, `${FAILED}: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
  };
}

/** How the result of a tool begins that has failed. */
const FAILED = "Tool execution failed";

export function hasFailed(content: string): boolean {
  return content.startsWith(FAILED);
}
