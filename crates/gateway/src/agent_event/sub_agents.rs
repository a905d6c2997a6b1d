//! The sub-agents that work for a run, and their messages.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::message::ToolCall;
use super::run::Run;
use crate::agents::MessageKey;

/// The sub-agents of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct SubAgents {
    /// By thread.
    pub(super) agents: HashMap<String, Working>,
    /// Messages that are being streamed: their thread and text.
    pub(super) buffers: HashMap<MessageKey, (String, String)>,
    pub(super) calls: HashMap<MessageKey, Vec<(ToolCall, String)>>,
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
    pub(super) fn begin_message(&mut self, key: MessageKey, thread: String) {
        self.buffers.insert(key, (thread, String::new()));
        self.calls.insert(key, Vec::new());
    }

    pub(super) fn text(&mut self, key: MessageKey, text: &str) {
        if let Some((_, said)) = self.buffers.get_mut(&key) {
            said.push_str(text);
        }
    }

    pub(super) fn arguments(&mut self, key: MessageKey, index: usize, text: &str) {
        if let Some((_, arguments)) = self.calls.get_mut(&key).and_then(|calls| calls.get_mut(index)) {
            arguments.push_str(text);
        }
    }

    /// The call that started the sub-agent whose call asks for consent, and what that call is.
    pub(super) fn asking(&self, thread: &str, call: &str) -> Option<(String, String, Value)> {
        let agent = self.agents.get(thread)?;
        let asked = agent.calls.iter().find(|known| known.id == call)?;
        Some((agent.parent_call.clone(), asked.name.clone(), asked.arguments.clone()))
    }
}
