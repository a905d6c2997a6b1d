//! The id-keyed event index: events → threads → messages → tool calls, and what changed in them.
//!
//! Deltas are merged into the message of their id (protocol note, section 3.7). Beside the messages the
//! index keeps the tree of threads, joins tool calls with their results, and knows which required
//! actions are still open over all threads. The cost of an event does not depend on how much came
//! before it.

mod actions;
mod changes;
mod merge;
mod message;
mod thread;

pub use actions::{PendingAction, PendingKind};
pub use message::{Message, MessageCall};
pub use thread::{Thread, ThreadStatus};

use std::collections::HashMap;

use crate::event::{
    Event, McpServer, ModelMessage, ModelMessageDelta, RequiredActionEvent, TerminalState,
    TextDelta, ThreadCreated, ThreadDone, ThreadState, ToolResponse,
};

/// The thread that every turn has.
pub const MAIN_THREAD: &str = "main";

/// What is known of one turn.
#[derive(Debug)]
pub struct EventIndex {
    messages: Vec<Message>,
    message_of: HashMap<String, usize>,
    /// The message of the last delta: usually that of the next one, too.
    recent: usize,
    threads: Vec<Thread>,
    pending: Vec<PendingAction>,
    mcp_servers: Vec<McpServer>,
    sandbox_id: Option<String>,
    changes: changes::Changes,
}

impl Default for EventIndex {
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            message_of: HashMap::new(),
            recent: 0,
            threads: vec![Thread::new(MAIN_THREAD)],
            pending: Vec::new(),
            mcp_servers: Vec::new(),
            sandbox_id: None,
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
        self.messages.get(*self.message_of.get(id)?)
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

    /// The MCP servers that were initialized.
    #[must_use]
    pub fn mcp_servers(&self) -> &[McpServer] {
        &self.mcp_servers
    }

    /// The sandbox, once there is one.
    #[must_use]
    pub fn sandbox_id(&self) -> Option<&str> {
        self.sandbox_id.as_deref()
    }

    /// Appends a piece of text: the hot path.
    pub fn append(&mut self, delta: &TextDelta<'_>) {
        let slot = self.slot(delta.id, delta.thread_id);
        if let Some(message) = self.messages.get_mut(slot) {
            let head_changed = message.append(delta);
            self.changes.message(slot, message, head_changed);
        }
    }

