//! The frames of the protocol in its own words, as the servers send them, for those who read such a stream
//! themselves. Turnwire's decoder gives [events](crate::event) and does not use these types.
//!
//! The package's declarations of them are derived from here, as those of events are from theirs.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tsify::Tsify;

use crate::event::{PatchOperation, Suspension, Termination, ThreadMessage, ThreadToolCall, TrackedPatch};

/// A frame of a tirea run stream, told apart by `type` (sections 1.2 and 1.3).
///
/// What an older or newer server sends may be none of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "frames of the largest type are among the rarest")]
pub enum AgentEvent {
    /// The run begins.
    RunStart(BareFrame<RunStart>),
    /// The run ends, or waits for the client.
    RunFinish(Frame<RunFinish>),
    /// A step begins: the model is asked.
    StepStart(BareFrame<StepStart>),
    /// The step ends; the tools that it called run next.
    StepEnd(BareFrame<StepEnd>),
    /// A piece of the answer.
    TextDelta(Frame<TextDeltaData>),
    /// A piece of the reasoning.
    ReasoningDelta(Frame<TextDeltaData>),
    /// What the provider wants to have back of its reasoning.
    ReasoningEncryptedValue(Frame<ReasoningEncryptedValue>),
    /// A tool call begins.
    ToolCallStart(Frame<ToolCallStart>),
    /// A piece of a call's arguments.
    ToolCallDelta(Frame<ToolCallDeltaData>),
    /// A call's arguments are whole.
    ToolCallReady(Frame<ToolCallReady>),
    /// A call has its result.
    ToolCallDone(Frame<ToolCallDone>),
    /// An answer has reached the call that waited for it.
    ToolCallResumed(Frame<ToolCallResumed>),
    /// The model has spoken.
    InferenceComplete(Frame<InferenceComplete>),
    /// The agent's whole state.
    StateSnapshot(Frame<StateSnapshotData>),
    /// A change of the agent's state.
    StateDelta(Frame<StateDeltaData>),
    /// The thread's messages.
    MessagesSnapshot(Frame<MessagesSnapshotData>),
    /// A report of what is going on.
    ActivitySnapshot(Frame<ActivitySnapshotData>),
    /// A change of an earlier report.
    ActivityDelta(Frame<ActivityDeltaData>),
    /// Something went wrong.
    Error(Frame<ErrorData>),
}

/// What stands around a frame. **Of frames other than `run_start` and `run_finish` it cannot be trusted**: servers
/// that have more than one run take it from another one (section 1.2).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct Envelope {
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The thread that the run is in: turnwire's session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The frame's place in its run, from 0 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp_ms: Option<u64>,
    /// `"step:"` and the step's number, from 0 on; only within a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
}

/// A frame with its payload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct Frame<T> {
    /// What stands around it.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The payload.
    pub data: T,
}

/// A frame whose payload may be missing: it is where it would be empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct BareFrame<T> {
    /// What stands around it.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<T>,
}

/// An error of the relay between run and stream, with its fields at the top (section 1.4).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct RelayError {
    /// Always `"error"`.
    #[tsify(type = "\"error\"")]
    pub r#type: String,
    /// What happened.
    pub message: String,
    /// `"RELAY_ERROR"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A frame of an awaken run stream, told apart by `event_type`: flat, and without an envelope (section 5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "event_type", rename_all = "snake_case")]
