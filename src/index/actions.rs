//! Required actions: what waits for the client before the next turn can go on.

use crate::json::{Object, Value};

use super::message::Json;
use super::{EventIndex, Message};

/// One thing that waits for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingAction {
    /// What is asked.
    pub kind: PendingKind,
    /// The thread that waits; empty where the whole turn does.
    pub thread_id: String,
    /// The call that waits; for an authorization the MCP server's id.
    pub id: String,
    /// The message that made the call, where the server says so.
    pub(super) source_event_id: String,
    /// The slot of that message, once it has come.
    pub(super) slot: Option<usize>,
    /// The MCP server.
    pub(super) server: Json,
    /// The tool, where the server says so apart from the call.
    pub(super) name: String,
    /// The call's arguments, where the server says so apart from the call.
    pub(super) arguments: String,
    /// What the tool is, where the call was made in an earlier turn.
    pub(super) tool_info: Json,
    /// What the call waits for, as the server put it.
    pub(super) suspension: Json,
}

/// What is asked of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingKind {
    /// To allow or deny a call.
    Approval,
    /// To supply a call's result.
    Response,
    /// To authorize an MCP server.
    Auth,
}

impl PendingAction {
    /// What the call waits for, as the server put it: JSON; empty if it said nothing.
    pub(crate) fn suspension(&self) -> &str {
        &self.suspension
    }

    /// Whether this is about the call of this id in this thread.
    #[must_use]
    pub fn is_call(&self, thread_id: &str, tool_call_id: &str) -> bool {
        self.kind != PendingKind::Auth && self.id == tool_call_id && self.thread_id == thread_id
    }
}

impl EventIndex {
    /// Takes an event that asks something of the client.
    pub(super) fn require(&mut self, kind: PendingKind, event: &Object<'_>) {
        let list = if kind == PendingKind::Auth { "mcp_servers" } else { "tool_calls" };
        for item in event.array(list).iter().filter_map(Value::as_object) {
            let mut action = PendingAction {
                kind,
                thread_id: event.text("thread_id").to_owned(),
                id: item.text("id").to_owned(),
                source_event_id: item.text("source_event_id").to_owned(),
                slot: None,
                server: if kind == PendingKind::Auth { item.to_json() } else { String::new() },
                name: item.text("name").to_owned(),
                arguments: item.text("arguments").to_owned(),
                tool_info: Json::new(),
                suspension: item.object("suspension").map(Object::to_json).unwrap_or_default(),
            };
            // A turn that ends says once more what it waits for.
            let is_known = |known: &PendingAction| {
                known.kind == kind && known.id == action.id && known.thread_id == action.thread_id
            };
            if !self.pending.iter().any(is_known) {
                action.slot = self.call_slot(&action);
                self.mark_call(&action);
                self.pending.push(action);
            }
        }
        self.changes.turn = true;
    }

    /// What is `over` does not wait any longer.
    pub(super) fn release(&mut self, over: &dyn Fn(&PendingAction) -> bool) {
        while let Some(at) = self.pending.iter().position(over) {
            let action = self.pending.remove(at);
            self.changes.turn = true;
            self.mark_call(&action);
        }
    }

    /// The call waits no longer.
    #[cfg(feature = "call-updates")]
    pub(super) fn tool_resumed(&mut self, event: &Object<'_>) {
        let (thread_id, call_id) = (event.text("thread_id"), event.text("tool_call_id"));
        self.release(&|action| action.is_call(thread_id, call_id));
    }

    /// The call will not be made. One of the same id may come after it.
    #[cfg(feature = "call-updates")]
    pub(super) fn tool_cancelled(&mut self, event: &Object<'_>) {
        let (thread_id, call_id) = (event.text("thread_id"), event.text("tool_call_id"));
        self.release(&|action| action.is_call(thread_id, call_id));
        let Some(slot) = self.newest_call(thread_id, call_id) else {
            return;
        };
        if let Some(call) = self.messages.get_mut(slot).and_then(|message| message.call_mut(call_id)) {
            call.is_cancelled = true;
        }
        self.changes.message(slot, &mut self.messages, true);
    }

    /// A later turn has answered whatever waited.
    pub fn settle(&mut self) {
        self.release(&|_| true);
    }

    /// What has no result will get none: a later turn has thrown it away.
    #[cfg(feature = "discard-pending")]
    pub fn discard(&mut self) {
        self.settle();
        for slot in 0..self.messages.len() {
            let Some(message) = self.messages.get_mut(slot) else { return };
            for call in message.calls.iter_mut().flatten().filter(|call| call.response.is_empty()) {
                call.is_cancelled = true;
            }
            self.changes.message(slot, &mut self.messages, true);
        }
    }

    /// The status of a call changes with what waits for it.
    fn mark_call(&mut self, action: &PendingAction) {
        if let Some(slot) = action.slot {
            self.changes.message(slot, &mut self.messages, true);
        }
    }

    /// A message has changed: an action shows the call that waits. That call may have come only now, for
    /// instance from a list.
    pub(super) fn show_calls(&mut self, slot: usize) {
        for at in 0..self.pending.len() {
            let Some(action) = self.pending.get(at) else { return };
            let found = action.slot.or_else(|| self.call_slot(action));
            self.changes.turn |= found == Some(slot);
            if let Some(action) = self.pending.get_mut(at) {
                action.slot = found;
            }
        }
    }

    /// Whether an action can be shown: with its call. While events of the turn are missing, only what the server itself
    /// says of a call is known to be the whole of it.
    pub(super) fn is_shown(&self, action: &PendingAction) -> bool {
        let is_told = !action.name.is_empty();
        match action.kind {
            PendingKind::Auth => true,
            _ if self.is_unread => is_told && !action.arguments.is_empty(),
            _ => is_told || action.slot.is_some(),
        }
    }

    /// Whether something waits whose call is not known.
    #[must_use]
    pub fn hides_actions(&self) -> bool {
        !self.pending.iter().all(|action| self.is_shown(action))
    }

    /// Takes a message of an earlier turn: it may have made a call that waits in this one. The newest message comes
    /// first.
    pub(crate) fn explain(&mut self, event: &Object<'_>) {
        let message = Message::of(event);
        for action in &mut self.pending {
            let is_named = [event.text("id"), ""].contains(&&*action.source_event_id);
            let is_maker = is_named && action.thread_id == event.text("thread_id");
            if let Some(call) = message.call(&action.id).filter(|_| is_maker && action.name.is_empty()) {
                call.display_name().clone_into(&mut action.name);
                call.arguments().clone_into(&mut action.arguments);
                action.tool_info.clone_from(&call.tool_info);
                self.changes.turn = true;
            }
        }
    }

    /// The message that made a call: the one that the server names, or the newest in that thread.
    fn call_slot(&self, action: &PendingAction) -> Option<usize> {
        let has_call =
            |slot: &usize| self.messages.get(*slot).is_some_and(|message| message.call(&action.id).is_some());
        let named = self.message_of.get(&action.source_event_id).map(|slot| slot as usize);
        named.filter(has_call).or_else(|| self.newest_call(&action.thread_id, &action.id))
    }

    /// The newest message in a thread that makes this call. Some models number their calls anew in every
    /// message.
    pub(super) fn newest_call(&self, thread_id: &str, call_id: &str) -> Option<usize> {
        let thread = self.threads.iter().position(|thread| thread.id == thread_id)?;
        self.messages.iter().rposition(|message| message.thread == thread && message.call(call_id).is_some())
    }
}
