//! Required actions: what waits for the client before the next turn can go on.

use crate::event::{McpAuthRequired, McpServerAuth, ToolsRequired};

use super::EventIndex;

/// One thing that waits for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingAction {
    /// The thread that waits; empty where the whole turn does.
    pub thread_id: String,
    /// What is asked.
    pub kind: PendingKind,
    /// The call that waits; empty for an authorization.
    pub tool_call_id: String,
    /// The message that made the call, where the server says so.
    pub source_event_id: String,
}

/// What is asked of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PendingKind {
    /// To allow or deny a call.
    Approval,
    /// To supply a call's result.
    Response,
    /// To authorize an MCP server.
    Auth(McpServerAuth),
}

impl PendingAction {
    /// Whether this is about the call of this id in this thread.
    #[must_use]
    pub fn is_call(&self, thread_id: &str, tool_call_id: &str) -> bool {
        !self.tool_call_id.is_empty()
            && self.thread_id == thread_id
            && self.tool_call_id == tool_call_id
    }
}

impl EventIndex {
    pub(super) fn require(&mut self, kind: PendingKind, required: &ToolsRequired) {
        for call in &required.tool_calls {
            if self
                .pending
                .iter()
                .any(|known| known.is_call(&required.thread_id, &call.id))
            {
                continue;
            }
            self.pending.push(PendingAction {
                thread_id: required.thread_id.clone(),
                kind: kind.clone(),
                tool_call_id: call.id.clone(),
                source_event_id: call.source_event_id.clone(),
            });
            // The call's status changes with it.
            if let Some(slot) = self.call_slot(&required.thread_id, &call.id, &call.source_event_id)
                && let Some(message) = self.messages.get_mut(slot)
            {
                self.changes.message(slot, message, true);
            }
        }
        self.changes.turn = true;
    }

    pub(super) fn require_auth(&mut self, required: &McpAuthRequired) {
        for server in &required.mcp_servers {
            let kind = PendingKind::Auth(server.clone());
            if !self.pending.iter().any(|known| known.kind == kind) {
                self.pending.push(PendingAction {
                    thread_id: String::new(),
                    kind,
                    tool_call_id: String::new(),
                    source_event_id: String::new(),
                });
            }
        }
        self.changes.turn = true;
    }

    /// The message that made a call: the one that the server names, or the newest in that thread.
    pub(super) fn call_slot(
        &self,
        thread_id: &str,
        call_id: &str,
        source_event_id: &str,
    ) -> Option<usize> {
        let named = self.message_of.get(source_event_id).copied();
        named
            .filter(|slot| {
                self.messages
                    .get(*slot)
                    .is_some_and(|message| message.call(call_id).is_some())
            })
            .or_else(|| {
                let thread = self
                    .threads
                    .iter()
                    .position(|thread| thread.id == thread_id)?;
                self.messages.iter().rposition(|message| {
                    message.thread == thread && message.call(call_id).is_some()
                })
            })
    }
}
