//! The index of a turn's events by id: threads, messages, tool calls, and what changed in them. It knows events and
//! messages, and nothing of a protocol, a connection or JavaScript.
//!
//! Deltas are merged into the message with their id (protocol note, section 3.7). The index also keeps the tree of
//! threads, joins calls with their results, and knows the open required actions of all threads. The cost of an event does
//! not depend on the number of events before it.

mod actions;
mod agent;
mod changes;
mod decimal;
mod notices;
mod operations;
mod output;
#[cfg(test)]
mod tests;
mod thread;

pub use actions::{PendingAction, PendingKind};
pub use thread::{Thread, ThreadStatus};

pub use crate::message::{Message, MessageCall};

use crate::event::{EventKind, EventRef, MAIN_THREAD, TextDelta, TextField};
use crate::features::{AgentStates, JsonNumbers, Part, ToolOutputs, TrackedPatches};
use crate::json::{Object, Value};
use crate::message::{Json, NamedJson};
use crate::names::Names;

/// The threads, messages and required actions of one turn.
#[derive(Debug)]
pub struct EventIndex {
    messages: Vec<Message>,
    message_of: Names,
    threads: Vec<Thread>,
    pending: Vec<PendingAction>,
    mcp_servers: NamedJson,
    sandbox_id: Option<String>,
    recorded_state: Json,
    /// Whether events of the turn are missing.
    has_missing_events: bool,
    agent: Part<agent::Agent, { AgentStates::COUNT }>,
    notices: Part<notices::Notices, { ToolOutputs::COUNT }>,
    changes: changes::Changes,
}

impl Default for EventIndex {
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            message_of: Names::default(),
            threads: vec![Thread::new(MAIN_THREAD)],
            pending: Vec::new(),
            mcp_servers: NamedJson::default(),
            sandbox_id: None,
            recorded_state: Json::new(),
            has_missing_events: false,
            agent: Part::default(),
            notices: Part::default(),
            changes: changes::Changes::new(),
        }
    }
}

impl EventIndex {
    /// An index with only the main thread.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The messages in the order in which they began.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The message with this id.
    #[must_use]
    pub fn message(&self, id: &str) -> Option<&Message> {
        self.messages.get(self.message_of.get(id)? as usize)
    }

    /// The threads: the main thread first, then sub-agents in the order in which they appeared.
    #[must_use]
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// The thread with this id.
    #[must_use]
    pub fn thread(&self, id: &str) -> Option<&Thread> {
        self.threads.iter().find(|thread| thread.id == id)
    }

    /// The actions that wait for the client, of all threads.
    #[must_use]
    pub fn pending(&self) -> &[PendingAction] {
        &self.pending
    }

    /// The id of the sandbox, once there is one.
    #[must_use]
    pub fn sandbox_id(&self) -> Option<&str> {
        self.sandbox_id.as_deref()
    }

    /// Appends a piece of text: the hot path.
    pub fn append(&mut self, delta: &TextDelta<'_>) {
        let slot = self.slot(delta.source, delta.id, delta.thread_id);
        if let Some(message) = self.messages.get_mut(slot) {
            let head_changed = message.append(delta);
            self.changes.message(slot, &mut self.messages, head_changed);
            if AgentStates::EXISTS && head_changed {
                self.link_activities(slot);
            }
            if matches!(delta.field, TextField::Arguments(_)) {
                self.link_actions(slot);
            }
        }
    }

    /// Takes an event of any kind.
    pub fn apply(&mut self, event: EventRef<'_>) {
        let EventRef { kind, fields } = event;
        match kind {
            EventKind::ModelMessage if AgentStates::EXISTS && self.continue_message(fields) => {}
            EventKind::ModelMessage => self.change(fields, Message::apply_base),
            EventKind::ModelMessageDelta => self.change(fields, Message::apply_delta),
            EventKind::ToolResponse => self.tool_response(fields),
            EventKind::ThreadCreated => self.thread_created(fields),
            EventKind::ThreadDone => self.thread_done(fields),
            EventKind::McpInitialize => self.mcp_initialized(fields),
            EventKind::SandboxCreated => {
                self.sandbox_id = Some(fields.text("sandbox_id").to_owned());
                self.changes.turn = true;
            }
            EventKind::ToolApprovalRequired => self.add_actions(PendingKind::Approval, fields),
            EventKind::ToolResponseRequired => self.add_actions(PendingKind::Response, fields),
            EventKind::McpAuthRequired => self.add_actions(PendingKind::Auth, fields),
            EventKind::TurnDone => {
                if let Some(state) = fields.object("state") {
                    self.turn_ended(state);
                }
            }
            EventKind::TurnCreated | EventKind::Unknown => {}
            EventKind::ToolResumed => self.tool_resumed(fields),
            EventKind::ToolCancelled => self.tool_cancelled(fields),
            EventKind::ToolOutput => self.tool_output(fields),
            EventKind::Notice => self.add_notice(fields),
            EventKind::MessageReset
            | EventKind::StateSnapshot
            | EventKind::StateDelta
            | EventKind::MessagesSnapshot
            | EventKind::ActivitySnapshot
            | EventKind::ActivityDelta
            | EventKind::Error => self.apply_agent(event),
        }
    }