#[allow(
    clippy::large_enum_variant,
    reason = "frames of the largest type are among the rarest; on 32 bits it is not that large"
)]
pub enum AwakenEvent {
    /// The run begins, or goes on after an answer.
    RunStart(AwakenRunStart),
    /// The run ends, or waits for the client.
    RunFinish(AwakenRunFinish),
    /// A step begins: the model is asked.
    StepStart(StepStart),
    /// The step ends, and the tools that it called have run.
    StepEnd,
    /// A piece of the answer.
    TextDelta(TextDeltaData),
    /// A piece of the reasoning.
    ReasoningDelta(TextDeltaData),
    /// What the provider wants to have back of its reasoning.
    ReasoningEncryptedValue(ReasoningEncryptedValue),
    /// A tool call begins.
    ToolCallStart(ToolCallStart),
    /// A piece of a call's arguments.
    ToolCallDelta(ToolCallDeltaData),
    /// A call's arguments are whole.
    ToolCallReady(ToolCallReady),
    /// A call that had begun will not be made: the model's stream broke within its arguments.
    ToolCallCancel(ToolCallCancel),
    /// A tool speaks while it runs.
    ToolCallStreamDelta(ToolCallStreamDelta),
    /// A call has its result, or waits for the client.
    ToolCallDone(ToolCallDone),
    /// A call that waited has its result.
    ToolCallResumed(ToolCallResumed),
    /// The model's stream broke and begins anew: what the step said so far does not count.
    StreamReset(StreamReset),
    /// The model has spoken.
    InferenceComplete(InferenceComplete),
    /// The agent's whole state.
    StateSnapshot(StateSnapshotData),
    /// A change of the agent's state.
    StateDelta(StateDeltaData),
    /// The thread's messages.
    MessagesSnapshot(MessagesSnapshotData),
    /// A report of what is going on.
    ActivitySnapshot(ActivitySnapshotData),
    /// A change of an earlier report.
    ActivityDelta(ActivityDeltaData),
    /// Something went wrong.
    Error(ErrorData),
}

/// The payload of `run_start`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct RunStart {
    /// The run that this one goes on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_run_id: Option<String>,
}

/// The payload of `run_finish`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct RunFinish {
    /// What came out: `{ "response": text }` of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub result: Option<Value>,
    /// Why.
    pub termination: Termination,
}

/// The payload of `step_start`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct StepStart {
    /// The id of the message that the step writes; empty where there is none.
    #[serde(default)]
    pub message_id: String,
}

/// The payload of `step_end`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct StepEnd {}

/// The payload of `text_delta` and `reasoning_delta`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct TextDeltaData {
    /// Text to append.
    pub delta: String,
}

/// The payload of `reasoning_encrypted_value`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ReasoningEncryptedValue {
    /// Opaque.
    pub encrypted_value: String,
}

/// The payload of `tool_call_start`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ToolCallStart {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
}

/// The payload of `tool_call_delta`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ToolCallDeltaData {
    /// The call.
    pub id: String,
    /// JSON text to append to its arguments.
    pub args_delta: String,
}

/// The payload of `tool_call_ready`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ToolCallReady {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is called with.
    #[tsify(type = "unknown")]
    pub arguments: Value,
}

/// The payload of `tool_call_cancel`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ToolCallCancel {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// The payload of `tool_call_stream_delta`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ToolCallStreamDelta {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Text to append to what the tool has said.
    pub delta: String,
}

/// The payload of `stream_reset`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct StreamReset {
    /// Why.
    pub reason: String,
}

/// The payload of `tool_call_done`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ToolCallDone {
    /// The call.
    pub id: String,
    /// The id of the message that keeps the result; empty where there is none.
    #[serde(default)]
    pub message_id: String,
    /// How it came out; follows from the result's status where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"succeeded\" | \"failed\" | \"suspended\"")]
    pub outcome: Option<String>,
    /// What the call changed in the agent's state. tirea alone has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<TrackedPatch>,
    /// The result.
    pub result: ToolCallResult,
}

/// A call's result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct ToolCallResult {
    /// The tool.
    pub tool_name: String,
    /// awaken has no `"warning"`.
    #[tsify(type = "\"success\" | \"warning\" | \"pending\" | \"error\"")]
    pub status: String,
    /// The result itself.
    #[tsify(type = "unknown")]
    pub data: Value,
    /// For people, and for the agent.
    pub message: Option<String>,
    /// Whatever the tool adds; awaken leaves it out where it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "Record<string, unknown>")]
    pub metadata: Option<Map<String, Value>>,
    /// What the call waits for, if it is pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspension: Option<SuspendTicket>,
}

