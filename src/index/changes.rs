//! The changes of the index since they were last taken: changed parts as JSON, and the text that was appended.
//!
//! So the cost of a mirror of the index depends only on what changed, not on the length of the history or the number of
//! events.

use crate::event::TextField;
use crate::json::{ObjectWriter, write_str};
use crate::message::{Marks, Message, MessageCall};

use super::thread::{Thread, ThreadStatus};
use super::{EventIndex, PendingAction, PendingKind};

/// The changed parts of the index.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Changes {
    /// The slots of changed messages, each once.
    messages: Vec<usize>,
    /// Whether a thread changed, or the list of them.
    pub(super) threads: bool,
    /// Whether anything else changed: required actions, servers, the sandbox.
    pub(super) turn: bool,
    /// Whether text is dropped when it was taken.
    releases_text: bool,
    /// Whether the messages that were taken before are void.
    restarts: bool,
}

impl Changes {
    /// At first everything has changed.
    pub(super) fn new() -> Self {
        Self { messages: Vec::new(), threads: true, turn: true, releases_text: false, restarts: false }
    }

    /// All messages that were taken are void.
    pub(super) fn restart(&mut self) {
        self.messages.clear();
        self.restarts = true;
        self.threads = true;
        self.turn = true;
    }

    #[inline]
    pub(super) fn message(&mut self, slot: usize, messages: &mut [Message], head: bool) {
        let Some(message) = messages.get_mut(slot) else {
            return;
        };
        message.marks.head |= head;
        if !message.marks.listed {
            message.marks.listed = true;
            self.messages.push(slot);
        }
    }
}

impl EventIndex {
    /// Whether there are changes to take.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.changes.turn || self.changes.threads || !self.changes.messages.is_empty()
    }

    /// Drops contents and reasoning from now on once they were taken, so that only the mirror of the index keeps them.
    /// [`Message::content`] and [`Message::reasoning`] then return only what was not taken.
    pub fn release_taken_text(&mut self) {
        self.changes.releases_text = true;
    }

    /// Takes the changes. Appended text is passed to `appended`, as the slot of the message, the field and the piece.
    /// Everything else is returned as JSON:
    /// `{ "restart"?: true, "turn"?: {…}, "threads"?: [all], "messages"?: [changed] }`. With `restart`, all messages
    /// before are void. If a message has `"reset": true`, all its texts follow whole; with `content_reset` only its
    /// content, with `arguments_reset` only the arguments of its calls. Returns `None` if nothing changed.
    pub fn take_changes(&mut self, appended: &mut dyn FnMut(usize, TextField, &str)) -> Option<String> {
        self.apply_recorded_output();
        if !self.has_changes() {
            return None;
        }
        let mut json = String::new();
        let mut object = ObjectWriter::new(&mut json);
        if std::mem::take(&mut self.changes.restarts) {
            object.bool("restart", true);
        }
        if std::mem::take(&mut self.changes.turn) {
            self.write_turn(object.member("turn"));
        }
        if std::mem::take(&mut self.changes.threads) {
            let mut list = List::new(object.member("threads"));
            for thread in &self.threads {
                write_thread(list.item(), thread);
            }
            list.end();
        }
        let slots = std::mem::take(&mut self.changes.messages);
        let mut list = List::new(object.member("messages"));
        for slot in slots {
            let Some(message) = self.messages.get_mut(slot) else {
                continue;
            };
            let marks = std::mem::take(&mut message.marks);
            message.take_text(slot, appended);
            // Text from before the base has to be appended to it.
            if self.changes.releases_text && message.has_base {
                message.content.text.release();
                message.reasoning.release();
            }
            if marks.head || marks.reset || marks.content_reset || marks.arguments_reset {
                self.write_message(list.item(), slot, marks);
            }
        }
        list.end();
        object.end();
        Some(json)
    }

    fn write_turn(&self, out: &mut String) {
        let mut turn = ObjectWriter::new(out);
        let mut list = List::new(turn.member("required_actions"));
        for action in self.pending.iter().filter(|action| self.is_shown(action)) {
            self.write_action(list.item(), action);
        }
        list.end();
        let mut list = List::new(turn.member("mcp_servers"));
        for (_, server) in self.mcp_servers.iter() {
            list.item().push_str(server);
        }
        list.end();
        text_or_null(turn.member("sandbox_id"), self.sandbox_id.as_deref());
        if let Some(agent) = self.agent.get() {
            agent.write(&mut turn);
        }
        if let Some(notices) = self.notices.get() {
            notices.write(&mut turn);
        }
        turn.end();
    }

    fn write_action(&self, out: &mut String, action: &PendingAction) {
        let mut object = ObjectWriter::new(out);
        let kind = match action.kind {
            PendingKind::Approval => "tool.approval_required",
            PendingKind::Response => "tool.response_required",
            PendingKind::Auth => {
                object.str("type", "mcp.auth_required").raw("server", &action.server).end();
                return;
            }
        };
        let call = action.slot.and_then(|slot| self.messages.get(slot)?.call(&action.id));
        object.str("type", kind).str("thread_id", &action.thread_id).str("tool_call_id", &action.id);
        object.str("name", call.map_or(&action.name, MessageCall::display_name));
        object.str("arguments", call.map_or(&action.arguments, MessageCall::arguments));
        object.raw("tool_info", call.map_or(&action.tool_info, |call| &call.tool_info));
        if !action.suspension.is_empty() {
            object.raw("suspension", &action.suspension);
        }
        object.end();
    }

    fn write_message(&self, out: &mut String, slot: usize, marks: Marks) {
        let Some(message) = self.messages.get(slot) else {
            return;
        };
        let thread_id = self.threads.get(message.thread).map_or("", |thread| &thread.id);
        let mut object = ObjectWriter::new(out);
        object.u64("slot", slot as u64).bool("reset", marks.reset);
        for (name, is_reset) in
            [("content_reset", marks.content_reset), ("arguments_reset", marks.arguments_reset)]
        {
            if is_reset {
                object.bool(name, true);
            }
        }
        object.str("id", &message.id).str("thread_id", thread_id);
        object.raw("created_at", &message.base.created_at).raw("name", &message.base.name);
        object.str("refusal", message.refusal());
        text_or_null(
            object.member("finish_reason"),
            Some(message.finish_reason()).filter(|reason| !reason.is_empty()),
        );
        object.raw("usage", &message.usage);
        if let Some(details) = message.details.get() {
            details.write(&mut object);
        }
        let mut list = List::new(object.member("tool_calls"));
        for call in &message.calls {
            let out = list.item();
            match call {
                Some(call) => self.write_call(out, slot, call),
                None => out.push_str("null"),
            }
        }
        list.end();
        object.end();
    }

    fn write_call(&self, out: &mut String, slot: usize, call: &MessageCall) {
        let mut object = ObjectWriter::new(out);
        object.str("id", &call.id).str("name", call.display_name());
        object.raw("tool_info", &call.tool_info);
        object.str("status", self.call_status(slot, call));
        text_or_null(object.member("thread_id"), call.thread_id.as_deref());
        object.raw("response", &call.response);
        if !call.progress.is_empty() {
            object.raw("progress", &call.progress);
        }
        if let Some(output) = call.output.get() {
            output.write(&mut object);
        }
        object.end();
    }

    fn call_status(&self, slot: usize, call: &MessageCall) -> &'static str {
        if call.response().is_some() || call.is_answered {
            return "done";
        }
        if call.is_cancelled {
            return "cancelled";
        }
        let waits = |action: &&PendingAction| action.slot == Some(slot) && action.id == call.id;
        match self.pending.iter().find(waits).map(|action| action.kind) {
            Some(PendingKind::Approval) => "approval_required",
            Some(_) => "response_required",
            None if self.messages.get(slot).is_some_and(|message| message.finish_reason().is_empty()) => {
                "streaming"
            }
            None => "running",
        }
    }
}

