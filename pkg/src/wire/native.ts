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
 * A frame of a tirea run stream, told apart by `type` (sections 1.2 and 1.3).
 *
 * What an older or newer server sends may be none of these.
 */
export type AgentEvent = ({ type: "run_start" } & BareFrame<RunStart>) | ({ type: "run_finish" } & Frame<RunFinish>) | ({ type: "step_start" } & BareFrame<StepStart>) | ({ type: "step_end" } & BareFrame<StepEnd>) | ({ type: "text_delta" } & Frame<TextDeltaData>) | ({ type: "reasoning_delta" } & Frame<TextDeltaData>) | ({ type: "reasoning_encrypted_value" } & Frame<ReasoningEncryptedValue>) | ({ type: "tool_call_start" } & Frame<ToolCallStart>) | ({ type: "tool_call_delta" } & Frame<ToolCallDeltaData>) | ({ type: "tool_call_ready" } & Frame<ToolCallReady>) | ({ type: "tool_call_done" } & Frame<ToolCallDone>) | ({ type: "tool_call_resumed" } & Frame<ToolCallResumed>) | ({ type: "inference_complete" } & Frame<InferenceComplete>) | ({ type: "state_snapshot" } & Frame<StateSnapshotData>) | ({ type: "state_delta" } & Frame<StateDeltaData>) | ({ type: "messages_snapshot" } & Frame<MessagesSnapshotData>) | ({ type: "activity_snapshot" } & Frame<ActivitySnapshotData>) | ({ type: "activity_delta" } & Frame<ActivityDeltaData>) | ({ type: "error" } & Frame<ErrorData>);

/**
 * What stands around a frame. **Of frames other than `run_start` and `run_finish` it cannot be trusted**: servers
 * that have more than one run take it from another one (section 1.2).
 */
