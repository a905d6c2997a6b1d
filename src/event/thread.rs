//! Threads of sub-agents: who started them, and how they ended.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

use super::ModelMessage;

/// A sub-agent's thread began (`thread.created`). The main thread has no such event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ThreadCreated {
    /// The event's id.
    pub id: String,
    /// The new thread.
    pub thread_id: String,
    /// ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// A label for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool call that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentCall>,
    /// The sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_info: Option<AgentInfo>,
}

/// The tool call that started a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ParentCall {
    /// The thread in which the call was made.
    pub thread_id: String,
    /// The call.
    pub tool_call_id: String,
}

/// The agent of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct AgentInfo {
    /// Currently always `"dynamic"`.
    pub r#type: String,
    /// The agent's name.
    pub name: String,
    /// The parent's instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A sub-agent's thread ended (`thread.done`). The turn continues.
///
/// Servers nest the outcome in `state`; the reference pages have flat fields (`status`, `output`, `message`). An event
/// has both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ThreadDone {
    /// The event's id.
    pub id: String,
    /// The thread that ended.
    pub thread_id: String,
    /// ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// A label for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool call that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentCall>,
    /// How it ended.
    pub state: ThreadState,
    /// `state.status` in the spelling of the reference pages.
    #[tsify(type = "\"done\" | \"error\"")]
    pub status: String,
    /// `state.output` in the spelling of the reference pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<ModelMessage>,
    /// `state.error` in the spelling of the reference pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// How a thread ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum ThreadState {
    /// Normally.
    Done {
        /// Its last message.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<ModelMessage>,
    },
    /// With a failure.
    Error {
        /// What happened.
        error: String,
        /// Its last message, if there was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<ModelMessage>,
    },
}
