// The frames of AG-UI, as servers send them: `turn.on("native")`. Those of version 1.0, and those of version 0.x that have gone.
import type { PatchOperation } from "../../wire/events.js";

/** What every frame may have. */
interface AgUiFrame {
  /** In milliseconds or in seconds, as the server counts. */
  timestamp?: number;
  /** What another system sent. */
  rawEvent?: unknown;
  metadata?: Record<string, unknown>;
}

/** What frames may have that belong to a sub-agent; without it, they belong to the agent itself. */
interface OfSubagent {
  subagentRunId?: string;
}

/** Token counts of a model. */
export interface AgUiUsage {
  /** The provider of the model. */
  provider?: string;
  /** The model's name. */
  model?: string;
  /** Tokens that the model read. */
  inputTokens?: number;
  /** Tokens that it wrote. */
  outputTokens?: number;
  /** Both together. */
  totalTokens?: number;
  /** Of those that it wrote, the tokens of its reasoning. */
  reasoningTokens?: number;
  /** Of those that it read, the tokens that came from a cache. */
  cachedInputTokens?: number;
  /** Tokens that were written to a cache. */
  cacheWriteInputTokens?: number;
}

/** Something that a run waits for. */
export interface AgUiInterrupt {
  /** The interrupt's id, which the answer names. */
  id: string;
  /** `tool_call`, `input_required`, `confirmation`, or one of the framework's. */
  reason: string;
  /** What the person is asked. */
  message?: string;
  /** The call that it is about, if it is about one. */
  toolCallId?: string;
  /** The JSON Schema of the answer. */
  responseSchema?: Record<string, unknown>;
  /** Until when it may be answered, ISO 8601. */
  expiresAt?: string;
  /** The run of the sub-agent that asks; none if the agent itself does. */
  subagentRunId?: string;
  /** What the framework adds. */
  metadata?: Record<string, unknown>;
}

/** How a run ended. */
export type AgUiOutcome =
  | { type: "success"; pendingToolCallIds?: string[] }
  | { type: "interrupt"; interrupts: AgUiInterrupt[] }
  | { type: "cancelled" };

/** Runs, steps and sub-agents. */
type Lifecycle =
  | { type: "RUN_STARTED"; threadId: string; runId: string; protocolVersion?: string; parentRunId?: string; input?: unknown }
  | { type: "RUN_FINISHED"; threadId: string; runId: string; result?: unknown; outcome?: AgUiOutcome; usage?: AgUiUsage[] }
  | { type: "RUN_ERROR"; message: string; code?: string; usage?: AgUiUsage[] }
  | ({ type: "STEP_STARTED" | "STEP_FINISHED"; stepName: string } & OfSubagent)
  | {
      type: "SUBAGENT_STARTED";
      subagentRunId: string;
      name: string;
      description?: string;
      parentSubagentRunId?: string;
      parentToolCallId?: string;
      parentMessageId?: string;
    }
  | { type: "SUBAGENT_FINISHED"; subagentRunId: string; result?: unknown; outcome?: { type: "success" } | { type: "suspended"; interruptIds?: string[] } }
  | { type: "SUBAGENT_ERROR"; subagentRunId: string; message: string; code?: string };

/** Texts, reasoning and calls. */
type Messages =
  | ({ type: "TEXT_MESSAGE_START"; messageId: string; role?: string; name?: string } & OfSubagent)
  | ({ type: "TEXT_MESSAGE_CONTENT"; messageId: string; delta: string } & OfSubagent)
  | ({ type: "TEXT_MESSAGE_END"; messageId: string } & OfSubagent)
  | ({ type: "TEXT_MESSAGE_CHUNK"; messageId?: string; role?: string; name?: string; delta?: string } & OfSubagent)
  | ({ type: "REASONING_START" | "REASONING_END"; messageId: string } & OfSubagent)
  | ({ type: "REASONING_MESSAGE_START"; messageId: string; role?: string } & OfSubagent)
  | ({ type: "REASONING_MESSAGE_CONTENT"; messageId: string; delta: string } & OfSubagent)
  | ({ type: "REASONING_MESSAGE_END"; messageId: string } & OfSubagent)
  | ({ type: "REASONING_MESSAGE_CHUNK"; messageId?: string; delta?: string } & OfSubagent)
  | ({ type: "REASONING_ENCRYPTED_VALUE"; subtype: "message" | "tool-call"; entityId: string; encryptedValue: string } & OfSubagent)
  | ({ type: "TOOL_CALL_START"; toolCallId: string; toolCallName: string; parentMessageId?: string } & OfSubagent)
  | ({ type: "TOOL_CALL_ARGS"; toolCallId: string; delta: string } & OfSubagent)
  | ({ type: "TOOL_CALL_END"; toolCallId: string } & OfSubagent)
  | ({ type: "TOOL_CALL_CHUNK"; toolCallId?: string; toolCallName?: string; parentMessageId?: string; delta?: string } & OfSubagent)
  | ({ type: "TOOL_CALL_RESULT"; messageId: string; toolCallId: string; content: string | Record<string, unknown>[]; role?: string } & OfSubagent)
  | { type: "THINKING_START"; title?: string }
  | { type: "THINKING_END" | "THINKING_TEXT_MESSAGE_START" | "THINKING_TEXT_MESSAGE_END" }
  | { type: "THINKING_TEXT_MESSAGE_CONTENT"; delta: string };

/** State, activities, and what only the server and the page know. */
type Others =
  | ({ type: "STATE_SNAPSHOT"; snapshot: unknown } & OfSubagent)
  | ({ type: "STATE_DELTA"; delta: PatchOperation[] } & OfSubagent)
  | { type: "MESSAGES_SNAPSHOT"; messages: Record<string, unknown>[] }
  | ({ type: "ACTIVITY_SNAPSHOT"; messageId: string; activityType: string; content: Record<string, unknown>; replace?: boolean } & OfSubagent)
  | ({ type: "ACTIVITY_DELTA"; messageId: string; activityType: string; patch: PatchOperation[] } & OfSubagent)
  | ({ type: "RAW"; event: unknown; source?: string } & OfSubagent)
  | ({ type: "CUSTOM"; name: string; value: unknown } & OfSubagent);

/** A frame of AG-UI. */
export type AgUiEvent = (Lifecycle | Messages | Others) & AgUiFrame;
