//! Required actions: the calls and servers that wait for the client.

use crate::features::{CallUpdates, ClientConversations};
use crate::json::{Object, Value};

use crate::message::{Json, Message};

use super::EventIndex;

/// A call or a server that waits for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingAction {
    /// What the client is asked for.
    pub kind: PendingKind,
    /// The waiting thread; empty if the whole turn waits.
    pub thread_id: String,
    /// The id of the waiting call; for an authorization, of the MCP server.
    pub id: String,
    /// The id of the message that made the call, if the server sends it.
    pub(super) source_event_id: String,
    /// The slot of that message, once it was received.
    pub(super) slot: Option<usize>,
    /// The MCP server, for an authorization.
    pub(super) server: Json,
    /// The name of the tool, if the server sends it outside the call.
    pub(super) name: String,
    /// The call's arguments, if the server sends them outside the call.
    pub(super) arguments: String,
    /// The tool info, if an earlier turn made the call.
    pub(super) tool_info: Json,
    /// The reason for the wait, as the server sent it.
    pub(super) suspension: Json,
}

/// What the client is asked for.
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
    /// The reason for the wait as JSON, as the server sent it; empty if it sent none.
    pub(crate) fn suspension(&self) -> &str {
        &self.suspension
    }

    /// Whether the action is for the call with this id in this thread.
    #[must_use]
    pub fn is_call(&self, thread_id: &str, tool_call_id: &str) -> bool {
        self.kind != PendingKind::Auth && self.id == tool_call_id && self.thread_id == thread_id
    }
}

impl EventIndex {
    /// Takes an event that asks the client for something.
    pub(super) fn add_actions(&mut self, kind: PendingKind, event: &Object<'_>) {
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
            // The end of a turn repeats its actions.
            let is_known = |known: &PendingAction| {
                known.kind == kind && known.id == action.id && known.thread_id == action.thread_id
            };
            if !self.pending.iter().any(is_known) {
                action.slot = self.call_slot(&action);
                self.mark_call_changed(&action);
                self.pending.push(action);
            }
        }
        self.changes.turn = true;
    }

    /// Removes the actions that are resolved.
    pub(super) fn remove_actions(&mut self, is_resolved: &dyn Fn(&PendingAction) -> bool) {
        while let Some(at) = self.pending.iter().position(is_resolved) {
            let action = self.pending.remove(at);
            self.changes.turn = true;
            self.mark_call_changed(&action);
        }
    }

    /// The call no longer waits.
    pub(super) fn tool_resumed(&mut self, event: &Object<'_>) {
        if CallUpdates::EXISTS {
            let (thread_id, call_id) = (event.text("thread_id"), event.text("tool_call_id"));
            self.remove_actions(&|action| action.is_call(thread_id, call_id));
        }
    }

    /// The call is cancelled. A later call may have the same id.
    pub(super) fn tool_cancelled(&mut self, event: &Object<'_>) {
        if !CallUpdates::EXISTS {
            return;
        }
        let (thread_id, call_id) = (event.text("thread_id"), event.text("tool_call_id"));
        self.remove_actions(&|action| action.is_call(thread_id, call_id));
        let Some(slot) = self.newest_call(thread_id, call_id) else {
            return;
        };
        if let Some(call) = self.messages.get_mut(slot).and_then(|message| message.call_mut(call_id)) {
            call.is_cancelled = true;
        }
        self.changes.message(slot, &mut self.messages, true);
    }

    /// Removes all actions: a later turn has answered them. Where a result was asked for, that turn has it.
    pub fn resolve_actions(&mut self) {
        for action in self.pending.iter().filter(|action| action.kind == PendingKind::Response) {
            let message = action.slot.and_then(|slot| self.messages.get_mut(slot));
            if let Some(call) = message.and_then(|message| message.call_mut(&action.id)) {
                call.is_answered = true;
            }
        }
        self.remove_actions(&|_| true);
    }

    /// Removes all actions, and cancels the calls without a result: a later turn has discarded them.
    pub fn discard_actions(&mut self) {
        self.remove_actions(&|_| true);
        for slot in 0..self.messages.len() {
            let Some(message) = self.messages.get_mut(slot) else { return };
            for call in message.calls.iter_mut().flatten().filter(|call| call.response.is_empty()) {
                call.is_cancelled = true;
            }
            self.changes.message(slot, &mut self.messages, true);
        }
    }

    /// The status of a call depends on its action.
    fn mark_call_changed(&mut self, action: &PendingAction) {
        if let Some(slot) = action.slot {
            self.changes.message(slot, &mut self.messages, true);
        }
    }

    /// A message has changed: links it to the actions whose calls it makes. It may have been received after the action,
    /// for example from a list.
    pub(super) fn link_actions(&mut self, slot: usize) {
        for at in 0..self.pending.len() {
            let Some(action) = self.pending.get(at) else { return };
            let found = action.slot.or_else(|| self.call_slot(action));
            self.changes.turn |= found == Some(slot);
            if let Some(action) = self.pending.get_mut(at) {
                action.slot = found;
            }
        }
    }

    /// Whether an action can be shown, which needs its call. While events of the turn are missing, a call in a message may
    /// be incomplete; only a call that the server sends with the action is not.
    pub(super) fn is_shown(&self, action: &PendingAction) -> bool {
        let has_own_call = !action.name.is_empty();
        // A question of the agent's need be about no call.
        let is_about_none = action.source_event_id.is_empty() && !action.suspension.is_empty();
        match action.kind {
            PendingKind::Auth => true,
            _ if ClientConversations::EXISTS && is_about_none => true,
            _ if self.has_missing_events => has_own_call && !action.arguments.is_empty(),
            _ => has_own_call || action.slot.is_some(),
        }
    }

    /// Whether there are actions whose calls are not known yet, and which are therefore not shown.
    #[must_use]
    pub fn hides_actions(&self) -> bool {
        !self.pending.iter().all(|action| self.is_shown(action))
    }

    /// Takes a message of an earlier turn, which may have made a call that waits in this one. Newer messages come first.
    pub(crate) fn apply_earlier_message(&mut self, event: &Object<'_>) {
        let message = Message::from_base(event);
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

    /// The slot of the message that made a call: of the one that the server names, or of the newest in the thread.
    fn call_slot(&self, action: &PendingAction) -> Option<usize> {
        let has_call =
            |slot: &usize| self.messages.get(*slot).is_some_and(|message| message.call(&action.id).is_some());
        let named = self.message_of.get(&action.source_event_id).map(|slot| slot as usize);
        named.filter(has_call).or_else(|| self.newest_call(&action.thread_id, &action.id))
    }

    /// The slot of the newest message in a thread that makes this call. Some models number their calls again in every
    /// message.
    pub(super) fn newest_call(&self, thread_id: &str, call_id: &str) -> Option<usize> {
        let thread = self.threads.iter().position(|thread| thread.id == thread_id)?;
        self.messages.iter().rposition(|message| message.thread == thread && message.call(call_id).is_some())
    }
}