impl Message {
    fn take_text(&mut self, slot: usize, appended: &mut dyn FnMut(usize, TextField, &str)) {
        let mut give = |field, piece: &str| {
            if !piece.is_empty() {
                appended(slot, field, piece);
            }
        };
        give(TextField::Content, self.content.text.take());
        give(TextField::Reasoning, self.reasoning.take());
        for (index, call) in (0_u32..).zip(&mut self.calls) {
            if let Some(call) = call {
                give(TextField::Arguments(index), call.arguments.take());
            }
        }
    }
}

fn write_thread(out: &mut String, thread: &Thread) {
    let (status, error) = match &thread.status {
        ThreadStatus::Running => ("running", None),
        ThreadStatus::Done => ("done", None),
        ThreadStatus::Error(error) => ("error", Some(error.as_str())),
    };
    let mut object = ObjectWriter::new(out);
    object.str("id", &thread.id).raw("title", &thread.title);
    object.raw("parent", &thread.parent).raw("agent_info", &thread.agent_info);
    object.str("status", status);
    text_or_null(object.member("error"), error);
    let mut list = List::new(object.member("tool_responses"));
    for (_, response) in thread.responses.iter() {
        list.item().push_str(response);
    }
    list.end();
    object.end();
}

fn text_or_null(out: &mut String, text: Option<&str>) {
    match text {
        Some(text) => write_str(out, text),
        None => out.push_str("null"),
    }
}

/// Writes an array.
struct List<'o> {
    out: &'o mut String,
    first: bool,
}

impl<'o> List<'o> {
    fn new(out: &'o mut String) -> Self {
        out.push('[');
        Self { out, first: true }
    }

    /// The output for the next element.
    fn item(&mut self) -> &mut String {
        if !self.first {
            self.out.push(',');
        }
        self.first = false;
        self.out
    }

    fn end(self) {
        self.out.push(']');
    }
}