/// What a pending call waits for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct SuspendTicket {
    /// The question.
    pub suspension: Suspension,
    /// The call that stands for the question in a stream.
    pub pending: ThreadToolCall,
    /// What the answer does.
    #[tsify(type = "\"replay_tool_call\" | \"use_decision_as_tool_result\" | \"pass_decision_to_tool\"")]
    pub resume_mode: String,
}

/// The payload of `tool_call_resumed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ToolCallResumed {
    /// The call.
    pub target_id: String,
    /// The answer. Of awaken the call's result: its data, its data and metadata, or `{ "error": message }`.
    #[tsify(type = "unknown")]
    pub result: Value,
}

/// The payload of `inference_complete`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct InferenceComplete {
    /// The model.
    pub model: String,
    /// Token counts, where the provider says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// How long the model took, in milliseconds.
    pub duration_ms: u64,
}

/// Token counts, each where the provider says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct TokenUsage {
    /// Tokens read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// Tokens written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
    /// Both together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// Tokens read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation_tokens: Option<u64>,
    /// Tokens of reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_tokens: Option<u64>,
}

/// The payload of `state_snapshot`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct StateSnapshotData {
    /// The state, the server's own part of it included.
    #[tsify(type = "unknown")]
    pub snapshot: Value,
}

/// The payload of `state_delta`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct StateDeltaData {
    /// A JSON Patch (RFC 6902).
    pub delta: Vec<PatchOperation>,
}

/// The payload of `messages_snapshot`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct MessagesSnapshotData {
    /// The messages, oldest first.
    pub messages: Vec<ThreadMessage>,
}

/// The payload of `activity_snapshot`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ActivitySnapshotData {
    /// Names what it is about: `"tool_call:"` and a call's id, of awaken the id alone, or the agent's own name.
    pub message_id: String,
    /// `"tool-call-progress"`, the older `"progress"`, or the agent's own word.
    pub activity_type: String,
    /// The report.
    #[tsify(type = "ToolProgress | Record<string, unknown>")]
    pub content: Value,
    /// `false` if it counts only where nothing is known yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace: Option<bool>,
}

/// The payload of `activity_delta`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ActivityDeltaData {
    /// The report that changes.
    pub message_id: String,
    /// As in [`ActivitySnapshotData`].
    pub activity_type: String,
    /// A JSON Patch (RFC 6902) of its content.
    pub patch: Vec<PatchOperation>,
}

/// The payload of `error`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ErrorData {
    /// What happened.
    pub message: String,
    /// `"LLM_ERROR"`, `"STATE_ERROR"`, or a newer word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// The payload of awaken's `run_start`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct AwakenRunStart {
    /// The thread that the run is in: turnwire's session.
    pub thread_id: String,
    /// The run.
    pub run_id: String,
    /// The run that started this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_run_id: Option<String>,
    /// Who runs, and for whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<RunIdentity>,
}

/// The payload of awaken's `run_finish`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct AwakenRunFinish {
    /// The thread that the run is in.
    pub thread_id: String,
    /// The run.
    pub run_id: String,
    /// Who ran, and for whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<RunIdentity>,
    /// What came out: `{ "response", "status", "status_reason" }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub result: Option<Value>,
    /// Why.
    pub termination: Termination,
}

/// Who runs, and for whom, in awaken's words. Servers may say more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct RunIdentity {
    /// The thread.
    pub thread_id: String,
    /// The run.
    pub run_id: String,
    /// The agent.
    pub agent_id: String,
    /// The run that started this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_run_id: Option<String>,
    /// The call inside of which this run was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_tool_call_id: Option<String>,
    /// Names the server's attempt at the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch_id: Option<String>,
    /// Names the server's session with its model, not turnwire's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// `"user"`, `"subagent"`, `"ag_ui"`, `"ai_sdk"`, `"a2a"`, `"internal"`, or a newer word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}
