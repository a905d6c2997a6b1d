//! The id-keyed event index: events → threads → messages → tool calls, and what changed in them.
//!
//! Deltas are merged into the message of their id (protocol note, section 3.7). Beside the messages the
//! index keeps the tree of threads, joins tool calls with their results, and knows which required
//! actions are still open over all threads. The cost of an event does not depend on how much came
//! before it.

mod actions;
#[cfg(feature = "agent-state")]
mod agent;
mod changes;
#[cfg(feature = "agent-state")]
mod decimal;
mod merge;
mod message;
mod named;
#[cfg(feature = "tool-output")]
mod notices;
#[cfg(feature = "agent-state")]
mod operations;
#[cfg(feature = "tool-output")]
mod output;
#[cfg(feature = "agent-state")]
mod patch;
#[cfg(test)]
mod tests;
mod thread;

pub use actions::{PendingAction, PendingKind};
pub use message::{Message, MessageCall};
pub use thread::{Thread, ThreadStatus};

use crate::event::{EventKind, EventRef, TextDelta, TextField};
use crate::json::{Object, Value};
use crate::names::Names;

use message::Json;
use named::NamedJson;

/// The thread that every turn has.
pub const MAIN_THREAD: &str = "main";

/// What is known of one turn.
#[derive(Debug)]
pub struct EventIndex {
    messages: Vec<Message>,
    message_of: Names,
    threads: Vec<Thread>,
    pending: Vec<PendingAction>,
    mcp_servers: NamedJson,
    sandbox_id: Option<String>,
    found_state: Json,
    /// Whether events of the turn are missing.
    is_unread: bool,
    #[cfg(feature = "agent-state")]
    agent: agent::Agent,
    #[cfg(feature = "tool-output")]
    notices: notices::Notices,
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
            found_state: Json::new(),
            is_unread: false,
            #[cfg(feature = "agent-state")]
            agent: agent::Agent::default(),
            #[cfg(feature = "tool-output")]
            notices: notices::Notices::default(),
            changes: changes::Changes::new(),
        }
    }
}

impl EventIndex {
    /// An index that knows of the main thread only.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The messages in the order in which they began.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The message of this id.
    #[must_use]
    pub fn message(&self, id: &str) -> Option<&Message> {
        self.messages.get(self.message_of.get(id)? as usize)
    }

    /// The threads: the main thread first, then sub-agents in the order in which they appeared.
    #[must_use]
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// The thread of this id.
    #[must_use]
    pub fn thread(&self, id: &str) -> Option<&Thread> {
        self.threads.iter().find(|thread| thread.id == id)
    }

    /// What waits for the client, over all threads.
    #[must_use]
    pub fn pending(&self) -> &[PendingAction] {
        &self.pending
    }