export interface Envelope {
    /**
     * The run.
     */
    run_id?: string;
    /**
     * The thread that the run is in: turnwire's session.
     */
    thread_id?: string;
    /**
     * The frame's place in its run, from 0 on.
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
 * A frame whose payload may be missing: it is where it would be empty.
 */
export interface BareFrame<T> extends Envelope {
    /**
     * The payload.
     */
    data?: T;
}

/**
 * An error of the relay between run and stream, with its fields at the top (section 1.4).
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
 * A frame of an awaken run stream, told apart by `event_type`: flat, and without an envelope (section 5).
 */
export type AwakenEvent = ({ event_type: "run_start" } & AwakenRunStart) | ({ event_type: "run_finish" } & AwakenRunFinish) | ({ event_type: "step_start" } & StepStart) | { event_type: "step_end" } | ({ event_type: "text_delta" } & TextDeltaData) | ({ event_type: "reasoning_delta" } & TextDeltaData) | ({ event_type: "reasoning_encrypted_value" } & ReasoningEncryptedValue) | ({ event_type: "tool_call_start" } & ToolCallStart) | ({ event_type: "tool_call_delta" } & ToolCallDeltaData) | ({ event_type: "tool_call_ready" } & ToolCallReady) | ({ event_type: "tool_call_cancel" } & ToolCallCancel) | ({ event_type: "tool_call_stream_delta" } & ToolCallStreamDelta) | ({ event_type: "tool_call_done" } & ToolCallDone) | ({ event_type: "tool_call_resumed" } & ToolCallResumed) | ({ event_type: "stream_reset" } & StreamReset) | ({ event_type: "inference_complete" } & InferenceComplete) | ({ event_type: "state_snapshot" } & StateSnapshotData) | ({ event_type: "state_delta" } & StateDeltaData) | ({ event_type: "messages_snapshot" } & MessagesSnapshotData) | ({ event_type: "activity_snapshot" } & ActivitySnapshotData) | ({ event_type: "activity_delta" } & ActivityDeltaData) | ({ event_type: "error" } & ErrorData);

/**
 * The payload of `run_start`.
 */
export interface RunStart {
    /**
     * The run that this one goes on from.
     */
    parent_run_id?: string;
}

/**
 * The payload of `run_finish`.
 */
export interface RunFinish {
    /**
     * What came out: `{ "response": text }` of an answer.
     */
    result?: unknown;
    /**
     * Why.
     */
    termination: Termination;
}

/**
 * The payload of `step_start`.
 */
export interface StepStart {
    /**
     * The id of the message that the step writes; empty where there is none.
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
     * What it is called with.
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
     * Why.
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
     * Text to append to what the tool has said.
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
     * The id of the message that keeps the result; empty where there is none.
     */
    message_id?: string;
    /**
     * How it came out; follows from the result's status where it is missing.
     */
    outcome?: "succeeded" | "failed" | "suspended";
    /**
     * What the call changed in the agent's state. tirea alone has it.
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
     * Whatever the tool adds; awaken leaves it out where it is empty.
     */
    metadata?: Record<string, unknown>;
    /**
     * What the call waits for, if it is pending.
     */
    suspension?: SuspendTicket;
}

/**
 * What a pending call waits for.
 */
export interface SuspendTicket {
    /**
     * The question.
     */
    suspension: Suspension;
    /**
     * The call that stands for the question in a stream.
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
     * The answer. Of awaken the call's result: its data, its data and metadata, or `{ "error": message }`.
     */
    result: unknown;
}

/**
 * The payload of `stream_reset`.
 */
export interface StreamReset {
    /**
     * Why.
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
     * Token counts, where the provider says so.
     */
    usage?: TokenUsage;
    /**
     * How long the model took, in milliseconds.
     */
    duration_ms: number;
}

/**
 * Token counts, each where the provider says so.
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
     * Both together.
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
     * The state, the server's own part of it included.
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
     * Names what it is about: `"tool_call:"` and a call's id, of awaken the id alone, or the agent's own name.
     */
    message_id: string;
    /**
     * `"tool-call-progress"`, the older `"progress"`, or the agent's own word.
     */
    activity_type: string;
    /**
     * The report.
     */
    content: ToolProgress | Record<string, unknown>;
    /**
     * `false` if it counts only where nothing is known yet.
     */
    replace?: boolean;
}

/**
 * The payload of `activity_delta`.
 */
export interface ActivityDeltaData {
    /**
     * The report that changes.
     */
    message_id: string;
    /**
     * As in [`ActivitySnapshotData`].
     */
    activity_type: string;
    /**
     * A JSON Patch (RFC 6902) of its content.
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
     * `"LLM_ERROR"`, `"STATE_ERROR"`, or a newer word.
     */
    code?: string;
}

/**
 * The payload of awaken's `run_start`.
 */
export interface AwakenRunStart {
    /**
     * The thread that the run is in: turnwire's session.
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
     * Who runs, and for whom.
     */
    identity?: RunIdentity;
}

/**
 * The payload of awaken's `run_finish`.
 */
export interface AwakenRunFinish {
    /**
     * The thread that the run is in.
     */
    thread_id: string;
    /**
     * The run.
     */
    run_id: string;
    /**
     * Who ran, and for whom.
     */
    identity?: RunIdentity;
    /**
     * What came out: `{ "response", "status", "status_reason" }`.
     */
    result?: unknown;
    /**
     * Why.
     */
    termination: Termination;
}

/**
 * Who runs, and for whom, in awaken's words. Servers may say more.
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
     * The call inside of which this run was started.
     */
    parent_tool_call_id?: string;
    /**
     * Names the server's attempt at the run.
     */
    dispatch_id?: string;
    /**
     * Names the server's session with its model, not turnwire's.
     */
    session_id?: string;
    /**
     * `"user"`, `"subagent"`, `"ag_ui"`, `"ai_sdk"`, `"a2a"`, `"internal"`, or a newer word.
     */
    origin?: string;
}