    /// The next base of this message is the whole message, even if it looks like a beginning: a listed message may never
    /// have ended. Does nothing if the message is not known.
    pub(crate) fn expect_whole(&mut self, id: &str) {
        let slot = self.message_of.get(id);
        if let Some(message) = slot.and_then(|slot| self.messages.get_mut(slot as usize)) {
            message.has_base = true;
        }
    }

    /// The next base of this message comes from a list that has only contents and calls.
    pub(crate) fn expect_partial_listing(&mut self, id: &str) {
        let slot = self.message_of.get(id);
        if let Some(message) = slot.and_then(|slot| self.messages.get_mut(slot as usize)) {
            message.is_partial_listing = true;
        }
    }

    /// Takes a missed event after the turn has ended. The required actions stay those of the turn's end.
    pub(crate) fn backfill(&mut self, event: EventRef<'_>) {
        let pending = self.pending.clone();
        self.apply(event);
        if self.pending.len() != pending.len() {
            self.pending = pending;
        }
    }

    /// Takes the terminal state of the turn, which repeats its required actions, or is the first to have them.
    pub fn turn_ended(&mut self, state: &Object<'_>) {
        self.apply_required_actions(state);
        self.output(state, |message| !message.has_base);
    }

    /// Takes a terminal state from a record of the turn, whose events are missing. Its output is the last message, so it is
    /// added only when changes are taken, after the events that are listed next.
    pub fn turn_recorded_as_ended(&mut self, state: &Object<'_>) {
        self.set_missing_events(true);
        self.apply_required_actions(state);
        self.recorded_state = state.to_json();
    }

    pub(super) fn apply_recorded_output(&mut self) {
        let state = std::mem::take(&mut self.recorded_state);
        let state = Value::parse(&state).unwrap_or_default();
        let state = state.as_object().unwrap_or(const { &Object::new() });
        // Other missed messages would come before it.
        let id = state.object("output").map_or("", |output| output.text("id"));
        if self.messages.is_empty() || self.message(id).is_some() {
            self.output(state, |message| !message.has_base || message.finish_reason().is_empty());
        }
    }

    /// Whether events of the turn are missing.
    #[must_use]
    pub fn has_missing_events(&self) -> bool {
        self.has_missing_events
    }

    /// Sets whether events of the turn are missing.
    pub(crate) fn set_missing_events(&mut self, has_missing_events: bool) {
        self.changes.turn |= self.has_missing_events != has_missing_events;
        self.has_missing_events = has_missing_events;
    }

    /// Removes all messages, because all events of the turn are listed again from the first one on.
    pub(crate) fn restart(&mut self) {
        self.messages.clear();
        self.message_of = Names::default();
        for action in &mut self.pending {
            action.slot = None;
        }
        self.changes.restart();
    }

    fn apply_required_actions(&mut self, state: &Object<'_>) {
        if state.text("status") != "done" {
            return self.remove_actions(&|_| true);
        }
        for action in state.array("required_actions").iter().filter_map(Value::as_object) {
            let kind = EventKind::of(action.text("type"));
            // Unknown kinds of actions are only in the snapshot's state.
            if matches!(
                kind,
                EventKind::ToolApprovalRequired
                    | EventKind::ToolResponseRequired
                    | EventKind::McpAuthRequired
            ) {
                self.apply(EventRef { kind, fields: action });
            }
        }
    }

