// Checks of an agent's settings.
import type { AgentSettings, ServerTool } from "../../client/agent.js";
import { demand, demandNames, isObject } from "../../client/face.js";

/** Throws an `InputError` unless these are settings of an agent. The error has no values: they may be secret. */
export function demandSettings({ agentTools, agentOptions }: AgentSettings): void {
  demand(
    agentTools == null || (Array.isArray(agentTools) && agentTools.every((tool: unknown) => isObject(tool) && isTool(tool as ServerTool))),
    "`agentTools` must be a list of tools: `{ name, trust? }`",
  );
  // The agent's listed tools may be passed unchanged.
  for (const tool of agentTools ?? []) demandNames("agentTools", tool, ["name", "trust", "title", "description", "parameters"]);
  demand(
    agentOptions == null ||
      (isObject(agentOptions) && !Array.isArray(agentOptions) && Object.values(agentOptions).every((value) => typeof value === "string")),
    "`agentOptions` must be an object of texts",
  );
}

function isTool({ name, trust }: ServerTool): boolean {
  return typeof name === "string" && name !== "" && ["boolean", "undefined"].includes(typeof trust);
}
