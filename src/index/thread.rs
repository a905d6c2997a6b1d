//! A thread: of the main agent, or of a sub-agent.

use crate::json::Object;
use crate::message::{Json, NamedJson};

/// A thread of a turn.
#[derive(Debug, Clone)]
pub struct Thread {
    /// `"main"`, or the sub-agent's thread id.
    pub id: String,
    /// Its status.
    pub status: ThreadStatus,
    pub(super) title: Json,
    pub(super) parent: Json,
    pub(super) agent_info: Json,
    /// The results of calls that an earlier turn made, for example before an approval, by the call's id.
    pub(super) responses: NamedJson,
}

/// The status of a thread. The main thread lasts as long as its session, and never ends.
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
            status: ThreadStatus::Running,
            title: Json::new(),
            parent: Json::new(),
            agent_info: Json::new(),
            responses: NamedJson::default(),
        }
    }

    /// Takes the fields of an event about the thread. Missing fields keep their value.
    pub(super) fn describe(&mut self, event: &Object<'_>) {
        for (name, field) in
            [("title", &mut self.title), ("parent", &mut self.parent), ("agent_info", &mut self.agent_info)]
        {
            if event.get(name).is_some_and(|value| !value.is_null()) {
                *field = event.json(name);
            }
        }
    }
}
