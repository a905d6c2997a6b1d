// Frames of the AgentEvent protocols, as servers send them. Derived from the Rust types in
// `src/protocol/agent_event/wire.rs`, whose golden test writes this file: do not edit it.

import type {
    PatchOperation,
    Suspension,
    Termination,
    ThreadMessage,
    ThreadToolCall,
    ToolProgress,
    TrackedPatch,
} from "./events.js";

/**
 * A frame of a tirea run stream; `type` tells the variants apart (sections 1.2 and 1.3).
 *
 * An older or newer server may send other frames.
 */
export type AgentEvent = ({ type: "run_start" } & BareFrame<RunStart>) | ({ type: "run_finish" } & Frame<RunFinish>) | ({ type: "step_start" } & BareFrame<StepStart>) | ({ type: "step_end" } & BareFrame<StepEnd>) | ({ type: "text_delta" } & Frame<TextDeltaData>) | ({ type: "reasoning_delta" } & Frame<TextDeltaData>) | ({ type: "reasoning_encrypted_value" } & Frame<ReasoningEncryptedValue>) | ({ type: "tool_call_start" } & Frame<ToolCallStart>) | ({ type: "tool_call_delta" } & Frame<ToolCallDeltaData>) | ({ type: "tool_call_ready" } & Frame<ToolCallReady>) | ({ type: "tool_call_done" } & Frame<ToolCallDone>) | ({ type: "tool_call_resumed" } & Frame<ToolCallResumed>) | ({ type: "inference_complete" } & Frame<InferenceComplete>) | ({ type: "state_snapshot" } & Frame<StateSnapshotData>) | ({ type: "state_delta" } & Frame<StateDeltaData>) | ({ type: "messages_snapshot" } & Frame<MessagesSnapshotData>) | ({ type: "activity_snapshot" } & Frame<ActivitySnapshotData>) | ({ type: "activity_delta" } & Frame<ActivityDeltaData>) | ({ type: "error" } & Frame<ErrorData>);

/**
 * The envelope of a frame. **Only that of `run_start` and `run_finish` can be trusted**: servers with more than one
 * run take the others from another run (section 1.2).
 */
export interface Envelope {
    /**
     * The run.
     */
    run_id?: string;
    /**
     * The run's thread: turnwire's session.
     */
    thread_id?: string;
    /**
     * The frame's index in its run, from 0 on.
     */
    seq?: number;
    /**
     * Milliseconds since 1970.
     */
    timestamp_ms?: number;
    /**
     * `"step:"` and the step's number, from 0 on; only within a step.
     */
    step_id?: string;
}

/**
 * A frame with its payload.
 */
export interface Frame<T> extends Envelope {
    /**
     * The payload.
     */
    data: T;
}

/**
 * A frame whose payload may be missing if it would be empty.
 */
export interface BareFrame<T> extends Envelope {
    /**
     * The payload.
     */
    data?: T;
}

/**
 * An error of the relay between run and stream, with its fields at the top level (section 1.4).
 */
export interface RelayError {
    /**
     * Always `"error"`.
     */
    type: "error";
    /**
     * What happened.
     */
    message: string;
    /**
     * `"RELAY_ERROR"`.
     */
    code?: string;
}

/**
 * A frame of an awaken run stream; `event_type` tells the variants apart. It is flat, without an envelope (section 5).
 */
export type AwakenEvent = ({ event_type: "run_start" } & AwakenRunStart) | ({ event_type: "run_finish" } & AwakenRunFinish) | ({ event_type: "step_start" } & StepStart) | { event_type: "step_end" } | ({ event_type: "text_delta" } & TextDeltaData) | ({ event_type: "reasoning_delta" } & TextDeltaData) | ({ event_type: "reasoning_encrypted_value" } & ReasoningEncryptedValue) | ({ event_type: "tool_call_start" } & ToolCallStart) | ({ event_type: "tool_call_delta" } & ToolCallDeltaData) | ({ event_type: "tool_call_ready" } & ToolCallReady) | ({ event_type: "tool_call_cancel" } & ToolCallCancel) | ({ event_type: "tool_call_stream_delta" } & ToolCallStreamDelta) | ({ event_type: "tool_call_done" } & ToolCallDone) | ({ event_type: "tool_call_resumed" } & ToolCallResumed) | ({ event_type: "stream_reset" } & StreamReset) | ({ event_type: "inference_complete" } & InferenceComplete) | ({ event_type: "state_snapshot" } & StateSnapshotData) | ({ event_type: "state_delta" } & StateDeltaData) | ({ event_type: "messages_snapshot" } & MessagesSnapshotData) | ({ event_type: "activity_snapshot" } & ActivitySnapshotData) | ({ event_type: "activity_delta" } & ActivityDeltaData) | ({ event_type: "error" } & ErrorData);