    /// Takes in any event.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::ModelMessage(message) => self.put_message(message),
            Event::ModelMessageDelta(delta) => self.merge(delta),
            Event::ToolResponse(response) => self.tool_response(response),
            Event::ThreadCreated(created) => self.thread_created(created),
            Event::ThreadDone(done) => self.thread_done(done),
            Event::McpInitialize(initialize) => {
                for server in &initialize.mcp_servers {
                    self.mcp_servers.retain(|known| known.id != server.id);
                    self.mcp_servers.push(server.clone());
                }
                self.changes.turn = true;
            }
            Event::SandboxCreated(created) => {
                self.sandbox_id = Some(created.sandbox_id.clone());
                self.changes.turn = true;
            }
            Event::ToolApprovalRequired(required) => self.require(PendingKind::Approval, required),
            Event::ToolResponseRequired(required) => self.require(PendingKind::Response, required),
            Event::McpAuthRequired(required) => self.require_auth(required),
            Event::TurnDone(done) => self.turn_done(&done.state),
            Event::TurnCreated(_) | Event::Unknown(_) => {}
        }
    }

    /// A turn that ended says once more what it waits for; it may be the first to say so.
    pub fn turn_done(&mut self, state: &TerminalState) {
        match state {
            TerminalState::Done {
                output,
                required_actions,
                ..
            } => {
                for action in required_actions {
                    match action {
                        RequiredActionEvent::ToolApproval(required) => {
                            self.require(PendingKind::Approval, required)
                        }
                        RequiredActionEvent::ToolResponse(required) => {
                            self.require(PendingKind::Response, required)
                        }
                        RequiredActionEvent::McpAuth(required) => self.require_auth(required),
                    }
                }
                // The output of a stream that was joined late may never have come as events.
                if let Some(output) = output.as_deref().filter(|output| self.lacks(output)) {
                    self.put_message(output);
                }
            }
            TerminalState::Cancelled { .. } | TerminalState::Error { .. } => {
                self.release_pending();
            }
        }
    }

    /// Whether a complete message says more than the index knows of it.
    fn lacks(&self, output: &ModelMessage) -> bool {
        !output.id.is_empty()
            && self
                .message(&output.id)
                .is_none_or(|message| !message.has_base)
    }

    fn put_message(&mut self, base: &ModelMessage) {
        let slot = self.slot(&base.id, &base.thread_id);
        if let Some(message) = self.messages.get_mut(slot) {
            message.put(base);
            self.changes.message(slot, message, true);
        }
    }

    fn merge(&mut self, delta: &ModelMessageDelta) {
        let slot = self.slot(&delta.id, &delta.thread_id);
        if let Some(message) = self.messages.get_mut(slot) {
            message.merge(delta);
            self.changes.message(slot, message, true);
        }
    }

    /// The result joins the newest call of that id in its thread: some models number their calls anew
    /// in every message. A result of a call from an earlier turn is kept with the thread.
    fn tool_response(&mut self, response: &ToolResponse) {
        self.pending
            .retain(|action| !action.is_call(&response.thread_id, &response.tool_call_id));
        let thread = self.thread_slot(&response.thread_id);
        let calls = self
            .messages
            .iter_mut()
            .enumerate()
            .rev()
            .filter(|(_, message)| message.thread == thread);
        for (slot, message) in calls {
            if let Some(call) = message.call_mut(&response.tool_call_id) {
                call.response = Some(response.clone());
                self.changes.message(slot, message, true);
                return;
            }
        }
        if let Some(thread) = self.threads.get_mut(thread) {
            thread
                .responses
                .retain(|known| known.tool_call_id != response.tool_call_id);
            thread.responses.push(response.clone());
            self.changes.threads = true;
        }
    }

    fn thread_created(&mut self, created: &ThreadCreated) {
        let slot = self.thread_slot(&created.thread_id);
        if let Some(thread) = self.threads.get_mut(slot) {
            thread.title.clone_from(&created.title);
            thread.parent.clone_from(&created.parent);
            thread.agent_info.clone_from(&created.agent_info);
        }
        self.changes.threads = true;
        if let Some(parent) = &created.parent {
            self.link(&parent.thread_id, &parent.tool_call_id, &created.thread_id);
        }
    }

    /// Notes at the call that started a thread which thread that is.
    fn link(&mut self, parent_thread: &str, call_id: &str, thread_id: &str) {
        let parent = self.thread_slot(parent_thread);
        for (slot, message) in self.messages.iter_mut().enumerate().rev() {
            if message.thread != parent {
                continue;
            }
            if let Some(call) = message.call_mut(call_id) {
                call.thread_id = Some(thread_id.to_owned());
                self.changes.message(slot, message, true);
                return;
            }
        }
    }

    fn thread_done(&mut self, done: &ThreadDone) {
        let slot = self.thread_slot(&done.thread_id);
        let Some(thread) = self.threads.get_mut(slot) else {
            return;
        };
        if thread.parent.is_none() {
            thread.parent.clone_from(&done.parent);
        }
        if done.title.is_some() {
            thread.title.clone_from(&done.title);
        }
        let output = match &done.state {
            ThreadState::Done { output } => {
                thread.status = ThreadStatus::Done;
                output
            }
            ThreadState::Error { error, output } => {
                thread.status = ThreadStatus::Error(error.clone());
                output
            }
        };
        self.changes.threads = true;
        if let Some(output) = output.as_ref().filter(|output| self.lacks(output)) {
            self.put_message(output);
        }
    }

    /// The slot of a message, made if need be: a delta may come before its base.
    fn slot(&mut self, id: &str, thread_id: &str) -> usize {
        if self
            .messages
            .get(self.recent)
            .is_some_and(|message| message.id == id)
        {
            return self.recent;
        }
        if let Some(slot) = self.message_of.get(id) {
            self.recent = *slot;
            return *slot;
        }
        let thread = self.thread_slot(thread_id);
        let slot = self.messages.len();
        self.messages.push(Message::new(id, thread));
        self.message_of.insert(id.to_owned(), slot);
        self.recent = slot;
        slot
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
