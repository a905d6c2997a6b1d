// Frames in the words of the AgentEvent protocols.
export type AgentEvent = { type: "run_start" };
export type AwakenEvent = { event_type: "run_start" };
