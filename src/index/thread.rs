//! A thread: the main agent's, or a sub-agent's.

use crate::event::{AgentInfo, ParentCall, ToolResponse};

/// A thread of a turn.
#[derive(Debug, Clone)]
pub struct Thread {
    /// `"main"`, or the sub-agent's thread id.
    pub id: String,
    /// A label for people.
    pub title: Option<String>,
    /// The tool call that started it; `None` for the main thread.
    pub parent: Option<ParentCall>,
    /// The sub-agent.
    pub agent_info: Option<AgentInfo>,
    /// Where it stands.
    pub status: ThreadStatus,
    /// Results of calls that were made in an earlier turn, for instance before an approval.
    pub responses: Vec<ToolResponse>,
}

/// Where a thread stands. The main thread never ends: it lives as long as its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadStatus {
    /// It has not ended.
    Running,
    /// It ended normally.
    Done,
    /// It failed, for this reason.
    Error(String),
}

impl Thread {
    pub(super) fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            title: None,
            parent: None,
            agent_info: None,
            status: ThreadStatus::Running,
            responses: Vec::new(),
        }
    }
}
