//! Outcomes of tool calls and runs, in the words of the `AgentEvent` protocols. Other protocols report less.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// The result of a tool, with its further data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct ToolResult {
    /// The tool.
    pub tool_name: String,
    /// `"warning"` is also a success. A denied, unknown or wrongly called tool is an `"error"`.
    #[tsify(type = "\"success\" | \"warning\" | \"pending\" | \"error\"")]
    pub status: String,
    /// The result itself.
    #[tsify(type = "unknown")]
    pub data: serde_json::Value,
    /// For people, and for the agent.
    pub message: Option<String>,
    /// Further data of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "Record<string, unknown>")]
    pub metadata: Option<serde_json::Map<String, serde_json::Value>>,
}

/// Why a call waits, in the server's words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct Suspension {
    /// The id of the question; the call's own id also identifies it.
    pub id: String,
    /// The source of the question, for example `"tool:PermissionConfirm"`.
    pub action: String,
    /// The question, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When the question expires (ISO 8601), if the server says so: a later answer cancels it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The parameters of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub parameters: Option<serde_json::Value>,
    /// A JSON Schema of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub response_schema: Option<serde_json::Value>,
    /// What happens with the answer: it lets the call run, is the call's result, or goes to the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(
        type = "\"replay_tool_call\" | \"use_decision_as_tool_result\" | \"pass_decision_to_tool\" | (string & {})"
    )]
    pub resume_mode: Option<String>,
}

/// Why a run ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct Termination {
    /// `"natural_end"`, `"behavior_requested"`, `"stopped"`, `"cancelled"`, `"suspended"`, `"error"`, `"blocked"`, or a
    /// newer value.
    pub r#type: String,
    /// For `"stopped"` a [`StopReason`], for `"error"` and `"blocked"` a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "StopReason | string")]
    pub value: Option<serde_json::Value>,
}

/// Why a run was stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct StopReason {
    /// `"max_rounds_reached"`, `"timeout_reached"`, `"token_budget_exceeded"`, `"consecutive_errors_exceeded"`,
    /// `"tool_called"`, `"content_matched"`, `"loop_detected"`, or a code of the agent.
    pub code: String,
    /// Details; for `"tool_called"` the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// An answer has reached the call that waited for it (`tool.resumed`); its result follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ToolResumed {
    /// The event's id.
    pub id: String,
    /// The thread of the call.
    pub thread_id: String,
    /// The call.
    pub tool_call_id: String,
    /// The answer; `null` if the question was cancelled instead.
    #[tsify(type = "unknown")]
    pub result: serde_json::Value,
}

/// A call that had begun will not be made (`tool.cancelled`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ToolCancelled {
    /// The event's id.
    pub id: String,
    /// The thread of the call.
    pub thread_id: String,
    /// The call.
    pub tool_call_id: String,
    /// The reason.
    pub reason: String,
}

/// Discards a message's content so far (`message.reset`): its text, reasoning and calls begin again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct MessageReset {
    /// The message's id.
    pub id: String,
    /// The message's thread.
    pub thread_id: String,
    /// The reason.
    pub reason: String,
}

/// An error on the server (`server.error`). The turn's end says whether the turn failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct ServerError {
    /// The event's id.
    pub id: String,
    /// `null`: the event belongs to the whole turn.
    pub thread_id: Option<String>,
    /// What happened.
    pub message: String,
    /// `"LLM_ERROR"`, `"STATE_ERROR"`, `"RELAY_ERROR"`, or a newer value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}