/**
 * The payload of `run_start`.
 */
export interface RunStart {
    /**
     * The run that this one continues.
     */
    parent_run_id?: string;
}

/**
 * The payload of `run_finish`.
 */
export interface RunFinish {
    /**
     * The result: for an answer `{ "response": text }`.
     */
    result?: unknown;
    /**
     * The reason.
     */
    termination: Termination;
}

/**
 * The payload of `step_start`.
 */
export interface StepStart {
    /**
     * The id of the message that the step writes; empty if there is none.
     */
    message_id?: string;
}

/**
 * The payload of `step_end`: none.
 */
export interface StepEnd {}

/**
 * The payload of `text_delta` and `reasoning_delta`.
 */
export interface TextDeltaData {
    /**
     * Text to append.
     */
    delta: string;
}

/**
 * The payload of `reasoning_encrypted_value`.
 */
export interface ReasoningEncryptedValue {
    /**
     * Opaque.
     */
    encrypted_value: string;
}

/**
 * The payload of `tool_call_start`.
 */
export interface ToolCallStart {
    /**
     * The call.
     */
    id: string;
    /**
     * The tool.
     */
    name: string;
}

/**
 * The payload of `tool_call_delta`.
 */
export interface ToolCallDeltaData {
    /**
     * The call.
     */
    id: string;
    /**
     * JSON text to append to its arguments.
     */
    args_delta: string;
}

/**
 * The payload of `tool_call_ready`.
 */
export interface ToolCallReady {
    /**
     * The call.
     */
    id: string;
    /**
     * The tool.
     */
    name: string;
    /**
     * The arguments.
     */
    arguments: unknown;
}

/**
 * The payload of `tool_call_cancel`.
 */
export interface ToolCallCancel {
    /**
     * The call.
     */
    id: string;
    /**
     * The tool.
     */
    name: string;
    /**
     * The reason.
     */
    reason: string;
}

/**
 * The payload of `tool_call_stream_delta`.
 */
export interface ToolCallStreamDelta {
    /**
     * The call.
     */
    id: string;
    /**
     * The tool.
     */
    name: string;
    /**
     * Text to append to the tool's output.
     */
    delta: string;
}

/**
 * The payload of `tool_call_done`.
 */
export interface ToolCallDone {
    /**
     * The call.
     */
    id: string;
    /**
     * The id of the message that keeps the result; empty if there is none.
     */
    message_id?: string;
    /**
     * The outcome; if missing, it follows from the result's status.
     */
    outcome?: "succeeded" | "failed" | "suspended";
    /**
     * The call's changes to the agent's state. Only tirea has this.
     */
    patch?: TrackedPatch;
    /**
     * The result.
     */
    result: ToolCallResult;
}

/**
 * A call's result.
 */
export interface ToolCallResult {
    /**
     * The tool.
     */
    tool_name: string;
    /**
     * awaken has no `"warning"`.
     */
    status: "success" | "warning" | "pending" | "error";
    /**
     * The result itself.
     */
    data: unknown;
    /**
     * For people, and for the agent.
     */
    message: string | null;
    /**
     * Further data of the tool; awaken leaves it out if it is empty.
     */
    metadata?: Record<string, unknown>;
    /**
     * Why the call waits, if it is pending.
     */
    suspension?: SuspendTicket;
}

/**
 * Why a pending call waits.
 */
export interface SuspendTicket {
    /**
     * The question.
     */
    suspension: Suspension;
    /**
     * The call that represents the question in a stream.
     */
    pending: ThreadToolCall;
    /**
     * What the answer does.
     */
    resume_mode: "replay_tool_call" | "use_decision_as_tool_result" | "pass_decision_to_tool";
}

/**
 * The payload of `tool_call_resumed`.
 */
export interface ToolCallResumed {
    /**
     * The call.
     */
    target_id: string;
    /**
     * The answer. From awaken the call's result: its data, its data and metadata, or `{ "error": message }`.
     */
    result: unknown;
}

