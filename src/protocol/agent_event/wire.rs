//! The frames of the protocol as the servers send them, for code that reads such a stream itself. Turnwire's decoder
//! returns [events](crate::event) and does not use these types.
//!
//! The package's declarations of native frames are derived from them, as those of events are from their types.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tsify::Tsify;

use crate::event::{PatchOperation, Suspension, Termination, ThreadMessage, ThreadToolCall, TrackedPatch};

/// A frame of a tirea run stream; `type` tells the variants apart (sections 1.2 and 1.3).
///
/// An older or newer server may send other frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "frames of the largest type are among the rarest")]
pub enum AgentEvent {
    /// The run begins.
    RunStart(BareFrame<RunStart>),
    /// The run ends, or waits for the client.
    RunFinish(Frame<RunFinish>),
    /// A step begins: the model is called.
    StepStart(BareFrame<StepStart>),
    /// The step ends; the tools that it called run next.
    StepEnd(BareFrame<StepEnd>),
    /// A piece of the answer.
    TextDelta(Frame<TextDeltaData>),
    /// A piece of the reasoning.
    ReasoningDelta(Frame<TextDeltaData>),
    /// Opaque reasoning data that the provider needs to get back.
    ReasoningEncryptedValue(Frame<ReasoningEncryptedValue>),
    /// A tool call begins.
    ToolCallStart(Frame<ToolCallStart>),
    /// A piece of a call's arguments.
    ToolCallDelta(Frame<ToolCallDeltaData>),
    /// A call's arguments are complete.
    ToolCallReady(Frame<ToolCallReady>),
    /// A call has its result.
    ToolCallDone(Frame<ToolCallDone>),
    /// An answer has reached the call that waited for it.
    ToolCallResumed(Frame<ToolCallResumed>),
    /// The model has finished its message.
    InferenceComplete(Frame<InferenceComplete>),
    /// The agent's whole state.
    StateSnapshot(Frame<StateSnapshotData>),
    /// A change of the agent's state.
    StateDelta(Frame<StateDeltaData>),
    /// The thread's messages.
    MessagesSnapshot(Frame<MessagesSnapshotData>),
    /// A report of an activity.
    ActivitySnapshot(Frame<ActivitySnapshotData>),
    /// A change of an earlier report.
    ActivityDelta(Frame<ActivityDeltaData>),
    /// Something went wrong.
    Error(Frame<ErrorData>),
}

/// The envelope of a frame. **Only that of `run_start` and `run_finish` can be trusted**: servers with more than one
/// run take the others from another run (section 1.2).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct Envelope {
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The run's thread: turnwire's session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The frame's index in its run, from 0 on.
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
    /// The envelope.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The payload.
    pub data: T,
}

/// A frame whose payload may be missing if it would be empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct BareFrame<T> {
    /// The envelope.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<T>,
}

/// An error of the relay between run and stream, with its fields at the top level (section 1.4).
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

/// A frame of an awaken run stream; `event_type` tells the variants apart. It is flat, without an envelope (section 5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "event_type", rename_all = "snake_case")]
#[allow(
    clippy::large_enum_variant,
    reason = "frames of the largest type are among the rarest; on 32 bits it is not that large"
)]
pub enum AwakenEvent {
    /// The run begins, or continues after an answer.
    RunStart(AwakenRunStart),
    /// The run ends, or waits for the client.
    RunFinish(AwakenRunFinish),
    /// A step begins: the model is called.
    StepStart(StepStart),
    /// The step ends, and the tools that it called have run.
    StepEnd,
    /// A piece of the answer.
    TextDelta(TextDeltaData),
    /// A piece of the reasoning.
    ReasoningDelta(TextDeltaData),
    /// Opaque reasoning data that the provider needs to get back.
    ReasoningEncryptedValue(ReasoningEncryptedValue),
    /// A tool call begins.
    ToolCallStart(ToolCallStart),
    /// A piece of a call's arguments.
    ToolCallDelta(ToolCallDeltaData),
    /// A call's arguments are complete.
    ToolCallReady(ToolCallReady),
    /// A call that had begun will not be made: the model's stream broke within its arguments.
    ToolCallCancel(ToolCallCancel),
    /// A tool sends output while it runs.
    ToolCallStreamDelta(ToolCallStreamDelta),
    /// A call has its result, or waits for the client.
    ToolCallDone(ToolCallDone),
    /// A call that waited has its result.
    ToolCallResumed(ToolCallResumed),
    /// The model's stream broke and begins again: discards the step's content so far.
    StreamReset(StreamReset),
    /// The model has finished its message.
    InferenceComplete(InferenceComplete),
    /// The agent's whole state.
    StateSnapshot(StateSnapshotData),
    /// A change of the agent's state.
    StateDelta(StateDeltaData),
    /// The thread's messages.
    MessagesSnapshot(MessagesSnapshotData),
    /// A report of an activity.
    ActivitySnapshot(ActivitySnapshotData),
    /// A change of an earlier report.
    ActivityDelta(ActivityDeltaData),
    /// Something went wrong.
    Error(ErrorData),
}

