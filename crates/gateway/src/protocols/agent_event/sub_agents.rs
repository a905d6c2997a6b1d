//! The sub-agents that work for a run, and their messages.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::message::ToolCall;
use super::run::Run;
use crate::agents::Drafts;

/// The sub-agents of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct SubAgents {
    /// By thread.
    pub(super) agents: HashMap<String, Working>,
    pub(super) drafts: Drafts<()>,
}

/// A sub-agent at work.
#[derive(Debug, Clone)]
pub(super) struct Working {
    pub(super) parent_call: String,
    pub(super) name: String,
    pub(super) run: Arc<Run>,
    pub(super) calls: Vec<ToolCall>,
    pub(super) output: String,
    pub(super) done: u32,
}

impl SubAgents {
    /// The call that started the sub-agent whose call asks for consent, and that asking call.
    pub(super) fn asking(&self, thread: &str, call: &str) -> Option<(String, String, Value)> {
        let agent = self.agents.get(thread)?;
        let asked = agent.calls.iter().find(|known| known.id == call)?;
        Some((agent.parent_call.clone(), asked.name.clone(), asked.arguments.clone()))
    }
}
