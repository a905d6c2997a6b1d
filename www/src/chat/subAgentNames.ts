// A sub-agent's name and task. Some servers send them; with others they are in the arguments of the call that started
// it, under one of a few usual names.

import type { Call, Thread } from "turnwire/conversation";

/** Names of tools that start sub-agents. */
const STARTERS = /^(create_|run_|start_)?(sub_?agent|agent_run)/i;

const NAMES = ["title", "name", "agent_name", "agent", "agent_id", "subagent_type"];
const TASKS = ["input", "task", "prompt", "instructions", "message", "description"];

export interface SubAgentNames {
  readonly title: string;
  readonly task: string;
}

/**
 * The names of the sub-agent that a call starts, even if the server shows nothing of its thread; null if the tool does
 * not start one.
 */
export function startedBy(call: Pick<Call, "arguments">, tool: string): SubAgentNames | null {
  if (!STARTERS.test(tool)) return null;
  const given = fieldsOf(call.arguments);
  return { title: firstOf(given, NAMES) ?? tool, task: firstOf(given, TASKS) ?? "" };
}

/** `call` is the call that started it, if that is known. */
export function subAgentNames(
  { title, agent_info }: Pick<Thread, "title" | "agent_info">,
  call: Pick<Call, "name" | "arguments"> | undefined,
): SubAgentNames {
  const given = call ? fieldsOf(call.arguments) : {};
  // A thread that has only the name of the tool that starts all of them has no name of its own.
  const own = title === call?.name ? null : title;
  return {
    title: own ?? agent_info?.name ?? firstOf(given, NAMES) ?? title ?? "Sub-agent",
    task: agent_info?.input ?? firstOf(given, TASKS) ?? "",
  };
}

function fieldsOf(args: unknown): Record<string, unknown> {
  return typeof args === "object" && args !== null ? (args as Record<string, unknown>) : {};
}

function firstOf(fields: Record<string, unknown>, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}
