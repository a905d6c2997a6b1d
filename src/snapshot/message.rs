//! Messages and their calls, as received so far.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tsify::Tsify;

use crate::event::{ToolInfo, ToolProgress, ToolResult, Usage};

use super::lenient;

/// A model message, as received so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct MessageSnapshot {
    /// The id, which no other message of the turn has.
    pub id: String,
    /// The thread that it belongs to.
    pub thread_id: String,
    /// ISO 8601; `None` if the server does not say.
    #[serde(deserialize_with = "lenient::option")]
    pub created_at: Option<String>,
    /// The author's name, if the server says so.
    #[serde(deserialize_with = "lenient::option")]
    pub name: Option<String>,
    /// The text. It grows while the message streams.
    #[serde(default)]
    pub content: String,
    /// The reasoning before the text; empty if there is none.
    #[serde(default)]
    pub reasoning_content: String,
    /// The words with which the model refused; empty if it did not.
    pub refusal: String,
    /// The calls, by their index.
    #[serde(deserialize_with = "lenient::holes")]
    pub tool_calls: Vec<ToolCallSnapshot>,
    /// `None` while it streams.
    pub finish_reason: Option<String>,
    /// The tokens used, once the server has said so.
    #[serde(deserialize_with = "lenient::option")]
    pub usage: Option<Usage>,
    /// The model that wrote it, if the server says so.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::option")]
    pub model: Option<String>,
    /// How long the model took, in milliseconds, if the server says so.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::option")]
    pub duration_ms: Option<u64>,
    /// Opaque reasoning data that the model's provider needs to get back.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "lenient::list")]
    #[tsify(optional)]
    pub reasoning_encrypted: Vec<String>,
}

/// A tool call, as received so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct ToolCallSnapshot {
    /// The call's id; empty until it is known.
    pub id: String,
    /// Its position among the message's calls.
    #[serde(default)]
    pub index: usize,
    /// The display name.
    pub name: String,
    /// JSON text; incomplete while `status` is [`Streaming`](CallStatus::Streaming).
    #[serde(default)]
    pub arguments: String,
    /// Where the tool comes from, if the server says so.
    #[serde(deserialize_with = "lenient::option")]
    pub tool_info: Option<ToolInfo>,
    /// How far the call is.
    pub status: CallStatus,
    /// The result; `None` until there is one.
    #[serde(deserialize_with = "lenient::option")]
    pub response: Option<ToolCallResponse>,
    /// The sub-agent's thread that this call started.
    pub thread_id: Option<String>,
    /// The call's progress, if the server reports it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::option")]
    pub progress: Option<ToolProgress>,
    /// The output so far, if the server reports it: the end of each stream, at least 32 KiB.
    #[serde(default, skip_serializing_if = "ToolOutputs::is_empty")]
    #[tsify(optional, type = "Record<string, string>")]
    pub output: ToolOutputs,
}

/// The output of a call by stream: `"stdout"`, `"stderr"`, ….
pub type ToolOutputs = BTreeMap<String, String>;

/// How far a call is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// Its arguments are being written.
    #[default]
    Streaming,
    /// It has no result yet.
    Running,
    /// It waits for a human's approval.
    ApprovalRequired,
    /// It waits for a result from the client.
    ResponseRequired,
    /// It will have no result.
    Cancelled,
    /// It has its result.
    Done,
}

/// The result of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct ToolCallResponse {
    /// The response's id.
    pub id: String,
    /// The text that the model reads.
    pub content: String,
    /// ISO 8601; `None` if the server does not say.
    pub created_at: Option<String>,
    /// `"succeeded"`, `"failed"` or `"suspended"`, if the server reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The result with further data of the tool, if the server sends it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::option")]
    pub result: Option<ToolResult>,
}