    /// Takes the output of a turn or a thread, if its message is missing or `is_partial`.
    fn output(&mut self, state: &Object<'_>, is_partial: fn(&Message) -> bool) {
        let Some(output) = state.object("output") else {
            return;
        };
        let id = output.text("id");
        if !id.is_empty() && self.message(id).is_none_or(is_partial) {
            self.change(output, Message::apply_base);
        }
    }

    fn change(&mut self, event: &Object<'_>, change: fn(&mut Message, &Object<'_>)) {
        let slot = self.slot(0, event.text("id"), event.text("thread_id"));
        if let Some(message) = self.messages.get_mut(slot) {
            change(message, event);
            self.changes.message(slot, &mut self.messages, true);
            self.link_actions(slot);
            if AgentStates::EXISTS {
                self.link_activities(slot);
            }
        }
    }

    /// Adds the result to the newest call with that id in its thread. The result of an earlier turn's call is kept with the
    /// thread.
    fn tool_response(&mut self, response: &Object<'_>) {
        let (thread_id, call_id) = (response.text("thread_id"), response.text("tool_call_id"));
        self.remove_actions(&|action| action.is_call(thread_id, call_id));
        if TrackedPatches::EXISTS
            && let Some(patch) = response.object("patch")
        {
            self.apply_tracked_patch(patch);
        }
        let json = without_sequence_number(response);
        if let Some(slot) = self.newest_call(thread_id, call_id) {
            if let Some(call) = self.messages.get_mut(slot).and_then(|message| message.call_mut(call_id)) {
                call.response = json;
            }
            return self.changes.message(slot, &mut self.messages, true);
        }
        let thread = self.thread_slot(thread_id);
        if let Some(thread) = self.threads.get_mut(thread) {
            thread.responses.set(call_id, json);
        }
        self.changes.threads = true;
    }

    fn thread_created(&mut self, created: &Object<'_>) {
        let id = created.text("thread_id");
        let slot = self.thread_slot(id);
        if let Some(thread) = self.threads.get_mut(slot) {
            thread.describe(created);
        }
        self.changes.threads = true;
        let Some(parent) = created.object("parent") else {
            return;
        };
        let call_id = parent.text("tool_call_id");
        // The call that started the thread refers to it.
        if let Some(slot) = self.newest_call(parent.text("thread_id"), call_id) {
            if let Some(call) = self.messages.get_mut(slot).and_then(|message| message.call_mut(call_id)) {
                call.thread_id = Some(id.to_owned());
            }
            self.changes.message(slot, &mut self.messages, true);
        }
    }

    fn thread_done(&mut self, done: &Object<'_>) {
        let slot = self.thread_slot(done.text("thread_id"));
        let (Some(thread), Some(state)) = (self.threads.get_mut(slot), done.object("state")) else {
            return;
        };
        thread.describe(done);
        thread.status = match state.text("status") {
            "done" => ThreadStatus::Done,
            // Any other end of a thread is a failure.
            other if state.text("error").is_empty() => ThreadStatus::Error(other.to_owned()),
            _ => ThreadStatus::Error(state.text("error").to_owned()),
        };
        self.changes.threads = true;
        self.output(state, |message| !message.has_base);
    }

    fn mcp_initialized(&mut self, event: &Object<'_>) {
        for server in event.array("mcp_servers").iter().filter_map(Value::as_object) {
            self.mcp_servers.set(server.text("id"), server.to_json());
        }
        self.changes.turn = true;
    }

    /// The slot of a message, which is added if it is missing: a delta may come before its base.
    #[inline]
    fn slot(&mut self, source: u32, id: &str, thread_id: &str) -> usize {
        let (slot, is_new) = self.message_of.number_of(source, id);
        if is_new {
            let thread = self.thread_slot(thread_id);
            self.messages.push(Message::new(id, thread));
        }
        slot as usize
    }

    /// The slot of a thread, which is added if it is missing: a sub-agent may continue from an earlier turn.
    fn thread_slot(&mut self, id: &str) -> usize {
        if let Some(slot) = self.threads.iter().position(|thread| thread.id == id) {
            return slot;
        }
        self.threads.push(Thread::new(id));
        self.changes.threads = true;
        self.threads.len() - 1
    }
}

/// The JSON of a result without its sequence number, which only listed results have.
fn without_sequence_number(response: &Object<'_>) -> String {
    if !JsonNumbers::EXISTS || !response.contains("sequence_number") {
        return response.to_json();
    }
    let mut response = response.clone();
    response.remove("sequence_number");
    response.to_json()
}
