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
    /// `"dynamic"` today.
    pub r#type: String,
    /// The agent's name.
    pub name: String,
    /// What the parent handed to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A sub-agent's thread ended (`thread.done`). The turn goes on.
///
/// Servers nest the outcome in `state`; the reference pages have it flat (`status`, `output`,
/// `message`). Both are here.
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
    /// The tool call that had started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentCall>,
    /// How it ended.
    pub state: ThreadState,
    /// `state.status`, as the reference pages spell it.
    #[tsify(type = "\"done\" | \"error\"")]
    pub status: String,
    /// `state.output`, as the reference pages spell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<ModelMessage>,
    /// `state.error`, as the reference pages spell it.
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
        /// Its last message, where there was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<ModelMessage>,
    },
}