/**
 * The payload of `stream_reset`.
 */
export interface StreamReset {
    /**
     * The reason.
     */
    reason: string;
}

/**
 * The payload of `inference_complete`.
 */
export interface InferenceComplete {
    /**
     * The model.
     */
    model: string;
    /**
     * Token counts, if the provider sends them.
     */
    usage?: TokenUsage;
    /**
     * How long the model took, in milliseconds.
     */
    duration_ms: number;
}

/**
 * Token counts, each if the provider sends it.
 */
export interface TokenUsage {
    /**
     * Tokens read.
     */
    prompt_tokens?: number;
    /**
     * Tokens written.
     */
    completion_tokens?: number;
    /**
     * The sum of both.
     */
    total_tokens?: number;
    /**
     * Tokens read from a cache.
     */
    cache_read_tokens?: number;
    /**
     * Tokens written to a cache.
     */
    cache_creation_tokens?: number;
    /**
     * Tokens of reasoning.
     */
    thinking_tokens?: number;
}

/**
 * The payload of `state_snapshot`.
 */
export interface StateSnapshotData {
    /**
     * The state, including the server's own part.
     */
    snapshot: unknown;
}

/**
 * The payload of `state_delta`.
 */
export interface StateDeltaData {
    /**
     * A JSON Patch (RFC 6902).
     */
    delta: PatchOperation[];
}

/**
 * The payload of `messages_snapshot`.
 */
export interface MessagesSnapshotData {
    /**
     * The messages, oldest first.
     */
    messages: ThreadMessage[];
}

/**
 * The payload of `activity_snapshot`.
 */
export interface ActivitySnapshotData {
    /**
     * The activity's id: `"tool_call:"` and a call's id, from awaken the id alone, or an id of the agent.
     */
    message_id: string;
    /**
     * `"tool-call-progress"`, the older `"progress"`, or a type of the agent.
     */
    activity_type: string;
    /**
     * The report.
     */
    content: ToolProgress | Record<string, unknown>;
    /**
     * `false` if the report counts only while none is known.
     */
    replace?: boolean;
}

/**
 * The payload of `activity_delta`.
 */
export interface ActivityDeltaData {
    /**
     * The id of the activity whose report changes.
     */
    message_id: string;
    /**
     * As in [`ActivitySnapshotData`].
     */
    activity_type: string;
    /**
     * A JSON Patch (RFC 6902) of the report's content.
     */
    patch: PatchOperation[];
}

/**
 * The payload of `error`.
 */
export interface ErrorData {
    /**
     * What happened.
     */
    message: string;
    /**
     * `"LLM_ERROR"`, `"STATE_ERROR"`, or a newer value.
     */
    code?: string;
}

/**
 * The payload of awaken's `run_start`.
 */
export interface AwakenRunStart {
    /**
     * The run's thread: turnwire's session.
     */
    thread_id: string;
    /**
     * The run.
     */
    run_id: string;
    /**
     * The run that started this one.
     */
    parent_run_id?: string;
    /**
     * The run's identity.
     */
    identity?: RunIdentity;
}

/**
 * The payload of awaken's `run_finish`.
 */
export interface AwakenRunFinish {
    /**
     * The run's thread.
     */
    thread_id: string;
    /**
     * The run.
     */
    run_id: string;
    /**
     * The run's identity.
     */
    identity?: RunIdentity;
    /**
     * The result: `{ "response", "status", "status_reason" }`.
     */
    result?: unknown;
    /**
     * The reason.
     */
    termination: Termination;
}

/**
 * A run's identity in awaken's form. Servers may send more fields.
 */
export interface RunIdentity {
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The run.
     */
    run_id: string;
    /**
     * The agent.
     */
    agent_id: string;
    /**
     * The run that started this one.
     */
    parent_run_id?: string;
    /**
     * The call within which this run was started.
     */
    parent_tool_call_id?: string;
    /**
     * The id of the server's attempt at the run.
     */
    dispatch_id?: string;
    /**
     * The id of the server's session with its model, not turnwire's.
     */
    session_id?: string;
    /**
     * `"user"`, `"subagent"`, `"ag_ui"`, `"ai_sdk"`, `"a2a"`, `"internal"`, or a newer value.
     */
    origin?: string;
}