/// The payload of `run_start`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct RunStart {
    /// The run that this one continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_run_id: Option<String>,
}

/// The payload of `run_finish`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct RunFinish {
    /// The result: for an answer `{ "response": text }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub result: Option<Value>,
    /// The reason.
    pub termination: Termination,
}

/// The payload of `step_start`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct StepStart {
    /// The id of the message that the step writes; empty if there is none.
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
    /// The arguments.
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
    /// The reason.
    pub reason: String,
}

/// The payload of `tool_call_stream_delta`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ToolCallStreamDelta {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Text to append to the tool's output.
    pub delta: String,
}

/// The payload of `stream_reset`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct StreamReset {
    /// The reason.
    pub reason: String,
}

/// The payload of `tool_call_done`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ToolCallDone {
    /// The call.
    pub id: String,
    /// The id of the message that keeps the result; empty if there is none.
    #[serde(default)]
    pub message_id: String,
    /// The outcome; if missing, it follows from the result's status.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"succeeded\" | \"failed\" | \"suspended\"")]
    pub outcome: Option<String>,
    /// The call's changes to the agent's state. Only tirea has this.
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
    /// Further data of the tool; awaken leaves it out if it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "Record<string, unknown>")]
    pub metadata: Option<Map<String, Value>>,
    /// Why the call waits, if it is pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspension: Option<SuspendTicket>,
}

/// Why a pending call waits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct SuspendTicket {
    /// The question.
    pub suspension: Suspension,
    /// The call that represents the question in a stream.
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
    /// The answer. From awaken the call's result: its data, its data and metadata, or `{ "error": message }`.
    #[tsify(type = "unknown")]
    pub result: Value,
}

/// The payload of `inference_complete`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct InferenceComplete {
    /// The model.
    pub model: String,
    /// Token counts, if the provider sends them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// How long the model took, in milliseconds.
    pub duration_ms: u64,
}

/// Token counts, each if the provider sends it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct TokenUsage {
    /// Tokens read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// Tokens written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
    /// The sum of both.
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
    /// The state, including the server's own part.
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
    /// The activity's id: `"tool_call:"` and a call's id, from awaken the id alone, or an id of the agent.
    pub message_id: String,
    /// `"tool-call-progress"`, the older `"progress"`, or a type of the agent.
    pub activity_type: String,
    /// The report.
    #[tsify(type = "ToolProgress | Record<string, unknown>")]
    pub content: Value,
    /// `false` if the report counts only while none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace: Option<bool>,
}

/// The payload of `activity_delta`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ActivityDeltaData {
    /// The id of the activity whose report changes.
    pub message_id: String,
    /// As in [`ActivitySnapshotData`].
    pub activity_type: String,
    /// A JSON Patch (RFC 6902) of the report's content.
    pub patch: Vec<PatchOperation>,
}

/// The payload of `error`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ErrorData {
    /// What happened.
    pub message: String,
    /// `"LLM_ERROR"`, `"STATE_ERROR"`, or a newer value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// The payload of awaken's `run_start`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct AwakenRunStart {
    /// The run's thread: turnwire's session.
    pub thread_id: String,
    /// The run.
    pub run_id: String,
    /// The run that started this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_run_id: Option<String>,
    /// The run's identity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<RunIdentity>,
}

/// The payload of awaken's `run_finish`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct AwakenRunFinish {
    /// The run's thread.
    pub thread_id: String,
    /// The run.
    pub run_id: String,
    /// The run's identity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<RunIdentity>,
    /// The result: `{ "response", "status", "status_reason" }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub result: Option<Value>,
    /// The reason.
    pub termination: Termination,
}

/// A run's identity in awaken's form. Servers may send more fields.
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
    /// The call within which this run was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_tool_call_id: Option<String>,
    /// The id of the server's attempt at the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch_id: Option<String>,
    /// The id of the server's session with its model, not turnwire's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// `"user"`, `"subagent"`, `"ag_ui"`, `"ai_sdk"`, `"a2a"`, `"internal"`, or a newer value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}
