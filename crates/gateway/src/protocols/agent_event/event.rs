//! The events of a run, as turnwire itself declares them. Both dialects have them in the flat form of one; the
//! other puts them into an envelope (`wire`).

use serde::Serialize;
use serde_json::Value;
use turnwire::event;

pub(super) use turnwire::protocol::agent_event::wire::{
    ActivityDeltaData, ActivitySnapshotData, AwakenEvent as Event, AwakenRunFinish, AwakenRunStart,
    ErrorData, InferenceComplete, MessagesSnapshotData, RunIdentity, StateDeltaData, StateSnapshotData,
    StepStart, StreamReset, TextDeltaData, TokenUsage, ToolCallCancel, ToolCallDeltaData, ToolCallDone,
    ToolCallReady, ToolCallResult, ToolCallResumed, ToolCallStart,
};

/// Why a run ended.
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

impl From<Termination> for event::Termination {
    fn from(termination: Termination) -> Self {
        typed(&termination)
    }
}

/// The outcome of a tool's call, as its result states it.
pub(super) mod status {
    pub(in super::super) const SUCCESS: &str = "success";
    pub(in super::super) const ERROR: &str = "error";
    pub(in super::super) const PENDING: &str = "pending";
}

/// A value as one of turnwire's types, which has the same form.
pub(super) fn typed<T: serde::de::DeserializeOwned + Default>(value: &impl Serialize) -> T {
    let value = serde_json::to_value(value).unwrap_or(Value::Null);
    serde_json::from_value(value).unwrap_or_default()
}
