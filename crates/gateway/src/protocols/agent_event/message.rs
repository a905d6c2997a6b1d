//! The messages that a thread keeps, and how each dialect shows them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(super) use turnwire::event::ThreadToolCall as ToolCall;

use super::server::Dialect;

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    System,
    User,
    Assistant,
    Tool,
}

/// A stored message.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) id: Option<String>,
    pub(super) role: Role,
    pub(super) content: String,
    pub(super) tool_calls: Vec<ToolCall>,
    pub(super) tool_call_id: Option<String>,
    /// For the model only.
    pub(super) internal: bool,
    /// The run that made it; results of decisions have none.
    pub(super) run_id: Option<String>,
    pub(super) step: Option<u32>,
}

impl Message {
    pub(super) fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            id: Some(message_id()),
            role,
            content: content.into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
            internal: false,
            run_id: None,
            step: None,
        }
    }

    /// The message without the run that made it, which no endpoint shows.
    pub(super) fn show(&self, dialect: Dialect) -> Value {
        let content = match dialect {
            Dialect::Tirea => json!(self.content),
            Dialect::Awaken if self.content.is_empty() => json!([]),
            Dialect::Awaken => json!([{"type": "text", "text": self.content}]),
        };
        let mut shown = json!({"role": self.role, "content": content});
        if let Some(id) = &self.id {
            shown["id"] = json!(id);
        }
        if !self.tool_calls.is_empty() {
            shown["tool_calls"] = json!(self.tool_calls);
        }
        if let Some(call) = &self.tool_call_id {
            shown["tool_call_id"] = json!(call);
        }
        if self.internal {
            shown["visibility"] = json!("internal");
        }
        if let Some(step) = self.step {
            shown["metadata"] = json!({"step_index": step});
        }
        if let (Dialect::Awaken, Some(run)) = (dialect, &self.run_id) {
            shown["metadata"]["run_id"] = json!(run);
        }
        shown
    }
}

/// An id as the real server makes them: a UUID that sorts by time.
pub(super) fn message_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// An id of a thread or a run for which the client sent none: the same without hyphens.
pub(super) fn plain_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