    /// The sandbox, once there is one.
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
            #[cfg(feature = "agent-state")]
            if head_changed {
                self.show_reports(slot);
            }
            if matches!(delta.field, TextField::Arguments(_)) {
                self.show_calls(slot);
            }
        }
    }

    /// Takes in any event.
    pub fn apply(&mut self, event: EventRef<'_>) {
        let EventRef { kind, fields } = event;
        match kind {
            #[cfg(feature = "agent-state")]
            EventKind::ModelMessage if self.goes_on(fields) => {}
            EventKind::ModelMessage => self.change(fields, Message::put),
            EventKind::ModelMessageDelta => self.change(fields, Message::merge),
            EventKind::ToolResponse => self.tool_response(fields),
            EventKind::ThreadCreated => self.thread_created(fields),
            EventKind::ThreadDone => self.thread_done(fields),
            EventKind::McpInitialize => self.mcp_initialized(fields),
            EventKind::SandboxCreated => {
                self.sandbox_id = Some(fields.text("sandbox_id").to_owned());
                self.changes.turn = true;
            }
            EventKind::ToolApprovalRequired => self.require(PendingKind::Approval, fields),
            EventKind::ToolResponseRequired => self.require(PendingKind::Response, fields),
            EventKind::McpAuthRequired => self.require(PendingKind::Auth, fields),
            EventKind::TurnDone => {
                if let Some(state) = fields.object("state") {
                    self.turn_ended(state);
                }
            }
            EventKind::TurnCreated | EventKind::Unknown => {}
            #[cfg(feature = "call-updates")]
            EventKind::ToolResumed => self.tool_resumed(fields),
            #[cfg(feature = "call-updates")]
            EventKind::ToolCancelled => self.tool_cancelled(fields),
            #[cfg(feature = "tool-output")]
            EventKind::ToolOutput => self.tool_output(fields),
            #[cfg(feature = "tool-output")]
            EventKind::Notice => self.noticed(fields),
            #[cfg(feature = "agent-state")]
            EventKind::MessageReset
            | EventKind::StateSnapshot
            | EventKind::StateDelta
            | EventKind::MessagesSnapshot
            | EventKind::ActivitySnapshot
            | EventKind::ActivityDelta
            | EventKind::Error => self.apply_agent(event),
            #[cfg(not(all(feature = "agent-state", feature = "call-updates", feature = "tool-output")))]
            _ => {}
        }
    }

    /// The message of this id, if it is known, is about to be replaced by the whole of it: a listed message
    /// that never ended looks like the beginning of one.
    pub(crate) fn expect_whole(&mut self, id: &str) {
        let slot = self.message_of.get(id);
        if let Some(message) = slot.and_then(|slot| self.messages.get_mut(slot as usize)) {
            message.has_base = true;
        }
    }

    /// The message of this id, if it is known, comes from a list that has messages' contents and calls only.
    pub(crate) fn expect_partial_listing(&mut self, id: &str) {
        let slot = self.message_of.get(id);
        if let Some(message) = slot.and_then(|slot| self.messages.get_mut(slot as usize)) {
            message.is_partial_listing = true;
        }
    }

    /// Takes an event that was missed, after the turn has ended. What waits then is what the turn's end said.
    pub(crate) fn backfill(&mut self, event: EventRef<'_>) {
        let pending = self.pending.clone();
        self.apply(event);
        if self.pending.len() != pending.len() {
            self.pending = pending;
        }
    }

    /// Takes the terminal state of the turn. It says once more what the turn waits for, and may be the
    /// first to say so.
    pub fn turn_ended(&mut self, state: &Object<'_>) {
        self.required_by(state);
        self.output(state, |message| !message.has_base);
    }

    /// The same for a state that was fetched: what led to it is missing. Its output is the last message, so that it
    /// waits for events that are listed next, until changes are taken.
    pub fn turn_found_ended(&mut self, state: &Object<'_>) {
        self.set_unread(true);
        self.required_by(state);
        self.found_state = state.to_json();
    }

    pub(super) fn take_found_output(&mut self) {
        let state = std::mem::take(&mut self.found_state);
        let state = Value::parse(&state).unwrap_or_default();
        let state = state.as_object().unwrap_or(const { &Object::new() });
        // Messages that were missed would come before it.
        let id = state.object("output").map_or("", |output| output.text("id"));
        if self.messages.is_empty() || self.message(id).is_some() {
            self.output(state, |message| !message.has_base || message.finish_reason().is_empty());
        }
    }

    /// Whether events of the turn are missing.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// Events of the turn are missing, or are not missing any more.
    pub(crate) fn set_unread(&mut self, is_unread: bool) {
        self.changes.turn |= self.is_unread != is_unread;
        self.is_unread = is_unread;
    }

    /// All events of the turn are listed, from the first one on: the messages are put together anew.
    pub(crate) fn start_over(&mut self) {
        self.messages.clear();
        self.message_of = Names::default();
        for action in &mut self.pending {
            action.slot = None;
        }
        self.changes.start_over();
    }

    fn required_by(&mut self, state: &Object<'_>) {
        if state.text("status") != "done" {
            return self.release(&|_| true);
        }
        for action in state.array("required_actions").iter().filter_map(Value::as_object) {
            let kind = EventKind::of(action.text("type"));
            // A newer kind of action is in the state that is handed out.
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

    /// The output of a turn or thread whose stream was joined late may never have come as events.
    fn output(&mut self, state: &Object<'_>, is_partial: fn(&Message) -> bool) {
        let Some(output) = state.object("output") else {
            return;
        };
        let id = output.text("id");
        if !id.is_empty() && self.message(id).is_none_or(is_partial) {
            self.change(output, Message::put);
        }
    }

    fn change(&mut self, event: &Object<'_>, change: fn(&mut Message, &Object<'_>)) {
        let slot = self.slot(0, event.text("id"), event.text("thread_id"));
        if let Some(message) = self.messages.get_mut(slot) {
            change(message, event);
            self.changes.message(slot, &mut self.messages, true);
            self.show_calls(slot);
            #[cfg(feature = "agent-state")]
            self.show_reports(slot);
        }
    }

    /// The result joins the newest call of that id in its thread. The result of a call from an earlier
    /// turn is kept with the thread.
    fn tool_response(&mut self, response: &Object<'_>) {
        let (thread_id, call_id) = (response.text("thread_id"), response.text("tool_call_id"));
        self.release(&|action| action.is_call(thread_id, call_id));
        #[cfg(feature = "agent-state")]
        if let Some(patch) = response.object("patch") {
            self.track(patch);
        }
        let json = unnumbered(response);
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
        // The call that started the thread knows which one that is.
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
            // Whatever else ends a thread is not success.
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

    /// The slot of a message, made if need be: a delta may come before its base.
    #[inline]
    fn slot(&mut self, source: u32, id: &str, thread_id: &str) -> usize {
        let (slot, is_new) = self.message_of.number_of(source, id);
        if is_new {
            let thread = self.thread_slot(thread_id);
            self.messages.push(Message::new(id, thread));
        }
        slot as usize
    }

    /// The slot of a thread, made if need be: a sub-agent may live on from an earlier turn.
    fn thread_slot(&mut self, id: &str) -> usize {
        if let Some(slot) = self.threads.iter().position(|thread| thread.id == id) {
            return slot;
        }
        self.threads.push(Thread::new(id));
        self.changes.threads = true;
        self.threads.len() - 1
    }
}

/// The JSON of a result as a stream brings it: a listed one may have its number in it.
fn unnumbered(response: &Object<'_>) -> String {
    if !cfg!(feature = "json-numbers") || !response.contains("sequence_number") {
        return response.to_json();
    }
    let mut response = response.clone();
    response.remove("sequence_number");
    response.to_json()
}
