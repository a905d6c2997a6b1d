//! The beginning and the end of a turn, and its states.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

use super::{McpAuthRequired, ModelMessage, Termination, ToolsRequired, TurnInputItem};

/// The first event of a stream (`turn.created`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct TurnCreated {
    /// The event's id.
    pub id: String,
    /// The turn's id.
    pub turn_id: String,
    /// The turn that this one follows; `null` for a first turn.
    pub previous_turn_id: Option<String>,
    /// `null`: the event belongs to the whole turn.
    pub thread_id: Option<String>,
    /// ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The turn's creator: a subject, or in the spelling of the reference pages a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<CreatedBy>,
    /// `created_by`, if it is a subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by_subject: Option<Subject>,
    /// The turn's input; empty if it has none.
    pub input: Vec<TurnInputItem>,
    /// Always running.
    pub state: RunningState,
}

/// The creator of something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(untagged)]
pub enum CreatedBy {
    /// In the servers' form.
    Subject(Subject),
    /// In the form of the reference pages and of `TrueForge`.
    Name(String),
}

/// A user or a service account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct Subject {
    /// Its id.
    pub subject_id: String,
    /// The kind, for example `"user"`.
    pub subject_type: String,
    /// A name for people.
    pub subject_slug: String,
}

/// The state of a turn that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct RunningState {
    /// Always `"running"`.
    #[tsify(type = "\"running\"")]
    pub status: String,
}

/// The last event of a stream (`turn.done`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct TurnDone {
    /// The event's id.
    pub id: String,
    /// `null`: the event belongs to the whole turn.
    pub thread_id: Option<String>,
    /// ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// How the turn ended.
    pub state: TerminalState,
}

/// The state of a turn; `status` tells the variants apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(untagged)]
pub enum TurnState {
    /// It has ended.
    Terminal(Box<TerminalState>),
    /// It has not ended.
    Running(RunningState),
}

/// How a turn ended; `status` tells the variants apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "status", rename_all = "lowercase")]
#[tsify(missing_as_null)]
pub enum TerminalState {
    /// Normally, or paused: then `required_actions` lists what to answer.
    Done {
        /// The last message of the main thread; `null` when the turn paused.
        output: Option<Box<ModelMessage>>,
        /// The actions that the next turn must answer.
        required_actions: Vec<RequiredActionEvent>,
        /// ISO 8601.
        #[serde(skip_serializing_if = "Option::is_none")]
        completed_at: Option<String>,
        /// Token counts.
        #[serde(skip_serializing_if = "Option::is_none")]
        metrics: Option<TurnMetrics>,
        /// The reason, in the words of the `AgentEvent` protocols.
        #[serde(skip_serializing_if = "Option::is_none")]
        termination: Option<Termination>,
        /// The run's result, if the server sends it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[tsify(type = "unknown")]
        result: Option<serde_json::Value>,
    },
    /// It was cancelled.
    Cancelled {
        /// `"client-cancelled"`, `"server-execution-timeout"`, `"cancelled-for-next-turn"`, `"abandoned"`, or a newer
        /// value.
        reason: Option<String>,
        /// ISO 8601.
        #[serde(skip_serializing_if = "Option::is_none")]
        completed_at: Option<String>,
        /// Token counts.
        #[serde(skip_serializing_if = "Option::is_none")]
        metrics: Option<TurnMetrics>,
        /// The reason, in the words of the `AgentEvent` protocols.
        #[serde(skip_serializing_if = "Option::is_none")]
        termination: Option<Termination>,
    },
    /// It failed.
    Error {
        /// What happened.
        message: String,
        /// ISO 8601.
        #[serde(skip_serializing_if = "Option::is_none")]
        completed_at: Option<String>,
        /// Token counts.
        #[serde(skip_serializing_if = "Option::is_none")]
        metrics: Option<TurnMetrics>,
        /// The reason, in the words of the `AgentEvent` protocols.
        #[serde(skip_serializing_if = "Option::is_none")]
        termination: Option<Termination>,
        /// The server's error code, if it sends one.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
}

/// An event that requires an action of the client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type")]
pub enum RequiredActionEvent {
    /// Calls wait for approval.
    #[serde(rename = "tool.approval_required")]
    ToolApproval(ToolsRequired),
    /// Calls wait for results.
    #[serde(rename = "tool.response_required")]
    ToolResponse(ToolsRequired),
    /// MCP servers wait for authorization.
    #[serde(rename = "mcp.auth_required")]
    McpAuth(McpAuthRequired),
}

/// Token counts of a whole turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct TurnMetrics {
    /// Tokens read.
    pub total_input_tokens: u64,
    /// Tokens written.
    pub total_output_tokens: u64,
    /// The sum of both.
    pub total_tokens: u64,
    /// Tokens read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_cache_read_tokens: Option<u64>,
    /// Tokens written to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_cache_write_tokens: Option<u64>,
    /// Tokens of reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_reasoning_tokens: Option<u64>,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_cost_in_usd: Option<f64>,
}
