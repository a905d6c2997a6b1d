//! The events of a run as types. Both dialects have them; they differ in the envelope (`wire`) and
//! in a few fields (`AgentEvent` protocol, variants).

use serde::Serialize;
use serde_json::Value;

/// One event, serialized as the flat dialect has it; the other one takes the fields as `data`.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event_type", rename_all = "snake_case")]
pub(super) enum Event {
    RunStart {
        thread_id: String,
        run_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_run_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        identity: Option<Identity>,
    },
    RunFinish {
        thread_id: String,
        run_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        identity: Option<Identity>,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Value>,
        termination: Termination,
    },
    StepStart {
        message_id: String,
    },
    StepEnd,
    TextDelta {
        delta: String,
    },
    ReasoningDelta {
        delta: String,
    },
    ToolCallStart {
        id: String,
        name: String,
    },
    ToolCallDelta {
        id: String,
        args_delta: String,
    },
    ToolCallReady {
        id: String,
        name: String,
        arguments: Value,
    },
    ToolCallDone {
        id: String,
        message_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        patch: Option<Value>,
        result: ToolResult,
        outcome: Outcome,
    },
    ToolCallResumed {
        target_id: String,
        result: Value,
    },
    /// A call that was begun will not come (awaken only).
    ToolCallCancel {
        id: String,
        name: String,
        reason: String,
    },
    /// All deltas of this answer so far are void (awaken only).
    StreamReset {
        reason: String,
    },
    InferenceComplete {
        model: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        duration_ms: u64,
    },
    StateSnapshot {
        snapshot: Value,
    },
    StateDelta {
        delta: Value,
    },
    MessagesSnapshot {
        messages: Value,
    },
    ActivitySnapshot {
        message_id: String,
        activity_type: String,
        content: Value,
        replace: bool,
    },
    ActivityDelta {
        message_id: String,
        activity_type: String,
        patch: Value,
    },
    Error {
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
}

impl Event {
    /// The name on the wire.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::RunStart { .. } => "run_start",
            Self::RunFinish { .. } => "run_finish",
            Self::StepStart { .. } => "step_start",
            Self::StepEnd => "step_end",
            Self::TextDelta { .. } => "text_delta",
            Self::ReasoningDelta { .. } => "reasoning_delta",
            Self::ToolCallStart { .. } => "tool_call_start",
            Self::ToolCallDelta { .. } => "tool_call_delta",
            Self::ToolCallReady { .. } => "tool_call_ready",
            Self::ToolCallDone { .. } => "tool_call_done",
            Self::ToolCallResumed { .. } => "tool_call_resumed",
            Self::ToolCallCancel { .. } => "tool_call_cancel",
            Self::StreamReset { .. } => "stream_reset",
            Self::InferenceComplete { .. } => "inference_complete",
            Self::StateSnapshot { .. } => "state_snapshot",
            Self::StateDelta { .. } => "state_delta",
            Self::MessagesSnapshot { .. } => "messages_snapshot",
            Self::ActivitySnapshot { .. } => "activity_snapshot",
            Self::ActivityDelta { .. } => "activity_delta",
            Self::Error { .. } => "error",
        }
    }

    pub(super) fn text(delta: impl Into<String>) -> Self {
        Self::TextDelta { delta: delta.into() }
    }

    /// Fields that the envelope carries when there is one.
    pub(super) fn is_run_boundary(&self) -> bool {
        matches!(self, Self::RunStart { .. } | Self::RunFinish { .. })
    }
}

/// Who runs, for the dialect that says it.
#[derive(Debug, Clone, Serialize)]
#[allow(clippy::struct_field_names)] // the names of the wire
pub(super) struct Identity {
    pub(super) thread_id: String,
    pub(super) run_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent_run_id: Option<String>,
    pub(super) agent_id: String,
    pub(super) dispatch_id: String,
    pub(super) session_id: String,
    pub(super) origin: &'static str,
}

/// Why a run ended: `{"type":…}`, most without a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub(super) enum Termination {
    NaturalEnd,
    Cancelled,
    Suspended,
    Stopped {
        code: &'static str,
        detail: String,
    },
    Error(String),
    /// A reason of a later version.
    QuotaExhausted {
        limit: u64,
    },
}

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Succeeded,
    Failed,
    Suspended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Success,
    Error,
    Pending,
}

/// A tool's result. `metadata` is written by one dialect even if it is empty.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ToolResult {
    pub(super) tool_name: String,
    pub(super) status: Status,
    pub(super) data: Value,
    pub(super) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) suspension: Option<Value>,
}

impl ToolResult {
    pub(super) fn outcome(&self) -> Outcome {
        match self.status {
            Status::Success => Outcome::Succeeded,
            Status::Error => Outcome::Failed,
            Status::Pending => Outcome::Suspended,
        }
    }
}

/// Tokens of one inference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[allow(clippy::struct_field_names)] // the names of the wire
pub(super) struct Usage {
    pub(super) prompt_tokens: usize,
    pub(super) completion_tokens: usize,
    pub(super) total_tokens: usize,
    pub(super) cache_read_tokens: usize,
    pub(super) thinking_tokens: usize,
}
